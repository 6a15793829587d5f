package io.ofi4j;

import io.ofi4j.internal.CompletionRing;
import io.ofi4j.internal.ContextSlab;
import io.ofi4j.internal.CqOps;
import io.ofi4j.internal.Errno;
import io.ofi4j.internal.FidOps;
import io.ofi4j.internal.Guard;
import io.ofi4j.internal.Handle;
import java.lang.foreign.Arena;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Objects;
import java.util.Queue;

/**
 * Tells which operations have completed; fi_cq(3). Opened by {@link Domain#openCompletionQueue()}, bound to endpoints before
 * they are enabled. Polling also makes progress for them, where the provider's progress is manual.
 *
 * <p>Threads: as the domain's {@link ThreadingModel} says. Where threads share a queue, each completion goes to one of them.
 */
public final class CompletionQueue implements AutoCloseable {
    static final int MAXIMUM_SIZE = 1 << 20;

    private static final int BATCH = 64;
    private static final int ERROR = -1;
    /** Operations in flight on this queue; used inside the guard only, like all that follows. */
    final ContextSlab contexts;
    final Guard guard;

    private final Domain domain;
    private final Handle handle;
    private final Arena arena;
    /** What polls hand out is read into these, tokens put in the place of contexts; the first serves all but contention. */
    private CqOps[] batches;
    /** What is read while something else is done. */
    private final CqOps asideOps;
    private final BoundEndpoints endpoints = new BoundEndpoints();
    private final ReceivesForData dataReceives = new ReceivesForData();
    private final CompletionRing kept = new CompletionRing(BATCH);
    private final Queue<CompletionError> errors = new ArrayDeque<>();
    /** Whether a poll must look at more than libfabric's queue: something is kept, or this queue is closed. */
    private boolean attention;
    private boolean closed;

    private CompletionQueue(Domain domain, Handle handle, int size, Guard guard, Arena arena) {
        this.domain = domain;
        this.handle = handle;
        this.guard = guard;
        this.arena = arena;
        this.contexts = new ContextSlab(arena, size);
        this.batches = new CqOps[]{new CqOps(handle, BATCH)};
        this.asideOps = new CqOps(handle, BATCH);
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

    ReceivesForData dataReceives() {
        return dataReceives;
    }

    BoundEndpoints endpoints() {
        return endpoints;
    }

    /** @throws IllegalStateException if this queue is closed */
    void bind(Endpoint endpoint) {
        guard.enterAsAnyone();
        try {
            if (closed) {
                throw new IllegalStateException(this + " is closed");
            }
            endpoints.bound(endpoint);
        } finally {
            guard.exit();
        }
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
     * @return how many the handler was handed; 0 where none is there
     * @throws IllegalArgumentException if the limit is below 1
     * @throws IllegalStateException if this queue is closed
     * @throws WrongThreadException if the threading model gives this queue to another thread
     * @throws FabricException if the queue itself fails
     */
    public int poll(CompletionHandler handler, int limit) {
        if (limit < 1) {
            throw badLimit(limit);
        }
        Objects.requireNonNull(handler, "handler"); // now, and not when it is to take a completion
        CqOps batch;
        int count;
        guard.enter();
        try {
            batch = batches[0];
            if (attention || batch.isBusy()) {
                batch = idleBatch();
                count = takeKept(batch, limit);
            } else {
                count = read(batch, limit);
            }
            if (count == 0) {
                return 0;
            }
            batch.busy();
        } finally {
            guard.exit();
        }
        return count > 0 ? deliver(handler, batch, count) : deliverError(handler, batch);
    }

    /** A batch that nobody hands out: another thread, or the handler that polls, may be at the first. */
    private CqOps idleBatch() {
        if (closed) {
            throw new IllegalStateException(this + " is closed");
        }
        for (CqOps batch : batches) {
            if (!batch.isBusy()) {
                return batch;
            }
        }
        batches = Arrays.copyOf(batches, batches.length + 1);
        batches[batches.length - 1] = new CqOps(handle, BATCH);
        return batches[batches.length - 1];
    }

    /** Reads a batch, and frees the slots of what it found: how many, 0 where there is nothing, or {@link #ERROR}. */
    private int read(CqOps batch, int limit) {
        long count = batch.fi_cq_read(Math.min(limit, BATCH));
        if (count <= 0) {
            return count == -Errno.EAGAIN || count == 0 ? 0 : readError(count);
        }
        for (int entry = 0; entry < count; entry++) {
            batch.context(entry, complete(batch.context(entry)));
        }
        return (int) count;
    }

    private int readError(long status) {
        putErrorAside(status);
        return errors.isEmpty() ? 0 : ERROR;
    }

    /** What was kept comes before what is to be read: as {@link #read}. */
    private int takeKept(CqOps batch, int limit) {
        int count = Math.min(Math.min(limit, BATCH), kept.size());
        for (int entry = 0; entry < count; entry++) {
            batch.put(entry, kept.token(), kept.flags(), kept.length(), kept.data());
            kept.remove();
        }
        noteKept();
        return count > 0 ? count : errors.isEmpty() ? read(batch, limit) : ERROR;
    }

    private void noteKept() {
        attention = closed || kept.size() > 0 || !errors.isEmpty();
    }

    private long complete(long context) {
        int slot = contexts.slotOf(context);
        if (slot < 0) {
            dataReceives.completed(context);
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
        CqOps.ErrorEntry entry = asideOps.fi_cq_readerr(endpoints.areEnabled());
        if (entry != null && !dataReceives.own(entry.context())) {
            errors.add(new CompletionError(complete(entry.context()), entry.flags(), entry.length(), entry.errno(),
                    entry.providerErrno(), entry.providerText(), handle.provider()));
            attention = true;
        }
    }

    private int deliver(CompletionHandler handler, CqOps batch, int count) {
        int at = 0;
        try {
            while (at < count) {
                int entry = at++;
                handler.onCompletion(batch.context(entry), batch.flags(entry), batch.length(entry), batch.data(entry));
            }
        } finally {
            if (at < count) {
                keepRest(batch, at, count);
            }
            batch.idle();
        }
        finishIdleRegions();
        return count;
    }

    private void keepRest(CqOps batch, int at, int end) {
        guard.enter();
        try {
            for (int entry = at; entry < end; entry++) {
                kept.add(batch.context(entry), batch.flags(entry), batch.length(entry), batch.data(entry));
            }
            attention = true;
        } finally {
            guard.exit();
        }
    }

    private int deliverError(CompletionHandler handler, CqOps batch) {
        CompletionError error;
        guard.enter();
        try {
            batch.idle();
            error = errors.poll();
            noteKept();
        } finally {
            guard.exit();
        }
        if (error == null) { // another thread took it
            return 0;
        }
        handler.onError(error);
        finishIdleRegions();
        return 1;
    }

    private void finishIdleRegions() {
        if (domain.hasClosingRegions()) {
            domain.finishIdleRegions();
        }
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
        finishIdleRegions();
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

    /** @throws IllegalStateException if there is too little room for the receives of another endpoint */
    void requireRoomForReceives(Endpoint endpoint, int count) {
        guard.enterAsAnyone();
        try {
            dataReceives.requireRoom(this, endpoint, count);
        } finally {
            guard.exit();
        }
    }

    /** After an endpoint was closed: nothing writes to the contexts of its receives any more. */
    void forgetReceives(Endpoint endpoint) {
        drain();
        guard.enterAsAnyone();
        try {
            dataReceives.forget(endpoint);
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
        finishIdleRegions();
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
        if (status == 0) { // contexts that a provider may still write to are better lost than freed
            arena.close();
        }
        FabricException.check(status, "fi_close(completion queue)", handle.provider());
    }

    @Override
    public String toString() {
        return "CompletionQueue of " + handle.provider();
    }
}
