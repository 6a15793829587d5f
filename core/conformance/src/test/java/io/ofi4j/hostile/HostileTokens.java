package io.ofi4j.hostile;

import io.ofi4j.CompletionError;
import io.ofi4j.CompletionHandler;
import io.ofi4j.CompletionQueue;
import io.ofi4j.support.Pair;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongPredicate;

/** The tokens of operations that were accepted, and those that came back: each once. Any thread may use it. */
final class HostileTokens implements CompletionHandler {
    private final HostileRun run;
    private final AtomicLong last = new AtomicLong();
    private final Set<Long> posted = ConcurrentHashMap.newKeySet();
    private final Set<Long> returned = ConcurrentHashMap.newKeySet();

    HostileTokens(HostileRun run) { this.run = run; }

    /** Posts with a token of its own; whether that was accepted. */
    boolean post(LongPredicate tryPost) {
        long token = last.incrementAndGet();
        boolean isAccepted = tryPost.test(token);
        if (isAccepted) { accept(token); }
        return isAccepted;
    }

    /** Counts an operation that was posted elsewhere. */
    void accept(long token) { posted.add(token); }

    @Override
    public void onCompletion(long token, long flags, long length, long data) { back(token); }

    @Override
    public void onError(CompletionError error) { back(error.token()); }

    /** Counts what came back. */
    void back(long token) {
        if (token > 0 && !returned.add(token)) { run.fail(new AssertionError("token " + token + " came back twice")); }
    }

    /** {@return whether all have come back} */
    boolean areAll() { return returned.containsAll(posted); }

    /** Reads what is left of closed endpoints, and fails unless each token has come back. */
    void requireAll(CompletionQueue... queues) {
        requireAllThrough(this, queues);
    }

    /** As {@link #requireAll}, by a handler that passes on to this one. */
    void requireAllThrough(CompletionHandler handler, CompletionQueue... queues) {
        long end = System.nanoTime() + Pair.DEADLINE.toNanos();
        do {
            for (CompletionQueue queue : List.of(queues)) {
                run.attempt("poll at the end", () -> queue.poll(handler, 64));
            }
        } while (!areAll() && System.nanoTime() < end);
        if (!posted.equals(returned)) {
            Set<Long> lost = new TreeSet<>(posted);
            lost.removeAll(returned);
            Set<Long> strange = new TreeSet<>(returned);
            strange.removeAll(posted);
            run.fail(new AssertionError("tokens that were lost " + lost + ", of nobody " + strange));
        }
    }
}
