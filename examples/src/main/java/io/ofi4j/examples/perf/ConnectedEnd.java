package io.ofi4j.examples.perf;

import io.ofi4j.Access;
import io.ofi4j.Connection.State;
import io.ofi4j.Domain;
import io.ofi4j.Endpoint;
import io.ofi4j.info.EndpointAddress;
import io.ofi4j.Event;
import io.ofi4j.EventQueue;
import io.ofi4j.PassiveEndpoint;
import io.ofi4j.Peer;
import io.ofi4j.Waiting;
import io.ofi4j.examples.CommandFailure;
import java.time.Duration;

/** An end that connects to another, or takes one connection while it is polled. */
final class ConnectedEnd extends End {
    private static final byte[] NOTHING = {};

    private final Device device;
    private final Domain domain;
    private final EventQueue events;
    /** Of an end that is to be reached. */
    private PassiveEndpoint passive;
    private Endpoint endpoint;
    private boolean connected;

    ConnectedEnd(Device device, Plan plan, boolean isTarget) {
        super(device, plan, isTarget);
        this.device = device;
        domain = device.domain();
        try {
            events = keep(device.openEventQueue());
        } catch (RuntimeException e) {
            close();
            throw e;
        }
    }

    @Override
    EndpointAddress address() {
        if (passive == null) { passive = keep(device.openPassiveEndpoint()).bind(events).listen(); }
        return passive.address();
    }

    @Override
    byte[] introduction() { return NOTHING; }

    /** Who connects is let in: the first. */
    @Override
    void admit(byte[] introduction) {
        // the connection says who it is
    }

    @Override
    Peer reach(EndpointAddress address, Runnable meanwhile, Duration deadline) {
        endpoint = keep(domain.openEndpoint(domain.info().withDestination(address))).bind(events).bind(queue())
                .enable();
        receive(endpoint);
        endpoint.connection().connect(address);
        boolean answered = Waiting.YIELD.tryUntil(() -> {
            meanwhile.run();
            events.progress();
            return endpoint.connection().state() != State.CONNECTING;
        }, deadline);
        if (!answered) {
            throw new CommandFailure("The other end did not take a connection within " + deadline.toSeconds()
                    + " s: give a longer --timeout.");
        }
        endpoint.connection().awaitConnected(deadline); // which throws what went wrong
        connected = true;
        return endpoint.connection().peer();
    }

    @Override
    Peer peer() { return endpoint.connection().peer(); }

    @Override
    Endpoint endpoint() { return endpoint; }

    /** The peer's first message may have arrived before the event that says who it is: it is taken after that. */
    @Override
    boolean poll(Completions completions) {
        if (!connected) { answer(); }
        return connected && super.poll(completions);
    }

    private void answer() {
        events.read().ifPresent(event -> {
            if (event instanceof Event.ConnectionRequested(var request) && endpoint == null) {
                endpoint = keep(domain.openEndpoint(request)).bind(events).bind(queue()).enable();
                receive(endpoint);
                endpoint.connection().accept();
            }
        });
        connected = endpoint != null && endpoint.connection().state() != State.CONNECTING;
    }
}
