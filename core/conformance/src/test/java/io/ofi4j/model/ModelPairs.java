package io.ofi4j.model;

import io.ofi4j.Connection;
import io.ofi4j.ConnectionRequest;
import io.ofi4j.Domain;
import io.ofi4j.Endpoint;
import io.ofi4j.Event;
import io.ofi4j.EventQueue;
import io.ofi4j.Fabric;
import io.ofi4j.PassiveEndpoint;
import io.ofi4j.Waiting;
import io.ofi4j.info.EventQueueAttributes;
import io.ofi4j.model.ModelState.End;
import java.util.function.Function;
import java.util.function.Predicate;

/** Where one thread of a program makes connections, between endpoints of its own. */
final class ModelPairs implements AutoCloseable {
    private final Domain domain;
    private final EventQueue events;
    private final PassiveEndpoint passive;
    private ConnectionRequest request;

    ModelPairs(Fabric fabric, Domain domain, ModelWaitObjects objects) {
        this.domain = domain;
        events = openEvents(fabric, objects);
        passive = fabric.openPassiveEndpoint(domain.info()).bind(events).listen();
    }

    private static EventQueue openEvents(Fabric fabric, ModelWaitObjects objects) {
        EventQueue opened = null;
        while (opened == null) { // some wait objects are not offered
            opened = objects.open(fabric, EventQueueAttributes.defaults().waitObject(objects.any()));
        }
        return opened;
    }

    /**
     * Connects two.
     *
     * @param enable binds what else an endpoint needs, and enables it
     * @param progress what connections need meanwhile
     */
    void connect(Function<Endpoint, End> enable, Runnable progress) {
        End client = enable.apply(domain.openEndpoint(domain.info().withDestination(passive.address())).bind(events));
        client.endpoint.connection().connect(passive.address());
        request = null;
        await(ignored -> request != null, client, progress);
        End server = enable.apply(domain.openEndpoint(request).bind(events));
        server.endpoint.connection().accept();
        await(ModelPairs::isConnected, client, progress);
        await(ModelPairs::isConnected, server, progress);
        client.becomeConnected(server);
        server.becomeConnected(client);
    }

    private static boolean isConnected(End end) {
        return end.endpoint.connection().state() == Connection.State.CONNECTED;
    }

    private void await(Predicate<End> happened, End end, Runnable progress) {
        if (!Waiting.YIELD.tryUntil(() -> {
            progress.run();
            readAll();
            return happened.test(end);
        }, ModelThreads.DEADLINE)) {
            throw new AssertionError(end.endpoint + " is not connected, but " + end.endpoint.connection().state());
        }
    }

    /** What is told of connections that have ended is of no interest. */
    void readAll() {
        while (events.read().orElse(null) instanceof Event event) {
            if (event instanceof Event.ConnectionRequested(ConnectionRequest asked)) { request = asked; }
        }
    }

    @Override
    public void close() {
        passive.close();
        events.close();
    }
}
