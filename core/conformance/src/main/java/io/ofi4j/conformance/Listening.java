package io.ofi4j.conformance;

import io.ofi4j.CompletionError;
import io.ofi4j.CompletionHandler;
import io.ofi4j.CompletionQueue;
import io.ofi4j.ConnectionRequest;
import io.ofi4j.Domain;
import io.ofi4j.Endpoint;
import io.ofi4j.Event;
import io.ofi4j.EventQueue;
import io.ofi4j.Fabric;
import io.ofi4j.Libfabric;
import io.ofi4j.PassiveEndpoint;
import io.ofi4j.Waiting;
import io.ofi4j.info.EventQueueAttributes;
import io.ofi4j.info.FabricHints;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.info.WaitObject;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** A passive endpoint that listens, and the endpoints that connect to it and accept. */
public final class Listening implements AutoCloseable {
    /** Nobody looks at the completions. */
    private static final CompletionHandler DROPPED = new CompletionHandler() {
        @Override
        public void onCompletion(long token, long flags, long length, long data) {}

        @Override
        public void onError(CompletionError error) {}
    };
    private static final int BATCH = 16;

    /** The fabric of all. */
    public final Fabric fabric;
    /** The domain of all. */
    public final Domain domain;
    /** Of the passive endpoint, and of those that accept. */
    public final EventQueue events;
    /** Of the endpoints that connect. */
    public final EventQueue clientEvents;
    /** Of the endpoints that connect. */
    public final CompletionQueue clientQueue;
    /** What listens. */
    public final PassiveEndpoint passive;

    private final CompletionQueue serverQueue;
    private final Duration deadline;
    private final List<Endpoint> opened = new ArrayList<>();

    /** What listens at a subject with connected endpoints. */
    public Listening(Subject subject) {
        this(subject, subject.hints());
    }

    /** What listens, asked for otherwise. */
    public Listening(Subject subject, FabricHints hints) {
        deadline = subject.deadline();
        FabricInfo info = Subject.info(hints);
        fabric = Libfabric.load().openFabric(info);
        domain = fabric.openDomain();
        events = fabric.openEventQueue();
        clientEvents = fabric.openEventQueue(EventQueueAttributes.defaults().waitObject(WaitObject.FD));
        serverQueue = domain.openCompletionQueue();
        clientQueue = domain.openCompletionQueue();
        passive = fabric.openPassiveEndpoint(info).bind(events).listen();
    }

    /** {@return how long it waits} */
    public Duration deadline() { return deadline; }

    /** {@return an endpoint that may connect to the passive endpoint} */
    public Endpoint client() {
        return client(this);
    }

    /** {@return an endpoint that may connect to another's passive endpoint} */
    public Endpoint client(Listening other) {
        FabricInfo info = domain.info().withDestination(other.passive.address());
        return opened(domain.openEndpoint(info).bind(clientEvents).bind(clientQueue).enable());
    }

    /** {@return the next request} */
    public ConnectionRequest request() {
        return ((Event.ConnectionRequested) await(events)).request();
    }

    /** {@return the next event of a queue} All else makes progress. */
    public Event await(EventQueue from) {
        return await(from, this);
    }

    /** {@return the next event of a queue, while another makes progress, too} */
    public Event await(EventQueue from, Listening other) {
        Event[] next = new Event[1];
        Waiting.YIELD.until(() -> {
            progress();
            other.progress();
            next[0] = from.read().orElse(null);
            return next[0] != null;
        }, deadline);
        return next[0];
    }

    /** Makes progress at both sides. Completions are dropped. */
    public void progress() {
        clientQueue.poll(DROPPED, BATCH);
        serverQueue.poll(DROPPED, BATCH);
        events.progress();
        clientEvents.progress();
    }

    /** {@return an endpoint for a request, which it has not accepted yet} */
    public Endpoint server(ConnectionRequest request) {
        return opened(domain.openEndpoint(request).bind(events).bind(serverQueue).enable());
    }

    /** {@return a new client and a new server that are connected} */
    public Endpoint[] connect() {
        Endpoint client = client();
        client.connection().connect(passive.address());
        Endpoint server = server(request());
        server.connection().accept(deadline);
        client.connection().awaitConnected(deadline);
        return new Endpoint[]{client, server};
    }

    private Endpoint opened(Endpoint endpoint) {
        opened.add(endpoint);
        return endpoint.postTimeout(deadline);
    }

    @Override
    public void close() {
        opened.forEach(Endpoint::close);
        passive.close();
        events.close();
        clientEvents.close();
        clientQueue.close();
        serverQueue.close();
        domain.close();
        fabric.close();
    }
}
