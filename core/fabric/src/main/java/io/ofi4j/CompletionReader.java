package io.ofi4j;

import static io.ofi4j.internal.observe.EventRecorder.RECORDER;

import io.ofi4j.info.CompletionQueueStatistics;
import io.ofi4j.internal.engine.BlockingWait;
import io.ofi4j.internal.engine.BoundEndpoints;
import io.ofi4j.internal.engine.ContextSlab;
import io.ofi4j.internal.engine.DataReceives;
import io.ofi4j.internal.engine.LifeCycle;
import io.ofi4j.internal.engine.StackRoom;
import io.ofi4j.internal.engine.ThreadGuard;
import io.ofi4j.internal.ffi.CqErrorEntry;
import io.ofi4j.internal.ffi.CqFormat;
import io.ofi4j.internal.ffi.CqOps;
import io.ofi4j.internal.ffi.FabricConstants;
import io.ofi4j.internal.ffi.Handle;
import io.ofi4j.internal.os.Errno;
import io.ofi4j.internal.quirks.Status;
import java.util.Arrays;
import java.util.function.Consumer;

/**
 * Reads and polls one completion queue: frees the slots of operations, and buffers completions until they are polled.
 * Everything but {@link #poll} and {@link #finishIdleRegions} is used inside the queue's guard. A poll reads inside it,
 * and calls handlers outside.
 */
final class CompletionReader {
    static final int BATCH = 64;
    /** Instead of a count: {@link #error} comes next. */
    private static final int ERROR = -1;
    /** Instead of a count: one completion, already taken out of the batch. */
    private static final int SINGLE = -2;

    /** The batch that polls read into; tokens replace contexts in it. Concurrent polls need more batches. */
    private final CqOps first;
    /**
     * Whether a poll must look at more than libfabric's queue: something is buffered, or the queue must not be read.
     */
    private boolean attention = true;
    /**
     * The thread that may poll without further checks while the first batch is free: the owner, if nothing is locked
     * and {@link #attention} is not needed. Otherwise null.
     */
    private Thread fastPathOwner;
    /** Whether a batch may be {@link CqOps#BROKEN_OFF}; set after that, by any thread that polls. */
    private volatile boolean hasBrokenOff;
    /** Whether operations may complete without an entry: then polls that find nothing finish closed regions, too. */
    private boolean selective;
    private long completed;

    private final ContextSlab contexts;

    private Thread unlockedThread;
    private final Parts parts;
    private final ThreadGuard guard;
    private final DomainRegions regions;
    private final BlockingWait<?> blocking;
    private final DataReceives dataReceives;
    private boolean readsAreCritical;
    private CqOps[] batches;
    /** For reads during other calls. */
    private final CqOps bufferBatch;
    private final CompletionRing buffered = new CompletionRing(BATCH);
    /** What fi_cq_readerr reads into. */
    private final CqErrorEntry errorEntry;
    /** An error that is resolved and not yet handed out or buffered, or null. A field, as those of {@link CqOps}. */
    private CompletionError error;
    /**
     * Whether an endpoint was ever enabled. A queue is empty before. Reading it then would end the process where queues
     * are domains of their own, because the first enable prepares them.
     */
    private boolean isReadable;
    private final LifeCycle lifeCycle;
    private long failed;
    private long canceled;

    record Parts(Object queue, Handle handle, ThreadGuard guard, ContextSlab contexts, CqFormat format,
            boolean criticalReads, boolean readsErrorData, BoundEndpoints endpoints, DataReceives dataReceives,
            LifeCycle lifeCycle) {}

    CompletionReader(Parts parts, DomainRegions regions, BlockingWait<?> blocking) {
        this.parts = parts;
        this.guard = parts.guard;
        this.regions = regions;
        this.blocking = blocking;
        this.unlockedThread = parts.guard.unlockedThread();
        this.contexts = parts.contexts;
        this.dataReceives = parts.dataReceives;
        this.lifeCycle = parts.lifeCycle;
        this.readsAreCritical = parts.criticalReads;
        this.first = newBatch();
        this.batches = new CqOps[]{first};
        this.bufferBatch = newBatch();
        this.errorEntry = new CqErrorEntry(parts.handle);
    }

    /** Hands at most {@code limit} completions to the handler. Returns their number. */
    int poll(CompletionHandler handler, int limit) {
        boolean isFast = fastPathOwner == Thread.currentThread() && !first.isBusy()
                && !(handler instanceof DetailedCompletionHandler);
        try {
            if (!isFast) { return pollInside(handler, limit); }
            long found = first.readPlain(limit);
            if (found == -Errno.EAGAIN) { return 0; }
            first.fetchedPlain = (int) found;
            return handOut(handler, limit, found);
        } catch (Throwable t) { // its stores need no stack
            if (isFast) {
                first.state = CqOps.BROKEN_OFF;
                hasBrokenOff = true;
            }
            try {
                if (hasBrokenOff) {
                    fastPathOwner = null;
                    bufferLeft();
                }
                finishIdleRegions();
            } catch (Throwable _) {
                // the next poll does it
            }
            throw t;
        }
    }

    /**
     * Hands out what was fetched. A method of its own: where nearly all polls have found nothing, the compiler inlines
     * none of the calls that follow, and then this is the only one.
     */
    private int handOut(CompletionHandler handler, int limit, long found) {
        long context;
        if (found != 1 || !isSimple(context = first.context(0))) { return handOutBatch(handler, limit, found); }
        long flags = first.flags(0);
        long length = first.length(0);
        long data = first.data(0);
        long token = completeSimple(context);
        first.fetchedPlain = 0;
        handler.onCompletion(token, flags, length, data);
        finishIdleRegions();
        return 1;
    }

    /** Few calls deep: see {@link io.ofi4j.internal.os.NativeWords}. */
    private int handOutBatch(CompletionHandler handler, int limit, long found) {
        first.completeFetch();
        int count = resolve(first, found);
        if (count == 0 && found > 0) { count = fetch(first, limit); }
        if (count == 0) { return 0; }
        if (count == ERROR) { return handOutError(handler, removeError()); }
        first.markBusy();
        handOutEntries(handler, first, count);
        finishIdleRegions();
        return count;
    }

    /**
     * Polls a queue that threads share, or that has buffered entries, errors or details. It has less bytecode than
     * HotSpot's FreqInlineSize, 325: a longer method is not inlined, and an empty poll takes 2 ns more.
     */
    private int pollInside(CompletionHandler handler, int limit) {
        CqOps batch = null;
        int count = 0;
        long context;
        long token = 0;
        long flags = 0;
        long length = 0;
        long data = 0;
        CompletionError failure = null;
        try {
            boolean entered = ThreadGuard.enter(guard, unlockedThread);
            try {
                if (needsFullPoll() || handler instanceof DetailedCompletionHandler) {
                    batch = idleBatch();
                    count = fetchBuffered(batch, limit);
                } else {
                    batch = first;
                    long found = batch.readPlain(limit);
                    batch.fetchedPlain = (int) found;
                    // the usual case: the batch is free before the handler runs
                    if (found == 1 && isSimple(context = batch.context(0))) {
                        flags = batch.flags(0);
                        length = batch.length(0);
                        data = batch.data(0);
                        token = completeSimple(context);
                        batch.fetchedPlain = 0;
                        count = SINGLE;
                    } else {
                        count = found == -Errno.EAGAIN ? 0 : resolvePlain(batch, limit, found);
                    }
                }
                failure = begin(batch, count);
            } catch (Throwable t) { // inside the guard, so that no other thread has taken the batch
                if (batch != null) {
                    batch.state = CqOps.BROKEN_OFF;
                    hasBrokenOff = true;
                    batch = null;
                }
                throw t;
            } finally {
                ThreadGuard.exit(guard, entered);
            }
            if (count == SINGLE) {
                handler.onCompletion(token, flags, length, data);
                finishIdleRegions();
                return 1;
            }
            if (count <= 0) { return handOutErrorIfAny(handler, failure); }
            handOutEntries(handler, batch, count);
            batch = null; // it may be another thread's
            finishIdleRegions();
            return count;
        } catch (Throwable t) {
            if (count > 0 && batch != null) {
                batch.state = CqOps.BROKEN_OFF;
                hasBrokenOff = true;
            }
            throw t;
        }
    }

    /** Hands out all that is in a batch, which is free then. */
    private static void handOutEntries(CompletionHandler handler, CqOps batch, int count) {
        int entry = 0;
        if (handler instanceof DetailedCompletionHandler detailed) {
            while (entry < count) {
                long token = batch.tokens[entry];
                long flags = batch.flags(entry);
                long length = batch.length(entry);
                long data = batch.data(entry);
                long buffer = batch.buffer(entry);
                long tag = batch.tag(entry);
                long source = batch.source(entry);
                batch.handedOut = ++entry;
                detailed.onCompletion(token, flags, length, data, buffer, tag, source);
            }
        }
        while (entry < count) {
            long token = batch.tokens[entry];
            long flags = batch.flags(entry);
            long length = batch.length(entry);
            long data = batch.data(entry);
            batch.handedOut = ++entry;
            handler.onCompletion(token, flags, length, data);
        }
        batch.wanted = 0;
        batch.handedOut = 0;
        batch.markIdle();
    }

    private int handOutErrorIfAny(CompletionHandler handler, CompletionError failure) {
        if (failure != null) { return handOutError(handler, failure); }
        if (selective) { finishIdleRegions(); }
        return 0;
    }

    private int handOutError(CompletionHandler handler, CompletionError failure) {
        handler.onError(failure);
        finishIdleRegions();
        return 1;
    }

    /** Finishes closed regions whose last operation was read. */
    void finishIdleRegions() {
        if (regions.isClosePending) { regions.finishIdle(); }
    }

    private CqOps newBatch() { return new CqOps(parts.handle, parts.format, BATCH, readsAreCritical); }

    void requireOpen() { lifeCycle.requireOpen(parts.queue); }

    boolean isClosed() { return !lifeCycle.isOpen(); }

    /** Notes that the queue's close has begun. */
    void noteClosing() { noteBuffered(); }

    boolean isReadable() { return isReadable; }

    /** From now on, reads are plain calls. */
    void readPlainly() {
        readsAreCritical = false;
        bufferBatch.readPlainly();
        for (CqOps batch : batches) {
            batch.readPlainly();
        }
    }

    void noteReadable() {
        isReadable = true;
        noteBuffered();
    }

    /** The number of completions and errors that wait for a poll. */
    int buffered() { return buffered.size(); }

    /** Drops the completions that wait for a poll, and passes the errors; inside the guard. */
    void dropBuffered(Consumer<CompletionError> failures) {
        if (hasBrokenOff) { recover(); }
        while (buffered.size() > 0) {
            buffered.remove(buffered.completions(buffered.size()));
            CompletionError failure = buffered.removeError();
            if (failure != null) { failures.accept(failure); }
        }
        noteBuffered();
    }

    CompletionQueueStatistics statistics() {
        return new CompletionQueueStatistics(completed, failed, canceled, contexts.timesFull(), buffered(),
                contexts.inFlight());
    }

    /** A batch that is free: another thread, or the handler that polls, may be using the first. */
    private CqOps idleBatch() {
        requireOpen();
        if (hasBrokenOff) { recover(); }
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
    private int fetch(CqOps batch, int limit) {
        long found;
        int wanted;
        do {
            found = batch.fi_cq_read(Math.min(limit, BATCH));
            wanted = resolve(batch, found);
        } while (wanted == 0 && found > 0);
        return wanted;
    }

    /** As {@link #fetch}, after entries were read without tags and sources. */
    private int resolvePlain(CqOps batch, int limit, long found) {
        batch.completeFetch();
        int wanted = resolve(batch, found);
        return wanted == 0 && found > 0 ? fetch(batch, limit) : wanted;
    }

    /** Resolves what a read has given. Returns as {@link #fetch}. */
    private int resolve(CqOps batch, long found) {
        if (found > 0) { return resolve(batch); }
        return found == -Errno.EAGAIN || found == 0 ? 0 : fetchError(found);
    }

    /** Frees the slots of fetched entries, finds their tokens, and drops silent entries. Goes on where it broke off. */
    private int resolve(CqOps batch) {
        int fetched = batch.fetched;
        int wanted = batch.wanted;
        for (int entry = batch.resolved; entry < fetched; entry++) {
            long context = batch.context(entry);
            boolean isWanted = contexts.isWanted(context); // the usual case
            if (isWanted || !isDropped(context)) {
                batch.copy(entry, wanted);
                long token = isWanted ? contexts.complete(context) : complete(context, batch.flags(entry));
                batch.tokens[wanted++] = token; // from here to the end of the turn are no calls
                batch.wanted = wanted;
            }
            batch.resolved = entry + 1;
        }
        completed += fetched;
        batch.fetched = 0;
        batch.resolved = 0;
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

    /** Frees the slot of a simple completion, if it has one, and counts it. Returns its token. */
    private long completeSimple(long context) {
        long token = contexts.isWanted(context) ? contexts.complete(context) : CompletionHandler.NO_TOKEN;
        completed++;
        return token;
    }

    /** Reads an error and resolves it. Returns {@link #ERROR}, or 0 if nobody is told of it. */
    private int fetchError(long status) {
        if (status != -Errno.EAVAIL) { throw Status.exception(status, "fi_cq_read", parts.handle.provider()); }
        StackRoom.require(); // before the error is read
        errorEntry.fi_cq_readerr(parts.readsErrorData);
        if (errorEntry.isFetched) { resolveError(); }
        return error == null ? 0 : ERROR;
    }

    /** Makes the record of the error that was read, and frees the slot of its operation. Goes on where it broke off. */
    private void resolveError() {
        long context = errorEntry.context();
        int errno = errorEntry.errno();
        if (contexts.isAbandoned(context)) {
            contexts.release(context);
            errorEntry.isFetched = false;
            return;
        }
        if (dataReceives.owns(context) || dataReceives.hasDrained(context, errno)) {
            errorEntry.isFetched = false;
            return;
        }
        Long token = contexts.find(context);
        String text = parts.endpoints.areEnabled() ? errorEntry.fi_cq_strerror() : "";
        CompletionError resolved = new CompletionError(token == null ? CompletionHandler.NO_TOKEN : token,
                token != null, errorEntry.flags(), errorEntry.length(), errorEntry.buffer(), errorEntry.data(),
                errorEntry.tag(), errorEntry.overflow(), errno, errorEntry.providerErrno(), text,
                errorEntry.errorData(), parts.handle.provider());
        boolean receivesMore = contexts.isMultiReceive(context) && errno != Errno.ECANCELED
                && (resolved.flags() & FabricConstants.FI_MULTI_RECV) == 0;
        if (token != null && !receivesMore) { contexts.fail(context); }
        error = resolved; // from the release of the slot to the end of the turn are no calls
        errorEntry.isFetched = false;
        failed++;
        record(resolved);
    }

    private static void record(CompletionError failure) {
        RECORDER.failed(failure.provider(), failure.token(), failure.errno(), failure.providerText());
    }

    /** The error that was resolved, for the one who hands it out or buffers it. */
    private CompletionError removeError() {
        CompletionError removed = error;
        error = null;
        return removed;
    }

    /** As {@link #fetch}, with buffered entries first. */
    private int fetchBuffered(CqOps batch, int limit) {
        int count = buffered.completions(Math.min(limit, BATCH));
        for (int entry = 0; entry < count; entry++) {
            batch.tokens[entry] = buffered.field(entry, 0);
            batch.put(entry, buffered.field(entry, 1), buffered.field(entry, 2), buffered.field(entry, 3),
                    buffered.field(entry, 4), buffered.field(entry, 5), buffered.field(entry, 6));
        }
        buffered.remove(count);
        batch.wanted = count; // no call before this: the entries are in one place only
        if (count == 0 && buffered.size() > 0) {
            StackRoom.require(); // before the error is removed
            error = buffered.removeError();
        }
        noteBuffered();
        if (count > 0) { return count; }
        if (error != null) { return ERROR; }
        return isReadable ? fetch(batch, limit) : 0;
    }

    private void noteBuffered() {
        attention = isClosed() || !isReadable || !first.isPlain() || buffered.size() > 0;
        setFastPathOwner();
    }

    /** If the guard has a lock, any thread may call this: the result is then always null. */
    private void setFastPathOwner() {
        fastPathOwner = selective || attention || hasBrokenOff ? null : unlockedThread;
    }

    /** Sets the thread that need not enter the guard, or null. */
    void unlockedThread(Thread thread) {
        unlockedThread = thread;
        setFastPathOwner();
    }

    private boolean needsFullPoll() { return attention || hasBrokenOff || first.isBusy(); }

    /** Sets {@link #selective}: from now on, operations may complete without an entry. */
    void dropSilent() {
        selective = true;
        setFastPathOwner();
    }

    /** Begins to hand out what was fetched, inside the guard. Returns the error if that is one, otherwise null. */
    private CompletionError begin(CqOps batch, int count) {
        if (count > 0) { batch.markBusy(); }
        return count == ERROR ? removeError() : null;
    }

    /** Ends an operation that has succeeded, unless it receives further messages. Returns its token. */
    private long complete(long context, long flags) {
        if (contexts.isMultiReceive(context) && (flags & FabricConstants.FI_MULTI_RECV) == 0) {
            return contexts.token(context);
        }
        if (contexts.isInFlight(context)) { return contexts.completePeek(context); }
        Long token = contexts.removeExternal(context);
        if (token != null) { return token; }
        dataReceives.repost(context); // the receive was used by a peer's write
        return CompletionHandler.NO_TOKEN;
    }

    /** Buffers the error of an operation that no queue has reported. */
    void buffer(CompletionError failure) {
        buffered.add(failure);
        noteBuffered();
        record(failure);
    }

    /** Buffers the error that was resolved. */
    private void bufferError() {
        buffered.add(error);
        error = null;
        noteBuffered();
    }

    /** After an exception: buffers what is left in batches, and wakes threads that wait for it. */
    private void bufferLeft() {
        try (var _ = guard.enter()) {
            if (recover()) { blocking.wake(); }
        }
    }

    /** Buffers the entries that are left in batches whose use an exception broke off. Returns whether there are any. */
    private boolean recover() {
        hasBrokenOff = false; // first: another thread may be about to set it
        try {
            int before = buffered.size();
            for (CqOps batch : batches) {
                if (batch.state == CqOps.BROKEN_OFF) { buffer(batch); }
            }
            if (bufferBatch.state == CqOps.BROKEN_OFF) { buffer(bufferBatch); }
            if (errorEntry.isFetched) { resolveError(); }
            if (error != null) { bufferError(); }
            noteBuffered();
            return buffered.size() > before;
        } catch (Throwable t) {
            hasBrokenOff = true;
            throw t;
        }
    }

    /** Buffers the entries of a batch that were not handed out, which is free then. Goes on where it broke off. */
    private void buffer(CqOps batch) {
        batch.completeFetch();
        resolve(batch);
        for (int entry = batch.handedOut; entry < batch.wanted; entry++) {
            buffered.add(batch.tokens[entry], batch, entry);
            batch.handedOut = entry + 1;
        }
        batch.wanted = 0;
        batch.handedOut = 0;
        batch.markIdle();
    }

    /** Buffers the completion of an operation that needs no transfer. Returns false if the buffer is full. */
    boolean buffer(long token, long flags, long data) {
        if (buffered.size() >= contexts.capacity()) { return false; }
        completed++;
        buffered.add(token, flags, 0, data, 0, 0, FabricConstants.FI_ADDR_NOTAVAIL);
        noteBuffered();
        return true;
    }

    /** Reads a batch into the buffer. Returns whether there was a completion or an error. */
    boolean fetchIntoBuffer() {
        return isReadable && fetchIntoBuffer(false);
    }

    /** As {@link #fetchIntoBuffer()}, but waits up to 1 ms. */
    boolean awaitIntoBuffer() {
        return fetchIntoBuffer(true);
    }

    private boolean fetchIntoBuffer(boolean waits) {
        boolean hasRecovered = hasBrokenOff && recover();
        try {
            return bufferFetched(waits ? bufferBatch.fi_cq_sread(BATCH, 1) : bufferBatch.fi_cq_read(BATCH))
                    || hasRecovered;
        } catch (Throwable t) {
            bufferBatch.state = CqOps.BROKEN_OFF;
            hasBrokenOff = true;
            fastPathOwner = null;
            throw t;
        }
    }

    private boolean bufferFetched(long found) {
        if (found == 0 || found == -Errno.EAGAIN) { return false; }
        if (found < 0) {
            if (fetchError(found) == ERROR) { bufferError(); }
            return true;
        }
        buffer(bufferBatch);
        noteBuffered();
        return true;
    }

    /**
     * Reports the operations that a closed endpoint has not completed as canceled. Returns their number.
     *
     * @param isClosed whether the provider has closed the endpoint; otherwise it may still use their regions
     */
    int cancel(Endpoint endpoint, boolean isClosed) {
        if (hasBrokenOff) { recover(); } // these have completed
        long[] left = contexts.closeEndpoint(endpoint.number);
        if (!isClosed) { // before they are forgotten
            regions.hold(endpoint, Arrays.stream(left).boxed().flatMapToInt(contexts::regions));
        }
        for (long context : left) {
            CompletionError failure = new CompletionError(contexts.token(context), true, 0, 0, 0, 0, 0, 0,
                    Errno.ECANCELED, 0, "the endpoint was closed", new byte[0], parts.handle.provider());
            buffered.add(failure); // if this throws, the next close finds the operation
            if (isClosed) {
                contexts.release(context);
            } else {
                contexts.abandon(context);
            }
            canceled++;
            noteBuffered();
            record(failure);
        }
        return left.length;
    }
}
