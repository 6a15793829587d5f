package io.ofi4j.examples.perf;

import java.util.OptionalLong;
import org.HdrHistogram.Histogram;

/**
 * What was measured at one size.
 *
 * @param size how many bytes an operation transferred
 * @param operations how many a pass had
 * @param nanosecondsPerOperation of the pass without clock calls
 * @param latencies of the pass with clock calls, in nanoseconds
 * @param verified how many operations were verified, or nothing where that was not asked for
 * @param errors how many of these were wrong
 */
record Row(long size, long operations, double nanosecondsPerOperation, Histogram latencies, OptionalLong verified,
        long errors) {
    private static final double NANOSECONDS_PER_MICROSECOND = 1000;

    /** {@return the latency in nanoseconds that so many percent of the operations kept} */
    long percentile(double percent) {
        return latencies.getValueAtPercentile(percent);
    }

    /** {@return millions of bytes in a second} */
    double megabytesPerSecond() {
        return size * NANOSECONDS_PER_MICROSECOND / nanosecondsPerOperation;
    }

    /** {@return millions of operations in a second} */
    double megaoperationsPerSecond() {
        return NANOSECONDS_PER_MICROSECOND / nanosecondsPerOperation;
    }
}
