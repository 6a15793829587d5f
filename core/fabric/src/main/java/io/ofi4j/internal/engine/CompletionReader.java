package io.ofi4j.internal.engine;

import io.ofi4j.CompletionError;
import io.ofi4j.CompletionHandler;
import io.ofi4j.DetailedCompletionHandler;
import io.ofi4j.info.CompletionQueueStatistics;
import io.ofi4j.internal.ffi.FabricConstants;
import io.ofi4j.internal.quirks.Status;
import static io.ofi4j.internal.observe.EventRecorder.RECORDER;

import io.ofi4j.internal.ffi.CqFormat;
import io.ofi4j.internal.ffi.CqOps;
import io.ofi4j.internal.ffi.Handle;
import io.ofi4j.internal.os.Errno;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Queue;
import java.util.function.Consumer;

/**
 * Reads and polls one completion queue: frees the slots of operations, and buffers completions until they are polled.
 * Everything but {@link #poll} and {@link #finishIdleRegions} is used inside the queue's guard. A poll reads inside it,
 * and calls handlers outside.
 */
public final class CompletionReader {
    public static final int BATCH = 64;
    /** Instead of a count: an error comes next. */
    private static final int ERROR = -1;
    /** Instead of a count: one completion, already taken out of the batch. */
    private static final int SINGLE = -2;

    /** Beside the flags of a completion: it is an error. */
    private static final long FAILED = Long.MIN_VALUE;

    /** The batch that polls read into; tokens replace contexts in it. Concurrent polls need more batches. */
    private final CqOps first;
    /**
     * Whether a poll must look at more than libfabric's queue: something is buffered, or the queue must not be read.
     */
    private boolean attention = true;
    /**
     * The thread that may poll without further checks: the owner, if nothing is locked, {@link #attention} is not
     * needed and the first batch is free. Otherwise null.
     */
    private Thread fastPathOwner;
    /** Whether operations may complete without an entry: then polls that find nothing finish closed regions, too. */
    private boolean selective;
    private long completed;

    private final ContextSlab contexts;

    private final Thread unlockedThread;
    private final Parts parts;
    private final ThreadGuard guard;
    private final PendingDeregistrations pendingDeregistrations;
    private final BlockingWait blocking;
    private final DataReceives dataReceives;
    private boolean readsAreCritical;
    private CqOps[] batches;
    /** For reads during other calls. */
    private final CqOps bufferBatch;
    private final CompletionRing buffered = new CompletionRing(BATCH);
    private final Queue<CompletionError> errors = new ArrayDeque<>();
    /**
     * Whether an endpoint was ever enabled. A queue is empty before. Reading it then would end the process where queues
     * are domains of their own, because the first enable prepares them.
     */
    private boolean isReadable;
    private final LifeCycle lifeCycle;
    private long failed;
    private long canceled;

    public record Parts(Object queue, Handle handle, ThreadGuard guard, ContextSlab contexts, CqFormat format,
            boolean criticalReads, boolean readsErrorData, BoundEndpoints endpoints, DataReceives dataReceives,
            LifeCycle lifeCycle) {}

    public CompletionReader(Parts parts, PendingDeregistrations pendingDeregistrations, BlockingWait blocking) {
        this.parts = parts;
        this.guard = parts.guard;
        this.pendingDeregistrations = pendingDeregistrations;
        this.blocking = blocking;
        this.unlockedThread = parts.guard.unlockedThread();
        this.contexts = parts.contexts;
        this.dataReceives = parts.dataReceives;
        this.lifeCycle = parts.lifeCycle;
        this.readsAreCritical = parts.criticalReads;
        this.first = newBatch();
        this.batches = new CqOps[]{first};
        this.bufferBatch = newBatch();
    }

    /** Hands at most {@code limit} completions to the handler. Returns their number. */
    public int poll(CompletionHandler handler, int limit) {
        if (fastPathOwner != Thread.currentThread() || handler instanceof DetailedCompletionHandler) {
            return pollInside(handler, limit);
        }
        long found = first.readPlain(limit);
        return found == -Errno.EAGAIN ? 0 : deliver(handler, limit, found);
    }

    /**
     * Hands out what was read. A method of its own: where nearly all polls have found nothing, the compiler inlines
     * none of the calls that follow, and then this is the only one.
     */
    private int deliver(CompletionHandler handler, int limit, long found) {
        long context;
        if (found != 1 || !isSimple(context = first.context(0))) { return handOut(handler, limit, found); }
        completed++;
        handler.onCompletion(tokenOfSimple(context), first.flags(0), first.length(0), first.data(0));
        finishIdleRegions();
        return 1;
    }

    /** Few calls deep: see {@link io.ofi4j.internal.os.NativeWords}. */
    private int handOut(CompletionHandler handler, int limit, long found) {
        first.clearExtended(found);
        int count = take(first, found);
        if (count == 0 && found > 0) { count = read(first, limit); }
        if (count == 0) { return 0; }
        begin(first);
        return count == ERROR ? deliverError(handler, first) : deliverEntries(handler, first, count);
    }

    /** Polls a queue that threads share, or that has buffered entries, errors or details. */
    private int pollInside(CompletionHandler handler, int limit) {
        CqOps batch = first;
        int count;
        long context;
        long token = 0;
        long flags = 0;
        long length = 0;
        long data = 0;
        boolean entered = ThreadGuard.enter(guard, unlockedThread);
        try {
            if (needsFullPoll() || handler instanceof DetailedCompletionHandler) {
                batch = idleBatch();
                count = takeBuffered(batch, limit);
            } else {
                long found = batch.readPlain(limit);
                // the usual case: the batch is free before the handler runs
                if (found == 1 && isSimple(context = batch.context(0))) {
                    count = SINGLE;
                    completed++;
                    token = tokenOfSimple(context);
                    flags = batch.flags(0);
                    length = batch.length(0);
                    data = batch.data(0);
                } else {
                    count = found == -Errno.EAGAIN ? 0 : takePlain(batch, limit, found);
                }
            }
            if (count > 0 || count == ERROR) { begin(batch); }
        } finally {
            ThreadGuard.exit(guard, entered);
        }
        if (count == SINGLE) {
            handler.onCompletion(token, flags, length, data);
            finishIdleRegions();
            return 1;
        }
        if (count == 0) {
            if (selective) { finishIdleRegions(); }
            return 0;
        }
        return count == ERROR ? deliverError(handler, batch) : deliverEntries(handler, batch, count);
    }

    private int deliverEntries(CompletionHandler handler, CqOps batch, int count) {
        int at = 0;
        try {
            if (handler instanceof DetailedCompletionHandler detailed) {
                while (at < count) {
                    int entry = at++;
                    detailed.onCompletion(batch.context(entry), batch.flags(entry), batch.length(entry),
                            batch.data(entry), batch.buffer(entry), batch.tag(entry), batch.source(entry));
                }
            }
            while (at < count) {
                int entry = at++;
                handler.onCompletion(batch.context(entry), batch.flags(entry), batch.length(entry), batch.data(entry));
            }
        } finally {
            if (at < count) { bufferRest(batch, at, count); }
            end(batch);
        }
        finishIdleRegions();
        return count;
    }

    private void bufferRest(CqOps batch, int at, int end) {
        try (var _ = guard.enter()) {
            buffer(batch, at, end);
            blocking.wake();
        }
    }

    private int deliverError(CompletionHandler handler, CqOps batch) {
        CompletionError error;
        try (var _ = guard.enter()) {
            end(batch);
            error = takeError();
        }
        if (error == null) { // another thread took it
            return 0;
        }
        handler.onError(error);
        finishIdleRegions();
        return 1;
    }

    /** Finishes closed regions whose last operation was read. */
    public void finishIdleRegions() {
        if (pendingDeregistrations.isPending) { pendingDeregistrations.finishIdle(); }
    }

    private CqOps newBatch() { return new CqOps(parts.handle, parts.format, BATCH, readsAreCritical); }

    public void requireOpen() { lifeCycle.requireOpen(parts.queue); }

    public boolean isClosed() { return !lifeCycle.isOpen(); }

    /** Notes that the queue's close has begun. */
    public void noteClosing() { noteBuffered(); }

    public boolean isReadable() { return isReadable; }

    /** From now on, reads are plain calls. */
    public void readPlainly() {
        readsAreCritical = false;
        bufferBatch.readPlainly();
        for (CqOps batch : batches) {
            batch.readPlainly();
        }
    }

    public void noteReadable() {
        isReadable = true;
        noteBuffered();
    }

    /** The number of completions and errors that wait for a poll. */
    public int buffered() {
        return buffered.size() + errors.size();
    }

    /** Drops the completions that wait for a poll, and passes the errors; inside the guard. */
    public void dropBuffered(Consumer<CompletionError> failures) {
        while (buffered.size() > 0) {
            buffered.remove();
        }
        for (CompletionError error = errors.poll(); error != null; error = errors.poll()) {
            failures.accept(error);
        }
        noteBuffered();
    }

    public CompletionQueueStatistics statistics() {
        return new CompletionQueueStatistics(completed, failed, canceled, contexts.timesFull(), buffered(),
                contexts.inFlight());
    }

    /** A batch that is free: another thread, or the handler that polls, may be using the first. */
    private CqOps idleBatch() {
        requireOpen();
        for (CqOps batch : batches) {
            if (!batch.isBusy()) { return batch; }
        }
        CqOps added = newBatch(); // first: an error of the virtual machine must leave no gap
        CqOps[] more = Arrays.copyOf(batches, batches.length + 1);
        more[batches.length] = added;
        batches = more;
        return added;
    }

    /**
     * Reads until there is something to hand out. Returns the number of entries, 0 if there are no more, or
     * {@link #ERROR}.
     */
    private int read(CqOps batch, int limit) {
        long found;
        int taken;
        do {
            found = batch.fi_cq_read(Math.min(limit, BATCH));
            taken = take(batch, found);
        } while (taken == 0 && found > 0);
        return taken;
    }

    /** As {@link #read}, after entries were read without tags and sources. */
    private int takePlain(CqOps batch, int limit, long found) {
        batch.clearExtended(found);
        int taken = take(batch, found);
        return taken == 0 && found > 0 ? read(batch, limit) : taken;
    }

    /** Frees the slots of entries, replaces contexts by tokens, and drops silent entries. */
    private int take(CqOps batch, long count) {
        if (count <= 0) { return count == -Errno.EAGAIN || count == 0 ? 0 : readError(count); }
        completed += count;
        int wanted = 0;
        for (int entry = 0; entry < count; entry++) {
            long context = batch.context(entry);
            boolean isWanted = contexts.isWanted(context); // the usual case
            if (isWanted || !isDropped(context)) {
                batch.copy(entry, wanted);
                batch.context(wanted++, isWanted ? contexts.complete(context) : complete(context, batch.flags(entry)));
            }
        }
        return wanted;
    }

    /** Whether nobody is told of a success; then the operation has ended. */
    private boolean isDropped(long context) {
        if (!contexts.isSilent(context)) { return dataReceives.hasDrained(context, 0); }
        contexts.complete(context);
        return true;
    }

    /**
     * Whether a successful completion can be handed out unchanged: it belongs to an operation whose success is
     * reported, or to an operation of a peer.
     */
    private boolean isSimple(long context) {
        return contexts.isWanted(context)
                || dataReceives.isEmpty() && !contexts.hasExternal() && !contexts.isInFlight(context);
    }

    /** Frees the slot of a simple completion, if it has one. Returns its token. */
    private long tokenOfSimple(long context) {
        return contexts.isWanted(context) ? contexts.complete(context) : CompletionHandler.NO_TOKEN;
    }

    private int readError(long status) {
        bufferError(status);
        return errors.isEmpty() ? 0 : ERROR;
    }

    /** As {@link #read}, with buffered entries first. */
    private int takeBuffered(CqOps batch, int limit) {
        int count = Math.min(Math.min(limit, BATCH), buffered.size());
        for (int entry = 0; entry < count; entry++) {
            batch.put(entry, buffered.field(0), buffered.field(1), buffered.field(2), buffered.field(3),
                    buffered.field(4), buffered.field(5), buffered.field(6));
            buffered.remove();
        }
        noteBuffered();
        if (count > 0) { return count; }
        if (!errors.isEmpty()) { return ERROR; }
        return isReadable ? read(batch, limit) : 0;
    }

    /** The next error, or null if another thread took it. */
    private CompletionError takeError() {
        CompletionError error = errors.poll();
        noteBuffered();
        return error;
    }

    private void noteBuffered() {
        attention = isClosed() || !isReadable || !first.isPlain() || buffered.size() > 0 || !errors.isEmpty();
        setFastPathOwner();
    }

    /** If the guard has a lock, any thread may call this: the result is then always null. */
    private void setFastPathOwner() {
        fastPathOwner = selective || needsFullPoll() ? null : unlockedThread;
    }

    private boolean needsFullPoll() { return attention || first.isBusy(); }

    /** Sets {@link #selective}: from now on, operations may complete without an entry. */
    public void dropSilent() {
        selective = true;
        setFastPathOwner();
    }

    private void begin(CqOps batch) {
        batch.markBusy();
        setFastPathOwner();
    }

    private void end(CqOps batch) {
        batch.markIdle();
        setFastPathOwner();
    }

    /** Frees the slot of an operation, unless it receives further messages. Returns its token. */
    private long complete(long context, long flags) {
        if (contexts.isMultiReceive(context) && (flags & FabricConstants.FI_MULTI_RECV) == 0) {
            return contexts.token(context);
        }
        if (contexts.isInFlight(context)) {
            return (flags & FAILED) == 0 ? contexts.completePeek(context) : contexts.fail(context);
        }
        Long token = contexts.removeExternal(context);
        if (token != null) { return token; }
        dataReceives.repost(context); // the receive was used by a peer's write
        return CompletionHandler.NO_TOKEN;
    }

    private void bufferError(long status) {
        if (status != -Errno.EAVAIL) { throw Status.exception(status, "fi_cq_read", parts.handle.provider()); }
        CqOps.ErrorEntry entry = bufferBatch.fi_cq_readerr(parts.endpoints.areEnabled(), parts.readsErrorData);
        if (entry != null && contexts.isAbandoned(entry.context())) {
            contexts.release(entry.context());
        } else if (entry != null && !dataReceives.owns(entry.context())
                && !dataReceives.hasDrained(entry.context(), entry.errno())) {
            failed++;
            long ended = FAILED | (entry.errno() == Errno.ECANCELED ? FabricConstants.FI_MULTI_RECV : 0);
            long context = entry.context();
            boolean isPosted = contexts.isMultiReceive(context) || contexts.isInFlight(context)
                    || contexts.isExternal(context);
            buffer(new CompletionError(complete(context, entry.flags() | ended), isPosted, entry.flags(),
                    entry.length(), entry.buffer(), entry.data(), entry.tag(), entry.overflow(), entry.errno(),
                    entry.providerErrno(), entry.providerText(), entry.providerData(), parts.handle.provider()));
        }
    }

    /** Buffers the error of an operation for a poll. */
    public void buffer(CompletionError error) {
        errors.add(error);
        noteBuffered();
        RECORDER.failed(error.provider(), error.token(), error.errno(), error.providerText());
    }

    /** Buffers entries that the handler of a poll did not take. */
    private void buffer(CqOps batch, int at, int end) {
        for (int entry = at; entry < end; entry++) {
            buffered.add(batch.context(entry), batch, entry);
        }
        noteBuffered();
    }

    /** Buffers the completion of an operation that needs no transfer. Returns false if the buffer is full. */
    public boolean buffer(long token, long flags, long data) {
        if (buffered.size() >= contexts.capacity()) { return false; }
        completed++;
        buffered.add(token, flags, 0, data, 0, 0, FabricConstants.FI_ADDR_NOTAVAIL);
        noteBuffered();
        return true;
    }

    /** Reads a batch into the buffer. Returns whether there was a completion or an error. */
    public boolean readIntoBuffer() {
        return isReadable && bufferRead(bufferBatch.fi_cq_read(BATCH));
    }

    /** As {@link #readIntoBuffer}, but waits up to 1 ms. */
    public boolean awaitIntoBuffer() {
        return bufferRead(bufferBatch.fi_cq_sread(BATCH, 1));
    }

    private boolean bufferRead(long count) {
        if (count == 0 || count == -Errno.EAGAIN) { return false; }
        if (count < 0) {
            bufferError(count);
            return true;
        }
        completed += count;
        for (int entry = 0; entry < count; entry++) {
            long context = bufferBatch.context(entry);
            if (!isDropped(context)) {
                buffered.add(complete(context, bufferBatch.flags(entry)), bufferBatch, entry);
                noteBuffered();
            }
        }
        return true;
    }

    /** Reports the operations that a closed endpoint has not completed as canceled. Returns their number. */
    public int cancel(int endpoint, boolean isClosed) {
        long[] tokens = isClosed ? contexts.releaseEndpoint(endpoint) : contexts.abandonEndpoint(endpoint);
        for (long token : tokens) {
            buffer(new CompletionError(token, true, 0, 0, 0, 0, 0, 0, Errno.ECANCELED, 0, "the endpoint was closed",
                    new byte[0], parts.handle.provider()));
        }
        canceled += tokens.length;
        return tokens.length;
    }
}
