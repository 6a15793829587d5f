package io.ofi4j.examples.perf;

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
    private int mask;
    private Histogram latencies;

    Completions(End end) { this.end = end; }

    /** Counts from 0 and records nothing. */
    void countOnly() {
        count = 0;
        starts = null;
    }

    /** Counts from 0 and records latencies; the tokens are consecutive numbers, so many of them in flight. */
    void record(Histogram histogram, int window) {
        int room = Integer.highestOneBit(window) << 1;
        count = 0;
        mask = room - 1;
        latencies = histogram;
        starts = new long[room];
    }

    boolean isTimed() { return starts != null; }

    /** The operation with this token is about to be posted. */
    void begin(long token) {
        starts[(int) token & mask] = System.nanoTime();
    }

    @Override
    public void onCompletion(long token, long flags, long length, long data) {
        if (token != NO_TOKEN) { onCompletion(token); }
    }

    @Override
    public void onCompletion(long token, WorkKind kind, int length, int flags, int word) { onCompletion(token); }

    private void onCompletion(long token) {
        if (token >= Receives.TOKEN) {
            end.onMessage(token);
            return;
        }
        count++;
        if (starts != null) { Latencies.record(latencies, System.nanoTime() - starts[(int) token & mask]); }
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
