package io.ofi4j;

import io.ofi4j.EndpointBindings.Role;
import io.ofi4j.info.Capability;
import io.ofi4j.info.CounterEvent;
import io.ofi4j.info.EndpointAddress;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.info.WaitObject;
import io.ofi4j.internal.engine.ChosenAddress;
import io.ofi4j.internal.engine.DataReceiveCount;
import io.ofi4j.internal.engine.UnboundClose;
import io.ofi4j.internal.ffi.CmOps;
import io.ofi4j.internal.ffi.DomainOps;
import io.ofi4j.internal.ffi.FabricConstants;
import io.ofi4j.internal.ffi.FabricOps;
import io.ofi4j.internal.ffi.FidOps;
import io.ofi4j.internal.ffi.Handle;
import io.ofi4j.internal.ffi.Opened;
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
import java.util.function.BooleanSupplier;

/**
 * The native endpoint: bound and enabled in one step, and closed once, in ways that are safe with every provider; fi_endpoint(3).
 * Its state is guarded by the monitor of its {@link Endpoint}.
 */
final class NativeEndpoint implements EndpointView {
    private static final Duration PATIENCE = Duration.ofSeconds(2);
    private static final Duration MOMENT = Duration.ofMillis(5);

    private final Endpoint endpoint;
    private final Domain domain;
    private final Handle handle;
    private final FabricInfo info;
    private final EndpointBindings bindings;
    private final ChosenAddress chosen;
    /** The number of receives posted for peers' writes with data. */
    private final int receives;
    private EndpointAddress address;
    /** Whether the provider has bound a vector to it. */
    private boolean hasVector;
    /** What is closed after it, the last first. */
    private final Deque<Handle> owned = new ArrayDeque<>();
    /** Where the ends of joins are reported, or null. */
    private Handle joinEvents;
    private boolean enabled;
    /** Whether the quirks of its provider were told that it is enabled. */
    private boolean isKnown;
    private boolean closed;
    /** Whether its queues and regions know that it closes. */
    private boolean isLeaving;
    /** Whether fi_close was called, or is put off. */
    private boolean isGone;

    NativeEndpoint(Endpoint endpoint, EndpointBindings bindings) {
        this.endpoint = endpoint;
        this.domain = endpoint.domain;
        this.handle = endpoint.handle;
        this.info = endpoint.info();
        this.bindings = bindings;
        this.chosen = new ChosenAddress(info, endpoint.quirks);
        this.receives = DataReceiveCount.of(info);
    }

    @Override
    public Handle handle() { return handle; }

    @Override
    public VectorView vector() { return bindings.vector().view(); }

    @Override
    public List<QueueView> queues() { return bindings.queues().stream().map(CompletionQueue::view).toList(); }

    void choose(EndpointAddress wanted) {
        bindings.requireWhole("address");
        if (enabled) {
            throw new IllegalStateException(endpoint + " is enabled, and has its address: choose one before");
        }
        chosen.choose(wanted);
    }

    boolean isEnabled() { return enabled; }

    /** @throws IllegalStateException if the provider closed it because its connection has ended */
    void requireThere() {
        if (closed) { throw new IllegalStateException(endpoint + " has lost its connection: open another"); }
    }

    /** Binds everything to the native endpoint, and enables it. */
    void enable() {
        requireThere();
        bindings.requireComplete();
        if (enabled) { throw new IllegalStateException(endpoint + " is enabled already"); }
        requireFit();
        chosen.tell(handle);
        domain.queues.undisturbed(bindings, () -> {
            bindAndEnable();
            return true;
        });
        if (bindings.isOfConnection() || bindings.role != Role.WHOLE) {
            return; // it gets its address with its connection, or has none
        }
        address = nativeAddress();
        endpoint.quirks.enabled(this);
        isKnown = true;
        synchronized (domain) {
            domain.regions.ofEndpoints.enabled(endpoint);
        }
    }

    private void requireFit() {
        CompletionQueue receiveQueue = bindings.receiveQueue();
        if (domain.queues.areDomains()) {
            if (bindings.transmitQueue() != receiveQueue) {
                throw new IllegalStateException(endpoint.quirks.refusal(Fact.QUEUES_ARE_DOMAINS));
            }
            bindings.counters.requireServe(receiveQueue);
            bindings.vector().prepare(receiveQueue);
        }
        receiveQueue.requireRoomForReceives(endpoint, receives);
        bindings.queues().forEach(queue -> bindings.counters.requireOwnerOf(queue.guard));
    }

    /** In one step: insertions and error texts may visit every bound endpoint, and some providers crash at one that is not enabled. */
    private void bindAndEnable() {
        bindAll();
        int status = -Errno.EIO;
        try {
            status = switch (bindings.role) {
                case WHOLE -> endpoint.quirks.enable(this::nativeAddress, info.transmit().size(), info.receive().size(),
                        () -> FidOps.fi_enable(handle));
                case TRANSMIT, RECEIVE -> FidOps.fi_enable(handle);
                case SHARED_RECEIVE -> 0; // it works from the start
            };
        } finally {
            if (status < 0 && hasVector) { // before the next poll, which would use what the endpoint lacks
                closed = true;
                closeBound();
                closeOwned();
            }
        }
        Status.check(status, "fi_enable", info.provider());
        enabled = true;
        bindings.queues().forEach(CompletionQueue::enabled);
        bindings.counters.enabled(bindings.transmitQueue());
        if (receives > 0) {
            bindings.receiveQueue().dataReceives().post(endpoint, handle, receives,
                    endpoint.domain.queues.hasCriticalReceives());
        }
    }

    private void bindAll() {
        bindings.forEachShared(context -> bind(context, 0, "fi_ep_bind(shared context)"));
        if (bindings.role != Role.WHOLE) {
            hasVector = true; // through what it is a part of
        } else if (bindings.isOfConnection()) {
            bind(bindings.eventQueue().handle(), 0, "fi_ep_bind(event queue)");
        } else {
            bind(bindings.vector().handle(), 0, "fi_ep_bind(address vector)");
            hasVector = true;
        }
        // the first decides for some providers whether there are descriptors; without one they add standard input
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
        if (bindings.role == Role.WHOLE && !bindings.isOfConnection()
                && (info.capabilityBits() & Capability.COLLECTIVE.bit()) != 0) {
            bindJoinEvents();
        }
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
        Handle events = opened(
                FabricOps.fi_eq_open(domain.fabric().handle(), 0, FabricConstants.FI_WRITE, WaitObject.NONE.value()),
                "fi_eq_open");
        owned.push(events);
        bind(events, 0, "fi_ep_bind(event queue)");
        joinEvents = events;
    }

    /** @throws UnsupportedOperationException if its operations make progress with more than one queue, whose threads would race */
    Handle joinEvents() {
        if (joinEvents == null || bindings.transmitQueue() != bindings.receiveQueue() || !bindings.counters.isEmpty()) {
            throw new UnsupportedOperationException("collective operations of " + endpoint
                    + " need one completion queue for both directions, and no counters: bind those to another endpoint");
        }
        return joinEvents;
    }

    /** Something native that goes with this endpoint, after it. */
    void own(Handle object) { owned.push(object); }

    private Handle opened(Opened out, String operation) {
        Status.check(out.status(), operation, info.provider());
        return out.handle();
    }

    private void bind(Handle other, long flags, String operation) {
        Status.check(FidOps.fi_bind(handle, other, flags), operation, info.provider());
    }

    @Override
    public EndpointAddress address() {
        bindings.requireWhole("address");
        synchronized (endpoint) {
            if (bindings.isOfConnection() && !closed) { address = nativeAddress(); }
            if (address == null) { requireThere(); }
            return address;
        }
    }

    private EndpointAddress nativeAddress() {
        CmOps.Name name = CmOps.fi_getname(handle);
        Status.check(name.status(), "fi_getname", info.provider());
        return addressOf(name);
    }

    private EndpointAddress addressOf(CmOps.Name name) {
        return EndpointAddress.of(name.address(), info.addressFormat());
    }

    /**
     * Reads what has completed, and waits two seconds at most for operations that the provider cannot cancel; the endpoint accepts no
     * new ones.
     */
    void drain() {
        CompletionQueue queue = bindings.transmitQueue();
        Quirks quirks = endpoint.quirks;
        domain.queues.works.closing(endpoint);
        queue.drain();
        if (!enabled) { return; }
        if (quirks.has(Fact.CONNECTIONS_OUTLIVE_CLOSE)) { progress(MOMENT, () -> false); }
        if (quirks.has(Fact.DRAIN_BEFORE_CLOSE)) {
            progress(PATIENCE, () -> queue.transmitsInFlight(endpoint) == 0
                    && domain.queues.works.transmitsInFlight(endpoint) == 0);
        } else if (quirks.has(Fact.DRAIN_READS_BEFORE_CLOSE)) {
            progress(PATIENCE, () -> queue.readsInFlight(endpoint) == 0);
        }
    }

    private void progress(Duration patience, BooleanSupplier isDone) {
        Waiting.YIELD.tryUntil(() -> {
            domain.queues.progress(); // this thread may own the other end of a transfer, too
            bindings.transmitQueue().drain(); // even if it keeps so many completions that progress() stops
            return isDone.getAsBoolean();
        }, patience);
    }

    /** Closes it once; operations in flight are canceled. If it throws before fi_close, the next call goes on. */
    int close() {
        synchronized (endpoint) {
            if (closed) { return 0; }
            if (enabled && bindings.isOfConnection()) {
                CmOps.Name name = CmOps.fi_getname(handle); // address() works after the close
                address = name.status() == 0 ? addressOf(name) : address;
            }
            closed = true;
        }
        try {
            return closeOnce();
        } catch (Throwable t) {
            closed = isGone;
            throw t;
        }
    }

    private int closeOnce() {
        boolean isNow = !isKnown || endpoint.quirks.beforeClose(this);
        if (!isLeaving) { leave(); }
        int status = 0;
        if (isNow) {
            status = closeHandle();
            if (status == 0) {
                closeOwned();
                domain.queues.works.closed(endpoint);
            }
        } else {
            isGone = true;
            domain.closes.hold(this);
            if (enabled) { bindings.receiveQueue().endReceives(endpoint); }
        }
        bindings.queues().forEach(queue -> queue.cancel(endpoint, isNow));
        if (enabled && receives > 0 && status == 0) { bindings.receiveQueue().forgetReceives(endpoint); }
        return status;
    }

    private void leave() {
        isLeaving = true;
        if (enabled) { bindings.queues().forEach(queue -> queue.endpoints().disabled()); }
        synchronized (domain) {
            domain.regions.ofEndpoints.closing(endpoint);
        }
    }

    /** Of a connection that has ended; operations in flight complete. */
    void closeEarly() {
        bindings.betweenPosts(() -> bindings.isLost = true);
        drain();
        Status.check(close(), "fi_close(endpoint)", info.provider());
    }

    /** On this thread if it may use the endpoint's queues, else with the next close in its domain. */
    @Override
    public void closeNow() {
        domain.closes.due(this, () -> {
            closeLate();
            closeOwned();
            endpoint.quirks.closed(this);
            bindings.queues().forEach(queue -> queue.forgetAbandoned(endpoint));
        });
        if (domain.isClosed() || queues().stream().allMatch(QueueView::admitsCaller)) { domain.closes.runDue(); }
    }

    /** No caller is left to report a failure to. */
    private void closeLate() {
        if (domain.isClosed()) { // nothing else of it is left
            FidOps.fi_close(handle);
        } else {
            domain.queues.undisturbed(bindings, () -> FidOps.fi_close(handle));
        }
    }

    private int closeHandle() {
        if (bindings.eventQueue() != null) {
            int status = bindings.eventQueue().closing(endpoint, handle, false, this::closeIt);
            bindings.requireConnection().endpointClosed();
            return status;
        }
        if (hasVector) { // some providers make progress meanwhile; other progress would reach parts that are freed already
            return domain.queues.undisturbed(bindings, this::closeBound);
        }
        return domain.fabric().lock.alone(() -> endpoint.quirks.has(Fact.CLOSE_NEEDS_VECTOR)
                && bindings.role == Role.WHOLE && !bindings.isOfConnection()
                        ? UnboundClose.close(domain.handle(), handle, domain.queues.areDomains(), info.provider(),
                                this::closeIt)
                        : closeIt());
    }

    private int closeIt() {
        isGone = true;
        return FidOps.fi_close(handle);
    }

    private void closeOwned() {
        while (!owned.isEmpty()) {
            FidOps.fi_close(owned.pop());
        }
    }

    private int closeBound() {
        bindings.queues().forEach(CompletionQueue::closing);
        bindings.counters.closing();
        int status = closeIt();
        if (isKnown) { endpoint.quirks.closed(this); }
        return status;
    }
}
