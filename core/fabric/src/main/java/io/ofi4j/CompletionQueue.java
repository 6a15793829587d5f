package io.ofi4j;

import static io.ofi4j.internal.observe.EventRecorder.RECORDER;

import io.ofi4j.errors.FabricException;
import io.ofi4j.info.Capability;
import io.ofi4j.info.CompletionFormat;
import io.ofi4j.info.CompletionQueueAttributes;
import io.ofi4j.info.CompletionQueueStatistics;
import io.ofi4j.info.EndpointStatistics;
import io.ofi4j.info.ThreadingModel;
import io.ofi4j.info.WaitObject;
import io.ofi4j.internal.engine.BlockingWait;
import io.ofi4j.internal.engine.BoundEndpoints;
import io.ofi4j.internal.engine.ContextSlab;
import io.ofi4j.internal.engine.DataReceives;
import io.ofi4j.internal.engine.LatencyHistogram;
import io.ofi4j.internal.engine.LifeCycle;
import io.ofi4j.internal.engine.StackRoom;
import io.ofi4j.internal.engine.ThreadGuard;
import io.ofi4j.internal.engine.WaitDescriptor;
import io.ofi4j.internal.ffi.CqFormat;
import io.ofi4j.internal.ffi.EndpointOps;
import io.ofi4j.internal.ffi.FidOps;
import io.ofi4j.internal.ffi.Handle;
import io.ofi4j.internal.ffi.TryWait;
import io.ofi4j.internal.os.Blocker;
import io.ofi4j.internal.os.Errno;
import io.ofi4j.internal.quirks.Fact;
import io.ofi4j.internal.quirks.QueueView;
import io.ofi4j.internal.quirks.Status;
import java.lang.foreign.Arena;
import java.time.Duration;
import java.util.Objects;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * Reports which operations have completed; fi_cq(3). Opened by {@link Domain#openCompletionQueue()}. A program binds it
 * to endpoints before it enables them. With manual progress, polling also makes progress for these endpoints.
 *
 * <p>The {@link ThreadingModel} of the domain decides which threads may call it; others get
 * {@link WrongThreadException}. If threads share a queue, each completion goes to one of them. Except for accessors,
 * every method throws {@link IllegalStateException} once the queue is closed, and {@link FabricException} if the queue
 * itself fails.
 */
public final class CompletionQueue implements AutoCloseable, Waitable {
    /** Operations in flight on this queue; used inside the guard only, like all fields below. */
    final ContextSlab contexts;
    final ThreadGuard guard;
    /** Whether completions contain the addresses of messages. */
    final boolean reportsBuffers;

    private final Domain domain;
    private final Handle handle;
    private final WaitObject waitObject;
    private final Arena arena;
    private final BoundEndpoints endpoints = new BoundEndpoints();
    private final DataReceives dataReceives = new DataReceives();
    private final QueueView view = new View();
    private final LifeCycle lifeCycle = new LifeCycle();
    private final CompletionReader completions;
    private final BlockingWait<CompletionHandler> blocking;
    private final TryWait tryWait;
    /** The number of completions that end a wait. */
    private final int waitThreshold;
    private final boolean resetsByReading;
    private final boolean detachesOnClose;
    /**
     * Takes the errors of a queue that ofi4j has opened for an endpoint without one: its completions are dropped, and
     * nobody polls it. Otherwise null.
     */
    private Consumer<CompletionError> failures;

    private CompletionQueue(Domain domain, Handle handle, int size, CompletionQueueAttributes attributes,
            ThreadGuard guard, Arena arena, WaitDescriptor descriptor) {
        CqFormat format = CqFormat.of(attributes.format().value(),
                domain.info().capabilities().contains(Capability.SOURCE) && !domain.quirks.has(Fact.SOURCES_MISSING),
                domain.quirks.has(Fact.SOURCES_OF_MESSAGES_ONLY), domain.quirks.has(Fact.UNKNOWN_SOURCES_ARE_ZERO));
        this.domain = domain;
        this.handle = handle;
        this.waitObject = attributes.waitObject();
        this.reportsBuffers = attributes.format().compareTo(CompletionFormat.DATA) >= 0;
        this.guard = guard;
        this.arena = arena;
        this.contexts = new ContextSlab(arena, size);
        this.blocking = new BlockingWait<>(descriptor, "await on " + this, new Reads());
        this.tryWait = new TryWait(domain.fabric().handle(), handle, arena);
        CompletionReader.Parts parts = new CompletionReader.Parts(this, handle, guard, contexts, format,
                domain.queues.hasCriticalPolls(), !domain.quirks.has(Fact.ERROR_DATA_UNSET), endpoints, dataReceives,
                lifeCycle);
        this.completions = new CompletionReader(parts, domain.regions, blocking);
        this.waitThreshold = attributes.waitThreshold();
        this.resetsByReading = domain.quirks.has(Fact.DESCRIPTOR_RESET_BY_READ);
        this.detachesOnClose = domain.quirks.has(Fact.STALE_WAIT_OBJECTS);
    }

    /** Wraps a native queue; closes it if that fails. */
    static CompletionQueue adopt(Domain domain, Handle handle, int size, CompletionQueueAttributes attributes,
            ThreadGuard guard) {
        Arena arena = Arena.ofShared();
        WaitDescriptor descriptor = null;
        try {
            descriptor = WaitDescriptor.open(handle, "a completion queue", attributes.waitObject());
            return new CompletionQueue(domain, handle, size, attributes, guard, arena, descriptor);
        } catch (Throwable t) {
            if (FidOps.fi_close(handle) == 0) { arena.close(); }
            if (descriptor != null) { descriptor.close(); }
            throw t;
        }
    }

    /** This queue, as the provider's quirks see it. */
    private final class View implements QueueView {
        @Override
        public Handle handle() { return handle; }

        @Override
        public boolean admitsCaller() { return guard.admitsFromAnyThread(Thread.currentThread()); }

        @Override
        public void drain() { CompletionQueue.this.drain(); }

        @Override
        public int inFlight() { return CompletionQueue.this.inFlight(); }
    }

    /** Sets the thread that need not enter the guard, or null. */
    void unlockedThread(Thread thread) {
        completions.unlockedThread(thread);
    }

    /**
     * Hands this queue over to another thread, where {@link ThreadingModel#COMPLETION} gives it to one, and with it the
     * queues and counters that share an endpoint with it, directly or by way of others. The rest is as with
     * {@link Domain#handOver}.
     *
     * @param next the thread that takes over
     * @throws IllegalStateException if the domain has another threading model, or this is called in a handler of
     *         completions, or the queue is closed
     */
    public void handOver(Thread next) {
        completions.requireOpen();
        domain.queues.handOver(this, next);
    }

    QueueView view() { return view; }

    Handle handle() { return handle; }

    Domain domain() { return domain; }

    DataReceives dataReceives() { return dataReceives; }

    BoundEndpoints endpoints() { return endpoints; }

    boolean hasWaitObject() { return waitObject != WaitObject.NONE; }

    /**
     * Records that an enabled endpoint is about to close; inside the guard. Some providers leave the endpoint in the
     * queue's wait object, where fi_trywait would use it.
     */
    void closing() { if (detachesOnClose) { blocking.detachProvider(); } }

    /** Records that an endpoint was enabled; inside the guard. */
    void enabled(Endpoint endpoint) {
        endpoints.enabled(endpoint);
        if (domain.queues.callsMayStop(endpoint)) { completions.readPlainly(); }
        completions.noteReadable();
        blocking.wake(); // who blocks already has not asked the provider
    }

    void bind(Endpoint endpoint) {
        try (var _ = guard.enterFromAnyThread()) {
            completions.requireOpen();
            endpoints.add(endpoint);
        }
    }

    /**
     * From now on, completions are dropped: the application does not know this queue.
     *
     * @param consumer takes the errors, inside the guard
     */
    CompletionQueue hide(Consumer<CompletionError> consumer) {
        failures = consumer;
        return this;
    }

    boolean isHidden() { return failures != null; }

    boolean isOpen() { return !completions.isClosed(); }

    /** From now on, operations may be in flight whose completions are not reported. */
    void dropSilent() {
        guard.enterFromAnyThread();
        completions.dropSilent();
        guard.exit();
    }

    /** {@return the number of operations that can be in flight on this queue} */
    public int size() {
        return contexts.capacity();
    }

    /**
     * {@return the number of operations in flight: accepted, their completion not read yet} One whose post a
     * StackOverflowError or another Error has broken off counts, too, since the provider may have accepted it: until it
     * completes, or its endpoint closes and reports it as canceled.
     */
    public int operationsInFlight() {
        try (var _ = guard.enter()) {
            return contexts.inFlight();
        }
    }

    /**
     * Reads available completions, passes them to the handler, and makes progress; fi_cq_read, fi_cq(3). It never
     * waits. If the handler throws, this method throws the same, and the remaining completions stay for the next poll.
     * The one that it was called with is handed out, also if a StackOverflowError came before its first statement.
     *
     * <p>If the stack ends inside this method, the next poll hands out what was read and not handed out, each
     * completion once. Two cases are left, which were never seen: if the stack ends in the JDK's code between the
     * return of fi_cq_read and this method, what was read is lost, and its operations count as in flight until their
     * endpoint closes; if it ends where the queue is unlocked, one completion is lost, and the next call throws
     * IllegalStateException with this reason.
     *
     * @param handler receives the completions
     * @param limit the maximum number of completions, at least 1; one call returns no more than 64
     * @return the number of completions passed to the handler, 0 if none was available
     * @throws IllegalArgumentException if the limit is below 1
     */
    public int poll(CompletionHandler handler, int limit) {
        if (limit < 1) { throw badLimit(limit); }
        Objects.requireNonNull(handler, "handler"); // before a completion is taken from the queue
        return completions.poll(handler, Math.min(limit, CompletionReader.BATCH));
    }

    /**
     * As {@link #poll}, but waits for completions; it does what fi_cq_sread(3) does. It blocks on the wait descriptor,
     * until something comes or the deadline passes, and looks again every 100 ms; other threads can poll and post
     * meanwhile. If the queue has no descriptor ({@link WaitObject#NONE}, {@link WaitObject#YIELD}, with some providers
     * {@link WaitObject#UNSPECIFIED}), it polls, with the pauses of {@link Waiting#BACKOFF}. A virtual thread always
     * polls, and releases its carrier between polls. It allocates nothing. Each thread that blocks needs a file
     * descriptor, which later waits use, too, and which closes with the last fabric of the process.
     *
     * @param deadline the longest time to wait; nanoseconds count
     * @return the number of completions passed to the handler; 0 after the deadline or {@link #signal}. With a
     *         {@link CompletionQueueAttributes#waitThreshold} it may be fewer than the threshold at the deadline
     * @throws IllegalStateException if this queue is closed, or another thread closes it during the wait
     * @throws FabricException if the queue itself fails, or the thread is interrupted: errno {@code EINTR} (4), with
     *         the interrupt status still set
     */
    public int await(CompletionHandler handler, int limit, Duration deadline) {
        return await(handler, limit, deadline, Duration.ZERO);
    }

    /**
     * As {@link #await(CompletionHandler, int, Duration)}, but first polls again and again for some time, as
     * {@link Waiting#SPIN} does: what comes in that time does not have to wake a thread, which takes several
     * microseconds. Then it blocks, or polls with pauses.
     *
     * @param spin how long to poll before it blocks; at most until the deadline. A virtual thread yields its carrier
     *        between these polls
     */
    public int await(CompletionHandler handler, int limit, Duration deadline, Duration spin) {
        Objects.requireNonNull(handler, "handler");
        if (limit < 1) { throw badLimit(limit); }
        guard.checkThread(); // before a signal is consumed
        int taken = blocking.until(handler, limit, deadline, spin);
        return taken == 0 && waitThreshold > 1 ? poll(handler, limit) : taken;
    }

    /**
     * Wakes all threads in {@link #await}, whether they block or sleep between polls; if none waits, the next call of
     * it returns at once; it does what fi_cq_signal(3) does. An application's own event loop wakes too: the wait
     * descriptor becomes readable, or, if no thread waits, the next {@link #tryWait} returns false. Any thread may call
     * this with any threading model.
     */
    public void signal() {
        completions.requireOpen();
        blocking.signal();
    }

    @Override
    public int waitDescriptor() {
        try (var _ = guard.enter()) {
            return requireDescriptor().number;
        }
    }

    @Override
    public boolean tryWait() {
        try (var _ = guard.enter()) {
            WaitDescriptor descriptor = requireDescriptor();
            return !blocking.takeSignal() && isQuiet(descriptor);
        }
    }

    private WaitDescriptor requireDescriptor() {
        completions.requireOpen();
        return blocking.requireDescriptor(this);
    }

    /** What {@link #await} waits for. */
    private final class Reads implements BlockingWait.Source<CompletionHandler> {
        @Override
        public int take(CompletionHandler handler, long limit, long none) {
            return waitThreshold <= 1 || isThresholdReached() ? poll(handler, (int) limit) : 0;
        }

        @Override
        public boolean mayBlock() {
            if (!blocking.hasDescriptor()) { return false; }
            try (var _ = guard.enter()) {
                boolean quiet = isQuiet(requireDescriptor());
                if (quiet) { blocking.beginBlocking(); }
                return quiet;
            }
        }

        @Override
        public void block(Blocker blocker, long limit, long nanos) {
            blocker.block(nanos, blocking.requireDescriptor(CompletionQueue.this).number);
        }
    }

    /** Whether the queue is empty, so that the next completion makes the descriptor readable. */
    private boolean isQuiet(WaitDescriptor descriptor) {
        if (completions.buffered() > 0) { return false; }
        descriptor.reset();
        if (!completions.isReadable()) { return true; }
        if (descriptor.isDetached()) { return !completions.fetchIntoBuffer(); }
        int status = tryWait.fi_trywait();
        if (status == -Errno.ENOSYS) { descriptor.detachProvider(); } // its own may stay readable, or never be
        if (status == -Errno.EAGAIN || status == -Errno.ENOSYS) { return false; }
        Status.check(status, "fi_trywait", handle.provider());
        if (completions.fetchIntoBuffer()) { // fi_trywait of some providers does not read their queue
            return false;
        }
        return !resetsByReading || !descriptor.isProviderReady() || !completions.awaitIntoBuffer();
    }

    private boolean isThresholdReached() {
        try (var _ = guard.enter()) {
            completions.requireOpen();
            while (completions.buffered() < waitThreshold && completions.fetchIntoBuffer()) {
                Thread.onSpinWait();
            }
            return completions.buffered() >= waitThreshold;
        }
    }

    /**
     * Makes progress and buffers completions for the next {@link #poll}. Does nothing while it buffers as many
     * completions as operations can be in flight ({@link #size}).
     */
    public void progress() { progress(true); }

    /** Makes progress unless this queue is closed; returns whether it found a completion. */
    boolean progressIfOpen() {
        return progress(false);
    }

    private boolean progress(boolean mustBeOpen) {
        if (isHidden()) { return drop(); }
        boolean found = false;
        try (var _ = guard.enter()) {
            if (mustBeOpen) { completions.requireOpen(); }
            if (completions.isClosed()) { return false; }
            found = completions.buffered() < contexts.capacity() && completions.fetchIntoBuffer();
            if (found) { blocking.wake(); }
        }
        completions.finishIdleRegions();
        return found;
    }

    /** Reads and drops what is there; returns whether there was something. */
    private boolean drop() {
        boolean found;
        try (var _ = guard.enter()) {
            found = !completions.isClosed() && completions.fetchIntoBuffer();
            completions.dropBuffered(failures);
        }
        completions.finishIdleRegions();
        return found;
    }

    /**
     * {@return counts since the queue was opened, and what it holds} It works after close. With SAFE and COMPLETION any
     * thread may call it.
     */
    public CompletionQueueStatistics statistics() { return fromAnyThread(completions::statistics); }

    /** As {@link #statistics}, but waits for no other thread: the counts may be a little older. */
    CompletionQueueStatistics unguardedStatistics() {
        return completions.statistics();
    }

    EndpointStatistics statisticsOf(Endpoint endpoint) {
        return fromAnyThread(() -> new EndpointStatistics(contexts.inFlightOfEndpoint(endpoint.number),
                endpoint.canceled, endpoint.timesFull, endpoint.slowPosts.get(),
                LatencyHistogram.latencies(endpoint.bindings.latencies)));
    }

    /** Starts recording latencies from zero, or stops. */
    void recordLatencies(Endpoint endpoint, boolean on) {
        fromAnyThread(() -> {
            if (endpoint.isClosed()) { throw endpoint.closed(); }
            if (on) { endpoint.bindings.latencies = new LatencyHistogram(); }
            contexts.record(endpoint.number, on ? endpoint.bindings.latencies : null);
            return null;
        });
    }

    int transmitsInFlight(Endpoint endpoint) {
        return fromAnyThread(() -> contexts.transmitsInFlight(endpoint.number));
    }

    int readsInFlight(Endpoint endpoint) { return fromAnyThread(() -> contexts.readsInFlight(endpoint.number)); }

    int inFlight() { return fromAnyThread(contexts::inFlight); }

    /** Whether progress has stopped because the buffer of completions is full. */
    boolean isBufferFull() {
        return fromAnyThread(() -> completions.buffered() >= contexts.capacity());
    }

    /**
     * Buffers the completion of an operation that needs no transfer; inside the guard. Returns whether there was room.
     */
    boolean buffer(long token, long flags, long data) {
        boolean hasRoom = completions.buffer(token, flags, data);
        if (hasRoom) { blocking.wake(); }
        return hasRoom;
    }

    /** Reports deferred work that was canceled. */
    void failed(CompletionError error) {
        try (var _ = guard.enterFromAnyThread()) {
            completions.buffer(error);
            blocking.wake();
        }
    }

    int inFlight(MemoryRegion region) { return fromAnyThread(() -> contexts.inFlightOfRegion(region.number)); }

    private <T> T fromAnyThread(Supplier<T> action) {
        try (var _ = guard.enterFromAnyThread()) {
            return action.get();
        }
    }

    /** Reads everything that an endpoint has completed, before it is closed. */
    void drain() {
        try (var _ = guard.enterFromAnyThread()) {
            while (!completions.isClosed() && completions.fetchIntoBuffer()) {
                blocking.wake();
            }
            if (isHidden()) { completions.dropBuffered(failures); }
        }
    }

    /** @throws IllegalStateException if there is too little room for the receives of another endpoint */
    void requireRoomForDataReceives(Endpoint endpoint, int count) {
        try (var _ = guard.enterFromAnyThread()) {
            dataReceives.requireRoom(this, size(), endpoint, count);
        }
    }

    /** Frees the contexts of a closed endpoint's receives: the provider no longer writes to them. */
    void releaseDataReceives(Endpoint endpoint) {
        drain();
        try (var _ = guard.enterFromAnyThread()) {
            dataReceives.release(endpoint, endpoint.handle);
        }
    }

    /** Receives, and drops, the messages that wait at an endpoint; inside the guard. */
    void takeMessages(Endpoint endpoint) {
        Set<Capability> has = endpoint.info().capabilities();
        dataReceives.drain(endpoint.handle).run(has.contains(Capability.MSG), has.contains(Capability.TAGGED), () -> {
            while (completions.fetchIntoBuffer()) {
                blocking.wake();
            }
        });
    }

    /** Cancels the receives of an endpoint whose native close is postponed: they would occupy slots until then. */
    void cancelReceives(Endpoint endpoint) {
        try (var _ = guard.enterFromAnyThread()) {
            for (long context : contexts.postedReceives(endpoint.number)) {
                // if the provider cancels nothing, the slot stays taken
                EndpointOps.fi_cancel(endpoint.handle, context);
            }
        }
    }

    /**
     * Frees the slots of operations of an endpoint whose native close was postponed: the provider completes none of
     * them now. Slots in a queue that belongs to another thread stay.
     */
    void releaseAbandoned(Endpoint endpoint) {
        if (completions.isClosed() || !guard.admitsFromAnyThread(Thread.currentThread())) { return; }
        drain();
        try (var _ = guard.enterFromAnyThread()) {
            contexts.releaseAbandoned(endpoint.number);
            dataReceives.release(endpoint, endpoint.handle);
        }
    }

    /**
     * Reports as canceled every operation that a closed endpoint has not completed.
     *
     * @param isClosed whether the provider has closed the endpoint and completes no more of its operations
     */
    void cancel(Endpoint endpoint, boolean isClosed) {
        drain();
        try (var _ = guard.enterFromAnyThread()) {
            int count = completions.cancel(endpoint, isClosed);
            if (count > 0) { blocking.wake(); }
            if (isHidden()) { completions.dropBuffered(_ -> {}); } // these have not failed
            endpoint.canceled += count;
        }
        if (endpoint.canceled > 0) { RECORDER.canceled(endpoint.info().provider(), endpoint.canceled); }
        completions.finishIdleRegions();
    }

    /**
     * Closes the queue; fi_close, fi_cq(3). Unread completions are discarded. If endpoints bound to it are open, it
     * throws {@link IllegalStateException}, which names them, and stays open. After FabricException of fi_close it is
     * closed, and its contexts are not freed. After any other exception, such as for another thread's wait that does
     * not end, it takes no calls but {@code close}, which continues.
     */
    @Override
    public void close() {
        StackRoom.require();
        try (var _ = guard.enter()) {
            if (!lifeCycle.mayClose()) { return; }
            endpoints.requireNone(this);
            lifeCycle.begin();
            completions.noteClosing();
        }
        int closeStatus = lifeCycle.finish(() -> {
            blocking.drain();
            int status = domain.closes.close(this::closeNatively);
            domain.forget(this);
            return status;
        });
        Status.check(closeStatus, "fi_close(completion queue)", handle.provider());
    }

    private int closeNatively() {
        if (!lifeCycle.beginNativeClose()) { return 0; }
        int status = FidOps.fi_close(handle);
        blocking.close();
        if (status == 0) { // otherwise the provider may still write to the contexts: leak them
            arena.close();
        }
        return status;
    }

    private static IllegalArgumentException badLimit(int limit) {
        return new IllegalArgumentException("poll takes a limit of at least 1, not " + limit);
    }

    @Override
    public String toString() { return "CompletionQueue of " + handle.provider(); }
}
