package io.ofi4j;

import io.ofi4j.info.ThreadingModel;
import io.ofi4j.info.WaitObject;
import io.ofi4j.internal.engine.BlockingWait;
import io.ofi4j.internal.engine.OpenChildren;
import io.ofi4j.internal.quirks.Quirks;
import io.ofi4j.internal.quirks.Fact;
import io.ofi4j.internal.quirks.Status;
import io.ofi4j.internal.ffi.CntrOps;
import io.ofi4j.internal.os.Errno;
import io.ofi4j.internal.ffi.FidOps;
import io.ofi4j.internal.engine.ThreadGuard;
import io.ofi4j.internal.ffi.Handle;
import java.time.Duration;

/**
 * Counts operations that have completed, and those that failed; fi_cntr(3). Opened by {@link Domain#openCounter()}, bound to
 * endpoints before they are enabled. Reading it makes progress for them, where the provider's progress is manual.
 *
 * <p>Its wait object serves {@link #await} only: but for sockets, no provider gives a counter's descriptor.
 *
 * <p>Threads: as the domain's {@link ThreadingModel} says; with COMPLETION, an endpoint's counters and queues must have been
 * opened by one thread; with COMPLETION on {@code tcp} of libfabric 2.x, a counter is for endpoints of one completion queue.
 */
public final class Counter implements AutoCloseable {
    final ThreadGuard guard;

    /**
     * Whether a provider has opened a counter in this process that puts its own fi_cntr_wait, which takes each endpoint for one of its
     * own, into the table that providers share.
     */
    private static volatile boolean isWaitSpoiled;

    private final Domain domain;
    private final Handle handle;
    private final CntrOps ops;
    private final boolean hasOwnTable;
    private final boolean goesStale;
    private final BlockingWait blocking;
    /** Whether fi_cntr_wait may be called; changed while nobody is in it. */
    private boolean blocks;
    private final OpenChildren bound = new OpenChildren();
    /** The count of errors that the application knows of. */
    private long knownErrors;
    /**
     * Whether libfabric may be asked. Where queues are domains of their own, a counter has none before an endpoint was
     * enabled with it, and the provider ends the process at the try; until then what the application has added is all there is.
     */
    private boolean isReadable;
    private long added;
    private long addedErrors;
    /** Whose endpoints it counts for, where it can be one queue's only. */
    private CompletionQueue queue;
    private volatile boolean closed;

    private Counter(Domain domain, Handle handle, WaitObject waitObject, ThreadGuard guard) {
        this.domain = domain;
        this.handle = handle;
        this.guard = guard;
        Quirks quirks = domain.quirks;
        this.ops = new CntrOps(handle, quirks.has(Fact.CRITICAL_POLLS));
        this.hasOwnTable = quirks.has(Fact.OWN_COUNTER_TABLE);
        this.goesStale = quirks.has(Fact.STALE_WAIT_OBJECTS);
        this.blocks = quirks.has(Fact.BLOCKING_COUNTER_WAIT)
                && (waitObject == WaitObject.FD || waitObject == WaitObject.UNSPECIFIED);
        isWaitSpoiled |= quirks.has(Fact.SPOILS_COUNTER_WAIT);
        this.blocking = new BlockingWait(null, "fi_cntr_wait");
        this.isReadable = !domain.hasQueuesOfTheirOwn();
    }

    /** Takes over a counter that was opened; if that fails, it is closed again. */
    static Counter adopt(Domain domain, Handle handle, WaitObject waitObject, ThreadGuard guard) {
        try {
            return new Counter(domain, handle, waitObject, guard);
        } catch (Throwable t) {
            FidOps.fi_close(handle);
            throw t;
        }
    }

    Handle handle() {
        return handle;
    }

    Domain domain() {
        return domain;
    }

    /** @throws IllegalStateException if this counter is closed */
    void bind(Object child) {
        guard.enterAsAnyone();
        try {
            requireOpen();
            bound.add(child);
        } finally {
            guard.exit();
        }
    }

    /** fi_mr_bind: what peers do to a region; its status. */
    int bindNatively(Handle region) {
        enterAlone();
        try {
            requireOpen();
            return FidOps.fi_bind(region, handle, CounterEvent.REMOTE_WRITE.bit());
        } finally {
            guard.exit();
        }
    }

    /** @throws IllegalStateException if this counter can be one queue's only, and is another's */
    void requireServes(CompletionQueue wanted) {
        if (queue != null && queue != wanted) {
            throw new IllegalStateException("with threading model COMPLETION on provider " + handle.provider()
                    + ", a counter counts for endpoints of one completion queue: open another counter");
        }
    }

    /** An endpoint with that queue was enabled; inside the guard. */
    void enabled(CompletionQueue served) {
        queue = domain.hasQueuesOfTheirOwn() ? served : null;
        isReadable = true;
    }

    /**
     * An endpoint that the provider knows to be bound is about to be closed; inside the guard, and alone. What it has waited for may
     * stay in the counter's wait object, where fi_cntr_wait looks into it.
     */
    void closing() {
        blocks &= !goesStale;
    }

    private long count() {
        return isReadable ? ops.fi_cntr_read() : added;
    }

    private long errors() {
        return isReadable ? ops.fi_cntr_readerr() : addedErrors;
    }

    void unbind(Object child) {
        bound.remove(child);
    }

    /** Enters the guard, and returns when nobody waits in a call of libfabric's. */
    void enterAlone() {
        guard.enterAsAnyone();
        blocking.awaitNobodyInside();
    }

    /**
     * {@return how many operations have completed; fi_cntr_read} It makes progress.
     *
     * @throws IllegalStateException if this counter is closed
     * @throws WrongThreadException if the threading model gives this counter to another thread
     */
    public long read() {
        guard.enter();
        try {
            requireOpen();
            return count();
        } finally {
            guard.exit();
        }
    }

    /**
     * {@return how many operations have failed; fi_cntr_readerr} {@link #await} does not report again what was read here.
     *
     * @throws IllegalStateException if this counter is closed
     * @throws WrongThreadException if the threading model gives this counter to another thread
     */
    public long readErrors() {
        guard.enter();
        try {
            requireOpen();
            knownErrors = errors();
            return knownErrors;
        } finally {
            guard.exit();
        }
    }

    /**
     * Adds to the count; fi_cntr_add.
     *
     * @param operations how many, 0 or more
     * @throws IllegalArgumentException if it is below 0
     * @throws IllegalStateException if this counter is closed
     * @throws WrongThreadException if the threading model gives this counter to another thread
     * @throws UnsupportedOperationException if the provider does not offer it
     */
    public void add(long operations) {
        change("fi_cntr_add", operations);
    }

    /**
     * Sets the count; fi_cntr_set.
     *
     * @param operations how many, 0 or more
     * @throws IllegalArgumentException if it is below 0
     * @throws IllegalStateException if this counter is closed
     * @throws WrongThreadException if the threading model gives this counter to another thread
     * @throws UnsupportedOperationException if the provider does not offer it
     */
    public void set(long operations) {
        change("fi_cntr_set", operations);
    }

    /**
     * Adds to the count of errors; fi_cntr_adderr.
     *
     * @param operations how many, 0 or more
     * @throws IllegalArgumentException if it is below 0
     * @throws IllegalStateException if this counter is closed
     * @throws WrongThreadException if the threading model gives this counter to another thread
     * @throws UnsupportedOperationException if the provider does not offer it
     */
    public void addErrors(long operations) {
        change("fi_cntr_adderr", operations);
    }

    /**
     * Sets the count of errors; fi_cntr_seterr.
     *
     * @param operations how many, 0 or more
     * @throws IllegalArgumentException if it is below 0
     * @throws IllegalStateException if this counter is closed
     * @throws WrongThreadException if the threading model gives this counter to another thread
     * @throws UnsupportedOperationException if the provider does not offer it
     */
    public void setErrors(long operations) {
        change("fi_cntr_seterr", operations);
    }

    private void change(String call, long value) {
        if (value < 0) {
            throw new IllegalArgumentException("a counter counts from 0, not " + value);
        }
        guard.enter();
        try {
            requireOpen();
            int status = switch (call) {
                case "fi_cntr_add" -> ops.fi_cntr_add(value);
                case "fi_cntr_set" -> ops.fi_cntr_set(value);
                case "fi_cntr_adderr" -> ops.fi_cntr_adderr(value);
                default -> ops.fi_cntr_seterr(value);
            };
            Status.check(status, call, handle.provider());
            note(call, value);
            knownErrors = call.equals("fi_cntr_seterr") ? value : knownErrors;
        } finally {
            guard.exit();
        }
    }

    private void note(String call, long value) {
        switch (call) {
            case "fi_cntr_add" -> added += value;
            case "fi_cntr_set" -> added = value;
            case "fi_cntr_adderr" -> addedErrors += value;
            default -> addedErrors = value;
        }
    }

    /**
     * Waits until so many operations have completed; fi_cntr_wait. It blocks where the counter has a wait object for that and
     * the provider keeps the time, and otherwise reads again and again and lets other threads run in between. A virtual thread
     * always does that, and holds no carrier in between.
     *
     * @param threshold how many
     * @param deadline how long at most
     * @throws FabricTimeoutException if they have not completed in time
     * @throws FabricException if operations failed that the application does not know of, with errno {@code EAVAIL} (259); or
     *         the thread is interrupted, with errno {@code EINTR} (4), and its status stays set
     * @throws IllegalStateException if this counter is closed, also by another thread while this one waits
     * @throws WrongThreadException if the threading model gives this counter to another thread
     */
    public void await(long threshold, Duration deadline) {
        BlockingWait.Call call = mayCall() ? milliseconds -> ops.fi_cntr_wait(threshold, milliseconds) : null;
        if (!blocking.until(() -> isReached(threshold), this::mayBlock, call, deadline)) {
            throw new FabricTimeoutException("waiting for " + threshold + " on " + this, deadline,
                    "It stands at " + read() + ": do the peers make progress?");
        }
    }

    private boolean mayCall() {
        guard.enter();
        try {
            return blocks() && isReadable;
        } finally {
            guard.exit();
        }
    }

    private boolean blocks() {
        return blocks && (!isWaitSpoiled || hasOwnTable);
    }

    private boolean isReached(long threshold) {
        guard.enter();
        try {
            requireOpen();
            if (Long.compareUnsigned(count(), threshold) >= 0) {
                return true;
            }
            long errors = errors();
            long fresh = errors - knownErrors;
            knownErrors = errors;
            if (fresh != 0) {
                throw new FabricException(
                        "waiting for " + threshold + " on " + this + " ended: " + fresh
                                + " operations failed. Their completion queue says which and why.",
                        "fi_cntr_wait", Errno.EAVAIL);
            }
            return false;
        } finally {
            guard.exit();
        }
    }

    private boolean mayBlock() {
        guard.enter();
        try {
            requireOpen();
            if (blocks()) {
                blocking.enter();
                return true;
            }
        } finally {
            guard.exit();
        }
        Thread.yield();
        return false;
    }

    private void requireOpen() {
        if (closed) {
            throw new IllegalStateException(this + " is closed");
        }
    }

    /**
     * Closes the counter; fi_close.
     *
     * @throws IllegalStateException if endpoints or regions bound to it are open; they are named
     * @throws WrongThreadException if the threading model gives this counter to another thread
     * @throws FabricException if libfabric reports an error; the counter counts as closed all the same
     */
    @Override
    public void close() {
        guard.enter();
        try {
            if (closed) {
                return;
            }
            bound.requireNone(this);
            closed = true;
        } finally {
            guard.exit();
        }
        blocking.awaitNobodyInside();
        domain.forget(this);
        int status = domain.closes.close(() -> FidOps.fi_close(handle));
        Status.check(status, "fi_close(counter)", handle.provider());
    }

    @Override
    public String toString() {
        return "Counter of " + handle.provider();
    }
}
