package io.ofi4j.internal.engine;

import io.ofi4j.CompletionError;
import io.ofi4j.CompletionHandler;
import io.ofi4j.info.CompletionQueueStatistics;
import io.ofi4j.internal.ffi.FabricConstants;
import io.ofi4j.internal.quirks.Status;
import static io.ofi4j.internal.observe.EventRecorder.RECORDER;

import io.ofi4j.internal.ffi.CqFormat;
import io.ofi4j.internal.ffi.CqOps;
import io.ofi4j.internal.os.Errno;
import io.ofi4j.internal.ffi.Handle;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Queue;

/**
 * Reads one completion queue, frees the slots of operations, and keeps completions until they are polled. Used inside the queue's guard.
 */
public abstract class CompletionReader {
    public static final int BATCH = 64;
    /** Instead of a count: an error comes next. */
    public static final int ERROR = -1;

    /** Beside the flags of a completion: it is an error. */
    private static final long FAILED = Long.MIN_VALUE;

    /** The batch that polls read into, with tokens in the place of contexts; concurrent polls need further ones. */
    public final CqOps first;
    /** Whether a poll must look at more than libfabric's queue: something is kept, or the queue must not be read. */
    private boolean attention = true;
    /**
     * The thread that may poll without further checks: the owner, if nothing is locked, {@link #attention} is not needed and the
     * first batch is free. Otherwise null.
     */
    public Thread undisturbed;
    /** Whether operations may complete without an entry: then polls that find nothing finish closed regions, too. */
    public boolean selective;
    public long completed;

    public final ContextSlab contexts;

    public final Thread unlocked;
    private final Parts parts;
    private final QueueReceives dataReceives;
    private CqOps[] batches;
    /** For reads during other calls. */
    private final CqOps asideOps;
    private final CompletionRing kept = new CompletionRing(BATCH);
    private final Queue<CompletionError> errors = new ArrayDeque<>();
    /**
     * Whether an endpoint was ever enabled. A queue is empty before. Reading it then would end the process where queues are
     * domains of their own, because the first enable prepares them.
     */
    private boolean isReadable;
    private final LifeCycle lifeCycle;
    private long failed;
    private long canceled;

    public record Parts(Object queue, Handle handle, ThreadGuard guard, ContextSlab contexts, CqFormat format,
            boolean criticalReads, BoundEndpoints endpoints, QueueReceives dataReceives, LifeCycle lifeCycle) {}

    public CompletionReader(Parts parts) {
        this.parts = parts;
        this.unlocked = parts.guard.unlocked();
        this.contexts = parts.contexts;
        this.dataReceives = parts.dataReceives;
        this.lifeCycle = parts.lifeCycle;
        this.first = newBatch();
        this.batches = new CqOps[]{first};
        this.asideOps = newBatch();
    }

    private CqOps newBatch() { return new CqOps(parts.handle, parts.format, BATCH, parts.criticalReads); }

    public void requireOpen() { lifeCycle.requireOpen(parts.queue); }

    public boolean isClosed() { return !lifeCycle.isOpen(); }

    /** Notes that the queue's close has begun. */
    public void closing() { noteKept(); }

    public boolean isReadable() { return isReadable; }

    public void readable() {
        isReadable = true;
        noteKept();
    }

    /** The number of completions and errors that wait for a poll. */
    public int kept() {
        return kept.size() + errors.size();
    }

    public CompletionQueueStatistics statistics() {
        return new CompletionQueueStatistics(completed, failed, canceled, contexts.timesFull(), kept(),
                contexts.inFlight());
    }

    /** A batch that is free: another thread, or the handler that polls, may be using the first. */
    public CqOps idleBatch() {
        requireOpen();
        for (CqOps batch : batches) {
            if (!batch.isBusy()) { return batch; }
        }
        batches = Arrays.copyOf(batches, batches.length + 1);
        batches[batches.length - 1] = newBatch();
        return batches[batches.length - 1];
    }

    /** Reads until there is something to hand out: the number of entries, 0 if there are no more, or {@link #ERROR}. */
    public int read(CqOps batch, int limit, long alreadyFound) {
        long found = alreadyFound;
        int taken = take(batch, found);
        while (taken == 0 && found > 0) {
            found = batch.fi_cq_read(Math.min(limit, BATCH));
            taken = take(batch, found);
        }
        return taken;
    }

    /** As {@link #read}, of entries that were read without tags and sources. */
    public int takePlain(CqOps batch, int limit, long found) {
        batch.forgetFurther(found);
        return read(batch, limit, found);
    }

    /** Frees the slots of entries, replaces contexts by tokens, and drops silent entries. */
    private int take(CqOps batch, long count) {
        if (count <= 0) { return count == -Errno.EAGAIN || count == 0 ? 0 : readError(count); }
        completed += count;
        int wanted = 0;
        for (int entry = 0; entry < count; entry++) {
            long context = batch.context(entry);
            boolean isWanted = contexts.isWanted(context); // the usual case
            if (isWanted || !contexts.isSilent(context)) {
                batch.copy(entry, wanted);
                batch.context(wanted++, isWanted ? contexts.complete(context) : complete(context, batch.flags(entry)));
            } else {
                contexts.complete(context);
            }
        }
        return wanted;
    }

    /** Whether a success is handed out as it is: that of an operation which the program is told of, or what a peer has done. */
    public boolean isSimple(long context) {
        return contexts.isWanted(context)
                || dataReceives.areNone() && !contexts.hasOutside() && !contexts.isInFlight(context);
    }

    /** Frees the slot of a simple one; its token. */
    public long tokenOfSimple(long context) {
        return contexts.isWanted(context) ? contexts.complete(context) : CompletionHandler.NO_TOKEN;
    }

    private int readError(long status) {
        putErrorAside(status);
        return errors.isEmpty() ? 0 : ERROR;
    }

    /** As {@link #read}, with kept entries first. */
    public int takeKept(CqOps batch, int limit) {
        int count = Math.min(Math.min(limit, BATCH), kept.size());
        for (int entry = 0; entry < count; entry++) {
            batch.put(entry, kept.field(0), kept.field(1), kept.field(2), kept.field(3), kept.field(4), kept.field(5),
                    kept.field(6));
            kept.remove();
        }
        noteKept();
        if (count > 0) { return count; }
        if (!errors.isEmpty()) { return ERROR; }
        return isReadable ? read(batch, limit, batch.fi_cq_read(Math.min(limit, BATCH))) : 0;
    }

    /** The next error, or null if another thread took it. */
    public CompletionError takeError() {
        CompletionError error = errors.poll();
        noteKept();
        return error;
    }

    private void noteKept() {
        attention = isClosed() || !isReadable || !first.isPlain() || kept.size() > 0 || !errors.isEmpty();
        noteDisturbance();
    }

    /** With a lock, any thread may come here: the result is the same. */
    private void noteDisturbance() {
        undisturbed = attention || selective || first.isBusy() ? null : unlocked;
    }

    public boolean isDisturbed() { return attention || first.isBusy(); }

    /** As {@link #selective} says from now on. */
    public void dropSilent() {
        selective = true;
        noteDisturbance();
    }

    public void begin(CqOps batch) {
        batch.busy();
        noteDisturbance();
    }

    public void end(CqOps batch) {
        batch.idle();
        noteDisturbance();
    }

    /** Frees the slot of an operation, unless more messages may come for it; its token. */
    private long complete(long context, long flags) {
        if (contexts.isOfMany(context) && (flags & FabricConstants.FI_MULTI_RECV) == 0) {
            return contexts.token(context);
        }
        if (contexts.isInFlight(context)) {
            return (flags & FAILED) == 0 ? contexts.completeLook(context) : contexts.fail(context);
        }
        Long token = contexts.endOutside(context);
        if (token != null) { return token; }
        dataReceives.completed(context); // a peer's write
        return CompletionHandler.NO_TOKEN;
    }

    private void putErrorAside(long status) {
        if (status != -Errno.EAVAIL) { throw Status.exception(status, "fi_cq_read", parts.handle.provider()); }
        CqOps.ErrorEntry entry = asideOps.fi_cq_readerr(parts.endpoints.areEnabled());
        if (entry != null && contexts.isAbandoned(entry.context())) {
            contexts.release(entry.context());
        } else if (entry != null && !dataReceives.own(entry.context())) {
            failed++;
            long ended = FAILED | (entry.errno() == Errno.ECANCELED ? FabricConstants.FI_MULTI_RECV : 0);
            putAside(new CompletionError(complete(entry.context(), entry.flags() | ended), entry.flags(),
                    entry.length(), entry.buffer(), entry.data(), entry.tag(), entry.overflow(), entry.errno(),
                    entry.providerErrno(), entry.providerText(), entry.providerData(), parts.handle.provider()));
        }
    }

    /** Keeps the error of an operation for a poll. */
    public void putAside(CompletionError error) {
        errors.add(error);
        noteKept();
        RECORDER.failed(error.provider(), error.token(), error.errno(), error.providerText());
    }

    /** Keeps entries that the handler of a poll did not take. */
    public void keep(CqOps batch, int at, int end) {
        for (int entry = at; entry < end; entry++) {
            kept.add(batch.context(entry), batch, entry);
        }
        noteKept();
    }

    /** Completes an operation that needs no transfer. False if too much is kept already. */
    public boolean keep(long token, long flags, long data) {
        if (kept.size() >= contexts.capacity()) { return false; }
        completed++;
        kept.add(token, flags, 0, data, 0, 0, FabricConstants.FI_ADDR_NOTAVAIL);
        noteKept();
        return true;
    }

    /** Reads a batch and keeps it; whether there was anything. */
    public boolean readAside() {
        return isReadable && keepAside(asideOps.fi_cq_read(BATCH));
    }

    /** As {@link #readAside}, but waits up to 1 ms. */
    public boolean awaitAside() {
        return keepAside(asideOps.fi_cq_sread(BATCH, 1));
    }

    private boolean keepAside(long count) {
        if (count == 0 || count == -Errno.EAGAIN) { return false; }
        if (count < 0) {
            putErrorAside(count);
            return true;
        }
        completed += count;
        for (int entry = 0; entry < count; entry++) {
            long context = asideOps.context(entry);
            boolean isSilent = contexts.isSilent(context);
            long token = complete(context, asideOps.flags(entry));
            if (!isSilent) {
                kept.add(token, asideOps, entry);
                noteKept();
            }
        }
        return true;
    }

    /** Reports what a closed endpoint has not completed as canceled; the number of those operations. */
    public int cancel(int endpoint, boolean isClosed) {
        long[] tokens = isClosed ? contexts.releaseEndpoint(endpoint) : contexts.abandonEndpoint(endpoint);
        for (long token : tokens) {
            putAside(new CompletionError(token, 0, 0, 0, 0, 0, 0, Errno.ECANCELED, 0, "the endpoint was closed",
                    new byte[0], parts.handle.provider()));
        }
        canceled += tokens.length;
        return tokens.length;
    }
}
