package io.ofi4j.command.verify;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import com.google.gson.JsonSyntaxException;
import io.ofi4j.command.Ofi4j;
import io.ofi4j.conformance.Subject;
import io.ofi4j.conformance.JavaProcess;
import io.ofi4j.info.EndpointType;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/** Measures a provider with {@code ofi4j perf}, which has both ends in one process, for some seconds. */
final class Measurements {
    private static final Duration STEP = Duration.ofMillis(100);
    private static final List<String> COMPILED = List.of("-XX:TieredStopAtLevel=4");
    private static final int MANY = 16;
    private static final List<String> A_SECOND = List.of("-D", "1");

    private final Subject subject;
    private final List<String> length;
    private final long end;
    private final BooleanSupplier isInterrupted;

    /** What is measured: an operation of so many bytes with so many in flight. */
    private record Task(String operation, String size, int window) {}

    /**
     * What came of it.
     *
     * @param operation as {@code ofi4j perf} names it
     * @param size in bytes
     * @param window how many were in flight
     * @param p50 the median latency in nanoseconds
     * @param p99 the 99th percentile in nanoseconds
     * @param perSecond operations per second
     * @param megabytes megabytes per second
     */
    record Measurement(String operation, long size, int window, long p50, long p99, double perSecond,
            double megabytes) {
        static Measurement of(JsonObject json, int window) {
            return new Measurement(json.get("operation").getAsString(), json.get("size").getAsLong(), window,
                    json.get("p50Ns").getAsLong(), json.get("p99Ns").getAsLong(),
                    json.get("megaoperationsPerSecond").getAsDouble() * 1e6,
                    json.get("megabytesPerSecond").getAsDouble());
        }

        /** What a person reads. */
        @Override
        public String toString() {
            return String.format(Locale.ROOT,
                    "  %-8s %7d B, %2d in flight: median %9.2f µs, p99 %9.2f µs, %10.0f a second, %8.1f MB/s",
                    operation, size, window, p50 / 1e3, p99 / 1e3, perSecond, megabytes);
        }
    }

    /** Each operation for a second. */
    Measurements(Subject subject, Duration limit, BooleanSupplier isInterrupted) {
        this(subject, A_SECOND, limit, isInterrupted);
    }

    /** Each operation for as long as these options of {@code ofi4j perf} say. */
    Measurements(Subject subject, List<String> length, Duration limit, BooleanSupplier isInterrupted) {
        this.subject = subject;
        this.length = length;
        this.end = System.nanoTime() + limit.toNanos();
        this.isInterrupted = isInterrupted;
    }

    /**
     * Measures.
     *
     * @param results takes each at once
     * @param notes takes a sentence on each operation that was not measured
     * @return whether there was time for all
     */
    boolean run(Consumer<Measurement> results, Consumer<String> notes) {
        Set<String> missing = new HashSet<>();
        for (Task task : tasks()) {
            if (isInterrupted.getAsBoolean() || isTimeUp()) { break; }
            if (missing.contains(task.operation)) { continue; }
            measure(task, notes).ifPresentOrElse(results, () -> missing.add(task.operation));
        }
        if (isTimeUp()) { notes.accept("  time was up: a longer --limit measures the rest"); }
        return !isTimeUp();
    }

    private boolean isTimeUp() { return System.nanoTime() - end > 0; }

    private static List<Task> tasks() {
        List<Task> tasks = new ArrayList<>();
        for (String operation : List.of("write", "read", "inject", "msg", "tagged", "atomic")) {
            for (int window : List.of(1, MANY)) {
                tasks.add(new Task(operation, "8", window));
            }
        }
        tasks.add(new Task("write", "1m", MANY));
        tasks.add(new Task("read", "1m", MANY));
        return tasks;
    }

    private Optional<Measurement> measure(Task task, Consumer<String> notes) {
        List<String> arguments = new ArrayList<>(List.of("perf", task.operation, "-p", subject.provider(), "-S",
                task.size, "-W", Integer.toString(task.window), "--json"));
        arguments.addAll(length);
        if (subject.type() == EndpointType.MSG) { arguments.addAll(List.of("-e", "msg")); }
        subject.source().ifPresent(address -> arguments.addAll(List.of("-s", address)));
        try (JavaProcess process = JavaProcess.start(COMPILED, Ofi4j.class, arguments)) {
            while (!isInterrupted.getAsBoolean() && !isTimeUp()) {
                try {
                    Optional<String> line = process.line(STEP);
                    if (line.isEmpty()) {
                        notes.accept("  %-8s %7s B: not measured, %s".formatted(task.operation, task.size,
                                process.ending()));
                        return Optional.empty();
                    }
                    if (!line.get().startsWith("{")) { continue; } // a word of a provider or of the JVM
                    return Optional
                            .of(Measurement.of(JsonParser.parseString(line.get()).getAsJsonObject(), task.window));
                } catch (TimeoutException | JsonSyntaxException e) {
                    continue; // it may be interrupted meanwhile
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return Optional.empty();
    }
}
