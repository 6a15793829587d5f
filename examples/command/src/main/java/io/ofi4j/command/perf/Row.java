package io.ofi4j.command.perf;

import io.ofi4j.command.control.ControlException;
import io.ofi4j.command.control.Frame;
import io.ofi4j.command.control.PayloadReader;
import io.ofi4j.command.control.PayloadWriter;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.HdrHistogram.Histogram;

/**
 * What was measured at one size.
 *
 * @param size how many bytes an operation transferred
 * @param operations how many a pass had
 * @param nanosecondsPerOperation of the pass without clock calls
 * @param latencies of the pass with clock calls, in nanoseconds; in an open loop from the planned start
 * @param fromPost the latencies of an open loop from the post
 * @param verified how many operations were verified, or nothing where that was not asked for
 * @param errors how many of these were wrong
 */
record Row(long size, long operations, double nanosecondsPerOperation, Histogram latencies,
        Optional<OpenLoop.FromPost> fromPost, OptionalLong verified, long errors) {
    private static final double NANOSECONDS_PER_MICROSECOND = 1000;

    private static final long NOT_VERIFIED = -1;

    /** {@return what was measured by several at the same time, at one size} */
    static Row sum(List<Row> rows) {
        if (rows.size() == 1) { return rows.getFirst(); }
        Histogram latencies = Latencies.histogram();
        rows.forEach(row -> latencies.add(row.latencies));
        double perNanosecond = rows.stream().mapToDouble(row -> 1 / row.nanosecondsPerOperation).sum();
        return new Row(rows.getFirst().size, rows.stream().mapToLong(Row::operations).sum(), 1 / perNanosecond,
                latencies, fromPost(rows),
                rows.getFirst().verified.isPresent()
                        ? OptionalLong.of(rows.stream().mapToLong(row -> row.verified.orElse(0)).sum())
                        : OptionalLong.empty(),
                rows.stream().mapToLong(Row::errors).sum());
    }

    /** Those of another process stay there. */
    private static Optional<OpenLoop.FromPost> fromPost(List<Row> rows) {
        return rows.stream().flatMap(row -> row.fromPost.stream()).reduce((one, other) -> {
            Histogram sum = one.latencies().copy();
            sum.add(other.latencies());
            return new OpenLoop.FromPost(one.interval(), sum);
        });
    }

    /** Without latencies: they stay where they were measured. */
    PayloadWriter encode() {
        return new PayloadWriter().number(size).number(operations)
                .number(Double.doubleToRawLongBits(nanosecondsPerOperation)).number(verified.orElse(NOT_VERIFIED))
                .number(errors);
    }

    static Row decode(Frame frame) throws ControlException {
        PayloadReader reader = frame.reader();
        long size = reader.number(0, Numbers.LARGEST_SIZE);
        long operations = reader.number(1, Long.MAX_VALUE);
        double nanoseconds = Double.longBitsToDouble(reader.number(1, Double.doubleToRawLongBits(Double.MAX_VALUE)));
        long verified = reader.number(NOT_VERIFIED, Long.MAX_VALUE);
        Row row = new Row(size, operations, nanoseconds, Latencies.histogram(), Optional.empty(),
                verified == NOT_VERIFIED ? OptionalLong.empty() : OptionalLong.of(verified),
                reader.number(0, Long.MAX_VALUE));
        reader.end();
        return row;
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
