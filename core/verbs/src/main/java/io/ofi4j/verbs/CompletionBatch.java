package io.ofi4j.verbs;

import io.ofi4j.verbs.internal.WorkCompletions;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Completions between the device and a handler. Filled inside the guard of the queue, and delivered outside of it by
 * one thread.
 */
final class CompletionBatch {
    static final int SIZE = 64;
    static final WorkKind[] KINDS = WorkKind.values();

    final WorkCompletions completions = new WorkCompletions(SIZE);
    /** Whether a thread passes it to a handler. */
    final AtomicBoolean busy = new AtomicBoolean();

    private final long[] tokens = new long[SIZE];
    private final int[] kinds = new int[SIZE];
    private final int[] lengths = new int[SIZE];
    private final int[] flags = new int[SIZE];
    private final int[] words = new int[SIZE];
    private final WorkError[] errors = new WorkError[SIZE];
    private int count;
    private int next;

    /** A completion that waits for the next poll. */
    record BufferedCompletion(long token, int kind, int length, int flags, int word, WorkError error) {}

    void clear() {
        count = 0;
        next = 0;
    }

    int count() { return count; }

    void add(long token, int kind, int length, int itsFlags, int word) {
        tokens[count] = token;
        kinds[count] = kind;
        lengths[count] = length;
        flags[count] = itsFlags;
        words[count] = word;
        errors[count++] = null;
    }

    void add(WorkError error) { errors[count++] = error; }

    void addBuffered(Deque<BufferedCompletion> buffered, int limit) {
        while (count < limit && !buffered.isEmpty()) {
            BufferedCompletion one = buffered.removeFirst();
            add(one.token, one.kind, one.length, one.flags, one.word);
            errors[count - 1] = one.error;
        }
    }

    /** Passes the remaining completions to a handler. If the handler throws, the rest stays. */
    void deliver(WorkHandler handler) {
        while (next < count) {
            int index = next++;
            if (errors[index] != null) {
                handler.onError(errors[index]);
            } else {
                handler.onCompletion(tokens[index], WorkKind.of(kinds[index]), lengths[index], flags[index],
                        words[index]);
            }
        }
    }

    boolean isDelivered() { return next >= count; }

    /** {@return the completions that were not passed to a handler, in order} */
    Deque<BufferedCompletion> remaining() {
        Deque<BufferedCompletion> remaining = new ArrayDeque<>();
        for (int i = next; i < count; i++) {
            remaining.add(new BufferedCompletion(tokens[i], kinds[i], lengths[i], flags[i], words[i], errors[i]));
        }
        return remaining;
    }
}
