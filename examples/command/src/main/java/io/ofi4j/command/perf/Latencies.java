package io.ofi4j.command.perf;

import org.HdrHistogram.Histogram;

/** Histograms of nanoseconds. */
final class Latencies {
    private static final long HIGHEST = 60_000_000_000L;
    private static final int DIGITS = 3;

    private Latencies() {}

    static Histogram histogram() { return new Histogram(HIGHEST, DIGITS); }

    static void record(Histogram histogram, long nanoseconds) {
        histogram.recordValue(Math.clamp(nanoseconds, 0, HIGHEST));
    }
}
