package io.ofi4j;

import static io.ofi4j.internal.observe.EventRecorder.RECORDER;

import io.ofi4j.EndpointBindings.Role;
import io.ofi4j.info.Capability;
import io.ofi4j.info.CompletionFormat;
import io.ofi4j.info.CounterEvent;
import io.ofi4j.info.Direction;
import io.ofi4j.info.EndpointAddress;
import io.ofi4j.info.EndpointOption;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.info.WaitObject;
import io.ofi4j.internal.engine.ChosenAddress;
import io.ofi4j.internal.engine.DataReceiveCount;
import io.ofi4j.internal.engine.StackRoom;
import io.ofi4j.internal.ffi.CmOps;
import io.ofi4j.internal.ffi.DomainOps;
import io.ofi4j.internal.ffi.EndpointOps;
import io.ofi4j.internal.ffi.FabricConstants;
import io.ofi4j.internal.ffi.FabricOps;
import io.ofi4j.internal.ffi.FidOps;
import io.ofi4j.internal.ffi.Handle;
import io.ofi4j.internal.ffi.OpenResult;
import io.ofi4j.internal.observe.LockOrder;
import io.ofi4j.internal.os.Errno;
import io.ofi4j.internal.quirks.EndpointView;
import io.ofi4j.internal.quirks.Fact;
import io.ofi4j.internal.quirks.QueueView;
import io.ofi4j.internal.quirks.Quirks;
import io.ofi4j.internal.quirks.Status;
import io.ofi4j.internal.quirks.VectorView;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.IntSupplier;

/**
 * The life cycle of an endpoint; fi_endpoint(3). It is bound and enabled in one step, and closed once, in ways that are
 * safe with every provider. Only {@link #become} changes {@link #state}. An alias has a life cycle of its own.
 *
 * <p>Every step of a close checks whether it is still to be done. A close that has thrown can therefore be called
 * again, and continues.
 */
final class EndpointLifeCycle implements EndpointView {
    /** The states of an endpoint. */
    enum State {
        /** Objects may be bound to it. */
        OPEN,
        /** It is being bound and enabled natively. A failure from here on closes it. */
        ENABLING,
        /** It takes operations. */
        ENABLED,
        /**
         * Its connection has ended, and the provider has closed it with the connection. Only {@code close} may be
         * called.
         */
        LOST,
        /** A thread is in {@code close}. From here on no other call is accepted. */
        CLOSING,
        /**
         * {@code close} has thrown or {@code tryClose} has returned false: the next call continues with what is left.
         */
        CLOSE_INTERRUPTED,
        /** Closed for the program, but not by the provider yet, because other endpoints may still use it. */
        POSTPONED,
        /** Closed. */
        CLOSED;

        /** Whether the transition from that state to this one exists. */
        boolean follows(State before) {
            return this == ENABLING && before == OPEN || this == ENABLED && before == ENABLING
                    || this == LOST && before == ENABLED || this == CLOSING && before.mayClose()
                    || this == CLOSE_INTERRUPTED && before == CLOSING || this == POSTPONED && before == CLOSING
                    || this == CLOSED && (before == CLOSING || before == POSTPONED);
        }

        /** Whether a call of close has something to do. */
        private boolean mayClose() {
            return compareTo(CLOSING) < 0 || this == CLOSE_INTERRUPTED;
        }

        private boolean isEnabledOrLost() { return this == ENABLED || this == LOST; }
    }

    static final Duration DRAIN_TIMEOUT = Duration.ofSeconds(2);
    private static final Duration CONNECTIONS_TIMEOUT = Duration.ofMillis(5);
    private static final int CONNECTION_ROUNDS = 64;

    private final Endpoint endpoint;
    /** The life cycle of the endpoint that this is an alias of, directly or by way of others; or this. */
    private final EndpointLifeCycle original;
    private final Domain domain;
    private final Handle handle;
    private final FabricInfo info;
    private final EndpointBindings bindings;
    private final ChosenAddress chosen;
    /** The number of receives posted for peers' writes with data. */
    private final int dataReceiveCount;
    /** Written under the endpoint's monitor, in {@link #become} alone. */
    private volatile State state;
    /** The state in which its first close began; before that, the present one. */
    private State stateBeforeClose;
    /** Held while a thread closes it, or while it must not be closed. Taken before every other lock. */
    private final ReentrantLock nativeClose = new ReentrantLock();
    /**
     * The provider's endpoint until fi_close was called, then null; and the objects that are closed after it, the last
     * first.
     */
    private Handle openHandle;
    private final Deque<Handle> owned = new ArrayDeque<>();
    /** The result of fi_close. */
    private int closeStatus;
    /** When its first close began; and whether the present one waits, or is tried again. */
    private long closeBegan;
    private boolean closeWaits;
    private volatile EndpointAddress address;
    /** The longest message that peers send, or 0 if it is not known. Set before the endpoint is enabled. */
    private long longestMessage;
    /** The event queue that reports joins, or null. */
    private Handle joinEvents;
    /** The same, of joins of multicast groups, or null. */
    private JoinEvents multicastEvents;

    EndpointLifeCycle(Endpoint endpoint, EndpointBindings bindings) { this(endpoint, bindings, null); }

    /** @param original the endpoint that this is an alias of, or null */
    EndpointLifeCycle(Endpoint endpoint, EndpointBindings bindings, EndpointLifeCycle original) {
        this.endpoint = endpoint;
        this.original = original == null ? this : original.original;
        this.domain = endpoint.domain;
        this.handle = endpoint.handle;
        this.openHandle = handle;
        this.info = endpoint.info();
        this.bindings = bindings;
        this.chosen = new ChosenAddress(info, endpoint.quirks);
        this.dataReceiveCount = DataReceiveCount.of(info);
        this.state = original == null ? State.OPEN : State.ENABLED;
        this.stateBeforeClose = state;
        updatePermissions();
    }

    /**
     * Changes the state, and updates the values that depend on it: the address of a connected endpoint, which is read
     * before the endpoint leaves {@link State#ENABLED}, and the fields that posting threads compare; see
     * {@link #updatePermissions}.
     *
     * @throws IllegalStateException if there is no transition from the present state to that one
     */
    private void become(State next) {
        synchronized (endpoint) {
            assert LockOrder.taken(rank(), endpoint);
            State before = state;
            if (!next.follows(before)) {
                throw isClosed() ? endpoint.closed() : new IllegalStateException(endpoint + " is " + before);
            }
            if (before == State.ENABLED) { rememberAddress(); }
            if (next == State.CLOSING && before != State.CLOSE_INTERRUPTED) { closeBegan = System.nanoTime(); }
            state = next;
            if (next == State.CLOSED && original == this) { domain.endpointNumbers.free(endpoint.number); }
            if (next.compareTo(State.CLOSING) < 0) { stateBeforeClose = next; }
            if (next == State.ENABLED) { // inside the guards of its queues
                updatePermissions();
            } else if (next == State.LOST || next == State.CLOSING) { refusePosts(); }
        }
    }

    private void refusePosts() {
        try {
            bindings.betweenPosts(this::updatePermissions);
        } catch (Throwable t) { // another thread has not left a guard in time
            if (state == State.CLOSING) { state = State.CLOSE_INTERRUPTED; }
            throw t;
        }
    }

    /**
     * Derives the fields that the data path compares from the state. The one comparison of
     * {@link Endpoint#reachableVector} shows that the endpoint is enabled and that the peer is in its vector.
     */
    private void updatePermissions() {
        boolean isEnabled = state == State.ENABLED;
        endpoint.reachableVector = isEnabled && bindings.role.canSend() ? bindings.vector() : Endpoint.NO_VECTOR;
        endpoint.mayReceive = isEnabled && bindings.role.canReceive() && bindings.sharedReceive() == null;
    }

    LockOrder.Rank rank() {
        return bindings.role == Role.SHARED_RECEIVE ? LockOrder.Rank.CONTEXT : LockOrder.Rank.ENDPOINT;
    }

    /** Whether a close has begun. */
    boolean isClosed() { return state.compareTo(State.CLOSING) >= 0; }

    boolean isOpen() { return state == State.OPEN; }

    /** Whether it was ever enabled. */
    boolean wasEnabled() { return stateBeforeClose.isEnabledOrLost(); }

    /** @throws IllegalStateException if the provider closed it because its connection has ended */
    void requireNotLost() {
        if (state == State.LOST) {
            throw new IllegalStateException(endpoint + " has lost its connection: open another");
        }
    }

    @Override
    public Handle handle() { return handle; }

    @Override
    public VectorView vector() { return bindings.vector().view(); }

    @Override
    public List<QueueView> queues() { return bindings.queues().stream().map(CompletionQueue::view).toList(); }

    @Override
    public EndpointAddress address() { return address; }

    void choose(EndpointAddress wanted) {
        bindings.requireWhole("address");
        if (!isOpen()) {
            throw new IllegalStateException(endpoint + " is enabled, and has its address: set one before enabling it");
        }
        chosen.choose(wanted);
    }

    void longestMessage(long bytes) {
        bindings.requireWhole("longest message");
        if (!isOpen()) { throw new IllegalStateException(endpoint + " is enabled: call longestMessage before enable"); }
        longestMessage = bytes;
    }

    long longestMessage() { return original.longestMessage; }

    /** Providers differ in when they take the option, and some take it too late without a word. */
    private void applyLongestMessage() {
        if (longestMessage == 0 || !info.capabilities().contains(Capability.MULTI_RECV)) { return; }
        EndpointOption<Long> option = EndpointOption.MINIMUM_MULTI_RECEIVE;
        Status.check(EndpointOps.fi_setopt(handle, option.number(), option.size(), longestMessage),
                "fi_setopt(" + option + ")", info.provider());
    }

    /**
     * Checks that everything is bound and that the endpoint may be enabled; under the endpoint's monitor, as
     * {@link #enable}.
     *
     * @throws IllegalStateException if it may not; the endpoint stays open
     */
    void beginEnable() {
        requireNotLost();
        bindings.requireComplete();
        if (!isOpen()) { throw new IllegalStateException(endpoint + " is enabled already"); }
        bindings.openHiddenQueue();
        try {
            requireServed();
        } catch (Throwable t) {
            bindings.dropHiddenQueue();
            throw t;
        }
        become(State.ENABLING);
    }

    /** Checks that its queues and counters can serve it. */
    private void requireServed() {
        CompletionQueue receiveQueue = bindings.receiveQueue();
        if (domain.queues.areDomains()) {
            if (bindings.transmitQueue() != receiveQueue) {
                throw new IllegalStateException(endpoint.quirks.refusal(Fact.QUEUE_DOMAINS_DIVIDE_ENDPOINTS));
            }
            bindings.counters.requireServe(receiveQueue);
            bindings.vector().prepare(receiveQueue);
        }
        receiveQueue.requireRoomForDataReceives(endpoint, dataReceiveCount);
        bindings.queues().forEach(queue -> bindings.counters.requireOwnerOf(queue.guard));
    }

    /** Binds everything to the native endpoint, and enables it. If that throws, it must be closed. */
    void enable() {
        if (state != State.ENABLING) { throw endpoint.closed(); }
        chosen.apply(handle, this::nativeAddress);
        domain.queues.insideGuards(bindings, () -> {
            bindAndEnable();
            return true;
        });
        if (!hasPeers()) { return; }
        endpoint.quirks.enabled(this);
        synchronized (domain) {
            assert LockOrder.taken(LockOrder.Rank.DOMAIN, domain);
            domain.regions.enabled(endpoint);
        }
    }

    /** Whether it has an address vector of its own: it is not a context, and not connected. */
    private boolean hasPeers() {
        return bindings.role == Role.WHOLE && !bindings.isConnectionOriented();
    }

    /**
     * Binds and enables in one step: insertions and error texts may visit every bound endpoint, and some providers
     * crash at one that is not enabled.
     */
    private void bindAndEnable() {
        bindings.forEachShared(context -> bind(context, 0, "fi_ep_bind(shared context)"));
        if (bindings.isConnectionOriented()) {
            bind(bindings.eventQueue().handle(), 0, "fi_ep_bind(event queue)");
            enableBound();
            return;
        }
        if (hasPeers()) {
            bind(bindings.vector().handle(), 0, "fi_ep_bind(address vector)");
            bindings.vector().boundNatively(endpoint);
        }
        try {
            enableBound();
        } catch (Throwable t) { // closed at once: the next poll would use the incomplete endpoint
            closeBound();
            if (address != null) { endpoint.quirks.closed(this); }
            closeOwned();
            throw t;
        }
    }

    private void enableBound() {
        bindQueues();
        boolean isLate = endpoint.quirks.has(Fact.RECEIVE_OPTIONS_NEED_ENABLE);
        if (!isLate) { applyLongestMessage(); }
        Status.check(switch (bindings.role) {
            case WHOLE -> endpoint.quirks.enable(this::nativeAddress, info.transmit().size(), info.receive().size(),
                    () -> FidOps.fi_enable(handle));
            case TRANSMIT, RECEIVE -> FidOps.fi_enable(handle);
            case SHARED_RECEIVE -> 0; // it takes receives from the start
        }, "fi_enable", info.provider());
        // other endpoints get an address with their connection, or have none
        if (hasPeers()) { address = nativeAddress(); }
        if (isLate) { applyLongestMessage(); }
        bindings.queues().forEach(queue -> queue.enabled(endpoint));
        bindings.counters.enabled(bindings.transmitQueue());
        if (bindings.hiddenQueue() != null) { bindings.counters.poll(bindings.hiddenQueue()); }
        if (dataReceiveCount > 0) {
            bindings.receiveQueue().dataReceives().post(endpoint, handle, dataReceiveCount,
                    domain.queues.hasCriticalReceives(endpoint));
        }
        become(State.ENABLED);
    }

    private void bindQueues() {
        // For some providers the first bound queue decides whether descriptors are used. If it has no wait object,
        // they add descriptor 0, standard input, to the wait objects of later queues.
        List<CompletionQueue> queues = bindings.queues().stream()
                .sorted(Comparator.comparing(CompletionQueue::hasWaitObject).reversed()).toList();
        for (CompletionQueue queue : queues) {
            bindQueue(queue);
        }
        bindings.counters.forEach((counter, flags) -> bind(counter.handle(), flags, "fi_ep_bind(counter)"));
        if (endpoint.quirks.has(Fact.NEEDS_WRITE_COUNTER) && bindings.role == Role.WHOLE
                && !bindings.counters.has(CounterEvent.WRITE)) {
            bindWriteCounter();
        }
        if (hasPeers()) { bindJoinEvents(); }
    }

    private void bindQueue(CompletionQueue queue) {
        int status = FidOps.fi_bind(handle, queue.handle(), bindings.directionBits(queue));
        boolean needsNone = bindings.role == Role.SHARED_RECEIVE
                && (status == -Errno.EINVAL || status == -Errno.ENOSYS);
        if (!needsNone) { Status.check(status, "fi_ep_bind(completion queue)", info.provider()); }
    }

    private void bindWriteCounter() {
        Handle counter = opened(DomainOps.fi_cntr_open(domain.handle(), WaitObject.NONE.value()), "fi_cntr_open");
        owned.push(counter);
        bind(counter, Access.WRITE.bit(), "fi_ep_bind(counter)");
    }

    private void bindJoinEvents() {
        if ((info.capabilityBits() & Capability.COLLECTIVE.bit()) != 0) {
            Status.check(tryBindJoinEvents(), "fi_ep_bind(event queue)", info.provider());
        } else if ((info.capabilityBits() & Capability.MULTICAST.bit()) != 0 && tryBindJoinEvents() == 0) {
            multicastEvents = new JoinEvents(joinEvents); // without them joins are refused, and all else works
        }
    }

    private int tryBindJoinEvents() {
        OpenResult out = FabricOps.fi_eq_open(domain.fabric().handle(), 0, FabricConstants.FI_WRITE,
                WaitObject.NONE.value());
        if (out.status() != 0) { return out.status(); }
        owned.push(out.handle());
        joinEvents = out.handle();
        return FidOps.fi_bind(handle, out.handle(), 0);
    }

    /**
     * @throws UnsupportedOperationException if more than one queue makes progress for its operations: their threads
     *         would race
     */
    Handle joinEvents() {
        Handle events = original.joinEvents;
        if (events == null || bindings.transmitQueue() != bindings.receiveQueue() || !bindings.counters.isEmpty()) {
            throw new UnsupportedOperationException("collective operations of " + endpoint
                    + " need one completion queue for both directions, and no counters:"
                    + " bind those to another endpoint");
        }
        return events;
    }

    /** @throws UnsupportedOperationException if the provider reports no joins of multicast groups */
    JoinEvents multicastEvents() {
        JoinEvents events = original.multicastEvents;
        if (events == null) {
            throw new UnsupportedOperationException(
                    "fi_join is not offered by the provider " + info.provider() + " for this endpoint");
        }
        return events;
    }

    /** Adds a native object that is closed after this endpoint. */
    void own(Handle object) {
        original.owned.push(object);
    }

    private Handle opened(OpenResult out, String operation) {
        Status.check(out.status(), operation, info.provider());
        return out.handle();
    }

    private void bind(Handle other, long flags, String operation) {
        Status.check(FidOps.fi_bind(handle, other, flags), operation, info.provider());
    }

    /** {@return the address at which peers reach it, as the provider reports it now; after the close, the last one} */
    EndpointAddress currentAddress() {
        bindings.requireWhole("address");
        return original.addressOfOriginal();
    }

    /** The address as it was read last, without a lock or a call; null if it was not read. */
    EndpointAddress lastAddress() {
        return address;
    }

    private EndpointAddress addressOfOriginal() {
        synchronized (endpoint) {
            if (bindings.isConnectionOriented() && state == State.ENABLED) { address = nativeAddress(); }
            if (address == null) {
                requireNotLost();
                throw hasNone();
            }
            return address;
        }
    }

    private EndpointAddress nativeAddress() {
        CmOps.Name name = CmOps.fi_getname(handle);
        Status.check(name.status(), "fi_getname", info.provider());
        if (name.address().length == 0) { throw hasNone(); }
        return addressOf(name);
    }

    /** A provider may find its device, and the address with it, only while it connects. */
    private IllegalStateException hasNone() {
        return new IllegalStateException(endpoint + " has no address before it is connected");
    }

    private void rememberAddress() {
        if (original != this || !bindings.isConnectionOriented()) { return; }
        CmOps.Name name = CmOps.fi_getname(handle);
        if (name.status() == 0 && name.address().length > 0) { address = addressOf(name); }
    }

    private EndpointAddress addressOf(CmOps.Name name) {
        return EndpointAddress.of(name.address(), info.addressFormat());
    }

    /**
     * As {@link Endpoint#close}.
     *
     * @param remaining the longest time to wait for operations, if that is less than {@link #DRAIN_TIMEOUT}
     */
    void close(Duration remaining) {
        StackRoom.require();
        Duration timeout = remaining.compareTo(DRAIN_TIMEOUT) < 0 ? remaining : DRAIN_TIMEOUT;
        if (state.mayClose()) { awaitDeferredWork(timeout); }
        if (!begin()) { return; }
        assert LockOrder.taken(LockOrder.Rank.ENDPOINT_CLOSE, nativeClose);
        nativeClose.lock(); // a shutdown may be in its close
        go(timeout, true);
    }

    /** As {@link Endpoint#tryClose}. */
    boolean tryClose() {
        StackRoom.require();
        if (state.mayClose()) { domain.queues.works.requireNoneWaiting(endpoint); }
        if (!begin()) { return state == State.POSTPONED || state == State.CLOSED; }
        if (!nativeClose.tryLock()) {
            become(State.CLOSE_INTERRUPTED);
            return false;
        }
        return go(DRAIN_TIMEOUT, false);
    }

    /** Refuses operations from now on. Returns whether there is something to close. */
    private boolean begin() {
        synchronized (endpoint) {
            if (!state.mayClose()) { return false; }
            bindings.requireClosable();
            endpoint.children.all(MulticastGroup.class).forEach(MulticastGroup::closeAgain);
            endpoint.children.requireNone(endpoint);
            become(State.CLOSING);
            return true;
        }
    }

    /** Closes it inside {@link #nativeClose}, which it leaves. Returns false if the next call is to continue. */
    private boolean go(Duration timeout, boolean waits) {
        boolean isFinished;
        try {
            try {
                closeWaits = waits;
                isFinished = finish(timeout);
            } finally {
                nativeClose.unlock();
            }
        } catch (Throwable t) {
            become(State.CLOSE_INTERRUPTED);
            throw t;
        }
        if (!isFinished) {
            become(State.CLOSE_INTERRUPTED);
            return false;
        }
        if (state == State.POSTPONED) { domain.closes.runDue(); } // closes that had to wait until this thread had left
        if (state == State.CLOSED && original == this && closeStatus == 0) { bindings.closeHiddenQueue(); }
        Status.check(closeStatus, "fi_close(endpoint)", info.provider());
        return true;
    }

    /** Runs a call which may take long, during which the provider's endpoint stays open: a close waits for it. */
    void whileNotClosed(Runnable call) {
        assert LockOrder.taken(LockOrder.Rank.ENDPOINT_CLOSE, nativeClose);
        nativeClose.lock();
        try {
            call.run();
        } finally {
            nativeClose.unlock();
        }
    }

    /** @throws IllegalStateException naming what is queued and waits for its counter */
    void awaitDeferredWork(Duration timeout) {
        domain.queues.works.awaitNone(endpoint, timeout);
    }

    /**
     * Cancels a receive of the endpoint or an alias, unless the endpoint closes, which cancels it too; inside the guard
     * of receives.
     */
    void cancelReceive(long context) {
        if (original.endpoint.mayReceive) { EndpointOps.fi_cancel(original.handle, context); }
    }

    /** Returns false if operations are in flight, and the close does not wait for them. */
    private boolean finish(Duration timeout) {
        endpoint.closeFlush();
        if (original != this) {
            finishAlias();
            return true;
        }
        Object recording = RECORDER.closing();
        if (bindings.transmitQueue() != null && !drain(timeout) || !closeNatively()) { return false; }
        cancel();
        bindings.release();
        domain.forget(endpoint);
        become(domain.closes.isPostponed(this) ? State.POSTPONED : State.CLOSED);
        RECORDER.closed(recording, info.provider(), info.endpoint().type());
        return true;
    }

    private void finishAlias() {
        domain.queues.works.requireNoneWaiting(endpoint); // no further operation can be queued
        if (openHandle != null) { closeOpenHandle(); }
        endpoint.original.children.remove(endpoint);
        become(State.CLOSED);
    }

    /**
     * Refuses operations from now on, because the connection ends.
     *
     * @throws IllegalStateException if it is closed, or has children, which are named; then nothing has changed
     */
    void lose() {
        synchronized (endpoint) {
            endpoint.children.requireNone(endpoint);
            become(State.LOST);
        }
    }

    /** Closes an endpoint that is {@link State#LOST}; operations in flight complete. */
    void closeWithConnection() {
        assert LockOrder.taken(LockOrder.Rank.ENDPOINT_CLOSE, nativeClose);
        nativeClose.lock();
        try {
            if (state != State.LOST) { return; } // another thread closes it, or has done so: its number may be reused
            closeWaits = true;
            drain(DRAIN_TIMEOUT);
            closeNatively();
            cancel();
        } finally {
            nativeClose.unlock();
        }
        Status.check(closeStatus, "fi_close(endpoint)", info.provider());
    }

    /**
     * Reads the completions that are there, and waits for operations that the provider cannot cancel. The endpoint
     * accepts no new ones. Returns false if there are some, and the close does not wait.
     */
    private boolean drain(Duration timeout) {
        CompletionQueue queue = bindings.transmitQueue();
        Quirks quirks = endpoint.quirks;
        domain.queues.works.requireNoneWaiting(endpoint); // no further operation can be queued
        queue.drain();
        if (!closeWaits && !progress(timeout, () -> domain.queues.works.areDone(endpoint))) { return false; }
        if (!wasEnabled()) { return true; }
        if (quirks.has(Fact.CONNECTIONS_OUTLIVE_CLOSE) && !letConnectionsFinish()) { return false; }
        if (quirks.has(Fact.DRAIN_BEFORE_CLOSE)) {
            return progress(timeout, () -> queue.transmitsInFlight(endpoint) == 0);
        }
        return !quirks.has(Fact.DRAIN_READS_BEFORE_CLOSE)
                || progress(timeout, () -> queue.readsInFlight(endpoint) == 0);
    }

    /** The other ends in this process, too: they ask for a connection only when their own domain makes progress. */
    private boolean letConnectionsFinish() {
        List<Domain> domains = OpenObjects.domains(info.provider());
        for (int round = 0; round < CONNECTION_ROUNDS; round++) { // whatever the machine does with this thread's time
            domains.forEach(one -> one.queues.progressFree());
        }
        return progress(CONNECTIONS_TIMEOUT, () -> {
            domains.forEach(one -> one.queues.progressFree());
            return false;
        });
    }

    /**
     * Makes progress until it is done, or for a time; if the close does not wait, once, and the time is that since its
     * first call. Returns false if neither is so.
     */
    private boolean progress(Duration timeout, BooleanSupplier isDone) {
        BooleanSupplier turn = () -> {
            domain.queues.progress(); // this thread may also own the other end of a transfer
            bindings.transmitQueue().drain(); // also while its buffer is full, when progress() does nothing
            return isDone.getAsBoolean();
        };
        if (!closeWaits) { return turn.getAsBoolean() || isTriedFor(timeout); }
        Waiting.YIELD.tryUntil(turn, timeout);
        return true;
    }

    @Override
    public boolean closeWaits() { return closeWaits; }

    @Override
    public boolean isTriedFor(Duration time) { return System.nanoTime() - closeBegan >= time.toNanos(); }

    /**
     * Has the provider close the endpoint, or postpones that. Neither is done a second time. Returns false if the
     * quirks have it wait, and the close does not wait.
     */
    private boolean closeNatively() {
        boolean isKnownToQuirks = wasEnabled() && hasPeers();
        if (openHandle != null && !domain.closes.isPostponed(this) && isKnownToQuirks) {
            switch (endpoint.quirks.beforeClose(this)) {
                case NOW -> {
                }
                case LATER -> domain.closes.postpone(this);
                case TRY_AGAIN -> {
                    return false;
                }
            }
        }
        removeFromDomain();
        if (domain.closes.isPostponed(this)) { return true; }
        if (openHandle != null) { closeStatus = closeHandle(); }
        if (bindings.eventQueue() != null) { bindings.requireConnection().endpointClosed(); }
        if (isKnownToQuirks) { endpoint.quirks.closed(this); }
        if (closeStatus == 0) {
            closeOwned();
            domain.queues.works.closed(endpoint);
        }
        return true;
    }

    /** Tells its queues and regions that it closes. */
    private void removeFromDomain() {
        bindings.queues().forEach(queue -> queue.endpoints().disabled(endpoint));
        synchronized (domain) {
            assert LockOrder.taken(LockOrder.Rank.DOMAIN, domain);
            domain.regions.closing(endpoint);
        }
    }

    /** Cancels the operations that the provider has not completed, and frees the slots that it no longer uses. */
    private void cancel() {
        boolean isClosedNatively = openHandle == null;
        if (!isClosedNatively && wasEnabled()) { bindings.receiveQueue().cancelReceives(endpoint); }
        bindings.queues().forEach(queue -> queue.cancel(endpoint, isClosedNatively));
        if (isClosedNatively && hasOwnReceives() && closeStatus == 0 && bindings.receiveQueue() != null) {
            bindings.receiveQueue().releaseDataReceives(endpoint);
        }
    }

    /** Whether ofi4j may have posted receives on it. */
    private boolean hasOwnReceives() {
        return dataReceiveCount > 0 || endpoint.quirks.has(Fact.UNTAKEN_MESSAGES_BREAK_CLOSE);
    }

    /** Closes on this thread if it may use the endpoint's queues, otherwise with the next close in the domain. */
    @Override
    public void closePostponed() {
        domain.closes.addDue(this::tryClosePostponed);
        if (domain.isClosed() || queues().stream().allMatch(QueueView::admitsCaller)) { domain.closes.runDue(); }
    }

    /**
     * Closes an endpoint whose close was postponed. A failure is not reported, because no caller waits for the close.
     *
     * @return false if another thread is in {@link #close}, which then runs this method
     */
    private boolean tryClosePostponed() {
        if (!nativeClose.tryLock()) { return false; }
        try {
            if (openHandle != null && domain.isClosed()) { // its queues are closed: there are no guards to enter
                closeOpenHandle();
            } else if (openHandle != null) { domain.queues.insideGuards(bindings, this::closeOpenHandle); }
            closeOwned();
            endpoint.quirks.closed(this);
            bindings.queues().forEach(queue -> queue.releaseAbandoned(endpoint));
            domain.regions.letGo(endpoint);
            domain.closes.release(this);
            synchronized (endpoint) {
                if (state == State.POSTPONED) { become(State.CLOSED); }
            }
            bindings.closeHiddenQueue();
        } finally {
            nativeClose.unlock();
        }
        return true;
    }

    private int closeHandle() {
        if (bindings.eventQueue() != null) {
            return bindings.eventQueue().closing(endpoint, handle, false, this::closeOpenHandle);
        }
        if (wasEnabled()) {
            // Some providers make progress during the close. Other progress would reach parts that are already freed.
            return domain.queues.insideGuards(bindings, () -> {
                takeMessagesInside(); // after this, nothing but the close may make progress
                return closeBound();
            });
        }
        return closeUnbound(domain, handle, endpoint.quirks, hasPeers(), this::closeOpenHandle);
    }

    /**
     * Closes an endpoint to which nothing was bound.
     *
     * @param hasPeers whether it takes an address vector
     * @param close calls fi_close of it
     */
    static int closeUnbound(Domain domain, Handle handle, Quirks quirks, boolean hasPeers, IntSupplier close) {
        boolean needsEnable = domain.queues.areDomains() || quirks.has(Fact.CLOSE_NEEDS_ENABLE);
        boolean needsVector = quirks.has(Fact.CLOSE_NEEDS_VECTOR) || quirks.has(Fact.CLOSE_NEEDS_ENABLE);
        return domain.fabric().lock.locked(
                () -> needsVector && hasPeers ? closeWithVector(domain, handle, needsEnable, close) : close.getAsInt());
    }

    /** For a provider whose fi_close of an endpoint uses its vector: binds an empty one first. */
    private static int closeWithVector(Domain domain, Handle handle, boolean needsEnable, IntSupplier close) {
        OpenResult vector = DomainOps.fi_av_open(domain.handle(), FabricConstants.FI_AV_TABLE, 0);
        Status.check(vector.status(), "fi_av_open", handle.provider());
        try {
            FidOps.fi_bind(handle, vector.handle(), 0);
            return needsEnable ? closeWithQueue(domain, handle, close) : close.getAsInt();
        } finally {
            FidOps.fi_close(vector.handle());
        }
    }

    /** As {@link #closeWithVector}, where the endpoint must be enabled too, with a queue. */
    private static int closeWithQueue(Domain domain, Handle handle, IntSupplier close) {
        OpenResult queue = DomainOps.fi_cq_open(domain.handle(), 1, CompletionFormat.DATA.value(),
                WaitObject.NONE.value(), -1);
        Status.check(queue.status(), "fi_cq_open", handle.provider());
        try {
            FidOps.fi_bind(handle, queue.handle(), Direction.TRANSMIT.bit() | Direction.RECEIVE.bit());
            FidOps.fi_enable(handle);
            return close.getAsInt();
        } finally {
            FidOps.fi_close(queue.handle());
        }
    }

    @Override
    public void takeMessages() {
        try (var _ = bindings.receiveQueue().guard.enterFromAnyThread()) {
            takeMessagesInside();
        }
    }

    private void takeMessagesInside() {
        if (endpoint.quirks.has(Fact.UNTAKEN_MESSAGES_BREAK_CLOSE)) { bindings.receiveQueue().takeMessages(endpoint); }
    }

    private int closeBound() {
        bindings.queues().forEach(CompletionQueue::closing);
        bindings.counters.closing();
        return closeOpenHandle();
    }

    private int closeOpenHandle() {
        openHandle = null;
        if (hasPeers() && bindings.vector() != null) { bindings.vector().closedNatively(endpoint); }
        return wasEnabled() && hasPeers()
                ? endpoint.quirks.close(this, () -> FidOps.fi_close(handle))
                : FidOps.fi_close(handle);
    }

    private void closeOwned() {
        while (!owned.isEmpty()) {
            FidOps.fi_close(owned.pop());
        }
    }
}
