package io.ofi4j.examples.perf;

import io.ofi4j.CompletionHandler;
import org.HdrHistogram.Histogram;

/** Counts completions, and records how long after the post each has come. One class for all queues: a direct call. */
final class Completions implements CompletionHandler {
    /** How many have come. */
    long count;
    private long[] starts;
    private int mask;
    private Histogram latencies;

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
        if (token == NO_TOKEN) { return; }
        count++;
        if (starts != null) { Latencies.record(latencies, System.nanoTime() - starts[(int) token & mask]); }
    }
}
