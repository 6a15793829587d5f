package io.ofi4j.support;

import io.ofi4j.SharedReceiveContext;
import io.ofi4j.AddressVector;
import io.ofi4j.CompletionError;
import io.ofi4j.CompletionHandler;
import io.ofi4j.CompletionQueue;
import io.ofi4j.ConnectionRequest;
import io.ofi4j.Counter;
import io.ofi4j.Domain;
import io.ofi4j.Endpoint;
import io.ofi4j.Event;
import io.ofi4j.EventQueue;
import io.ofi4j.Fabric;
import io.ofi4j.Libfabric;
import io.ofi4j.PassiveEndpoint;
import io.ofi4j.Peer;
import io.ofi4j.Rma;
import io.ofi4j.SharedTransmitContext;
import io.ofi4j.Waiting;
import io.ofi4j.info.CompletionQueueAttributes;
import io.ofi4j.info.CounterAttributes;
import io.ofi4j.info.EndpointType;
import io.ofi4j.info.FabricHints;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.info.WaitObject;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** Two endpoints in one process, connected or not, each with a queue of its own, and what the tests do with them. */
public final class Pair implements AutoCloseable {
    /** Taken when a JVM begins with its tests: a minute at least, for a load that comes later. */
    public static final Duration DEADLINE = Collections.max(List.of(Patience.seconds(20), Duration.ofMinutes(1)));

    public final Fabric fabric;
    public final Domain domain;
    public final CompletionQueue queue;
    public final CompletionQueue farQueue;
    public final AddressVector vector;
    /** Of connected endpoints; null otherwise. */
    public final EventQueue events;
    public final PassiveEndpoint passive;
    public final Endpoint endpoint;
    public final Endpoint farEndpoint;
    public final Peer far;
    public final List<Long> completed = new ArrayList<>();
    public final List<CompletionError> errors = new ArrayList<>();
    public final List<CompletionError> farErrors = new ArrayList<>();
    /** Those that a wiring opened: closed after the endpoints. */
    public final List<Counter> counters = new ArrayList<>();
    /** Shared contexts that a wiring opened: closed after the endpoints. */
    public final List<SharedReceiveContext> receiveContexts = new ArrayList<>();
    public final List<SharedTransmitContext> transmitContexts = new ArrayList<>();

    /** What is bound to the endpoints before they are enabled, beside vectors and event queues. */
    public interface Wiring {
        /** Of the near end. */
        default Endpoint bindNear(Pair pair, Endpoint endpoint) {
            return endpoint.bind(pair.queue);
        }

        /** Of the far end. */
        default Endpoint bindFar(Pair pair, Endpoint endpoint) {
            return endpoint.bind(pair.farQueue);
        }
    }

    private static final Wiring QUEUES = new Wiring() {
    };

    private final CompletionHandler recorder = new CompletionHandler() {
        @Override
        public void onCompletion(long token, long flags, long length, long data) { completed.add(token); }

        @Override
        public void onError(CompletionError error) { errors.add(error); }
    };

    /** The target may learn, too, that a transfer broke off: sockets reports it there. */
    private final CompletionHandler farHandler = new CompletionHandler() {
        @Override
        public void onCompletion(long token, long flags, long length, long data) {
            // Nothing that the tests of this end look at.
        }

        @Override
        public void onError(CompletionError error) { farErrors.add(error); }
    };

    public Pair(String provider) { this(TestProviders.hints(provider)); }

    public Pair(FabricHints hints) { this(hints, CompletionQueueAttributes.defaults()); }

    public Pair(FabricHints hints, CompletionQueueAttributes attributes) { this(hints, attributes, QUEUES); }

    public Pair(FabricHints hints, CompletionQueueAttributes attributes, Wiring wiring) {
        FabricInfo info = TestProviders.info(hints);
        fabric = Libfabric.load().openFabric(info);
        domain = fabric.openDomain();
        queue = domain.openCompletionQueue(attributes);
        farQueue = domain.openCompletionQueue(attributes);
        if (info.endpoint().type() == EndpointType.MSG) {
            vector = null;
            events = fabric.openEventQueue();
            passive = fabric.openPassiveEndpoint(info).bind(events).listen();
            endpoint = wiring.bindNear(this, domain.openEndpoint(info.withDestination(passive.address())).bind(events))
                    .enable();
            farEndpoint = connect(wiring);
            far = endpoint.connection().peer();
        } else {
            events = null;
            passive = null;
            vector = domain.openAddressVector();
            endpoint = wiring.bindNear(this, domain.openEndpoint().bind(vector)).enable();
            farEndpoint = wiring.bindFar(this, domain.openEndpoint().bind(vector)).enable();
            far = vector.insert(farEndpoint.address());
        }
        endpoint.postTimeout(DEADLINE);
        farEndpoint.postTimeout(DEADLINE);
    }

    /** Connects the near end, and opens the far one. */
    private Endpoint connect(Wiring wiring) {
        endpoint.connection().connect(passive.address());
        if (!(events.read(DEADLINE) instanceof Event.ConnectionRequested(ConnectionRequest request))) {
            throw new AssertionError("no connection was asked for");
        }
        Endpoint accepting = wiring.bindFar(this, domain.openEndpoint(request).bind(events)).enable();
        accepting.connection().accept(DEADLINE);
        endpoint.connection().awaitConnected(DEADLINE);
        return accepting;
    }

    /** For a {@link Wiring}. */
    public Counter openCounter(WaitObject object) {
        Counter counter = domain.openCounter(CounterAttributes.defaults().waitObject(object));
        counters.add(counter);
        return counter;
    }

    /** For a {@link Wiring}: a context that receives for endpoints of a queue. */
    public SharedReceiveContext openReceiveContext(CompletionQueue its) {
        receiveContexts.add(domain.openSharedReceiveContext().bind(its).enable());
        return receiveContexts.getLast();
    }

    /** For a {@link Wiring}: a context that transmits for endpoints. */
    public SharedTransmitContext openTransmitContext() {
        transmitContexts.add(domain.openSharedTransmitContext());
        return transmitContexts.getLast();
    }

    public Rma rma() { return endpoint.rma(); }

    /** Polls both ends; what the near one completed goes to {@link #completed} and {@link #errors}. */
    public void poll() {
        farQueue.poll(farHandler, 64);
        pollNear();
    }

    /** Polls the near end only. */
    public void pollNear() { queue.poll(recorder, 64); }

    /** Polls both ends until the near one has completed so many operations, well or not. */
    public void awaitCompletions(int count) {
        awaitCompletions(count, DEADLINE);
    }

    public void awaitCompletions(int count, Duration deadline) {
        Waiting.YIELD.until(() -> {
            poll();
            return completed.size() + errors.size() >= count;
        }, deadline);
    }

    /** Waits for one completion with that token and no error. */
    public void awaitToken(long token) {
        awaitToken(token, DEADLINE);
    }

    /** As {@link #awaitToken(long)}, of an operation that may take long. */
    public void awaitToken(long token, Duration deadline) {
        completed.clear();
        awaitCompletions(1, deadline);
        if (!errors.isEmpty() || !completed.equals(List.of(token))) { // a forked JVM has no AssertJ
            throw new AssertionError(
                    "token " + token + " was to come back; completed " + completed + ", failed " + errors);
        }
    }

    @Override
    public void close() {
        endpoint.close();
        farEndpoint.close();
        counters.forEach(Counter::close);
        receiveContexts.forEach(SharedReceiveContext::close);
        transmitContexts.forEach(SharedTransmitContext::close);
        if (vector != null) {
            vector.close();
        } else {
            passive.close();
            events.close();
        }
        queue.close();
        farQueue.close();
        domain.close();
        fabric.close();
    }
}
