package io.ofi4j.model;

import io.ofi4j.Connection;
import io.ofi4j.Domain;
import io.ofi4j.EventQueue;
import io.ofi4j.Fabric;
import io.ofi4j.Libfabric;
import io.ofi4j.Waiting;
import io.ofi4j.info.EventQueueAttributes;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.model.ModelLinks.End;
import io.ofi4j.model.ModelLinks.Link;
import io.ofi4j.model.ModelLinks.Passive;
import io.ofi4j.support.Patience;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * One random program about connections: passive endpoints, clients that ask, requests that are accepted and rejected,
 * transfers over what came about, and closes of any of these at any moment; each step with a forecast by the model.
 * Then everything is brought to rest, checked and closed.
 */
final class ModelConnections extends ModelSteps {
    static final Duration DEADLINE = Patience.seconds(60);
    private static final int MAX_QUEUES = 3;
    /** So many are begun before anything is closed. */
    private static final int LINKS = 2;

    final FabricInfo info;
    final ModelLinks state = new ModelLinks();
    final ModelWaitObjects objects;
    final Fabric fabric;
    final Domain domain;
    final ModelTraffic traffic;
    private final ModelConnecting connecting;

    ModelConnections(FabricInfo info, long seed, boolean isVerbose) {
        super(seed, isVerbose);
        this.info = info;
        this.objects = new ModelWaitObjects(info, random);
        this.fabric = Libfabric.load().openFabric(info);
        this.domain = fabric.openDomain();
        this.traffic = new ModelTraffic(this);
        this.connecting = new ModelConnecting(this);
    }

    void run(int steps) {
        open();
        for (int step = 0; step < steps; step++) {
            if (chance(60)) {
                connecting.step();
            } else {
                traffic.step();
            }
            checkStates();
        }
        settle();
        finish();
    }

    private void open() {
        while (state.queues.size() < MAX_QUEUES) {
            traffic.openQueue();
        }
        while (state.events.size() < 2) { // some wait objects are not offered
            EventQueueAttributes attributes = EventQueueAttributes.defaults().waitObject(objects.any());
            note("open event queue with wait object " + attributes.waitObject());
            EventQueue opened = objects.open(fabric, attributes);
            if (opened != null) { state.events.add(opened); }
        }
        connecting.listen();
        for (int link = 0; link < LINKS; link++) {
            connecting.begin();
        }
    }

    /** What nothing stands in the way of comes about. */
    private void settle() {
        note("settle");
        List<String> open = new ArrayList<>();
        boolean settled = Waiting.YIELD.tryUntil(() -> {
            traffic.pollAll();
            state.events.forEach(connecting::readAll);
            open.clear();
            state.links.forEach(link -> open.addAll(unsettled(link)));
            open.addAll(traffic.unsettled());
            return open.isEmpty();
        }, DEADLINE);
        if (!settled) { throw new AssertionError("this never came about: " + open); }
        checkStates();
    }

    private static List<String> unsettled(Link link) {
        List<String> open = new ArrayList<>();
        if (link.isDisturbed()) { return open; }
        if (link.accepted) {
            link.ends().filter(end -> !end.is(Connection.State.CONNECTED))
                    .forEach(end -> open.add(end + " is " + end.state() + " though accepted"));
        } else if (link.rejected && !link.client.is(Connection.State.FAILED)) {
            open.add(link.client + " is " + link.client.state() + " though rejected");
        }
        return open;
    }

    /** Rule: a connection is in a state that something has brought it to. */
    private void checkStates() {
        state.ends().filter(end -> end.open).forEach(end -> {
            Link link = end.link;
            boolean mayFail = end.failed || link.rejected || link.isDisturbed() || !link.to.open;
            boolean allowed = switch (end.state()) {
                case IDLE -> !end.begun;
                case CONNECTING -> end.begun;
                case CONNECTED -> end.begun && link.accepted && !end.ended;
                case SHUT_DOWN -> end.begun && link.isDisturbed();
                case FAILED -> end.begun && mayFail;
            };
            if (!allowed) { throw new AssertionError(end + " is " + end.state()); }
        });
    }

    private void finish() {
        note("finish");
        List<End> ends = new ArrayList<>(state.ends().toList());
        Collections.shuffle(ends, random);
        ends.forEach(connecting::close);
        traffic.requireNothingPending();
        List<Passive> passives = new ArrayList<>(state.passives);
        Collections.shuffle(passives, random);
        passives.forEach(connecting::close);
        state.events.forEach(connecting::readAll);
        traffic.close();
        state.events.forEach(EventQueue::close);
        domain.close();
        fabric.close();
    }
}
