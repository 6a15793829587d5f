package io.ofi4j;

import io.ofi4j.errors.FabricException;
import io.ofi4j.errors.FabricTimeoutException;
import io.ofi4j.info.CounterEvent;
import io.ofi4j.info.ThreadingModel;
import io.ofi4j.info.WaitObject;
import io.ofi4j.internal.engine.BlockingWait;
import io.ofi4j.internal.engine.LifeCycle;
import io.ofi4j.internal.engine.OpenChildren;
import io.ofi4j.internal.engine.StackRoom;
import io.ofi4j.internal.engine.ThreadGuard;
import io.ofi4j.internal.ffi.CntrOps;
import io.ofi4j.internal.ffi.FidOps;
import io.ofi4j.internal.ffi.Handle;
import io.ofi4j.internal.os.Blocker;
import io.ofi4j.internal.os.Errno;
import io.ofi4j.internal.quirks.Fact;
import io.ofi4j.internal.quirks.Quirks;
import io.ofi4j.internal.quirks.Status;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongToIntFunction;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * Counts completed and failed operations; fi_cntr(3). Opened by {@link Domain#openCounter()}. A program binds it to
 * endpoints before it enables them. With manual progress, reading it also makes progress for these endpoints. Its wait
 * object serves {@link #await} only: hardly any provider exposes a counter's descriptor.
 *
 * <p>The {@link ThreadingModel} of the domain decides which threads may call it; others get
 * {@link WrongThreadException}. With COMPLETION, one thread must open all counters and queues of an endpoint, and where
 * the provider makes each queue a domain of its own, a counter serves endpoints of one completion queue; see the table
 * of refusals in {@code core/guide/REFUSALS.md}. Except for accessors, every method throws
 * {@link IllegalStateException} once the counter is closed. Methods that change it throw
 * {@link IllegalArgumentException} for a number below 0, and {@link UnsupportedOperationException} if the provider does
 * not offer the call.
 */
public final class Counter implements AutoCloseable {
    /** How long a thread stays in libfabric, where neither an interrupt nor a close would end its wait. */
    private static final int SLICE_MILLIS = 10;
    private static final long NANOS_PER_MILLI = 1_000_000;
    /** The longest sleep between reads in the last millisecond of a wait. */
    private static final long MAX_PARK_NANOS = 50_000;

    final ThreadGuard guard;

    /**
     * Whether a provider was used that puts its own fi_cntr_wait into a table that providers share. That function
     * misreads the endpoints of other providers.
     */
    private static volatile boolean isWaitSpoiled;

    private final Domain domain;
    private final Handle handle;
    private final CntrOps ops;
    private final boolean hasOwnTable;
    private final BlockingWait<Void> blocking;
    /** Whether fi_cntr_wait may be called; changed while no thread is in it. */
    private boolean blocks;
    private final OpenChildren bound = new OpenChildren();
    /** The number of errors already reported to the application. */
    private long knownErrors;
    /** The number of errors that the application has set last. */
    private long errorsSet;
    /**
     * Whether the native counter may be called. Where each queue is a domain of its own, a call before an endpoint was
     * enabled with the counter ends the process. Until then the counts are those that the application added.
     */
    private boolean isReadable;
    private long added;
    private long addedErrors;
    /** The number of failures that hidden queues have reported, and how many of these the provider has not counted. */
    private long failures;
    private long uncounted;
    /** The queue of its endpoints, if it can serve only one. */
    private CompletionQueue queue;
    /** Hidden queues of its endpoints, whose completions free the places of operations. Replaced, never changed. */
    private volatile CompletionQueue[] hiddenQueues = {};
    private final LifeCycle lifeCycle = new LifeCycle();

    private Counter(Domain domain, Handle handle, WaitObject waitObject, ThreadGuard guard) {
        this.domain = domain;
        this.handle = handle;
        this.guard = guard;
        Quirks quirks = domain.quirks;
        this.ops = new CntrOps(handle, domain.queues.hasCriticalCounters());
        this.hasOwnTable = quirks.has(Fact.OWN_COUNTER_TABLE);
        this.blocks = quirks.has(Fact.BLOCKING_COUNTER_WAIT)
                && (waitObject == WaitObject.FD || waitObject == WaitObject.UNSPECIFIED);
        isWaitSpoiled |= quirks.has(Fact.SPOILS_COUNTER_WAIT);
        this.blocking = new BlockingWait<>(null, "fi_cntr_wait", new Reads());
        this.isReadable = !domain.queues.areDomains();
    }

    /** Wraps a native counter; closes it if that fails. */
    static Counter adopt(Domain domain, Handle handle, WaitObject waitObject, ThreadGuard guard) {
        try {
            return new Counter(domain, handle, waitObject, guard);
        } catch (Throwable t) {
            FidOps.fi_close(handle);
            throw t;
        }
    }

    Handle handle() { return handle; }

    Domain domain() { return domain; }

    /** The endpoints that it counts for. */
    Stream<Endpoint> endpoints() { return bound.all(Endpoint.class); }

    /**
     * As {@link CompletionQueue#handOver}, for this counter.
     *
     * @param next the thread that takes over
     * @throws IllegalStateException if the domain has another threading model, or this is called in a handler of
     *         completions, or the counter is closed
     */
    public void handOver(Thread next) {
        requireOpen();
        domain.queues.handOver(this, next);
    }

    void bind(Object child) {
        try (var _ = guard.enterFromAnyThread()) {
            requireOpen();
            bound.add(child);
        }
    }

    /** Counts what peers do to a region; fi_mr_bind; returns libfabric's status. */
    int bindNatively(Handle region) {
        try (var _ = enterWithoutWaiters()) {
            requireOpen();
            return FidOps.fi_bind(region, handle, CounterEvent.REMOTE_WRITE.bit());
        }
    }

    /** @throws IllegalStateException if this counter serves only one queue, and it is another queue */
    void requireServes(CompletionQueue wanted) {
        if (queue != null && queue != wanted) {
            throw new IllegalStateException(domain.quirks.refusal(Fact.QUEUE_DOMAINS_DIVIDE_COUNTERS));
        }
    }

    /** Records that an endpoint with that queue was enabled; inside the guard. */
    void enabled(CompletionQueue served) {
        queue = domain.queues.areDomains() ? served : null;
        isReadable = true;
    }

    /**
     * Records that an enabled endpoint is about to close; inside the guard, with no thread in fi_cntr_wait. The
     * endpoint may leave stale entries in the counter's wait object, which fi_cntr_wait would read.
     */
    void closing() { blocks &= !domain.quirks.has(Fact.STALE_WAIT_OBJECTS); }

    private long count() { return isReadable ? ops.fi_cntr_read() : added; }

    private long errors() { return isReadable ? ops.fi_cntr_readerr() + uncounted : addedErrors; }

    /**
     * Records that an operation has failed, of an endpoint without a queue. Providers count most failures, but not
     * those of what was in flight when a connection ended.
     */
    void failed() {
        try (var _ = guard.enterFromAnyThread()) {
            failures++;
            uncounted = Math.max(uncounted, failures - (ops.fi_cntr_readerr() - addedErrors));
        }
    }

    void unbind(Object child) { bound.remove(child); }

    /** Has reads poll a hidden queue until that is closed; inside the guard. */
    void poll(CompletionQueue hidden) {
        hiddenQueues = Stream.concat(Stream.of(hiddenQueues).filter(CompletionQueue::isOpen), Stream.of(hidden))
                .toArray(CompletionQueue[]::new);
    }

    private void pollHidden() {
        for (CompletionQueue hidden : hiddenQueues) {
            hidden.progressIfOpen();
        }
    }

    /** Enters the guard, and waits until no thread blocks in libfabric. */
    ThreadGuard enterWithoutWaiters() {
        guard.enterFromAnyThread();
        blocking.drain();
        return guard;
    }

    /** {@return the number of completed operations; fi_cntr_read, fi_cntr(3)} Makes progress. */
    public long read() {
        pollHidden();
        try (var _ = guard.enter()) {
            requireOpen();
            return count();
        }
    }

    /**
     * {@return the number of failed operations; fi_cntr_readerr, fi_cntr(3)} {@link #await} does not report these
     * errors again.
     */
    public long readErrors() {
        pollHidden();
        try (var _ = guard.enter()) {
            requireOpen();
            knownErrors = errors();
            return knownErrors;
        }
    }

    /** Adds a number, 0 or more, to the count; fi_cntr_add. */
    public void add(long operations) {
        change("fi_cntr_add", operations, ops::fi_cntr_add, () -> added += operations);
    }

    /** Counts an operation that libfabric has not carried out; on the thread of its queue. */
    void countOne() {
        try (var _ = guard.enterFromAnyThread()) {
            if (ops.fi_cntr_add(1) == 0) { added++; }
        }
    }

    /** Sets the count, 0 or more; fi_cntr_set. */
    public void set(long operations) {
        change("fi_cntr_set", operations, ops::fi_cntr_set, () -> added = operations);
    }

    /** Adds a number, 0 or more, to the count of errors; fi_cntr_adderr. */
    public void addErrors(long operations) {
        change("fi_cntr_adderr", operations, ops::fi_cntr_adderr, () -> addedErrors += operations);
    }

    /** Sets the count of errors, 0 or more; fi_cntr_seterr. */
    public void setErrors(long operations) {
        change("fi_cntr_seterr", operations, ops::fi_cntr_seterr, () -> {
            knownErrors = addedErrors = errorsSet = operations;
            failures = uncounted = 0;
        });
    }

    private void change(String call, long value, LongToIntFunction nativeCall, Runnable update) {
        if (value < 0) { throw new IllegalArgumentException("a count must be 0 or more, not " + value); }
        try (var _ = guard.enter()) {
            requireOpen();
            Status.check(nativeCall.applyAsInt(value), call, handle.provider());
            update.run();
        }
    }

    /**
     * Waits until the count reaches a threshold; fi_cntr_wait, fi_cntr(3). It blocks in libfabric if the counter has a
     * wait object, its endpoints have queues, and the provider respects the deadline: for up to 10 ms at a time, since
     * neither an interrupt nor a close would end that call. Otherwise it reads again and again, with the pauses of
     * {@link Waiting#BACKOFF}. A virtual thread always reads, and releases its carrier between reads. It allocates
     * nothing.
     *
     * @param threshold the count to wait for
     * @param deadline the longest time to wait; nanoseconds count
     * @throws FabricTimeoutException if the count is below the threshold at the deadline
     * @throws FabricException with errno {@code EAVAIL} (259) if there are new errors, in each thread that waits; with
     *         {@code EINTR} (4) if the thread is interrupted, with the interrupt status still set
     * @throws IllegalStateException if this counter is closed, or another thread closes it during the wait
     */
    public void await(long threshold, Duration deadline) { await(threshold, deadline, Duration.ZERO); }

    /**
     * As {@link #await(long, Duration)}, but first reads again and again for some time, as {@link Waiting#SPIN} does.
     *
     * @param spin how long to read before it blocks; at most until the deadline. A virtual thread yields its carrier
     *        between these reads
     */
    public void await(long threshold, Duration deadline, Duration spin) {
        if (blocking.until(null, threshold, deadline, spin) == 0) {
            throw new FabricTimeoutException("waiting for " + threshold + " on " + this, deadline,
                    "It stands at " + read() + ": do the peers make progress?");
        }
    }

    /** @param errorsBefore those told when the wait began: each thread that waits is told of later ones */
    private boolean isReached(long threshold, long errorsBefore) {
        pollHidden();
        try (var _ = guard.enter()) {
            requireOpen();
            if (Long.compareUnsigned(count(), threshold) >= 0) { return true; }
            long errors = errors();
            long fresh = errors - (errors < errorsBefore ? knownErrors : Math.max(errorsBefore, errorsSet));
            knownErrors = errors;
            if (fresh != 0) {
                throw new FabricException("waiting for " + threshold + " on " + this + " ended: "
                        + (fresh == 1 ? "an operation" : fresh + " operations")
                        + " failed. The completion queue of its endpoint says which and why"
                        + (hiddenQueues.length == 0 ? "." : ": bind one."), "fi_cntr_wait", Errno.EAVAIL);
            }
            return false;
        }
    }

    /** What {@link #await} waits for. */
    private final class Reads implements BlockingWait.Source<Void> {
        @Override
        public long begin() {
            try (var _ = guard.enter()) {
                return knownErrors;
            }
        }

        @Override
        public int take(Void none, long threshold, long errorsBefore) {
            return isReached(threshold, errorsBefore) ? 1 : 0;
        }

        @Override
        public boolean mayBlock() {
            if (!blocks) { return false; } // may be out of date, as it is read outside the guard
            try (var _ = guard.enter()) {
                requireOpen();
                boolean mayBlock = blocks && isReadable && (!isWaitSpoiled || hasOwnTable) && hiddenQueues.length == 0;
                if (mayBlock) { blocking.beginBlocking(); }
                return mayBlock;
            }
        }

        @Override
        public void block(Blocker blocker, long threshold, long nanos) {
            long milliseconds = Math.min(nanos / NANOS_PER_MILLI, SLICE_MILLIS);
            if (milliseconds == 0) {
                LockSupport.parkNanos(Counter.this, Math.min(nanos, MAX_PARK_NANOS)); // libfabric has milliseconds
            } else {
                ops.fi_cntr_wait(threshold, (int) milliseconds);
            }
        }
    }

    /** @throws IllegalStateException if it is closed; any thread may call this */
    void requireOpen() {
        lifeCycle.requireOpen(this);
    }

    /** Runs an action while no other thread uses or closes this counter. */
    <T> T locked(Supplier<T> action) {
        try (var _ = guard.enterFromAnyThread()) {
            return action.get();
        }
    }

    /** Whether endpoints, regions or deferred work need it. */
    boolean isBound() { return !bound.isEmpty(); }

    boolean isBelow(long threshold) { return ops.fi_cntr_read() < threshold; }

    /**
     * Closes the counter; fi_close, fi_cntr(3). If endpoints or regions bound to it are open, or deferred work needs
     * it, it throws {@link IllegalStateException}, which names them, and stays open. After FabricException of fi_close
     * it is closed. After any other exception, such as for another thread's wait that does not end, it takes no calls
     * but {@code close}, which continues.
     */
    @Override
    public void close() {
        StackRoom.require();
        try (var _ = guard.enter()) {
            if (!lifeCycle.mayClose()) { return; }
            domain.queues.works.endFinished();
            bound.requireNone(this);
            lifeCycle.begin();
        }
        int closeStatus = lifeCycle.finish(() -> {
            blocking.drain();
            int status = domain.closes.close(this::closeNatively);
            domain.forget(this);
            return status;
        });
        Status.check(closeStatus, "fi_close(counter)", handle.provider());
    }

    private int closeNatively() {
        if (!lifeCycle.beginNativeClose()) { return 0; }
        return FidOps.fi_close(handle);
    }

    @Override
    public String toString() { return "Counter of " + handle.provider(); }
}
