package io.ofi4j.command.perf;

import io.ofi4j.CompletionError;
import io.ofi4j.CompletionHandler;
import io.ofi4j.verbs.WorkError;
import io.ofi4j.verbs.WorkHandler;
import io.ofi4j.verbs.WorkKind;
import io.ofi4j.verbs.WorkStatus;
import org.HdrHistogram.Histogram;

/** Counts completions, and records how long after the post each has come. One class for all queues: a direct call. */
final class Completions implements CompletionHandler, WorkHandler {
    private static final int ECANCELED = 125;

    /** How many have come, but for those of receives. */
    long count;
    private final End end;
    private long[] starts;
    /** When each was tried first, where that is not when it was planned to begin. */
    private long[] posts;
    private int mask;
    private Histogram latencies;
    private Histogram fromPost;

    Completions(End end) { this.end = end; }

    /** Counts from 0 and records nothing. */
    void countOnly() {
        count = 0;
        starts = null;
    }

    /**
     * Counts from 0 and records latencies; the tokens are consecutive numbers, so many of them in flight.
     *
     * @param posting the latencies from the first try to post, or null where those are the same
     */
    void record(Histogram histogram, Histogram posting, int window) {
        int room = Integer.highestOneBit(window) << 1;
        count = 0;
        mask = room - 1;
        latencies = histogram;
        fromPost = posting;
        starts = new long[room];
        posts = posting == null ? null : new long[room];
    }

    boolean isTimed() { return starts != null; }

    /** The operation with this token is about to be posted, and its latency counts from the start. */
    void begin(long token, long start) {
        starts[(int) token & mask] = start;
        if (posts != null) { posts[(int) token & mask] = System.nanoTime(); }
    }

    @Override
    public void onCompletion(long token, long flags, long length, long data) {
        if (token != NO_TOKEN) {
            onCompletion(token);
        } else {
            end.onWritten(data);
        }
    }

    @Override
    public void onCompletion(long token, WorkKind kind, int length, int flags, int word) { onCompletion(token); }

    private void onCompletion(long token) {
        if (token >= Receives.TOKEN) {
            end.onMessage(token);
            return;
        }
        count++;
        if (starts != null) { record(System.nanoTime(), (int) token & mask); }
    }

    private void record(long now, int place) {
        Latencies.record(latencies, now - starts[place]);
        if (posts != null) { Latencies.record(fromPost, now - posts[place]); }
    }

    /**
     * Receives that a connection takes along when it ends are no failure: whether the peer has gone is said elsewhere.
     */
    @Override
    public void onError(CompletionError error) {
        if (error.token() < Receives.TOKEN || error.errno() != ECANCELED) { throw error.toException(); }
    }

    @Override
    public void onError(WorkError error) {
        if (error.token() < Receives.TOKEN || error.status() != WorkStatus.FLUSHED) { throw error.toException(); }
    }
}
