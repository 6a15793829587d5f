package io.ofi4j.internal.engine;

import io.ofi4j.CompletionError;
import io.ofi4j.CompletionHandler;
import io.ofi4j.CompletionQueueStatistics;
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
 * Reads what one completion queue has, frees the operations' slots, and keeps what nobody has polled for yet. Used inside the
 * queue's guard.
 */
public class CompletionReader {
    public static final int BATCH = 64;
    /** Instead of how many: an error comes next. */
    public static final int ERROR = -1;

    /** What polls hand out is read into this, tokens put in the place of contexts; contention needs more of them. */
    public final CqOps first;
    /** Whether a poll must look at more than libfabric's queue: something is kept, or it must not be read. */
    private boolean attention = true;
    /**
     * Who may poll with no look at anything else: the owner, where nothing is locked, {@link #attention} is not needed, and nobody
     * hands out what was read. Null where a poll must look.
     */
    public Thread undisturbed;
    /** Whether endpoints start operations that give no entry when they go well: polls that find none may free regions. */
    public boolean selective;
    /** How many operations were read as completed. */
    public long completed;

    public final ContextSlab contexts;

    /** The guard's. */
    public final Thread unlocked;
    private final Parts parts;
    private final Handle handle;
    private final CqFormat format;
    private final boolean criticalReads;
    private final BoundEndpoints endpoints;
    private final QueueReceives dataReceives;
    private CqOps[] batches;
    /** What is read while something else is done. */
    private final CqOps asideOps;
    private final CompletionRing kept = new CompletionRing(BATCH);
    private final Queue<CompletionError> errors = new ArrayDeque<>();
    /**
     * Whether an endpoint was ever enabled. Before, there is nothing to read, and where queues are domains of their own the provider
     * ends the process at the try: they are prepared when their first endpoint is enabled.
     */
    private boolean isReadable;
    private volatile boolean closed;
    private long failed;
    private long canceled;

    /**
     * What a queue reads with.
     *
     * @param queue the queue, for its name
     */
    public record Parts(Object queue, Handle handle, ThreadGuard guard, ContextSlab contexts, CqFormat format,
            boolean criticalReads, BoundEndpoints endpoints, QueueReceives dataReceives) {
    }

    public CompletionReader(Parts parts) {
        this.parts = parts;
        this.unlocked = parts.guard.unlocked();
        this.contexts = parts.contexts;
        this.handle = parts.handle;
        this.format = parts.format;
        this.endpoints = parts.endpoints;
        this.dataReceives = parts.dataReceives;
        this.criticalReads = parts.criticalReads;
        this.first = newBatch();
        this.batches = new CqOps[]{first};
        this.asideOps = newBatch();
    }

    private CqOps newBatch() {
        return new CqOps(handle, format, BATCH, criticalReads);
    }

    public void requireOpen() {
        if (closed) {
            throw new IllegalStateException(parts.queue + " is closed");
        }
    }

    public boolean isClosed() {
        return closed;
    }

    public void close() {
        closed = true;
        attend();
    }

    /** Whether there may be something to read. */
    public boolean isReadable() {
        return isReadable;
    }

    /** From now on there may be something to read. */
    public void readable() {
        isReadable = true;
        noteKept();
    }

    /** How many completions and errors wait for a poll. */
    public int kept() {
        return kept.size() + errors.size();
    }

    public CompletionQueueStatistics statistics() {
        return new CompletionQueueStatistics(completed, failed, canceled, contexts.timesFull(), kept(),
                contexts.inFlight());
    }

    /** A batch that nobody hands out: another thread, or the handler that polls, may be at the first. */
    public CqOps idleBatch() {
        requireOpen();
        for (CqOps batch : batches) {
            if (!batch.isBusy()) {
                return batch;
            }
        }
        batches = Arrays.copyOf(batches, batches.length + 1);
        batches[batches.length - 1] = newBatch();
        return batches[batches.length - 1];
    }

    /** Reads until there is something to hand out: how many, 0 where there is nothing more, or {@link #ERROR}. */
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

    /** Frees the slots of what a read found, keeps what somebody wants to know of, and puts its tokens in the place of contexts. */
    private int take(CqOps batch, long count) {
        if (count <= 0) {
            return count == -Errno.EAGAIN || count == 0 ? 0 : readError(count);
        }
        completed += count;
        int wanted = 0;
        for (int entry = 0; entry < count; entry++) {
            long context = batch.context(entry);
            boolean isWanted = contexts.isWanted(context); // as mostly
            if (isWanted || !contexts.isSilent(context)) {
                batch.copy(entry, wanted);
                batch.context(wanted++, isWanted ? contexts.complete(context) : complete(context));
            } else {
                contexts.complete(context);
            }
        }
        return wanted;
    }

    private int readError(long status) {
        putErrorAside(status);
        return errors.isEmpty() ? 0 : ERROR;
    }

    /** What was kept comes before what is to be read: as {@link #read}. */
    public int takeKept(CqOps batch, int limit) {
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

    /** The error that comes next; null where another thread took it. */
    public CompletionError takeError() {
        CompletionError error = errors.poll();
        noteKept();
        return error;
    }

    private void noteKept() {
        attention = closed || !isReadable || !first.isPlain() || kept.size() > 0 || !errors.isEmpty();
        noteDisturbance();
    }

    private void attend() {
        attention = true;
        noteDisturbance();
    }

    /** Where there is a lock, any thread may come here: what it notes is the same each time. */
    private void noteDisturbance() {
        undisturbed = attention || selective || first.isBusy() ? null : unlocked;
    }

    /** Whether a poll cannot simply read into the first batch. */
    public boolean isDisturbed() {
        return attention || first.isBusy();
    }

    /** Polls that find nothing may free regions from now on. */
    public void dropSilent() {
        selective = true;
        noteDisturbance();
    }

    /** Somebody begins to hand out what was read. */
    public void begin(CqOps batch) {
        batch.busy();
        noteDisturbance();
    }

    /** What was read has been handed out. */
    public void end(CqOps batch) {
        batch.idle();
        noteDisturbance();
    }

    /** Frees the slot of an operation that was begun here; its token. */
    private long complete(long context) {
        if (contexts.isInFlight(context)) {
            return contexts.complete(context);
        }
        dataReceives.completed(context); // peers caused it
        return CompletionHandler.NO_TOKEN;
    }

    private void putErrorAside(long status) {
        if (status != -Errno.EAVAIL) {
            throw Status.exception(status, "fi_cq_read", handle.provider());
        }
        CqOps.ErrorEntry entry = asideOps.fi_cq_readerr(endpoints.areEnabled());
        if (entry != null && contexts.isAbandoned(entry.context())) {
            contexts.release(entry.context());
        } else if (entry != null && !dataReceives.own(entry.context())) {
            failed++;
            putAside(errorOf(complete(entry.context()), entry));
        }
    }

    private CompletionError errorOf(long token, CqOps.ErrorEntry entry) {
        return new CompletionError(token, entry.flags(), entry.length(), entry.buffer(), entry.data(), entry.tag(),
                entry.overflow(), entry.errno(), entry.providerErrno(), entry.providerText(), entry.providerData(),
                handle.provider());
    }

    private void putAside(CompletionError error) {
        errors.add(error);
        attend();
        RECORDER.failed(error.provider(), error.token(), error.errno(), error.providerText());
    }

    /** Keeps entries that a poll took and its handler did not. */
    public void keep(CqOps batch, int at, int end) {
        for (int entry = at; entry < end; entry++) {
            kept.add(batch.context(entry), batch.flags(entry), batch.length(entry), batch.data(entry),
                    batch.buffer(entry), batch.tag(entry), batch.source(entry));
        }
        attend();
    }

    /** Completes an operation that has nothing to do. False where too much is kept already. */
    public boolean keep(long token, long flags) {
        if (kept.size() >= contexts.capacity()) {
            return false;
        }
        completed++;
        kept.add(token, flags, 0, 0, 0, 0, FabricConstants.FI_ADDR_NOTAVAIL);
        attend();
        return true;
    }

    /** Reads a batch and keeps it; whether there was anything. */
    public boolean readAside() {
        return isReadable && keepAside(asideOps.fi_cq_read(BATCH));
    }

    /** As {@link #readAside}, after waiting for a moment. */
    public boolean awaitAside() {
        return keepAside(asideOps.fi_cq_sread(BATCH, 1));
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
            boolean isSilent = contexts.isSilent(context);
            long token = complete(context);
            if (!isSilent) {
                kept.add(token, asideOps.flags(entry), asideOps.length(entry), asideOps.data(entry),
                        asideOps.buffer(entry), asideOps.tag(entry), asideOps.source(entry));
                attend();
            }
        }
        return true;
    }

    /** What a closed endpoint has not completed is reported as canceled; how many operations that were. */
    public int cancel(int endpoint, boolean isClosed) {
        long[] tokens = isClosed ? contexts.releaseEndpoint(endpoint) : contexts.abandonEndpoint(endpoint);
        for (long token : tokens) {
            putAside(new CompletionError(token, 0, 0, 0, 0, 0, 0, Errno.ECANCELED, 0, "the endpoint was closed",
                    new byte[0], handle.provider()));
        }
        canceled += tokens.length;
        return tokens.length;
    }
}
