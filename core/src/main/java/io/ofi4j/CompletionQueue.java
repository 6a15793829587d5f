package io.ofi4j;

import io.ofi4j.internal.CompletionRing;
import io.ofi4j.internal.ContextSlab;
import io.ofi4j.internal.CqOps;
import io.ofi4j.internal.Errno;
import io.ofi4j.internal.FidOps;
import io.ofi4j.internal.Guard;
import io.ofi4j.internal.Handle;
import java.lang.foreign.Arena;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.ArrayDeque;
import java.util.Objects;
import java.util.Queue;

/**
 * Tells which operations have completed; fi_cq(3). Opened by {@link Domain#openCompletionQueue()}, bound to endpoints before
 * they are enabled. Polling also makes progress for them, where the provider's progress is manual.
 *
 * <p>Threads: as the domain's {@link ThreadingModel} says. Where threads share a queue, one polls at a time: the others find
 * nothing meanwhile.
 */
public final class CompletionQueue implements AutoCloseable {
    static final int MAXIMUM_SIZE = 1 << 20;

    private static final int BATCH = 64;
    private static final int ERROR = -1;
    private static final VarHandle DELIVERING;

    static {
        try {
            DELIVERING = MethodHandles.lookup().findVarHandle(CompletionQueue.class, "delivering", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** Operations in flight on this queue; used inside the guard only, like all that follows. */
    final ContextSlab contexts;
    final Guard guard;

    private final Domain domain;
    private final Handle handle;
    private final Arena arena;
    /** What the delivering thread hands out is read here, tokens put in the place of contexts; its own while it delivers. */
    private final CqOps ops;
    /** What is read while something else is done. */
    private final CqOps asideOps;
    private final Children endpoints = new Children();
    private final CompletionRing kept = new CompletionRing(BATCH);
    private final Queue<CompletionError> errors = new ArrayDeque<>();
    /** Whether a poll must look at more than libfabric's queue: something is kept, or this queue is closed. */
    private boolean attention;
    /** How many endpoints libfabric knows to be bound, by whether they are enabled. */
    private int enabledEndpoints;
    private int disabledEndpoints;
    /** The number of the thread that delivers, or 0; a number, since storing a reference runs a barrier. */
    private long delivering;
    private boolean closed;

    private CompletionQueue(Domain domain, Handle handle, int size, Guard guard, Arena arena) {
        this.domain = domain;
        this.handle = handle;
        this.guard = guard;
        this.arena = arena;
        this.contexts = new ContextSlab(arena, size);
        this.ops = new CqOps(handle, arena, BATCH);
        this.asideOps = new CqOps(handle, arena, BATCH);
    }

    /** Takes over a queue that was opened; if that fails, the queue is closed again. */
    static CompletionQueue adopt(Domain domain, Handle handle, int size, Guard guard) {
        Arena arena = Arena.ofShared();
        try {
            return new CompletionQueue(domain, handle, size, guard, arena);
        } catch (Throwable t) {
            FidOps.fi_close(handle);
            arena.close();
            throw t;
        }
    }

    Handle handle() {
        return handle;
    }

    Domain domain() {
        return domain;
    }

    /** An endpoint was bound to this queue. */
    void bound(Endpoint endpoint) {
        endpoints.add(endpoint);
        count(0, 1);
    }

    /** An endpoint that is bound to this queue was enabled. */
    void enabled() {
        count(1, -1);
    }

    /** An endpoint that is bound to this queue is about to be closed. */
    void unbind(boolean wasEnabled) {
        count(wasEnabled ? -1 : 0, wasEnabled ? 0 : -1);
    }

    /** An endpoint that was bound to this queue is closed. */
    void forget(Endpoint endpoint) {
        endpoints.remove(endpoint);
    }

    private void count(int enabled, int disabled) {
        guard.enterAsAnyone();
        enabledEndpoints += enabled;
        disabledEndpoints += disabled;
        guard.exit();
    }

    /** {@return how many operations can be in flight on this queue} */
    public int size() {
        return contexts.capacity();
    }

    /** {@return how many operations are in flight on this queue: accepted, their completion not read yet} */
    public int operationsInFlight() {
        guard.enter();
        try {
            return contexts.inFlight();
        } finally {
            guard.exit();
        }
    }

    /**
     * Reads completions that are there, hands them to the handler, and makes progress; never waits; fi_cq_read. If the
     * handler throws, what it was not handed yet stays for the next poll.
     *
     * @param handler who takes them
     * @param limit how many at most, at least 1; no more than 64 come at once
     * @return how many the handler was handed; 0 where none is there, or while another thread polls
     * @throws IllegalArgumentException if the limit is below 1
     * @throws IllegalStateException if this queue is closed, or it is the handler that polls
     * @throws WrongThreadException if the threading model gives this queue to another thread
     * @throws FabricException if the queue itself fails
     */
    public int poll(CompletionHandler handler, int limit) {
        if (limit < 1) {
            throw badLimit(limit);
        }
        Objects.requireNonNull(handler, "handler"); // now, and not when it is to take a completion
        int count;
        guard.enter();
        try {
            if (attention || delivering != 0) {
                count = takeKept(limit);
            } else {
                count = read(limit);
            }
            if (count == 0) {
                return 0;
            }
            delivering = Thread.currentThread().threadId();
        } finally {
            guard.exit();
        }
        return count > 0 ? deliver(handler, count) : deliverError(handler);
    }

    /** Reads a batch, and frees the slots of what it found: how many, 0 where there is nothing, or {@link #ERROR}. */
    private int read(int limit) {
        long count = ops.fi_cq_read(Math.min(limit, BATCH));
        if (count <= 0) {
            return count == -Errno.EAGAIN || count == 0 ? 0 : readError(count);
        }
        for (int entry = 0; entry < count; entry++) {
            ops.context(entry, complete(ops.context(entry)));
        }
        return (int) count;
    }

    private int readError(long status) {
        putErrorAside(status);
        return errors.isEmpty() ? 0 : ERROR;
    }

    /** What was kept comes before what is to be read: as {@link #read}. */
    private int takeKept(int limit) {
        if (delivering != 0 || closed) {
            return whyNotNow();
        }
        int count = Math.min(Math.min(limit, BATCH), kept.size());
        for (int entry = 0; entry < count; entry++) {
            ops.put(entry, kept.token(), kept.flags(), kept.length(), kept.data());
            kept.remove();
        }
        noteKept();
        return count > 0 ? count : errors.isEmpty() ? read(limit) : ERROR;
    }

    private void noteKept() {
        attention = closed || kept.size() > 0 || !errors.isEmpty();
    }

    private long complete(long context) {
        int slot = contexts.slotOf(context);
        if (slot < 0) {
            return CompletionHandler.NO_TOKEN;
        }
        long token = contexts.token(slot);
        contexts.release(slot);
        return token;
    }

    private void putErrorAside(long status) {
        if (status != -Errno.EAVAIL) {
            throw FabricException.of(status, "fi_cq_read", handle.provider());
        }
        CqOps.ErrorEntry entry = ops.fi_cq_readerr(enabledEndpoints > 0 && disabledEndpoints == 0);
        if (entry != null) {
            errors.add(new CompletionError(complete(entry.context()), entry.flags(), entry.length(), entry.errno(),
                    entry.providerErrno(), entry.providerText(), handle.provider()));
            attention = true;
        }
    }

    private int deliver(CompletionHandler handler, int count) {
        int at = 0;
        try {
            while (at < count) {
                int entry = at++;
                handler.onCompletion(ops.context(entry), ops.flags(entry), ops.length(entry), ops.data(entry));
            }
        } finally {
            if (at < count) {
                keepRest(at, count);
            }
            DELIVERING.setRelease(this, 0L);
        }
        if (domain.hasClosingRegions()) {
            domain.finishIdleRegions();
        }
        return count;
    }

    private void keepRest(int at, int end) {
        guard.enter();
        try {
            for (int entry = at; entry < end; entry++) {
                kept.add(ops.context(entry), ops.flags(entry), ops.length(entry), ops.data(entry));
            }
            attention = true;
        } finally {
            guard.exit();
        }
    }

    private int deliverError(CompletionHandler handler) {
        CompletionError error;
        guard.enter();
        try {
            error = errors.remove();
            noteKept();
        } finally {
            guard.exit();
        }
        try {
            handler.onError(error);
        } finally {
            DELIVERING.setRelease(this, 0L);
        }
        if (domain.hasClosingRegions()) {
            domain.finishIdleRegions();
        }
        return 1;
    }

    private int whyNotNow() {
        if (closed) {
            throw new IllegalStateException(this + " is closed");
        }
        if (delivering == Thread.currentThread().threadId()) {
            throw new IllegalStateException("a completion handler must not poll the queue that calls it");
        }
        return 0;
    }

    private static IllegalArgumentException badLimit(int limit) {
        return new IllegalArgumentException("poll takes a limit of at least 1, not " + limit);
    }

    /**
     * Makes progress without handing out anything; what completes is kept for the next {@link #poll}. Does nothing once as
     * many completions are kept as operations can be in flight.
     *
     * @throws IllegalStateException if this queue is closed
     * @throws WrongThreadException if the threading model gives this queue to another thread
     * @throws FabricException if the queue itself fails
     */
    public void progress() {
        if (!progressIfOpen()) {
            throw new IllegalStateException(this + " is closed");
        }
    }

    /** {@return whether this queue is open; then it made progress} */
    boolean progressIfOpen() {
        guard.enter();
        try {
            if (closed) {
                return false;
            }
            if (kept.size() + errors.size() < contexts.capacity()) {
                readAside();
            }
        } finally {
            guard.exit();
        }
        if (domain.hasClosingRegions()) {
            domain.finishIdleRegions();
        }
        return true;
    }

    /** Reads a batch and keeps it; whether there was anything. */
    private boolean readAside() {
        long count = asideOps.fi_cq_read(BATCH);
        if (count == 0 || count == -Errno.EAGAIN) {
            return false;
        }
        if (count < 0) {
            putErrorAside(count);
            return true;
        }
        for (int entry = 0; entry < count; entry++) {
            kept.add(complete(asideOps.context(entry)), asideOps.flags(entry), asideOps.length(entry),
                    asideOps.data(entry));
        }
        attention = true;
        return true;
    }

    int inFlight() {
        guard.enterAsAnyone();
        try {
            return contexts.inFlight();
        } finally {
            guard.exit();
        }
    }

    /** Completes an operation that has nothing to do; inside the guard. False where too much is kept already. */
    boolean keep(long token, long flags) {
        if (kept.size() >= contexts.capacity()) {
            return false;
        }
        kept.add(token, flags, 0, 0);
        attention = true;
        return true;
    }

    int inFlight(MemoryRegion region) {
        guard.enterAsAnyone();
        try {
            return contexts.inFlightOfRegion(region.number);
        } finally {
            guard.exit();
        }
    }

    /** Reads everything that an endpoint has completed, before it is closed. */
    void drain() {
        guard.enterAsAnyone();
        try {
            while (!closed && readAside()) {
                Thread.onSpinWait();
            }
        } finally {
            guard.exit();
        }
    }

    /** After an endpoint was closed: what it has not completed will never be, and is reported as canceled. */
    void cancel(Endpoint endpoint) {
        drain();
        guard.enterAsAnyone();
        try {
            for (long token : contexts.releaseEndpoint(endpoint.number)) {
                errors.add(CompletionError.canceled(token, handle.provider()));
                attention = true;
            }
        } finally {
            guard.exit();
        }
        if (domain.hasClosingRegions()) {
            domain.finishIdleRegions();
        }
    }

    /**
     * Closes the queue; fi_close. Completions that nobody polled for are gone.
     *
     * @throws IllegalStateException if endpoints bound to it are open; they are named
     * @throws WrongThreadException if the threading model gives this queue to another thread
     * @throws FabricException if libfabric reports an error; the queue counts as closed all the same
     */
    @Override
    public void close() {
        guard.enter();
        try {
            if (closed) {
                return;
            }
            endpoints.requireNone(this);
            closed = true;
            attention = true;
        } finally {
            guard.exit();
        }
        domain.forget(this);
        int status = FidOps.fi_close(handle);
        arena.close();
        FabricException.check(status, "fi_close(completion queue)", handle.provider());
    }

    @Override
    public String toString() {
        return "CompletionQueue of " + handle.provider();
    }
}
