package io.ofi4j.verbs;

import io.ofi4j.verbs.internal.WorkCompletions;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;

/**
 * Completions between the device and a handler. They are fetched and resolved inside the guard of the queue, and handed
 * out outside of it by one thread.
 *
 * <p>How far they are is in fields, since a store needs no stack: a StackOverflowError can come in any call, and so
 * neither between the return of one and the store that follows, nor between two stores.
 */
final class CompletionBatch {
    static final int SIZE = 64;
    /** A {@link #state}: no thread uses the batch, and nothing is in it. */
    static final int IDLE = 0;
    /** A {@link #state}: a thread uses the batch. */
    static final int BUSY = 1;
    /** A {@link #state}: an exception broke off the use of this batch, and completions may be left in it. */
    static final int BROKEN_OFF = 2;

    /** For writes without a full fence. */
    private static final AtomicIntegerFieldUpdater<CompletionBatch> STATE = AtomicIntegerFieldUpdater
            .newUpdater(CompletionBatch.class, "state");

    final WorkCompletions completions = new WorkCompletions(SIZE);
    /** The number of completions that were fetched from the device, or 0. */
    int fetched;
    /** Of the fetched completions, the number of those whose operations have been ended. */
    int resolved;
    /** The number of resolved completions to hand out. */
    int wanted;
    /** Of the wanted completions, the number of those that were handed out. */
    int handedOut;
    volatile int state;

    private final long[] tokens = new long[SIZE];
    private final int[] kinds = new int[SIZE];
    private final int[] lengths = new int[SIZE];
    private final int[] flags = new int[SIZE];
    private final int[] words = new int[SIZE];
    private final WorkError[] errors = new WorkError[SIZE];

    /** A completion that waits for the next poll. */
    record BufferedCompletion(long token, int kind, int length, int flags, int word, WorkError error) {}

    void markBusy() { STATE.lazySet(this, BUSY); }

    /** All was handed out. */
    void markIdle() {
        wanted = 0;
        handedOut = 0;
        STATE.lazySet(this, IDLE);
    }

    /** Sets the completion behind the wanted ones; the caller increments their number. */
    void put(long token, int kind, int length, int itsFlags, int word) {
        tokens[wanted] = token;
        kinds[wanted] = kind;
        lengths[wanted] = length;
        flags[wanted] = itsFlags;
        words[wanted] = word;
        errors[wanted] = null;
    }

    /** As {@link #put(long, int, int, int, int)}, with an error. */
    void put(WorkError error) {
        errors[wanted] = error;
    }

    void put(BufferedCompletion one) {
        put(one.token, one.kind, one.length, one.flags, one.word);
        errors[wanted] = one.error;
    }

    /** A wanted completion. */
    BufferedCompletion get(int index) {
        return new BufferedCompletion(tokens[index], kinds[index], lengths[index], flags[index], words[index],
                errors[index]);
    }

    /** Hands out what is left. If the handler throws, the rest stays. */
    void handOut(WorkHandler handler) {
        while (handedOut < wanted) {
            int index = handedOut;
            WorkError error = errors[index];
            if (error != null) {
                handedOut = index + 1;
                handler.onError(error);
            } else {
                WorkKind kind = WorkKind.of(kinds[index]);
                handedOut = index + 1;
                handler.onCompletion(tokens[index], kind, lengths[index], flags[index], words[index]);
            }
        }
    }
}
