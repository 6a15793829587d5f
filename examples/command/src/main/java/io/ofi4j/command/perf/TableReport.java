package io.ofi4j.command.perf;

import java.io.PrintWriter;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.HdrHistogram.Histogram;

/** An aligned table for people. */
final class TableReport implements Report {
    private static final List<String> TIMES = List.of("min", "mean", "p50", "p99", "p99.9", "max", "stddev");

    /** The part of a rate that counts as all of it. */
    private static final double REACHED = 0.99;

    private final PrintWriter out;
    private boolean verify;
    /** How many operations of a row begin in a second, or 0 where nobody says how many. */
    private long rate;

    TableReport(PrintWriter out) { this.out = out; }

    @Override
    public void header(Header header) {
        verify = header.verify();
        out.printf("%s: provider %s, libfabric %s, %s%n",
                header.operation() + (header.settings().pingPong() ? ", ping-pong, half of a round trip" : ""),
                header.traits().provider() + (header.settings().isUsualProvider() ? " (the default)" : ""),
                header.traits().libfabric(),
                header.peer() == null ? "both ends in one process" : "two processes, the server at " + header.peer());
        out.printf("fabric %s, domain %s, endpoint %s, threading %s, progress %s, window %d, threads %d%s%n",
                header.traits().fabric(), header.traits().domain(), header.traits().endpointType(),
                header.traits().threading(), header.traits().progress(), header.window(), header.settings().threads(),
                header.settings().bidirectional() ? ", both directions; latencies of this side" : "");
        header.settings().memory().ifPresent(memory -> out.printf("memory of this side: %s%n", memory));
        if (header.settings().rate().isPresent()) {
            boolean isOfEach = header.settings().bidirectional(); // and rows are of both
            long asked = header.settings().rate().getAsLong();
            rate = isOfEach ? 2 * asked : asked;
            out.printf(
                    "rate %d operations per second%s. Times count from the planned start of each operation;%n"
                            + "below them from its post, and these as HdrHistogram corrects them.%n%n",
                    asked, isOfEach ? " in each direction" : "");
        } else {
            out.printf("ns/op, MB/s and Mops/s are of a pass without clock calls, "
                    + "the other times of a pass with them.%n%n");
        }
        out.printf("%10s %10s %12s" + " %9s".repeat(TIMES.size()) + " %11s %10s%s%n",
                Stream.of(List.of("size B", "operations", "ns/op"), TIMES.stream().map(time -> time + " us").toList(),
                        List.of("MB/s", "Mops/s", verify ? "   verified  errors" : "")).flatMap(List::stream)
                        .toArray());
        out.flush();
    }

    @Override
    public void row(Row row) {
        out.printf(Locale.ROOT, "%10d %10d %12.1f", row.size(), row.operations(), row.nanosecondsPerOperation());
        times(row.latencies());
        out.printf(Locale.ROOT, " %11.2f %10.4f", row.megabytesPerSecond(), row.megaoperationsPerSecond());
        row.verified().ifPresent(verified -> out.printf(" %10d %7d", verified, row.errors()));
        out.println();
        row.fromPost().ifPresent(fromPost -> {
            times("from the post", fromPost.latencies());
            times("corrected", fromPost.corrected());
        });
        double achieved = row.megaoperationsPerSecond() * 1e6;
        if (achieved < rate * REACHED) {
            out.printf(Locale.ROOT, "%34s: %.0f operations per second%n", "the rate was not reached", achieved);
        }
        out.flush();
    }

    private void times(String name, Histogram latencies) {
        out.printf("%34s", name);
        times(latencies);
        out.println();
    }

    private void times(Histogram latencies) {
        for (double nanos : new double[]{latencies.getMinValue(), latencies.getMean(),
                latencies.getValueAtPercentile(50), latencies.getValueAtPercentile(99),
                latencies.getValueAtPercentile(99.9), latencies.getMaxValue(), latencies.getStdDeviation()}) {
            out.printf(Locale.ROOT, " %9.3f", nanos / 1e3);
        }
    }
}
