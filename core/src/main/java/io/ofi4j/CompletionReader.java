package io.ofi4j;

import io.ofi4j.internal.quirks.Fact;
import io.ofi4j.internal.quirks.Status;
import static io.ofi4j.Recorder.RECORDER;

import io.ofi4j.internal.CompletionRing;
import io.ofi4j.internal.ContextSlab;
import io.ofi4j.internal.CqFormat;
import io.ofi4j.internal.CqOps;
import io.ofi4j.internal.Errno;
import io.ofi4j.internal.Handle;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Queue;

/**
 * Reads what one completion queue has, frees the operations' slots, and keeps what nobody has polled for yet. Used inside the
 * queue's guard.
 */
class CompletionReader {
    static final int BATCH = 64;
    /** Instead of how many: an error comes next. */
    static final int ERROR = -1;

    /** What polls hand out is read into this, tokens put in the place of contexts; contention needs more of them. */
    final CqOps first;
    /** Whether a poll must look at more than libfabric's queue: something is kept, or it must not be read. */
    private boolean attention = true;
    /**
     * Who may poll with no look at anything else: the owner, where nothing is locked, {@link #attention} is not needed, and nobody
     * hands out what was read. Null where a poll must look.
     */
    Thread undisturbed;
    /** Whether endpoints start operations that give no entry when they go well: polls that find none may free regions. */
    boolean selective;
    /** How many operations were read as completed. */
    long completed;

    final ContextSlab contexts;

    /** The guard's. */
    final Thread unlocked;
    private final CompletionQueue queue;
    private final Handle handle;
    private final CqFormat format;
    private final boolean criticalReads;
    private final BoundEndpoints endpoints;
    private final ReceivesForData dataReceives;
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

    CompletionReader(CompletionQueue queue, CqFormat format, ReceivesForData dataReceives) {
        this.queue = queue;
        this.unlocked = queue.guard.unlocked();
        this.contexts = queue.contexts;
        this.handle = queue.handle();
        this.format = format;
        this.endpoints = queue.endpoints();
        this.dataReceives = dataReceives;
        this.criticalReads = queue.domain().quirks.has(Fact.CRITICAL_POLLS);
        this.first = newBatch();
        this.batches = new CqOps[]{first};
        this.asideOps = newBatch();
    }

    private CqOps newBatch() {
        return new CqOps(handle, format, BATCH, criticalReads);
    }

    void requireOpen() {
        if (closed) {
            throw new IllegalStateException(queue + " is closed");
        }
    }

    boolean isClosed() {
        return closed;
    }

    void close() {
        closed = true;
        attend();
    }

    /** Whether there may be something to read. */
    boolean isReadable() {
        return isReadable;
    }

    /** From now on there may be something to read. */
    void readable() {
        isReadable = true;
        noteKept();
    }

    /** How many completions and errors wait for a poll. */
    int kept() {
        return kept.size() + errors.size();
    }

    CompletionQueueStatistics statistics() {
        return new CompletionQueueStatistics(completed, failed, canceled, contexts.timesFull(), kept(),
                contexts.inFlight());
    }

    /** A batch that nobody hands out: another thread, or the handler that polls, may be at the first. */
    CqOps idleBatch() {
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
    int read(CqOps batch, int limit, long alreadyFound) {
        long found = alreadyFound;
        int taken = take(batch, found);
        while (taken == 0 && found > 0) {
            found = batch.fi_cq_read(Math.min(limit, BATCH));
            taken = take(batch, found);
        }
        return taken;
    }

    /** As {@link #read}, of entries that were read without tags and sources. */
    int takePlain(CqOps batch, int limit, long found) {
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
    int takeKept(CqOps batch, int limit) {
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
    CompletionError takeError() {
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
    boolean isDisturbed() {
        return attention || first.isBusy();
    }

    /** Polls that find nothing may free regions from now on. */
    void dropSilent() {
        selective = true;
        noteDisturbance();
    }

    /** Somebody begins to hand out what was read. */
    void begin(CqOps batch) {
        batch.busy();
        noteDisturbance();
    }

    /** What was read has been handed out. */
    void end(CqOps batch) {
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
            putAside(CompletionError.of(complete(entry.context()), entry, handle.provider()));
        }
    }

    private void putAside(CompletionError error) {
        errors.add(error);
        attend();
        RECORDER.failed(error);
    }

    /** Keeps entries that a poll took and its handler did not. */
    void keep(CqOps batch, int at, int end) {
        for (int entry = at; entry < end; entry++) {
            kept.add(batch.context(entry), batch.flags(entry), batch.length(entry), batch.data(entry),
                    batch.buffer(entry), batch.tag(entry), batch.source(entry));
        }
        attend();
    }

    /** Completes an operation that has nothing to do. False where too much is kept already. */
    boolean keep(long token, long flags) {
        if (kept.size() >= contexts.capacity()) {
            return false;
        }
        completed++;
        kept.add(token, flags, 0, 0, 0, 0, Peer.ADDRESS_NOT_AVAILABLE);
        attend();
        return true;
    }

    /** Reads a batch and keeps it; whether there was anything. */
    boolean readAside() {
        return isReadable && keepAside(asideOps.fi_cq_read(BATCH));
    }

    /** As {@link #readAside}, after waiting for a moment. */
    boolean awaitAside() {
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
    int cancel(Endpoint endpoint, boolean isClosed) {
        long[] tokens = isClosed
                ? contexts.releaseEndpoint(endpoint.number)
                : contexts.abandonEndpoint(endpoint.number);
        for (long token : tokens) {
            putAside(CompletionError.canceled(token, handle.provider()));
        }
        canceled += tokens.length;
        return tokens.length;
    }
}
