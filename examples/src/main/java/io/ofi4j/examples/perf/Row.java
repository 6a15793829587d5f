package io.ofi4j.examples.perf;

import java.util.OptionalLong;

/**
 * What was measured at one size.
 *
 * @param size how many bytes an operation transferred
 * @param operations how many a pass had
 * @param nanosecondsPerOperation of the pass without clock calls
 * @param p50 the latency that half of the operations kept, in nanoseconds
 * @param p99 the latency that 99 % kept
 * @param p999 the latency that 99.9 % kept
 * @param verified how many operations were verified, or nothing where that was not asked for
 * @param errors how many of these were wrong
 */
record Row(long size, long operations, double nanosecondsPerOperation, long p50, long p99, long p999,
        OptionalLong verified, long errors) {
    private static final double NANOSECONDS_PER_MICROSECOND = 1000;

    /** {@return millions of bytes in a second} */
    double megabytesPerSecond() {
        return size * NANOSECONDS_PER_MICROSECOND / nanosecondsPerOperation;
    }

    /** {@return millions of operations in a second} */
    double megaoperationsPerSecond() {
        return NANOSECONDS_PER_MICROSECOND / nanosecondsPerOperation;
    }
}
