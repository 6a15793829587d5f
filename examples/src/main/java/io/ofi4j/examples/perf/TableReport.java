package io.ofi4j.examples.perf;

import java.io.PrintWriter;
import java.util.Locale;

/** An aligned table for people. */
final class TableReport implements Report {
    private final PrintWriter out;
    private boolean verify;

    TableReport(PrintWriter out) { this.out = out; }

    @Override
    public void header(Header header) {
        verify = header.verify();
        out.printf("%s: provider %s, libfabric %s, %s%n", header.operation(), header.info().provider(),
                header.libfabric(),
                header.peer() == null ? "both ends in one process" : "two processes, the server at " + header.peer());
        out.printf("fabric %s, domain %s, endpoint %s, threading %s, progress %s, window %d%n%n",
                header.info().fabric().name(), header.info().domain().name(), header.info().endpoint().type(),
                header.threading(), header.progress(), header.window());
        out.printf("%10s %10s %12s %10s %10s %10s %11s %10s%s%n", "size B", "operations", "ns/op", "p50 us", "p99 us",
                "p99.9 us", "MB/s", "Mops/s", verify ? "   verified  errors" : "");
        out.flush();
    }

    @Override
    public void row(Row row) {
        out.printf(Locale.ROOT, "%10d %10d %12.1f %10.3f %10.3f %10.3f %11.2f %10.4f", row.size(), row.operations(),
                row.nanosecondsPerOperation(), row.p50() / 1e3, row.p99() / 1e3, row.p999() / 1e3,
                row.megabytesPerSecond(), row.megaoperationsPerSecond());
        row.verified().ifPresent(verified -> out.printf(" %10d %7d", verified, row.errors()));
        out.println();
        out.flush();
    }
}
