package io.ofi4j.jmh.compare;

import io.ofi4j.info.ThreadingModel;
import java.io.PrintWriter;
import java.util.Locale;

/** Prints the rows as they come. */
final class Table {
    private static final String FORMAT = "%-34s %-11s %9s %11s %11s %7s  %-15s %7s  %s%n";

    private final PrintWriter out;
    private final ThreadingModel threading;
    private final String range;

    /**
     * Of rows of so many JVMs.
     *
     * @param threading what was asked for, on which the goals depend, or null
     */
    Table(PrintWriter out, ThreadingModel threading, int jvms) {
        this.out = out;
        this.threading = threading;
        this.range = jvms == 1 ? "quartiles" : "of " + jvms + " JVMs";
    }

    void header() {
        out.printf(Locale.ROOT, FORMAT, "work", "provider", "libfabric", "C ns", "Java ns", "ratio", range, "B/op",
                "goal");
        out.flush();
    }

    void row(Row row) {
        out.printf(Locale.ROOT, FORMAT, name(row), row.provider(), row.libfabric(), number(row.cNs()),
                number(row.javaNs()), String.format(Locale.ROOT, "%.3f", row.ratio()),
                String.format(Locale.ROOT, "%.3f to %.3f", row.from(), row.to()),
                String.format(Locale.ROOT, "%.2f", row.allocBytes()),
                Goal.of(row, threading).map(goal -> goal.verdict(row)).orElse(""));
        out.flush();
    }

    private static String number(double nanoseconds) { return String.format(Locale.ROOT, "%.1f", nanoseconds); }

    private static String name(Row row) {
        return row.operation() + (row.size() > 0 ? " " + size(row.size()) : "")
                + (row.window() > 1 ? ", window " + row.window() : "");
    }

    /** {@return a number of bytes as text} */
    static String size(long bytes) {
        return bytes >= 1 << 20 ? (bytes >> 20) + " MiB" : bytes >= 1 << 10 ? (bytes >> 10) + " KiB" : bytes + " B";
    }
}
