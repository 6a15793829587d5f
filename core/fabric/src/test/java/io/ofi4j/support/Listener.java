package io.ofi4j.support;

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
import io.ofi4j.info.EndpointAddress;
import io.ofi4j.info.EventQueueAttributes;
import io.ofi4j.info.FabricHints;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.info.WaitObject;
import java.util.ArrayList;
import java.util.List;

/** A passive endpoint that listens, and what its tests open beside it, in one process. */
public final class Listener implements AutoCloseable {
    private static final CompletionHandler LOST = new CompletionHandler() {
        @Override
        public void onCompletion(long token, long flags, long length, long data) {
            // Nobody looks at it.
        }

        @Override
        public void onError(CompletionError error) {
            // Nobody looks at it.
        }
    };

    /** Room for the receives of many connections. */
    private static final int QUEUE = 8192;

    public final Fabric fabric;
    public final Domain domain;
    public final EventQueue events;
    /** Of the connecting side. */
    public final EventQueue farEvents;
    public final CompletionQueue queue;
    public final CompletionQueue farQueue;
    public final PassiveEndpoint passive;

    private final List<AutoCloseable> opened = new ArrayList<>();

    public Listener(String provider) { this(TestProviders.connectedHints(provider)); }

    public Listener(FabricHints hints) {
        FabricInfo info = TestProviders.info(hints);
        fabric = Libfabric.load().openFabric(info);
        domain = fabric.openDomain();
        events = fabric.openEventQueue();
        farEvents = fabric.openEventQueue(EventQueueAttributes.defaults().waitObject(WaitObject.FD));
        queue = domain.openCompletionQueue(QUEUE);
        farQueue = domain.openCompletionQueue(QUEUE);
        passive = fabric.openPassiveEndpoint(info).bind(events).listen();
    }

    /** What an endpoint is opened with that connects to the passive endpoint. */
    public FabricInfo active() {
        return domain.info().withDestination(passive.address());
    }

    /** An endpoint that may connect to the passive endpoint. */
    public Endpoint client() {
        return client(passive.address());
    }

    /** An endpoint that may connect to an address. */
    public Endpoint client(EndpointAddress address) {
        return remember(
                domain.openEndpoint(domain.info().withDestination(address)).bind(farEvents).bind(farQueue).enable());
    }

    /** The next connection request. */
    public ConnectionRequest request() {
        return ((Event.ConnectionRequested) await(events)).request();
    }

    /** The next event of a queue, with everything else making progress. */
    public Event await(EventQueue from) {
        Event[] next = new Event[1];
        Waiting.YIELD.until(() -> {
            poll();
            events.progress();
            farEvents.progress();
            next[0] = from.read().orElse(null);
            return next[0] != null;
        }, Pair.DEADLINE);
        return next[0];
    }

    /** Makes progress at both ends; completions are lost. */
    public void poll() {
        farQueue.poll(LOST, 16);
        queue.poll(LOST, 16);
    }

    /** An endpoint for a request, not accepted yet. */
    public Endpoint server(ConnectionRequest request) {
        return remember(domain.openEndpoint(request).bind(events).bind(queue).enable());
    }

    /** Connects a new client to a new server: both ends, the client first. */
    public Endpoint[] connect() {
        Endpoint client = client();
        client.connection().connect(passive.address());
        Endpoint server = server(request());
        server.connection().accept(Pair.DEADLINE);
        client.connection().awaitConnected(Pair.DEADLINE);
        return new Endpoint[]{client, server};
    }

    private Endpoint remember(Endpoint endpoint) {
        opened.add(endpoint);
        return endpoint.postTimeout(Pair.DEADLINE);
    }

    @Override
    public void close() {
        try {
            for (AutoCloseable one : opened) {
                one.close();
            }
        } catch (Exception e) {
            throw new AssertionError(e);
        }
        passive.close();
        events.close();
        farEvents.close();
        queue.close();
        farQueue.close();
        domain.close();
        fabric.close();
    }
}
