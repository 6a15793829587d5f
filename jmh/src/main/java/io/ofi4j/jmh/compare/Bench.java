package io.ofi4j.jmh.compare;

import io.ofi4j.Libfabric;
import io.ofi4j.errors.FabricException;
import io.ofi4j.errors.LibfabricNotFoundException;
import io.ofi4j.info.ThreadingModel;
import io.ofi4j.info.Version;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.regex.Pattern;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import picocli.CommandLine.UnmatchedArgumentException;

/** {@code scripts/bench}: the public API beside C. */
@Command(name = "bench", mixinStandardHelpOptions = true, usageHelpAutoWidth = true,
        description = "Measures ofi4j's public API beside a C program that does the same, in turns, and prints one table. "
                + "It takes ten minutes.",
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {"0:done", "1:something could not be measured; a sentence on stderr says why",
                "2:the command line is wrong; one sentence on stderr says where"})
public final class Bench implements Callable<Integer> {
    private static final double SECONDS = 600;
    private static final double QUICK_SECONDS = 38;
    private static final double SCALE_SECONDS = 100;
    private static final double PEERS_SHARE = 0.1;
    private static final double FEWEST_SECONDS = 1;
    private static final double MOST_SECONDS = 36_000;
    private static final int FORKS = 5;
    private static final int MOST_FORKS = 1_000;
    private static final Pattern STANDARD_OUTPUT = Pattern.compile("/dev/(stdout|fd/1)|/proc/self/fd/1");

    @Option(names = "--quick",
            description = "End within 50 seconds: without sockets and udp;ofi_rxd, unless named, and "
                    + "with wider quartiles.")
    private boolean quick;

    @Option(names = "--seconds", paramLabel = "SECONDS", description = "Measure for about so long.")
    private Double seconds;

    @Option(names = {"-p", "--provider"}, paramLabel = "NAME", description = "Measure this provider only; may be given "
            + "more than once. Without it: shm, tcp;ofi_rxm, net (tcp on libfabric 2.x), sockets and udp;ofi_rxd.")
    private List<String> providers = List.of();

    @Option(names = {"-w", "--work"}, paramLabel = "NAME",
            description = "Measure this work only; may be given more than "
                    + "once: ${COMPLETION-CANDIDATES}. Without it, all.",
            completionCandidates = Works.class)
    private List<String> works = List.of();

    @Option(names = "--json", paramLabel = "FILE",
            description = "Write each row as a JSON object on a line of its own.")
    private Path json;

    @Option(names = "--charts", paramLabel = "FOLDER",
            description = "Draw the percentiles of the exchanges between two "
                    + "processes and the bandwidth by size, which is then measured at more sizes, as PNG files; with --scale, "
                    + "its table.")
    private Path chartsFolder;

    @Option(names = "--idle-thread",
            description = "Give the C side a second thread that does nothing, as a JVM has many: "
                    + "system calls take longer where a process has more than one.")
    private boolean idleThread;

    @Option(names = {"-t", "--threading"}, paramLabel = "MODEL",
            description = "Ask for this threading model, such as SAFE, DOMAIN or COMPLETION. Without it, for the "
                    + "fastest that the provider has.")
    private ThreadingModel threading;

    @Option(names = "--ordered",
            description = "Ask for an order of writes (FI_ORDER_WAW): over shm small ones then go through the queue of "
                    + "the peer, and not through the kernel.")
    private boolean ordered;

    @Option(names = "--jvm-option", paramLabel = "OPTION",
            description = "Start the Java side with this option of the JVM, "
                    + "such as -XX:+UseSystemMemoryBarrier; may be given more than once. Without it: with the defaults.")
    private List<String> jvmOptions = List.of();

    @Option(names = "--forks", paramLabel = "COUNT",
            description = "Measure each provider with so many JVMs, one after the other, each beside a C process of its "
                    + "own: the ratio is the median of the JVMs, beside those of the fastest and the slowest. Without it, 5; "
                    + "with --quick, one.")
    private Integer forks;

    @Option(names = "--peers",
            description = "Measure plain NIO sockets and jucx, too, for orientation; without -w, -p and "
                    + "--quick they are.")
    private boolean peers;

    @Option(names = "--scale", description = "Measure instead what an operation takes by the number of regions, peers, "
            + "operations in flight, queues, endpoints and threads, in C and Java, and how much memory each needs, over "
            + "shm or the provider that -p names. It takes three minutes; with --quick, only the two smallest numbers.")
    private boolean scale;

    @Option(names = "--cold",
            description = "Measure instead operations between which each side walks through memory of its own, from "
                    + "nothing to 4 MiB, so that the caches hold the data of the program; over shm or the providers that "
                    + "-p names.")
    private boolean cold;

    @Option(names = "--contention",
            description = "Measure instead how much one and two processes read from one server at the same "
                    + "time, over shm or the provider that -p names.")
    private boolean contention;

    @Option(names = "--safepoints", arity = "0..*", paramLabel = "PROVIDER",
            description = "Measure instead how long the JVM waits at "
                    + "safepoints for a thread that streams writes; without names, over shm, tcp;ofi_rxm and net (tcp on "
                    + "libfabric 2.x).")
    private List<String> safepoints;

    @Spec
    private CommandSpec spec;

    private final List<Row> rows = new ArrayList<>();
    private boolean failed;

    /**
     * Runs the command and ends the process.
     *
     * @param arguments the command line
     */
    public static void main(String[] arguments) { System.exit(commandLine().execute(arguments)); }

    /** {@return the command, ready to be executed} */
    static CommandLine commandLine() {
        return withSentences(new CommandLine(new Bench()));
    }

    /** What is wrong with a command line, or cannot be done, is one sentence and an exit status. */
    static CommandLine withSentences(CommandLine commandLine) {
        return commandLine.setExecutionExceptionHandler((failure, command, parsed) -> {
            sentence(command, failure);
            return command.getCommandSpec().exitCodeOnExecutionException();
        }).setParameterExceptionHandler((failure, arguments) -> {
            sentence(failure.getCommandLine(), failure);
            return failure.getCommandLine().getCommandSpec().exitCodeOnInvalidInput();
        });
    }

    private static void sentence(CommandLine command, Exception failure) {
        PrintWriter err = command.getErr();
        err.println("bench: " + failure.getMessage()
                + (failure instanceof UnmatchedArgumentException
                        ? ". 'scripts/bench --help' lists what there is."
                        : ""));
        if (!(failure instanceof BenchFailure || failure instanceof ParameterException
                || failure instanceof FabricException || failure instanceof LibfabricNotFoundException)) {
            failure.printStackTrace(err); // this should not have happened
        }
        err.flush();
    }

    @Override
    public Integer call() {
        if (seconds != null && !(seconds >= FEWEST_SECONDS && seconds <= MOST_SECONDS)) {
            throw new ParameterException(spec.commandLine(), "--seconds takes a number from 1 to 36000");
        }
        if (seconds != null && quick && !scale) {
            throw new ParameterException(spec.commandLine(), "--quick says how long: leave --seconds out");
        }
        if (forks != null && (forks < 1 || forks > MOST_FORKS)) {
            throw new ParameterException(spec.commandLine(), "--forks takes a number from 1 to " + MOST_FORKS);
        }
        for (String work : works) {
            if (!Works.NAMES.contains(work)) {
                throw new ParameterException(spec.commandLine(),
                        "there is no work '" + work + "', only " + String.join(", ", Works.NAMES));
            }
        }
        List<String> coldWorks = Job.cold().stream().map(Job::operation).distinct().toList();
        if (cold && !coldWorks.containsAll(works)) {
            throw new ParameterException(spec.commandLine(),
                    "--cold measures " + String.join(", ", coldWorks) + ", not '"
                            + works.stream().filter(work -> !coldWorks.contains(work)).findFirst().orElseThrow() + "'");
        }
        if (scale) { return measureScale(); }
        if (safepoints != null) {
            measureSafepoints();
            return 0;
        }
        if (contention) { return measureContention(); }
        requireWritable();
        Version version = Libfabric.load().version();
        List<String> chosen = !providers.isEmpty() ? providers : cold ? List.of("shm") : software(version.major() >= 2);
        requireThere(chosen);
        PrintWriter out = spec.commandLine().getOut();
        Charts charts = chartsFolder == null ? null : new Charts(chartsFolder);
        try (Baseline baseline = Baseline.compile()) {
            Conditions.print(out, version.toString(), baseline.figures(), !idleThread, ordered, jvmOptions);
            Plan plan = Plan.of(seconds != null ? seconds : quick ? QUICK_SECONDS : SECONDS);
            boolean withPeers = peers || !quick && !cold && works.isEmpty() && providers.isEmpty();
            compare(plan.part(withPeers ? 1 - PEERS_SHARE : 1), chosen, version.toString(), baseline, charts);
            if (peers || withPeers && !plan.isOver()) { new Peers(out).run(plan); }
        }
        return failed ? 1 : 0;
    }

    private List<String> jvmOptions() {
        List<String> all = new ArrayList<>(jvmOptions);
        if (ordered) { all.add("-D" + Family.ORDERED + "=true"); }
        return all;
    }

    private List<String> javaCommand() { return Jvm.command(JavaWorker.class, jvmOptions().toArray(String[]::new)); }

    private void measureSafepoints() {
        List<String> named = safepoints.isEmpty() ? providers : safepoints;
        requireThere(named);
        List<String> chosen = named.isEmpty() ? software(Libfabric.load().version().major() >= 2) : named;
        new Safepoints(spec.commandLine().getOut(), Safepoints.COUNT).run(chosen);
    }

    private int measureScale() {
        List<String> chosen = providers.isEmpty() ? List.of("shm") : providers;
        requireThere(chosen);
        Charts charts = chartsFolder == null ? null : new Charts(chartsFolder);
        PrintWriter out = spec.commandLine().getOut();
        try (Baseline baseline = Baseline.compile()) {
            Conditions.machine(out, Libfabric.load().version().toString());
            out.println(baseline.figures());
            for (String provider : chosen) {
                new Scale(out, seconds != null ? seconds : quick ? QUICK_SECONDS : SCALE_SECONDS, quick,
                        baseline.command(!idleThread, ordered), jvmOptions(), charts).run(provider);
            }
        }
        return 0;
    }

    private int measureContention() {
        List<String> chosen = providers.isEmpty() ? List.of("shm") : providers;
        requireThere(chosen);
        Version version = Libfabric.load().version();
        try (Baseline baseline = Baseline.compile()) {
            Conditions.machine(spec.commandLine().getOut(), version.toString());
            spec.commandLine().getOut().println(baseline.figures());
            for (String provider : chosen) {
                new Contention(spec.commandLine().getOut(), seconds == null ? QUICK_SECONDS : seconds).run(provider,
                        version.major(), baseline.command(!idleThread, ordered), javaCommand());
            }
        }
        return 0;
    }

    /** What is measured where nobody names a provider. */
    private List<String> software(boolean two) {
        if (quick) { return List.of("shm", "tcp;ofi_rxm"); }
        String tcp = two ? "tcp" : "net";
        return safepoints != null
                ? List.of("shm", "tcp;ofi_rxm", tcp)
                : List.of("shm", "tcp;ofi_rxm", tcp, "sockets", "udp;ofi_rxd");
    }

    private static void requireThere(List<String> chosen) {
        List<String> there = Libfabric.load().providers();
        for (String provider : chosen) {
            if (!there.contains(provider)) {
                throw new BenchFailure(
                        "no provider '" + provider + "' can be used on this machine, only " + String.join(", ", there));
            }
        }
    }

    private void compare(Plan plan, List<String> chosen, String libfabric, Baseline baseline, Charts charts) {
        PrintWriter out = spec.commandLine().getOut();
        List<String> notes = new ArrayList<>();
        int jvms = forks != null ? forks : quick ? 1 : FORKS;
        Table table = new Table(out, threading, jvms);
        table.header();
        for (int at = 0; at < chosen.size(); at++) {
            String provider = chosen.get(at);
            Comparison comparison = new Comparison(provider, libfabric, baseline.command(!idleThread, ordered),
                    javaCommand(), new Works(works, charts != null, cold), threading);
            try {
                Plan all = plan.part(1.0 / (chosen.size() - at));
                List<Row> found = new ArrayList<>();
                for (int jvm = 0; jvm < jvms; jvm++) {
                    List<ExchangeDuel> duels = comparison.run(all.part(1.0 / (jvms - jvm)),
                            jvm == 0 ? notes::add : _ -> {}, jvms == 1 ? row -> add(row, table) : found::add);
                    duels.forEach(duel -> notes.add(provider + ": " + duel.waits()));
                    if (charts != null && jvm == 0) {
                        duels.forEach(duel -> charts.latency(libfabric, provider, duel));
                    }
                }
                if (jvms > 1) { ofAllJvms(found).forEach(row -> add(row, table)); }
                if (charts != null) { charts.bandwidth(libfabric, provider, rows); }
            } catch (BenchFailure e) {
                failed = true;
                sentence(spec.commandLine(), e);
            }
        }
        notes.forEach(out::println);
        out.flush();
    }

    private void add(Row row, Table table) {
        rows.add(row);
        table.row(row);
        write(row);
    }

    /** {@return a row for each work, in the order in which the first JVM had them} */
    private static List<Row> ofAllJvms(List<Row> found) {
        List<Row> merged = new ArrayList<>();
        for (Row row : found) {
            if (merged.stream().noneMatch(row::isLike)) {
                merged.add(Row.of(found.stream().filter(row::isLike).toList()));
            }
        }
        return merged;
    }

    /** Before anything is measured: a file that is there keeps what is in it. */
    private void requireWritable() {
        if (json == null) { return; }
        boolean isPipe = Files.exists(json) && !Files.isRegularFile(json) && !Files.isDirectory(json);
        if (!isPipe) { write("", StandardOpenOption.APPEND); } // whose reader would find it ended
    }

    /** A row at a time, so that what ends the run takes none away. The first replaces what was in the file. */
    private void write(Row row) {
        if (json == null) { return; }
        if (STANDARD_OUTPUT.matcher(json.toString()).matches()) { // whose place in the file is that of the table
            spec.commandLine().getOut().println(row.json());
            return;
        }
        write(row.json() + System.lineSeparator(),
                rows.size() == 1 ? StandardOpenOption.TRUNCATE_EXISTING : StandardOpenOption.APPEND);
    }

    private void write(String text, StandardOpenOption how) {
        try {
            Files.writeString(json, text, StandardOpenOption.WRITE, StandardOpenOption.CREATE, how);
        } catch (IOException e) {
            throw new BenchFailure("cannot write to " + json + ": " + e.getClass().getSimpleName(), e);
        }
    }
}
