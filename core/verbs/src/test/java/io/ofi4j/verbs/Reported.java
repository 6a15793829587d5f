package io.ofi4j.verbs;

import io.ofi4j.Waiting;
import java.util.ArrayDeque;
import java.util.Deque;

/** What a queue has reported and nobody has looked at. */
final class Reported implements WorkHandler {
    private final Deque<Object> all = new ArrayDeque<>();

    record Completion(long token, WorkKind kind, int length, int flags, int word) {}

    @Override
    public void onCompletion(long token, WorkKind kind, int length, int flags, int word) {
        all.add(new Completion(token, kind, length, flags, word));
    }

    @Override
    public void onError(WorkError error) { all.add(error); }

    Completion next(VerbsCompletionQueue queue) { return (Completion) await(queue); }

    WorkError nextError(VerbsCompletionQueue queue) { return (WorkError) await(queue); }

    /** The next, or null if it is no error. */
    WorkError errorOrNull(VerbsCompletionQueue queue) {
        return await(queue) instanceof WorkError error ? error : null;
    }

    private Object await(VerbsCompletionQueue queue) {
        Waiting.YIELD.until(() -> !all.isEmpty() || queue.poll(this, 16) > 0, VerbsLink.DEADLINE);
        return all.removeFirst();
    }

    int polled(VerbsCompletionQueue queue) {
        queue.poll(this, 16);
        return all.size();
    }
}
