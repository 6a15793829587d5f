package io.ofi4j;

import static io.ofi4j.Recorder.RECORDER;

import io.ofi4j.internal.CompletionRing;
import io.ofi4j.internal.ContextSlab;
import io.ofi4j.internal.CqFormat;
import io.ofi4j.internal.CqOps;
import io.ofi4j.internal.Errno;
import io.ofi4j.internal.FabricOps;
import io.ofi4j.internal.FidOps;
import io.ofi4j.internal.Guard;
import io.ofi4j.internal.Handle;
import java.lang.foreign.Arena;
import java.time.Duration;
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
public final class CompletionQueue implements AutoCloseable, Waitable {
    static final int MAXIMUM_SIZE = 1 << 20;

    private static final int BATCH = 64;
    private static final int ERROR = -1;
    /** Operations in flight on this queue; used inside the guard only, like all that follows. */
    final ContextSlab contexts;
    final Guard guard;

    private final Domain domain;
    private final CqFormat format;
    private final boolean resetsByReading;
    private final Handle handle;
    private final Arena arena;
    /** What polls hand out is read into these, tokens put in the place of contexts; the first serves all but contention. */
    private CqOps[] batches;
    private final CqOps first;
    /** What is read while something else is done. */
    private final CqOps asideOps;
    private final BoundEndpoints endpoints = new BoundEndpoints();
    private final ReceivesForData dataReceives = new ReceivesForData();
    private final CompletionRing kept = new CompletionRing(BATCH);
    private final Queue<CompletionError> errors = new ArrayDeque<>();
    private final BlockingRead blocking;
    private final int waitThreshold;
    /** Whether a poll must look at more than libfabric's queue: something is kept, or it must not be read. */
    private boolean attention = true;
    /**
     * Whether an endpoint was ever enabled. Before, there is nothing to read, and with COMPLETION tcp of libfabric 2.x ends the
     * JVM at the try: its queues are prepared when their first endpoint is enabled.
     */
    private boolean isReadable;
    private volatile boolean closed;
    /** Whether endpoints start operations that give no entry here when they go well; then polls that find none may free regions. */
    private boolean selective;
    private long completed;
    private long failed;
    private long canceled;

    private CompletionQueue(Domain domain, Handle handle, int size, CompletionQueueAttributes attributes, Guard guard,
            Arena arena, WaitDescriptor descriptor) {
        boolean withSources = domain.info().capabilities().contains(Capability.SOURCE);
        this.domain = domain;
        int number = attributes.format().value();
        this.format = withSources ? CqFormat.withSources(number, handle.provider()) : CqFormat.withoutSources(number);
        this.handle = handle;
        this.guard = guard;
        this.arena = arena;
        this.blocking = new BlockingRead(descriptor, "await on " + this);
        this.resetsByReading = handle.provider().equals("net");
        this.waitThreshold = attributes.waitThreshold();
        this.contexts = new ContextSlab(arena, size);
        this.first = new CqOps(handle, this.format, BATCH);
        this.batches = new CqOps[]{first};
        this.asideOps = new CqOps(handle, this.format, BATCH);
    }

    /** Takes over a queue that was opened; if that fails, the queue is closed again. */
    static CompletionQueue adopt(Domain domain, Handle handle, int size, CompletionQueueAttributes attributes,
            Guard guard) {
        Arena arena = Arena.ofShared();
        WaitDescriptor descriptor = null;
        try {
            descriptor = WaitDescriptor.open(handle, attributes.waitObject());
            return new CompletionQueue(domain, handle, size, attributes, guard, arena, descriptor);
        } catch (Throwable t) {
            FidOps.fi_close(handle);
            arena.close();
            if (descriptor != null) {
                descriptor.close();
            }
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

    /** An endpoint was enabled; inside the guard. */
    void enabled() {
        endpoints.enabled();
        isReadable = true;
        noteKept();
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

    /** From now on, there may be operations that nobody wants to know of. */
    void dropSilent() {
        guard.enterAsAnyone();
        selective = true;
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
        CqOps batch = first;
        boolean single = false;
        int count = 0;
        long token = 0;
        long flags = 0;
        long length = 0;
        long data = 0;
        guard.enter();
        try {
            if (attention || batch.isBusy()) {
                batch = idleBatch();
                count = takeKept(batch, limit);
            } else {
                long found = batch.fi_cq_read(Math.min(limit, BATCH));
                if (found == 1 && isPlain(handler)) { // as mostly; without loops, and the batch is free before the handler runs
                    long context = batch.context(0);
                    int slot = contexts.slotOf(context);
                    single = !contexts.isSilent(slot);
                    completed++;
                    token = complete(slot, context);
                    flags = batch.flags(0);
                    length = batch.length(0);
                    data = batch.data(0);
                    found = single ? found : batch.fi_cq_read(Math.min(limit, BATCH));
                }
                if (found != -Errno.EAGAIN && !single) {
                    count = read(batch, limit, found);
                }
            }
            if (count != 0) {
                batch.busy();
            }
        } finally {
            guard.exit();
        }
        if (single) {
            handler.onCompletion(token, flags, length, data);
            finishIdleRegions();
            return 1;
        }
        if (count == 0 && selective) {
            finishIdleRegions();
        }
        return count == 0 ? 0 : count > 0 ? deliver(handler, batch, count) : deliverError(handler, batch);
    }

    /**
     * Waits for completions, and hands them to the handler as {@link #poll} does; fi_cq_sread. What is kept counts first. It
     * blocks on the wait descriptor where the queue has one, without keeping other threads from polling and posting; where it
     * has none ({@link WaitObject#NONE}, {@link WaitObject#YIELD}, and of some providers {@link WaitObject#UNSPECIFIED}), it
     * polls, and lets other threads run in between. A virtual thread always polls, and holds no carrier in between.
     *
     * @param handler who takes them
     * @param limit how many at most, at least 1; no more than 64 come at once
     * @param deadline how long to wait at most
     * @return how many the handler was handed; 0 where time is over, or {@link #signal} was called. With a
     *         {@link CompletionQueueAttributes#waitThreshold} fewer may be there when time is over
     * @throws IllegalArgumentException if the limit is below 1
     * @throws IllegalStateException if this queue is closed, also by another thread while this one waits
     * @throws WrongThreadException if the threading model gives this queue to another thread
     * @throws FabricException if the queue itself fails, or the thread is interrupted, with errno {@code EINTR} (4); the
     *         interrupt status stays set
     */
    public int await(CompletionHandler handler, int limit, Duration deadline) {
        Objects.requireNonNull(handler, "handler");
        if (limit < 1) {
            throw badLimit(limit);
        }
        if (waitThreshold > 1) {
            blocking.until(this::isThresholdReached, this::mayBlock, deadline);
            return poll(handler, limit);
        }
        int[] taken = new int[1];
        blocking.until(() -> (taken[0] = poll(handler, limit)) > 0, this::mayBlock, deadline);
        return taken[0];
    }

    /**
     * Makes the threads that wait in {@link #await} return, or where none does, the next one that would; and makes the wait
     * descriptor readable. Any thread may call this, whatever the threading model says; what fi_cq_signal does for
     * fi_cq_sread.
     *
     * @throws IllegalStateException if this queue is closed
     */
    public void signal() {
        if (closed) {
            throw new IllegalStateException(this + " is closed");
        }
        blocking.signal();
    }

    @Override
    public int waitDescriptor() {
        guard.enter();
        try {
            return requireDescriptor().number;
        } finally {
            guard.exit();
        }
    }

    @Override
    public boolean tryWait() {
        guard.enter();
        try {
            return isQuiet(requireDescriptor());
        } finally {
            guard.exit();
        }
    }

    private WaitDescriptor requireDescriptor() {
        if (closed) {
            throw new IllegalStateException(this + " is closed");
        }
        return blocking.requireDescriptor(this);
    }

    private boolean mayBlock() {
        guard.enter();
        try {
            boolean quiet = isQuiet(requireDescriptor());
            if (quiet) {
                blocking.enter();
            }
            return quiet;
        } finally {
            guard.exit();
        }
    }

    /** Whether nothing is there, so that what comes makes the descriptor readable. */
    private boolean isQuiet(WaitDescriptor descriptor) {
        if (kept.size() > 0 || !errors.isEmpty()) {
            return false;
        }
        descriptor.rest();
        if (!isReadable) {
            return true;
        }
        int status = FabricOps.fi_trywait(domain.fabric().handle(), handle);
        if (status == -Errno.EAGAIN) {
            return false;
        }
        FabricException.check(status, "fi_trywait", handle.provider());
        if (readAside()) { // not every provider looks
            return false;
        }
        // net does not reset its descriptor in fi_trywait, only in fi_cq_sread
        return !resetsByReading || !descriptor.isProviderReady() || !keepAside(asideOps.fi_cq_sread(BATCH, 1));
    }

    private boolean isThresholdReached() {
        guard.enter();
        try {
            if (closed) {
                throw new IllegalStateException(this + " is closed");
            }
            while (kept.size() + errors.size() < waitThreshold && readAside()) {
                Thread.onSpinWait();
            }
            return kept.size() + errors.size() >= waitThreshold;
        } finally {
            guard.exit();
        }
    }

    /** Whether a handler is content with what every entry has. */
    private static boolean isPlain(CompletionHandler handler) {
        return !(handler instanceof DetailedCompletionHandler);
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
        batches[batches.length - 1] = new CqOps(handle, format, BATCH);
        return batches[batches.length - 1];
    }

    /** Reads until there is something to hand out: how many, 0 where there is nothing more, or {@link #ERROR}. */
    private int read(CqOps batch, int limit, long alreadyFound) {
        long found = alreadyFound;
        int taken = take(batch, found);
        while (taken == 0 && found > 0) {
            found = batch.fi_cq_read(Math.min(limit, BATCH));
            taken = take(batch, found);
        }
        return taken;
    }

    /** Frees the slots of what a read found, keeps what somebody wants to know of, and puts its tokens in the place of contexts. */
    private int take(CqOps batch, long count) {
        if (count <= 0) {
            return count == -Errno.EAGAIN || count == 0 ? 0 : readError(count);
        }
        completed += count;
        int wanted = 0;
        for (int entry = 0; entry < count; entry++) {
            long context = batch.context(entry);
            int slot = contexts.slotOf(context);
            if (!contexts.isSilent(slot)) {
                batch.copy(entry, wanted);
                batch.context(wanted++, complete(slot, context));
            } else {
                complete(slot, context);
            }
        }
        return wanted;
    }

    private int readError(long status) {
        putErrorAside(status);
        return errors.isEmpty() ? 0 : ERROR;
    }

    /** What was kept comes before what is to be read: as {@link #read}. */
    private int takeKept(CqOps batch, int limit) {
        int count = Math.min(Math.min(limit, BATCH), kept.size());
        for (int entry = 0; entry < count; entry++) {
            batch.put(entry, kept.token(), kept.flags(), kept.length(), kept.data(), kept.buffer(), kept.tag(),
                    kept.source());
            kept.remove();
        }
        noteKept();
        if (count > 0) {
            return count;
        }
        if (!errors.isEmpty()) {
            return ERROR;
        }
        return isReadable ? read(batch, limit, batch.fi_cq_read(Math.min(limit, BATCH))) : 0;
    }

    private void noteKept() {
        attention = closed || !isReadable || kept.size() > 0 || !errors.isEmpty();
    }

    /** Frees a slot, or none where it is -1; its token. */
    private long complete(int slot, long context) {
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
            failed++;
            putAside(CompletionError.of(complete(contexts.slotOf(entry.context()), entry.context()), entry,
                    handle.provider()));
        }
    }

    private void putAside(CompletionError error) {
        errors.add(error);
        attention = true;
        RECORDER.failed(error);
    }

    private int deliver(CompletionHandler handler, CqOps batch, int count) {
        int at = 0;
        try {
            if (handler instanceof DetailedCompletionHandler detailed) {
                while (at < count) {
                    deliver(detailed, batch, at++);
                }
            }
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

    private static void deliver(DetailedCompletionHandler handler, CqOps batch, int entry) {
        handler.onCompletion(batch.context(entry), batch.flags(entry), batch.length(entry), batch.data(entry),
                batch.buffer(entry), batch.tag(entry), batch.source(entry));
    }

    private void keepRest(CqOps batch, int at, int end) {
        guard.enter();
        try {
            for (int entry = at; entry < end; entry++) {
                kept.add(batch.context(entry), batch.flags(entry), batch.length(entry), batch.data(entry),
                        batch.buffer(entry), batch.tag(entry), batch.source(entry));
            }
            attention = true;
            blocking.wake();
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
            if (kept.size() + errors.size() < contexts.capacity() && readAside()) {
                blocking.wake();
            }
        } finally {
            guard.exit();
        }
        finishIdleRegions();
        return true;
    }

    /** Reads a batch and keeps it; whether there was anything. */
    private boolean readAside() {
        return isReadable && keepAside(asideOps.fi_cq_read(BATCH));
    }

    private boolean keepAside(long count) {
        if (count == 0 || count == -Errno.EAGAIN) {
            return false;
        }
        if (count < 0) {
            putErrorAside(count);
            return true;
        }
        completed += count;
        for (int entry = 0; entry < count; entry++) {
            long context = asideOps.context(entry);
            int slot = contexts.slotOf(context);
            boolean wanted = !contexts.isSilent(slot);
            long token = complete(slot, context);
            if (wanted) {
                kept.add(token, asideOps.flags(entry), asideOps.length(entry), asideOps.data(entry),
                        asideOps.buffer(entry), asideOps.tag(entry), asideOps.source(entry));
                attention = true;
            }
        }
        return true;
    }

    /**
     * {@return what this queue has told so far, and what it holds} With {@link ThreadingModel#SAFE} and
     * {@link ThreadingModel#COMPLETION} any thread may ask, also after this queue was closed.
     *
     * @throws WrongThreadException if the domain's threading model is DOMAIN and this is not its thread
     */
    public CompletionQueueStatistics statistics() {
        guard.enterAsAnyone();
        try {
            return new CompletionQueueStatistics(completed, failed, canceled, contexts.timesFull(),
                    kept.size() + errors.size(), contexts.inFlight());
        } finally {
            guard.exit();
        }
    }

    EndpointStatistics statisticsOf(Endpoint endpoint) {
        guard.enterAsAnyone();
        try {
            return new EndpointStatistics(contexts.inFlightOfEndpoint(endpoint.number), endpoint.canceled,
                    endpoint.timesFull);
        } finally {
            guard.exit();
        }
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
        completed++;
        kept.add(token, flags, 0, 0, 0, 0, Peer.ADDRESS_NOT_AVAILABLE);
        attention = true;
        blocking.wake();
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
                blocking.wake();
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
            long[] tokens = contexts.releaseEndpoint(endpoint.number);
            for (long token : tokens) {
                putAside(CompletionError.canceled(token, handle.provider()));
                blocking.wake();
            }
            canceled += tokens.length;
            endpoint.canceled += tokens.length;
        } finally {
            guard.exit();
        }
        if (endpoint.canceled > 0) {
            RECORDER.canceled(endpoint, endpoint.canceled);
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
        blocking.awaitNobodyInside();
        domain.forget(this);
        int status = FidOps.fi_close(handle);
        blocking.close();
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
