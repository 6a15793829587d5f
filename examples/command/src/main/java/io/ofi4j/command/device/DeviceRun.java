package io.ofi4j.command.device;

import io.ofi4j.command.CommandFailure;
import io.ofi4j.conformance.JavaProcess;
import io.ofi4j.conformance.Outcome;
import io.ofi4j.conformance.Result;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * Runs the checks of device memory, each group in a process of its own with a deadline. A process that dies or hangs
 * costs the row that it was at: what is left of its group goes on in another one.
 */
public final class DeviceRun {
    /** In place of a device: memory of this machine, which shows that the checks themselves work. */
    public static final String HOST = "host";
    /** What is not meant to be done with memory of a device. */
    public static final String MISUSE = "misuse";

    static final String SHM = "shm";
    static final String BENCH = "bench";
    static final String PERF = "perf";
    static final String RXM = "tcp;ofi_rxm";
    static final String TCP = "tcp";
    /** What a probe says of registering memory of the device. */
    static final String REGISTERED = "registered";

    private static final int MISUSES_AT_ONCE = 6;
    private static final int MISUSE_SECONDS = 40;
    private static final int MAX_RESTARTS = 4;
    private static final int LAST_LINES = 12;
    private static final int MAX_WORDS = 1500;
    private static final long STEP = 100;
    private static final int PROBE_SECONDS = 30;

    /** Groups of transfers, and how many seconds each may take. */
    private static final Map<String, Integer> GROUPS = new LinkedHashMap<>();

    static {
        GROUPS.put(SHM, 75);
        GROUPS.put(BENCH, 60);
        GROUPS.put(PERF, 60);
        GROUPS.put(RXM, 40);
        GROUPS.put(TCP, 40);
    }

    private final String device;
    private final long longest;
    private final Optional<Path> program;
    private final Path logs;
    private final long end;
    private final BooleanSupplier isInterrupted;
    private final Consumer<Result> results;

    /**
     * A run that has not begun.
     *
     * @param device {@code cuda:N}, or {@link #HOST}
     * @param longest the length of the longest transfer in bytes
     * @param program the C program of the bench; without it nothing is compared with C
     * @param logs a folder for what the processes say
     * @param limit how long the run takes at most: what is left then is not tried
     * @param isInterrupted whether it shall end
     * @param results takes each result at once
     */
    public DeviceRun(String device, long longest, Optional<Path> program, Path logs, Duration limit,
            BooleanSupplier isInterrupted, Consumer<Result> results) {
        this.device = device;
        this.longest = longest;
        this.program = program;
        this.logs = logs.toAbsolutePath();
        this.end = System.nanoTime() + limit.toNanos();
        this.isInterrupted = isInterrupted;
        this.results = results;
        System.setProperty(Programs.LOGS, this.logs.toString());
    }

    /** {@return the groups of checks, in the order in which they run} */
    public static List<String> groups() {
        return Stream.concat(Stream.of(MISUSE), GROUPS.keySet().stream()).toList();
    }

    /**
     * {@return what the device is, by what is said of it}
     *
     * @throws CommandFailure if there is none, or if this libfabric does not take its memory
     */
    public Map<String, String> probe() {
        try {
            Process process = start(GroupProcess.PROBE, 0);
            List<String> said = new ArrayList<>();
            Thread reader = Thread.ofPlatform().daemon().start(() -> process.inputReader().lines().forEach(said::add));
            if (!process.waitFor(PROBE_SECONDS, TimeUnit.SECONDS)) { process.destroyForcibly().waitFor(); }
            reader.join();
            if (said.isEmpty()) {
                throw none(
                        "the process that looks for it " + Programs.end(process) + ": " + lastOf(GroupProcess.PROBE));
            }
            if (!said.getFirst().isEmpty()) { throw none(said.getFirst()); }
            Map<String, String> facts = new LinkedHashMap<>();
            said.stream().skip(1).map(line -> line.split("\t", 2)).filter(words -> words.length == 2)
                    .forEach(words -> facts.put(words[0], words[1]));
            String registered = facts.getOrDefault(REGISTERED, "yes");
            if (registered.startsWith("yes")) { return facts; }
            throw new CommandFailure("There is a device, and this libfabric does not take its memory (" + registered
                    + "): name one with --library that was built with CUDA.");
        } catch (IOException e) {
            throw new CommandFailure("A second process cannot be started: " + e.getMessage() + ".", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CommandFailure("Interrupted.", e);
        }
    }

    private static CommandFailure none(String why) {
        return new CommandFailure("No device was found: " + why + ". '--device host' tries the checks themselves.");
    }

    /** Runs a group. */
    public void run(String group) {
        if (group.equals(MISUSE)) {
            misuse();
        } else if (group.equals(BENCH) && program.isEmpty()) {
            untried(group, "the C program", "none was given with --program");
        } else {
            runGroup(group, group, GROUPS.get(group));
        }
    }

    /** Several at once: they are about what happens, not how fast. */
    private void misuse() {
        if (device.equals(HOST)) {
            untried(MISUSE, MISUSE, "there is no device");
            return;
        }
        try (ExecutorService several = Executors.newFixedThreadPool(MISUSES_AT_ONCE)) {
            List<Future<?>> all = new ArrayList<>();
            for (String name : new Misuses(new Rows(System.out, 0), device).names()) {
                all.add(several.submit(() -> runGroup(MISUSE, name, MISUSE_SECONDS)));
            }
            for (Future<?> one : all) {
                one.get();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (ExecutionException e) {
            throw new IllegalStateException(e.getCause());
        }
    }

    private void untried(String group, String name, String why) {
        accept(new Result(group, name, Outcome.UNTRIED, why, Duration.ZERO));
    }

    private synchronized void accept(Result result) { results.accept(result); }

    private Process start(String name, int skip) throws IOException {
        List<String> more = name.endsWith(Misuses.PLAIN) ? List.of("-Dio.ofi4j.quirks=none") : List.of();
        ProcessBuilder builder = Programs.java(more, GroupProcess.class, List.of(name, device, Long.toString(longest),
                Integer.toString(skip), program.map(Path::toString).orElse("")));
        builder.environment().putIfAbsent("FI_LOG_LEVEL", "warn");
        Process process = builder.redirectError(ProcessBuilder.Redirect.appendTo(log(name).toFile())).start();
        JavaProcess.endWithThis(process);
        return process;
    }

    private Path log(String name) { return logs.resolve("stderr-" + name.replaceAll("[^a-zA-Z0-9]+", "-") + ".log"); }

    /** Runs a group to its end, in as many processes as it takes. */
    private void runGroup(String group, String name, int seconds) {
        try {
            long deadline = Math.min(end, System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds));
            int done = 0;
            for (int starts = 0; starts <= MAX_RESTARTS && !isInterrupted.getAsBoolean(); starts++) {
                if (deadline - System.nanoTime() < TimeUnit.SECONDS.toNanos(3)) {
                    untried(group, name, deadline == end ? Result.TIME_UP : "its " + seconds + " s were over");
                    return;
                }
                Follower follower = new Follower(group, done);
                Process process = start(name, done);
                Thread reader = Thread.ofPlatform().daemon().start(() -> follower.follow(process));
                boolean ended = awaitEnd(process, deadline);
                List<ProcessHandle> others = process.descendants().toList();
                if (!ended) { process.destroyForcibly().waitFor(); }
                others.forEach(ProcessHandle::destroyForcibly);
                reader.join(2000);
                if (isInterrupted.getAsBoolean()) { return; }
                if (!ended && end - System.nanoTime() < 0) {
                    untried(group, follower.begun == null ? name : follower.begun, Result.TIME_UP);
                    return;
                }
                done = follower.rows;
                if (ended && process.exitValue() == 0) { return; }
                boolean isBetween = follower.begun == null;
                accept(new Result(group, isBetween ? name : follower.begun, ended ? Outcome.ENDED : Outcome.HUNG,
                        (isBetween ? "between rows: " : "") + (ended ? Programs.end(process) : "did not end in time")
                                + "; " + lastOf(name),
                        follower.since()));
                if (isBetween && (starts > 0 || !ended) || group.equals(MISUSE)) { return; }
                if (!isBetween) { done++; }
            }
        } catch (IOException e) {
            accept(new Result(group, name, Outcome.WRONG, Rows.words(e), Duration.ZERO));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private boolean awaitEnd(Process process, long deadline) throws InterruptedException {
        while (!process.waitFor(STEP, TimeUnit.MILLISECONDS)) {
            if (deadline - System.nanoTime() < 0 || isInterrupted.getAsBoolean()) { return false; }
        }
        return true;
    }

    /** What a process says while it runs. */
    private final class Follower {
        private final String group;
        private int rows;
        private String begun;
        private long start = System.nanoTime();

        Follower(String group, int rows) {
            this.group = group;
            this.rows = rows;
        }

        Duration since() { return Duration.ofNanos(System.nanoTime() - start); }

        void follow(Process process) {
            try (BufferedReader reader = process.inputReader()) {
                for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                    take(line);
                }
            } catch (IOException e) {
                // its output ended with it
            }
        }

        private void take(String line) {
            if (line.startsWith(Rows.BEGIN)) {
                begun = line.substring(Rows.BEGIN.length());
                start = System.nanoTime();
            } else if (line.startsWith(Rows.END)) {
                String[] words = line.substring(Rows.END.length()).split("\t", -1);
                String figures = words[3].isEmpty() ? "" : figures(words[3], words[4]);
                accept(new Result(group, words[0], outcome(words[1]),
                        figures.isEmpty() || words[2].isEmpty() ? figures + words[2] : figures + "; " + words[2],
                        since()));
                begun = null;
                rows++;
            }
        }
    }

    private static String figures(String microseconds, String gigabytesPerSecond) {
        return String.format(Locale.ROOT, "%s µs, %s GB/s", microseconds, gigabytesPerSecond);
    }

    /** What must end the process of whoever does it, as it does in C, is known. */
    private static Outcome outcome(String words) {
        return switch (words) {
            case Rows.GOOD -> Outcome.WORKS;
            case Rows.ENDS -> Outcome.KNOWN;
            default -> Outcome.WRONG;
        };
    }

    /** {@return the end of what a group wrote to standard error, and where a JVM says that it crashed} */
    private String lastOf(String name) {
        try {
            List<String> said = Files.exists(log(name))
                    ? Files.readAllLines(log(name), StandardCharsets.ISO_8859_1)
                    : List.of();
            String last = String.join(" | ", said.subList(Math.max(0, said.size() - LAST_LINES), said.size()));
            return last.length() > MAX_WORDS ? last.substring(last.length() - MAX_WORDS) : last;
        } catch (IOException e) {
            return Rows.words(e);
        }
    }
}
