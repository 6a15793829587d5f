package io.ofi4j.command.perf;

import io.ofi4j.command.Columns;
import java.io.PrintWriter;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.HdrHistogram.Histogram;

/** An aligned table for people. Where the terminal is narrower than the table, columns are left out. */
final class TableReport implements Report {
    /** The part of a rate that counts as all of it. */
    private static final double REACHED = 0.99;
    /** With more work for each processor than that, others' times are measured too. */
    private static final double BUSY = 2;
    private static final int NEVER = 0;
    private static final String NONE = "-";
    /** Microseconds; their column has nine places. */
    private static final int MAX_WITH_THOUSANDTHS = 99_999;

    private final PrintWriter out;
    private final int columns;
    private List<Column> shown = List.of();
    /** How many operations of a row begin in a second, or 0 where nobody says how many. */
    private long rate;

    /**
     * A column.
     *
     * @param width its characters, without the blank before it
     * @param givesWay which column is left out first: the highest number; {@link #NEVER} stays
     * @param text what it says of a row
     * @param time what it says of latencies alone, in a line below a row; null if it is no time
     */
    private record Column(String title, int width, int givesWay, Function<Row, String> text,
            Function<Histogram, String> time) {
        static Column of(String title, int width, int givesWay, Function<Row, String> text) {
            return new Column(title, width, givesWay, text, null);
        }

        static Column time(String title, int givesWay, Function<Histogram, String> time) {
            return new Column(title + " us", 9, givesWay, row -> time.apply(row.latencies()), time);
        }

        String cell(String text) { return String.format(" %" + width + "s", text); }
    }

    TableReport(PrintWriter out, int columns) {
        this.out = out;
        this.columns = columns;
    }

    private static List<Column> all(boolean verify) {
        List<Column> all = new ArrayList<>(List.of(Column.of("size B", 9, NEVER, row -> Long.toString(row.size())),
                Column.of("operations", 10, 3, row -> Long.toString(row.operations())),
                Column.of("ns/op", 12, NEVER, row -> number("%.1f", row.nanosecondsPerOperation())),
                Column.time("min", 5, latencies -> micros(latencies.getMinValue())),
                Column.time("mean", 6, latencies -> micros(latencies.getMean())),
                Column.time("p50", NEVER, latencies -> percentile(latencies, 50)),
                Column.time("p99", NEVER, latencies -> percentile(latencies, 99)),
                Column.time("p99.9", 4, latencies -> percentile(latencies, 99.9)),
                Column.time("max", 2, latencies -> micros(latencies.getMaxValue())),
                Column.time("stddev", 8, latencies -> micros(latencies.getStdDeviation())),
                Column.of("MB/s", 11, NEVER, row -> number("%.2f", row.megabytesPerSecond())),
                Column.of("Mops/s", 10, 7, row -> number("%.4f", row.megaoperationsPerSecond()))));
        if (verify) {
            all.add(Column.of("verified", 10, 1, row -> Long.toString(row.verified().orElse(0))));
            all.add(Column.of("errors", 7, NEVER, row -> Long.toString(row.errors())));
        }
        return all;
    }

    /** The columns that fit, in their order. */
    private static List<Column> fitting(List<Column> all, int columns) {
        List<Column> some = new ArrayList<>(all);
        while (some.stream().mapToInt(column -> column.width + 1).sum() > columns) {
            Column least = some.stream().max(Comparator.comparingInt(Column::givesWay)).orElseThrow();
            if (least.givesWay == NEVER) { break; }
            some.remove(least);
        }
        return some;
    }

    private static String number(String format, double value) { return String.format(Locale.ROOT, format, value); }

    /** Without the thousandths where there is no room for them. */
    private static String micros(double nanos) {
        double micros = nanos / 1e3;
        return number(micros < MAX_WITH_THOUSANDTHS ? "%.3f" : "%.0f", micros);
    }

    /** Nothing of fewer operations than one of which would be beyond it. */
    private static String percentile(Histogram latencies, double percent) {
        boolean isMeant = latencies.getTotalCount() * (100 - percent) >= 100 - 1e-6;
        return isMeant ? micros(latencies.getValueAtPercentile(percent)) : NONE;
    }

    @Override
    public void header(Header header) {
        shown = fitting(all(header.verify()), columns);
        print("%s: provider %s, libfabric %s, %s",
                header.operation() + (header.settings().pingPong() ? ", ping-pong, half of a round trip" : ""),
                header.traits().provider() + (header.settings().isUsualProvider() ? " (the default)" : ""),
                header.traits().libfabric(),
                header.peer() == null ? "both ends in one process" : "two processes, the server at " + header.peer());
        print("fabric %s, domain %s, endpoint %s, threading %s, progress %s, window %d, threads %d%s",
                header.traits().fabric(), header.traits().domain(), header.traits().endpointType(),
                header.traits().threading(), header.traits().progress(), header.window(), header.settings().threads(),
                header.settings().bidirectional() ? ", both directions; latencies of this side" : "");
        header.settings().memory().ifPresent(memory -> print("memory of this side: %s", memory));
        warnOfLoad();
        if (header.settings().rate().isPresent()) {
            boolean isOfEach = header.settings().bidirectional(); // and rows are of both
            long asked = header.settings().rate().getAsLong();
            rate = isOfEach ? 2 * asked : asked;
            print("rate %d operations per second%s. Times count from the planned start of each operation;", asked,
                    isOfEach ? " in each direction" : "");
            print("below them from its post, and these as HdrHistogram corrects them.");
        } else {
            print("ns/op, MB/s and Mops/s are of a pass without clock calls, the other times of a pass with them.");
        }
        out.println();
        out.println(shown.stream().map(column -> column.cell(column.title)).collect(Collectors.joining()));
        out.flush();
    }

    private void print(String format, Object... values) {
        Columns.wrapped(String.format(format, values), columns).forEach(out::println);
    }

    private void warnOfLoad() {
        var system = ManagementFactory.getOperatingSystemMXBean();
        double load = system.getSystemLoadAverage();
        if (load > BUSY * system.getAvailableProcessors()) {
            print("warning: the load is %s, with %d processors: other work is in these times", number("%.1f", load),
                    system.getAvailableProcessors());
        }
    }

    @Override
    public void row(Row row) {
        out.println(shown.stream().map(column -> column.cell(column.text.apply(row))).collect(Collectors.joining()));
        row.fromPost().ifPresent(fromPost -> {
            times("from the post", fromPost.latencies());
            times("corrected", fromPost.corrected());
        });
        double achieved = row.megaoperationsPerSecond() * 1e6;
        if (achieved < rate * REACHED) {
            print("%34s: %s operations per second", "the rate was not reached", number("%.0f", achieved));
        }
        out.flush();
    }

    /** The name stands where columns are that are no times. */
    private void times(String name, Histogram latencies) {
        int before = shown.stream().takeWhile(column -> column.time == null).mapToInt(column -> column.width + 1).sum();
        out.printf("%" + before + "s", name);
        out.println(shown.stream().filter(column -> column.time != null)
                .map(column -> column.cell(column.time.apply(latencies))).collect(Collectors.joining()));
    }
}
