package io.ofi4j.examples.perf;

import java.util.List;
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

    /** {@return what was measured by several at the same time, at one size} */
    static Row sum(List<Row> rows) {
        if (rows.size() == 1) { return rows.getFirst(); }
        Histogram latencies = Latencies.histogram();
        rows.forEach(row -> latencies.add(row.latencies));
        double perNanosecond = rows.stream().mapToDouble(row -> 1 / row.nanosecondsPerOperation).sum();
        return new Row(rows.getFirst().size, rows.stream().mapToLong(Row::operations).sum(), 1 / perNanosecond,
                latencies,
                rows.getFirst().verified.isPresent()
                        ? OptionalLong.of(rows.stream().mapToLong(row -> row.verified.orElse(0)).sum())
                        : OptionalLong.empty(),
                rows.stream().mapToLong(Row::errors).sum());
    }

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
