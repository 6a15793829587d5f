package io.ofi4j;

import io.ofi4j.info.AddressVectorAttributes;
import io.ofi4j.info.Capability;
import io.ofi4j.info.CounterEvent;
import io.ofi4j.info.EndpointType;
import io.ofi4j.info.OperationFlag;
import io.ofi4j.internal.engine.LatencyCounts;
import io.ofi4j.internal.engine.ThreadGuard;
import io.ofi4j.internal.quirks.Fact;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.stream.Stream;

/**
 * The objects bound to an endpoint, shared with its aliases. Changed under the endpoint's monitor until it is enabled, when
 * {@link NativeEndpoint} binds them natively.
 */
final class EndpointBindings {
    final BoundCounters counters = new BoundCounters();

    /** Whether the native endpoint was closed with its connection; written inside the guards of both queues. */
    boolean isLost;

    /** What was recorded last, or null; changed inside the transmit queue's guard. */
    LatencyCounts latencies;

    private final Endpoint endpoint;
    private final ConnectionRequest request;
    /** A connected endpoint has a private vector without a native one, so that its peer belongs to it alone. */
    private AddressVector vector;
    private EventQueue eventQueue;
    private Connection connection;
    private CompletionQueue transmitQueue;
    private CompletionQueue receiveQueue;
    private boolean selective;

    EndpointBindings(Endpoint endpoint, ConnectionRequest request) {
        this.endpoint = endpoint;
        this.request = request;
    }

    void bind(AddressVector peers) {
        if (isOfConnection()) {
            throw new UnsupportedOperationException(
                    endpoint + " has one peer and no address vector: bind an event queue");
        }
        requireUnbound(peers.domain(), vector);
        peers.bind(endpoint);
        vector = peers;
    }

    void bind(EventQueue events) {
        if (!isOfConnection()) {
            throw new UnsupportedOperationException(endpoint + " is not connected: bind an address vector");
        }
        if (events.fabric != endpoint.domain.fabric()) {
            throw new IllegalArgumentException("the event queue of " + endpoint + " must be of the same fabric");
        }
        requireUnbound(endpoint.domain, eventQueue);
        events.bind(endpoint, endpoint.handle, () -> {
            eventQueue = events;
            vector = new AddressVector(endpoint.domain, null, AddressVectorAttributes.defaults());
            connection = new Connection(endpoint, endpoint.handle, events, request, vector);
        });
    }

    void bind(CompletionQueue queue, Direction... directions) {
        Set<Direction> wanted = EnumSet.copyOf(List.of(directions.length == 0 ? Direction.values() : directions));
        for (Direction direction : wanted) {
            requireUnbound(queue.domain(), direction == Direction.TRANSMIT ? transmitQueue : receiveQueue);
        }
        queue.bind(endpoint);
        if (wanted.contains(Direction.TRANSMIT)) { transmitQueue = queue; }
        if (wanted.contains(Direction.RECEIVE)) { receiveQueue = queue; }
    }

    void bindSelective(CompletionQueue queue) {
        bind(queue, Direction.TRANSMIT);
        queue.dropSilent();
        selective = true;
    }

    void bind(Counter counter, CounterEvent... events) {
        requireUnbound(counter.domain(), null);
        if (events.length == 0) {
            throw new IllegalArgumentException("say what the counter counts, such as CounterEvent.WRITE");
        }
        counters.add(endpoint, counter, EnumSet.copyOf(List.of(events)));
    }

    private void requireUnbound(Domain theirs, Object bound) {
        endpoint.requireOpen();
        if (theirs != endpoint.domain) {
            throw new IllegalArgumentException("an object bound to " + endpoint + " must be of the same domain");
        }
        if (bound != null || endpoint.isEnabled()) {
            throw new IllegalStateException(
                    endpoint + (endpoint.isEnabled() ? " is enabled" : " already has " + bound));
        }
    }

    /** @throws IllegalStateException if a required object is not bound */
    void requireComplete() {
        if (vector == null || transmitQueue == null || receiveQueue == null) {
            throw new IllegalStateException("bind "
                    + (vector == null
                            ? isOfConnection() ? "an event queue" : "an address vector"
                            : "completion queues for transmitting and receiving")
                    + " to " + endpoint + " before enabling it");
        }
    }

    boolean isOfConnection() { return endpoint.info().endpoint().type() == EndpointType.MSG; }

    AddressVector vector() { return vector; }

    /** Null for an endpoint with an address vector. */
    EventQueue eventQueue() { return eventQueue; }

    Connection requireConnection() {
        if (!isOfConnection()) {
            throw new UnsupportedOperationException(endpoint + " is not connected: its peers are in an address vector");
        }
        if (connection == null) { throw new IllegalStateException("bind an event queue to " + endpoint + " first"); }
        return connection;
    }

    CompletionQueue transmitQueue() { return transmitQueue; }

    CompletionQueue requireTransmitQueue() {
        synchronized (endpoint) {
            if (transmitQueue == null) {
                throw new IllegalStateException("bind a completion queue to " + endpoint + " first");
            }
            return transmitQueue;
        }
    }

    CompletionQueue receiveQueue() { return receiveQueue; }

    /** Whether a successful operation with these flags is not reported. */
    boolean isSilent(long operationFlags) {
        return selective && (operationFlags & OperationFlag.COMPLETION.bit()) == 0;
    }

    /** The queues that make progress for this endpoint. */
    List<CompletionQueue> queues() {
        return Stream.of(transmitQueue, receiveQueue).filter(Objects::nonNull).distinct().toList();
    }

    /** @throws WrongThreadException if the threading model gives the endpoint or one of its queues to another thread */
    void checkThread() {
        endpoint.domain.checkThread();
        queues().forEach(queue -> queue.guard.checkThread());
    }

    /** @throws WrongThreadException if the threading model gives the endpoint or its transmit queue to another thread */
    void checkPostingThread() {
        endpoint.domain.checkThread();
        if (transmitQueue != null) { transmitQueue.guard.checkThread(); }
    }

    /** Runs an action while no thread posts: once for each queue, with the thread's posts to the other one under way. */
    void betweenPosts(Runnable action) {
        if (queues().isEmpty()) { action.run(); }
        for (CompletionQueue queue : queues()) {
            ThreadGuard guard = queue.guard;
            guard.enterAsAnyone();
            try {
                action.run();
            } finally {
                guard.exit();
            }
        }
    }

    /** Releases the bound objects after the endpoint was closed. */
    void release() {
        if (vector != null) { vector.endpoints().remove(endpoint); }
        queues().forEach(queue -> queue.endpoints().remove(endpoint));
        counters.released(endpoint);
    }

    /** The counters bound to an endpoint, by the event they count. */
    static final class BoundCounters {
        private final Map<CounterEvent, Counter> byEvent = new EnumMap<>(CounterEvent.class);

        /**
         * Binds a counter.
         *
         * @throws IllegalStateException if an event already has a counter, or the counter is closed
         * @throws UnsupportedOperationException if the endpoint cannot count an event
         */
        void add(Endpoint endpoint, Counter counter, Set<CounterEvent> events) {
            boolean remote = endpoint.info().capabilities().contains(Capability.RMA_EVENT);
            for (CounterEvent event : events) {
                if (event.isRemote() && !remote) {
                    throw new UnsupportedOperationException("counting " + event + " needs Capability.RMA_EVENT, which "
                            + endpoint + " lacks: request it in FabricHints, or use another provider");
                }
                if (event.isRemote() && endpoint.quirks.has(Fact.COUNTS_DATA_WRITES_ONLY)) {
                    throw new UnsupportedOperationException("provider " + endpoint.info().provider() + " cannot count "
                            + event + ": of peers' operations it counts only writes with data");
                }
                if (byEvent.containsKey(event)) {
                    throw new IllegalStateException(endpoint + " already has a counter for " + event);
                }
            }
            counter.bind(endpoint);
            events.forEach(event -> byEvent.put(event, counter));
        }

        boolean has(CounterEvent event) { return byEvent.containsKey(event); }

        /** Passes each counter with the flags of the events it counts. */
        void forEach(BiConsumer<Counter, Long> action) {
            Map<Counter, Long> flags = new LinkedHashMap<>();
            byEvent.forEach((event, counter) -> flags.merge(counter, event.bit(), (some, more) -> some | more));
            flags.forEach(action);
        }

        /** @throws IllegalStateException if the threading model gives a counter to another thread than the queue */
        void requireOwnerOf(ThreadGuard queue) {
            for (Counter counter : all()) {
                if (!counter.guard.sharesOwnerWith(queue)) {
                    throw new IllegalStateException(
                            "with this threading model one thread must open all queues and counters"
                                    + " of an endpoint, but another thread opened " + counter);
                }
            }
        }

        /** @throws IllegalStateException if a counter serves only one queue, and it is another queue */
        void requireServe(CompletionQueue queue) {
            all().forEach(counter -> counter.requireServes(queue));
        }

        /** Records that the endpoint was enabled; inside {@link #undisturbed}. */
        void enabled(CompletionQueue queue) {
            all().forEach(counter -> counter.enabled(queue));
        }

        /** Records that the endpoint is about to close; inside {@link #undisturbed}. */
        void closing() {
            all().forEach(Counter::closing);
        }

        /** Runs an action while no thread uses the counters. */
        void undisturbed(Runnable action) {
            ThreadGuard.insideAll(all(), Counter::enterAlone, action);
        }

        void released(Endpoint endpoint) { all().forEach(counter -> counter.unbind(endpoint)); }

        private List<Counter> all() { return byEvent.values().stream().distinct().toList(); }
    }
}
