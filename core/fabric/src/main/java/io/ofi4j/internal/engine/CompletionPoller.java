package io.ofi4j.internal.engine;

import io.ofi4j.CompletionError;
import io.ofi4j.CompletionHandler;
import io.ofi4j.DetailedCompletionHandler;
import io.ofi4j.internal.ffi.CqOps;
import io.ofi4j.internal.os.Errno;

/** Polls one completion queue: reads inside its guard, and calls handlers outside. */
public final class CompletionPoller extends CompletionReader {
    /** Instead of a count: one completion, already taken out of the batch. */
    private static final int SINGLE = -2;

    private final ClosingRegions closingRegions;
    private final ThreadGuard guard;
    private final BlockingWait blocking;

    public CompletionPoller(Parts parts, ClosingRegions closingRegions, BlockingWait blocking) {
        super(parts);
        this.closingRegions = closingRegions;
        this.guard = parts.guard();
        this.blocking = blocking;
    }

    /** Hands at most limit completions to the handler; the number of them. */
    public int poll(CompletionHandler handler, int limit) {
        if (undisturbed != Thread.currentThread() || handler instanceof DetailedCompletionHandler) {
            return pollInside(handler, limit);
        }
        long found = first.readPlain(limit);
        if (found == -Errno.EAGAIN) { // the usual case
            return 0;
        }
        long context;
        if (found != 1 || !isSimple(context = first.context(0))) { return handOut(handler, limit, found); }
        completed++;
        handler.onCompletion(tokenOfSimple(context), first.flags(0), first.length(0), first.data(0));
        finishIdleRegions();
        return 1;
    }

    private int handOut(CompletionHandler handler, int limit, long found) {
        int count = takePlain(first, limit, found);
        if (count == 0) { return 0; }
        begin(first);
        return deliver(handler, first, count);
    }

    /** Polls a queue that threads share, or that has kept entries, errors or details. */
    private int pollInside(CompletionHandler handler, int limit) {
        CqOps batch = first;
        int count;
        long context;
        long token = 0;
        long flags = 0;
        long length = 0;
        long data = 0;
        boolean entered = ThreadGuard.enter(guard, unlocked);
        try {
            if (isDisturbed() || handler instanceof DetailedCompletionHandler) {
                batch = idleBatch();
                count = takeKept(batch, limit);
            } else {
                long found = batch.readPlain(limit);
                if (found == 1 && isSimple(context = batch.context(0))) { // the usual case: the batch is free before the handler runs
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
        return deliver(handler, batch, count);
    }

    /** Hands out a batch, or the next error if the count is {@link #ERROR}; the number of handler calls. */
    private int deliver(CompletionHandler handler, CqOps batch, int count) {
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
            if (at < count) { keepRest(batch, at, count); }
            end(batch);
        }
        finishIdleRegions();
        return count;
    }

    private void keepRest(CqOps batch, int at, int end) {
        try (var _ = guard.enter()) {
            keep(batch, at, end);
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
        if (closingRegions.isAny) { closingRegions.finishIdle(); }
    }
}
