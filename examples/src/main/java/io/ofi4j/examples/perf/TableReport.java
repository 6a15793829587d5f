package io.ofi4j.examples.perf;

import java.io.PrintWriter;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/** An aligned table for people. */
final class TableReport implements Report {
    private static final List<String> TIMES = List.of("min", "mean", "p50", "p99", "p99.9", "max", "stddev");

    private final PrintWriter out;
    private boolean verify;

    TableReport(PrintWriter out) { this.out = out; }

    @Override
    public void header(Header header) {
        verify = header.verify();
        out.printf("%s: provider %s, libfabric %s, %s%n",
                header.operation() + (header.settings().pingPong() ? ", ping-pong, half of there and back" : ""),
                header.traits().provider(), header.traits().libfabric(),
                header.peer() == null ? "both ends in one process" : "two processes, the server at " + header.peer());
        out.printf("fabric %s, domain %s, endpoint %s, threading %s, progress %s, window %d, threads %d%s%n",
                header.traits().fabric(), header.traits().domain(), header.traits().endpointType(),
                header.traits().threading(), header.traits().progress(), header.window(), header.settings().threads(),
                header.settings().bidirectional() ? ", both directions; latencies of this side" : "");
        header.settings().memory().ifPresent(memory -> out.printf("memory of this side: %s%n", memory));
        out.printf(
                "ns/op, MB/s and Mops/s are of a pass without clock calls, the other times of a pass with them.%n%n");
        out.printf("%10s %10s %12s" + " %9s".repeat(TIMES.size()) + " %11s %10s%s%n",
                Stream.of(List.of("size B", "operations", "ns/op"), TIMES.stream().map(time -> time + " us").toList(),
                        List.of("MB/s", "Mops/s", verify ? "   verified  errors" : "")).flatMap(List::stream)
                        .toArray());
        out.flush();
    }

    @Override
    public void row(Row row) {
        var latencies = row.latencies();
        out.printf(Locale.ROOT, "%10d %10d %12.1f", row.size(), row.operations(), row.nanosecondsPerOperation());
        for (double nanos : new double[]{latencies.getMinValue(), latencies.getMean(), row.percentile(50),
                row.percentile(99), row.percentile(99.9), latencies.getMaxValue(), latencies.getStdDeviation()}) {
            out.printf(Locale.ROOT, " %9.3f", nanos / 1e3);
        }
        out.printf(Locale.ROOT, " %11.2f %10.4f", row.megabytesPerSecond(), row.megaoperationsPerSecond());
        row.verified().ifPresent(verified -> out.printf(" %10d %7d", verified, row.errors()));
        out.println();
        out.flush();
    }
}
