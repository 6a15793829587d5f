package io.ofi4j;

import io.ofi4j.internal.ContextSlab;
import io.ofi4j.internal.CqOps;
import io.ofi4j.internal.Errno;
import io.ofi4j.internal.Guard;

/** Polls one completion queue: reads inside its guard, and hands what was read to handlers outside. */
final class CompletionDelivery {
    private final Domain domain;
    private final Guard guard;
    private final CompletionReader reader;
    private final ContextSlab contexts;
    private final CqOps first;
    private final CompletionWait waiting;
    private boolean selective;

    CompletionDelivery(CompletionQueue queue, CompletionReader reader, CompletionWait waiting) {
        this.domain = queue.domain();
        this.guard = queue.guard;
        this.reader = reader;
        this.contexts = queue.contexts;
        this.first = reader.first;
        this.waiting = waiting;
    }

    /** Endpoints start operations that give no entry when they go well: polls that find none may free regions. */
    void dropSilent() {
        selective = true;
    }

    /** Reads completions that are there, as many as the limit says at most, and hands them to the handler; how many. */
    int poll(CompletionHandler handler, int limit) {
        CqOps batch = first;
        boolean single = false;
        int count = 0;
        long token = 0;
        long flags = 0;
        long length = 0;
        long data = 0;
        guard.enter();
        try {
            if (reader.attention || batch.isBusy()) {
                batch = reader.idleBatch();
                count = reader.takeKept(batch, limit);
            } else {
                long found = batch.fi_cq_read(limit);
                if (found == 1 && isPlain(handler)) { // as mostly; the batch is free before the handler runs
                    long context = batch.context(0);
                    int slot = contexts.slotOf(context);
                    single = !contexts.isSilent(slot);
                    reader.completed++;
                    token = reader.complete(slot, context);
                    flags = batch.flags(0);
                    length = batch.length(0);
                    data = batch.data(0);
                    found = single ? found : batch.fi_cq_read(limit);
                }
                if (found != -Errno.EAGAIN && !single) {
                    count = reader.read(batch, limit, found);
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
        return count == 0 ? 0 : deliver(handler, batch, count);
    }

    /** Whether a handler is content with what every entry has. */
    private static boolean isPlain(CompletionHandler handler) {
        return !(handler instanceof DetailedCompletionHandler);
    }

    /** Hands out a batch, or the next error where the count says so; how many the handler was handed. */
    private int deliver(CompletionHandler handler, CqOps batch, int count) {
        return count == CompletionReader.ERROR ? deliverError(handler, batch) : deliverEntries(handler, batch, count);
    }

    private int deliverEntries(CompletionHandler handler, CqOps batch, int count) {
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
            reader.keepRest(batch, at, end);
            waiting.wake();
        } finally {
            guard.exit();
        }
    }

    private int deliverError(CompletionHandler handler, CqOps batch) {
        CompletionError error;
        guard.enter();
        try {
            batch.idle();
            error = reader.takeError();
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

    /** Regions that were closed with operations in flight go when the last of them is read. */
    void finishIdleRegions() {
        if (domain.hasClosingRegions) {
            domain.finishIdleRegions();
        }
    }
}
