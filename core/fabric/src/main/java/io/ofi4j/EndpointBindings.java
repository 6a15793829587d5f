package io.ofi4j;

import io.ofi4j.info.AddressVectorAttributes;
import io.ofi4j.info.CompletionQueueAttributes;
import io.ofi4j.info.CounterEvent;
import io.ofi4j.info.Direction;
import io.ofi4j.info.EndpointAttributes;
import io.ofi4j.info.EndpointType;
import io.ofi4j.info.OperationFlag;
import io.ofi4j.internal.engine.LatencyHistogram;
import io.ofi4j.internal.engine.OpenChildren;
import io.ofi4j.internal.engine.ThreadGuard;
import io.ofi4j.internal.ffi.Handle;
import io.ofi4j.internal.observe.LockOrder;
import io.ofi4j.internal.os.Errno;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * The objects bound to an endpoint, shared with its aliases. Changed under the endpoint's monitor until it is enabled,
 * when {@link EndpointLifeCycle} binds them natively.
 */
final class EndpointBindings {
    /** libfabric has one struct for endpoints and for their parts, the contexts. */
    enum Role {
        /** An endpoint. */
        WHOLE(Direction.TRANSMIT, Direction.RECEIVE),
        /** A transmit context of a scalable endpoint. */
        TRANSMIT(Direction.TRANSMIT),
        /** A receive context of a scalable endpoint. */
        RECEIVE(Direction.RECEIVE),
        /** A receive context that endpoints share. */
        SHARED_RECEIVE(Direction.RECEIVE);

        private final Set<Direction> directions;

        Role(Direction... directions) { this.directions = Set.of(directions); }

        boolean canSend() { return directions.contains(Direction.TRANSMIT); }

        boolean canReceive() { return directions.contains(Direction.RECEIVE); }

        @Override
        public String toString() {
            return switch (this) {
                case WHOLE -> "Endpoint";
                case TRANSMIT -> "Transmit context";
                case RECEIVE -> "Receive context";
                case SHARED_RECEIVE -> "Shared receive context";
            };
        }
    }

    final BoundCounters counters = new BoundCounters();
    final Role role;
    /** The endpoints that receive through this, if it is a shared context. */
    final OpenChildren sharers = new OpenChildren();

    /** The latencies of the last recording, or null; changed inside the transmit queue's guard. */
    LatencyHistogram latencies;

    private final Endpoint endpoint;
    private final ConnectionRequest request;
    private final ScalableEndpoint scalable;
    /**
     * The vector. A connected endpoint has a private one without a native vector, so that its peer belongs to it alone.
     */
    private AddressVector vector;
    private EventQueue eventQueue;
    private Connection connection;
    private CompletionQueue transmitQueue;
    private CompletionQueue receiveQueue;
    private CompletionQueue hiddenQueue;
    private boolean selective;
    /** The contexts that it shares with other endpoints, or null. */
    private Endpoint sharedReceive;
    private SharedTransmitContext sharedTransmit;

    /**
     * @param request the request that the endpoint accepts, or null
     * @param scalable the endpoint that it is a context of, or null
     */
    EndpointBindings(Endpoint endpoint, Role role, ConnectionRequest request, ScalableEndpoint scalable) {
        this.endpoint = endpoint;
        this.role = role;
        this.request = request;
        this.scalable = scalable;
        this.vector = role == Role.SHARED_RECEIVE ? privateVector() : scalable == null ? null : scalable.vector();
    }

    /** A vector without a native one. */
    private AddressVector privateVector() {
        return new AddressVector(endpoint.domain, null, AddressVectorAttributes.defaults());
    }

    /** @throws UnsupportedOperationException if this is a context */
    void requireWhole(String what) {
        if (role != Role.WHOLE) {
            throw new UnsupportedOperationException(endpoint + " has no " + what + " of its own");
        }
    }

    /** @throws UnsupportedOperationException if this is a context that only receives */
    void requireSending() {
        if (!role.canSend()) {
            throw new UnsupportedOperationException(
                    endpoint + " only receives: post other operations to an endpoint or a transmit context");
        }
    }

    void bind(AddressVector peers) {
        requireWhole("address vector");
        if (isConnectionOriented()) {
            throw new UnsupportedOperationException(
                    endpoint + " has one peer and no address vector: bind an event queue");
        }
        requireUnbound(peers.domain(), vector);
        peers.bind(endpoint);
        vector = peers;
    }

    void bind(EventQueue events) {
        requireWhole("event queue");
        if (!isConnectionOriented()) {
            throw new UnsupportedOperationException(endpoint + " is not connected: bind an address vector");
        }
        if (events.fabric != endpoint.domain.fabric()) {
            throw new IllegalArgumentException("the event queue of " + endpoint + " must be of the same fabric");
        }
        requireUnbound(endpoint.domain, eventQueue);
        events.bind(endpoint, endpoint.handle, () -> {
            eventQueue = events;
            vector = privateVector();
            connection = new Connection(endpoint, endpoint.handle, events, request, vector);
        });
    }

    void bind(CompletionQueue queue, Direction... directions) {
        Set<Direction> wanted = directions.length == 0 ? role.directions : EnumSet.copyOf(List.of(directions));
        if (!role.directions.containsAll(wanted)) {
            throw new IllegalArgumentException(
                    endpoint + " has only the direction " + role.directions + ", not " + wanted);
        }
        for (Direction direction : wanted) {
            requireUnbound(queue.domain(), direction == Direction.TRANSMIT ? transmitQueue : receiveQueue);
        }
        queue.bind(endpoint);
        // A context has the same queue for the direction that it lacks, so that neither direction is without a queue.
        if (wanted.contains(Direction.TRANSMIT) || !role.canSend()) { transmitQueue = queue; }
        if (wanted.contains(Direction.RECEIVE) || !role.canReceive()) { receiveQueue = queue; }
    }

    void bind(SharedReceiveContext shared) {
        Endpoint context = shared.endpoint;
        requireShared(endpoint.info().endpoint().receiveContexts(), "receive");
        requireUnbound(context.domain, sharedReceive);
        synchronized (context) {
            context.requireEnabled();
            context.bindings.sharers.add(endpoint);
        }
        sharedReceive = context;
    }

    void bind(SharedTransmitContext context) {
        requireShared(endpoint.info().endpoint().transmitContexts(), "transmit");
        requireUnbound(context.domain(), sharedTransmit);
        context.bind(endpoint);
        sharedTransmit = context;
    }

    private void requireShared(long contexts, String which) {
        requireWhole("shared context");
        if (contexts != EndpointAttributes.SHARED_CONTEXT) {
            throw new IllegalStateException(endpoint + " has a " + which + " context of its own: to share one, open it"
                    + " with an info that was requested with AttributeHints.shared"
                    + (which.equals("receive") ? "Receive" : "Transmit") + "Context()");
        }
    }

    /** {@return the provider's context for a direction: a shared one, or the endpoint's own} */
    Object context(boolean transmits) {
        return transmits && sharedTransmit != null ? sharedTransmit : this;
    }

    /** {@return the shared receive context, or null} */
    Endpoint sharedReceive() { return sharedReceive; }

    /** Passes the shared contexts. */
    void forEachShared(Consumer<Handle> action) {
        if (sharedReceive != null) { action.accept(sharedReceive.handle); }
        if (sharedTransmit != null) { action.accept(sharedTransmit.handle()); }
    }

    void bindSelective(CompletionQueue queue) {
        bind(queue, Direction.TRANSMIT);
        queue.dropSilent();
        selective = true;
    }

    void bind(Counter counter, CounterEvent... events) {
        requireUnbound(counter.domain(), null);
        if (events.length == 0) {
            throw new IllegalArgumentException("name at least one event to count, such as CounterEvent.WRITE");
        }
        counters.add(endpoint, counter, EnumSet.copyOf(List.of(events)));
    }

    private void requireUnbound(Domain theirs, Object bound) {
        endpoint.requireOpen();
        if (theirs != endpoint.domain) {
            throw new IllegalArgumentException("an object bound to " + endpoint + " must be of the same domain");
        }
        if (bound != null || !endpoint.lifeCycle.isOpen()) {
            throw new IllegalStateException(endpoint + (endpoint.lifeCycle.isOpen()
                    ? " already has " + bound
                    : " is enabled: bind objects before that"));
        }
    }

    /** @throws IllegalStateException if a required object is not bound */
    void requireComplete() {
        boolean hasReports = transmitQueue != null || receiveQueue != null
                || role == Role.WHOLE && !counters.isEmpty() && sharedReceive == null;
        if (vector == null || !hasReports) {
            throw new IllegalStateException("bind " + (vector == null
                    ? isConnectionOriented() ? "an event queue" : "an address vector"
                    : role == Role.WHOLE && sharedReceive == null
                            ? "a completion queue or a counter"
                            : "a completion queue")
                    + " to " + endpoint + " before enabling it");
        }
        if (role == Role.WHOLE) { requireContexts(); }
    }

    /**
     * Opens a hidden queue for the directions without one. Its slots hold the contexts of their operations, and its
     * polls free them: those of counters and of the domain.
     */
    void openHiddenQueue() {
        if (transmitQueue != null && receiveQueue != null) { return; }
        Domain domain = endpoint.domain;
        synchronized (domain) {
            assert LockOrder.taken(LockOrder.Rank.DOMAIN, domain);
            hiddenQueue = domain.queues.open(CompletionQueueAttributes.defaults()).hide(this::failed);
        }
        hiddenQueue.bind(endpoint);
        if (transmitQueue == null) { transmitQueue = hiddenQueue; }
        if (receiveQueue == null) { receiveQueue = hiddenQueue; }
    }

    /** Counts an error of the hidden queue, unless the close of the endpoint has canceled the operation. */
    private void failed(CompletionError error) {
        if (error.errno() != Errno.ECANCELED || !endpoint.isClosed()) { counters.failed(error); }
    }

    /** Closes the hidden queue of an endpoint that could not be enabled, so that others may be bound. */
    void dropHiddenQueue() {
        if (hiddenQueue == null) { return; }
        hiddenQueue.endpoints().remove(endpoint);
        if (transmitQueue == hiddenQueue) { transmitQueue = null; }
        if (receiveQueue == hiddenQueue) { receiveQueue = null; }
        hiddenQueue.close();
        hiddenQueue = null;
    }

    /** The queue that the application does not know, or null. */
    CompletionQueue hiddenQueue() { return hiddenQueue; }

    /** Closes the hidden queue, once the provider has closed the endpoint. */
    void closeHiddenQueue() {
        if (hiddenQueue != null) { hiddenQueue.close(); }
    }

    private void requireContexts() {
        EndpointAttributes its = endpoint.info().endpoint();
        boolean lacksReceive = its.receiveContexts() == EndpointAttributes.SHARED_CONTEXT && sharedReceive == null;
        if (lacksReceive || its.transmitContexts() == EndpointAttributes.SHARED_CONTEXT && sharedTransmit == null) {
            throw new IllegalStateException("bind a shared " + (lacksReceive ? "receive" : "transmit") + " context to "
                    + endpoint + " before enabling it: its info asks for one");
        }
        if (sharedReceive != null && sharedReceive.bindings.receiveQueue != receiveQueue) {
            throw new IllegalStateException(
                    "bind the completion queue of " + sharedReceive + " to " + endpoint + " for receives");
        }
    }

    boolean isConnectionOriented() {
        return role == Role.WHOLE && endpoint.info().endpoint().type() == EndpointType.MSG;
    }

    /** The directions that a queue serves, as flags of fi_ep_bind. */
    long directionBits(CompletionQueue queue) {
        return (role.canSend() && queue == transmitQueue ? Direction.TRANSMIT.bit() : 0)
                | (role.canReceive() && queue == receiveQueue ? Direction.RECEIVE.bit() : 0);
    }

    AddressVector vector() { return vector; }

    /** Null for an endpoint with an address vector. */
    EventQueue eventQueue() { return eventQueue; }

    Connection requireConnection() {
        if (!isConnectionOriented()) {
            throw new UnsupportedOperationException(endpoint + " is not connected: its peers are in an address vector");
        }
        if (connection == null) { throw new IllegalStateException("bind an event queue to " + endpoint + " first"); }
        return connection;
    }

    Optional<CompletionQueue> completionQueue(Direction direction) {
        boolean transmits = direction == Direction.TRANSMIT;
        CompletionQueue queue = transmits ? transmitQueue : receiveQueue;
        return role.directions.contains(direction) && queue != null && !queue.isHidden()
                ? Optional.of(queue)
                : Optional.empty();
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

    /** Whether successful operations without {@link OperationFlag#COMPLETION} are not reported. */
    boolean isSelective() {
        return selective;
    }

    /** The queues that make progress for this endpoint. */
    List<CompletionQueue> queues() {
        return Stream.of(transmitQueue, receiveQueue).filter(Objects::nonNull).distinct().toList();
    }

    /** @throws WrongThreadException if the threading model gives the endpoint or one of its queues to another thread */
    void checkThread() {
        endpoint.domain.checkThread();
        if (transmitQueue != null) { transmitQueue.guard.checkThread(); }
        if (receiveQueue != null) { receiveQueue.guard.checkThread(); }
    }

    /** Makes the calling thread the owner of what was handed over to it. */
    void takeOverIfHeir() {
        endpoint.domain.guard.takeOverIfHeir();
        if (transmitQueue != null) { transmitQueue.guard.takeOverIfHeir(); }
        if (receiveQueue != null) { receiveQueue.guard.takeOverIfHeir(); }
    }

    /** Whether {@link #checkThread} would throw nothing. The owner may bind a queue meanwhile, which changes that. */
    boolean admitsCaller() {
        Thread caller = Thread.currentThread();
        return endpoint.domain.admits(caller) && (transmitQueue == null || transmitQueue.guard.admits(caller))
                && (receiveQueue == null || receiveQueue.guard.admits(caller));
    }

    /**
     * @throws WrongThreadException if the threading model gives the endpoint or its transmit queue to another thread
     * @throws IllegalStateException naming the open endpoints that share it
     */
    void requireClosable() {
        sharers.requireNone(endpoint);
        endpoint.domain.checkThread();
        if (transmitQueue != null) { transmitQueue.guard.checkThread(); }
    }

    /** Runs an action once for each queue, each time while no thread posts to that queue. */
    void betweenPosts(Runnable action) {
        if (queues().isEmpty()) { action.run(); }
        for (CompletionQueue queue : queues()) {
            ThreadGuard guard = queue.guard;
            guard.enterFromAnyThread();
            try {
                action.run();
            } finally {
                guard.exit();
            }
        }
    }

    /** Releases the bound objects after the endpoint was closed. */
    void release() {
        if (vector != null && role == Role.WHOLE) { vector.endpoints().remove(endpoint); }
        if (request != null && connection == null) { request.release(true); }
        if (scalable != null) { scalable.forget(endpoint); }
        if (sharedReceive != null) { sharedReceive.bindings.sharers.remove(endpoint); }
        if (sharedTransmit != null) { sharedTransmit.endpoints().remove(endpoint); }
        queues().forEach(queue -> queue.endpoints().remove(endpoint));
        counters.released(endpoint);
    }
}
