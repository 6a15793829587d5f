package io.ofi4j.jmh.compare;

import io.ofi4j.Libfabric;
import io.ofi4j.info.ProgressModel;
import io.ofi4j.info.ThreadingModel;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * How long the JVM waits for its threads at a safepoint while one of them streams writes: a critical call holds it up
 * until the call is over. Each stream has a JVM of its own, which logs its safepoints.
 */
final class Safepoints {
    /** How many safepoints there are with each stream. */
    static final int COUNT = 1000;
    /** What is asked for, of every provider. */
    static final Models MODELS = new Models(ThreadingModel.DOMAIN, ProgressModel.MANUAL);

    private static final int SMALL = 8;
    private static final int LARGE = 1 << 20;
    private static final double NANOS_PER_MICRO = 1000;
    private static final Pattern REACHED = Pattern.compile("\"ThreadDump\".*Reaching safepoint: +(\\d+) ns");
    private static final String HEADER = "%-11s %9s %11s %6s %10s %9s %8s %8s%n";
    private static final String ROW = "%-11s %9s %11d %6d %10d %9.1f %8.1f %8.1f%n";

    private final PrintWriter out;
    private final int count;

    Safepoints(PrintWriter out, int count) {
        this.out = out;
        this.count = count;
    }

    /** Prints the conditions, and a row for each stream as it ends. */
    void run(List<String> providers) {
        Libfabric libfabric = Libfabric.load();
        // says what it lacks before anything is printed
        providers.forEach(provider -> libfabric.info(MODELS.hints(provider)));
        Conditions.machine(out, libfabric.version().toString());
        out.printf(
                "%s; writes through the public API, %s, both ends in the one thread that streams; the safepoints are those "
                        + "of thread dumps, a millisecond apart%n",
                Conditions.java(), MODELS);
        out.printf(HEADER, "provider", "libfabric", "writes of B", "window", "safepoints", "median us", "p99 us",
                "max us");
        out.flush();
        for (String provider : providers) {
            for (int size : new int[]{SMALL, LARGE}) {
                print(provider, libfabric.version().toString(), size, reached(provider, size));
            }
        }
    }

    private void print(String provider, String libfabric, int size, List<Long> nanos) {
        Collections.sort(nanos);
        out.printf(Locale.ROOT, ROW, provider, libfabric, size, SafepointStream.WINDOW, nanos.size(), at(nanos, 0.5),
                at(nanos, 0.99), at(nanos, 1));
        out.flush();
    }

    private static double at(List<Long> sorted, double share) {
        return sorted.get((int) Math.ceil(share * (sorted.size() - 1))) / NANOS_PER_MICRO;
    }

    /** How long the safepoints of a JVM took to be reached, in nanoseconds. */
    List<Long> reached(String provider, int size) {
        List<String> command = Jvm.command(SafepointStream.class, "-Xlog:safepoint:stdout");
        command.addAll(List.of(provider, Integer.toString(size), Integer.toString(count)));
        List<Long> nanos = new ArrayList<>();
        String failure = "";
        try {
            Process process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
            try (BufferedReader said = process.inputReader()) {
                for (String line = said.readLine(); line != null; line = said.readLine()) {
                    Matcher matcher = REACHED.matcher(line);
                    if (matcher.find()) { nanos.add(Long.parseLong(matcher.group(1))); }
                    failure = line.startsWith(SafepointStream.FAILED) ? line : failure;
                }
            }
            if (process.waitFor() == 0 && nanos.size() >= count) { return nanos; }
            throw new BenchFailure("over " + provider + " the JVM that streams writes of " + size
                    + " B ended with status " + process.exitValue() + " after " + nanos.size() + " safepoints"
                    + (failure.isEmpty() ? "" : ": " + failure.substring(SafepointStream.FAILED.length())));
        } catch (IOException e) {
            throw new BenchFailure("cannot start a JVM: " + e.getMessage(), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new BenchFailure("interrupted", e);
        }
    }
}
