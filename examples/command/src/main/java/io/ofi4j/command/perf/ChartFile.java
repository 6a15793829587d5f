package io.ofi4j.command.perf;

import io.ofi4j.command.CommandFailure;
import io.ofi4j.command.WholeFile;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import org.HdrHistogram.Histogram;

/**
 * Also draws the latencies of each row, and the bandwidth by size, in a page that needs no other file. It is written
 * anew with each row, so that what ends the measurement takes none away.
 */
final class ChartFile implements Report {
    private static final double HIGHEST_PERCENTILE = 99.999;
    private static final int STEPS_PER_HALF_DISTANCE = 5;
    private static final Plot.Axis TIME = new Plot.Axis("microseconds", 10, Plot::plain);

    private final Report report;
    private final Path file;
    private final List<Row> rows = new ArrayList<>();
    private Header header;

    ChartFile(Report report, Path file) {
        this.report = report;
        this.file = file;
    }

    @Override
    public void header(Header common) {
        header = common;
        report.header(common);
    }

    @Override
    public void row(Row row) {
        report.row(row);
        rows.add(row);
        try {
            WholeFile.write(file, page());
        } catch (IOException e) {
            throw new CommandFailure("Cannot write the chart to " + e.getMessage() + ".", e);
        }
    }

    private String page() {
        String title = "ofi4j perf " + header.operation() + ", " + header.traits().provider() + ", libfabric "
                + header.traits().libfabric();
        List<Row> sized = rows.stream().filter(row -> row.size() > 0).toList();
        return Plot.page(title, conditions(),
                sized.size() > 1 ? List.of(latencies(), bandwidth(sized)) : List.of(latencies()));
    }

    private String conditions() {
        return (header.peer() == null ? "both ends in one process" : "two processes, the server at " + header.peer())
                + (header.settings().pingPong() ? "; ping-pong, half of a round trip" : "") + "; window "
                + header.window() + ", threads " + header.settings().threads()
                + (header.settings().bidirectional() ? ", both directions" : "") + "; threading "
                + header.traits().threading() + ", progress " + header.traits().progress() + "; " + Header.host()
                + ", JDK " + Runtime.version() + ", " + Instant.now().truncatedTo(ChronoUnit.SECONDS);
    }

    /** Percentiles: further to the right are the slower and rarer ones. */
    private Plot latencies() {
        Plot.Axis rarity = new Plot.Axis("percentile", 10, mark -> Plot.plain(100 - 100 / mark) + " %");
        return new Plot("Latency of one operation, of a pass with clock calls", rarity, TIME,
                rows.stream().map(row -> new Plot.Line(Plot.bytes(row.size()), percentiles(row.latencies()))).toList());
    }

    private static List<double[]> percentiles(Histogram latencies) {
        List<double[]> points = new ArrayList<>();
        latencies.percentiles(STEPS_PER_HALF_DISTANCE).forEach(value -> {
            double percentile = value.getPercentileLevelIteratedTo();
            if (percentile <= HIGHEST_PERCENTILE) {
                points.add(new double[]{100 / (100 - percentile), Math.max(1, value.getValueIteratedTo()) / 1e3});
            }
        });
        return points;
    }

    private static Plot bandwidth(List<Row> sized) {
        return new Plot("Bandwidth, of a pass without clock calls", new Plot.Axis("bytes an operation", 2, Plot::bytes),
                new Plot.Axis("MB/s", 10, Plot::plain), List.of(new Plot.Line("",
                        sized.stream().map(row -> new double[]{row.size(), row.megabytesPerSecond()}).toList())));
    }
}
