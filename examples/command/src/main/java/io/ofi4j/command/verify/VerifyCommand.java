package io.ofi4j.command.verify;

import io.ofi4j.Libfabric;
import io.ofi4j.command.CommandFailure;
import io.ofi4j.command.Interrupt;
import io.ofi4j.command.Loopback;
import io.ofi4j.command.NameConverter;
import io.ofi4j.command.WholeFile;
import io.ofi4j.command.control.Listener;
import io.ofi4j.command.control.Ports;
import io.ofi4j.command.device.DeviceRun;
import io.ofi4j.command.info.Names;
import io.ofi4j.conformance.Result;
import io.ofi4j.conformance.Subject;
import io.ofi4j.conformance.rules.RuleTrials;
import io.ofi4j.conformance.run.Catalogue;
import io.ofi4j.conformance.run.FarHost;
import io.ofi4j.conformance.run.FarRunner;
import io.ofi4j.conformance.run.QuirkRun;
import io.ofi4j.conformance.run.TrialRun;
import io.ofi4j.info.EndpointType;
import io.ofi4j.info.ProviderQuirk;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.InetAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.BooleanSupplier;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code ofi4j verify}. */
@Command(name = "verify",
        description = "Tries every call and rule that ofi4j leans on over a provider, with verified data, and says what"
                + " works, what is refused and what is wrong.",
        exitCodeOnExecutionException = 2, exitCodeListHeading = "%nExit status:%n",
        exitCodeList = {"0:nothing is wrong", "1:something is; its lines say what came and what was expected",
                "2:it could not be tried, or the command line is wrong; one sentence on stderr says why",
                "130:Ctrl-C; the lines so far are printed"})
public final class VerifyCommand implements Callable<Integer> {
    private static final String QUIRKS = "-Dio.ofi4j.quirks=";
    /** The page of what is measured. */
    private static final String PERFORMANCE = "performance";
    /** What would have no effect at a server. */
    private static final List<String> OF_CLIENTS = List.of("--only", "--skip", "--quirks", "--without-quirks",
            "--deadline", "--limit", "--verbose", "--json", "--report", "--with-names");
    /** What would have no effect on memory of a device. */
    private static final List<String> OF_PROVIDERS = List.of("--provider", "--endpoint", "--source", "--server",
            "--source-port", "--destination-port", "--timeout", "--quirks", "--without-quirks", "--deadline");
    private static final int MAX_SECONDS = 86_400;
    private static final int USUAL_TIMEOUT = 10;
    private static final int USUAL_LIMIT = 270;
    private static final int QUIRKS_LIMIT = 1200;

    @Option(names = {"-p", "--provider"}, paramLabel = "NAME", converter = NameConverter.class,
            description = "The provider, as 'ofi4j info' names it.")
    private String provider;

    @Option(names = {"-e", "--endpoint"}, paramLabel = "TYPE", converter = Names.EndpointTypeConverter.class,
            completionCandidates = Names.EndpointTypes.class,
            description = "${COMPLETION-CANDIDATES}. Without it the first of RDM, MSG and DGRAM that the provider has.")
    private EndpointType type;

    @Option(names = {"-s", "--source"}, paramLabel = "ADDRESS", converter = NameConverter.class,
            description = "The address of this machine that the endpoints have. Without it the loopback address, or"
                    + " that of the device.")
    private String source;

    @Parameters(arity = "0..1", paramLabel = "HOST",
            description = "Where 'ofi4j verify --server' runs, which has the far half of each trial. Without it both"
                    + " halves are on this machine.")
    private String host;

    @Option(names = "--server", description = "Be the other side: wait for a client, serve it, and end.")
    private boolean server;

    @Option(names = {"-B", "--source-port"}, paramLabel = "PORT", converter = Ports.Source.class,
            description = "With --server: the port to listen on, 0 for any. Without it " + Ports.DEFAULT + ".")
    private Integer sourcePort;

    @Option(names = {"-P", "--destination-port"}, paramLabel = "PORT", converter = Ports.Destination.class,
            description = "With HOST: the server's port. Without it " + Ports.DEFAULT + ".")
    private Integer destinationPort;

    @Option(names = "--timeout", paramLabel = "SECONDS",
            description = "How long to wait for the other side. Without it " + USUAL_TIMEOUT
                    + ", and a server waits without a limit.")
    private Integer timeout;

    @Option(names = "--only", paramLabel = "PAGE", converter = NameConverter.class,
            description = "Try what is on this page only, such as fi_rma(3), 'rules of peers' or performance. May be repeated.")
    private List<String> only = List.of();

    @Option(names = "--skip", paramLabel = "PAGE", converter = NameConverter.class,
            description = "Do not try what is on this page, such as performance. May be repeated.")
    private List<String> skip = List.of();

    @Option(names = "--without-quirks",
            description = "Try what the provider does by itself: ofi4j neither works around nor refuses anything.")
    private boolean withoutQuirks;

    @Option(names = "--quirks",
            description = "Afterwards say of each quirk that is on whether a trial shows what it is there for. It takes"
                    + " two to four times as long.")
    private boolean quirks;

    @Option(names = "--deadline", paramLabel = "SECONDS", defaultValue = "10",
            description = "How long a trial waits for what has to come. Without it ${DEFAULT-VALUE}.")
    private int deadline;

    @Option(names = "--limit", paramLabel = "SECONDS",
            description = "How long all of it takes at most; what is left then is not tried. Without it " + USUAL_LIMIT
                    + ", and " + QUIRKS_LIMIT + " with --quirks.")
    private Integer limit;

    @Option(names = {"-v", "--verbose"}, description = "Print a line for each trial, also where it works.")
    private boolean verbose;

    @Option(names = "--json", paramLabel = "FILE", description = "Write all results to a file as a JSON object.")
    private Path json;

    @Option(names = "--report", paramLabel = "FILE.md",
            description = "Write all results to a file as Markdown, to be attached to an issue.")
    private Path markdown;

    @Option(names = "--with-names",
            description = "Name host, user, addresses and files, too. Without it a report has none of them.")
    private boolean withNames;

    @ArgGroup(exclusive = false, heading = "%nMemory of a device:%n")
    private DeviceOptions memory;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() {
        requireSeconds("--deadline", deadline);
        if (limit == null) { limit = quirks ? QUIRKS_LIMIT : USUAL_LIMIT; }
        requireSeconds("--limit", limit);
        if (timeout != null) { requireSeconds("--timeout", timeout); }
        requireWritable("--json", json);
        requireWritable("--report", markdown);
        return memory == null ? tryProvider() : tryDevice();
    }

    private int tryProvider() {
        if (provider == null) { throw misuse("Missing required option: '--provider=NAME'"); }
        requireSide();
        List<String> all = new ArrayList<>(Catalogue.pages());
        all.add(PERFORMANCE);
        List<String> pages = chosen(all);
        Libfabric libfabric = Libfabric.load();
        if (server) { return serve(libfabric); }
        SubjectChoice here = choice(libfabric, Loopback.ADDRESS);
        if (host == null) { return verify(libfabric, here, pages, null); }
        Duration patience = Duration.ofSeconds(timeout == null ? USUAL_TIMEOUT : timeout);
        try (OtherMachine other = OtherMachine.at(host, destinationPort == null ? Ports.DEFAULT : destinationPort,
                patience, spec.commandLine().getErr())) {
            return verify(libfabric, choice(libfabric, other.ownAddress()), pages, other);
        }
    }

    private void requireSide() {
        if (server && host != null) {
            throw misuse("--server waits for a client and HOST names a server: give one of them");
        }
        if (server) { requireNone(OF_CLIENTS, "--server does what the client asks for: give %s there"); }
        if (!server && sourcePort != null) { throw misuse("-B goes with --server"); }
        if (host == null && destinationPort != null) { throw misuse("-P goes with HOST, the server to connect to"); }
        if (host == null && !server && timeout != null) { throw misuse("--timeout goes with HOST or --server"); }
    }

    private void requireNone(List<String> options, String refusal) {
        for (String option : options) {
            if (spec.commandLine().getParseResult().hasMatchedOption(option)) {
                throw misuse(refusal.formatted(option));
            }
        }
    }

    private ParameterException misuse(String sentence) { return new ParameterException(spec.commandLine(), sentence); }

    private SubjectChoice choice(Libfabric libfabric, String usualAddress) {
        return SubjectChoice.of(libfabric, provider, Optional.ofNullable(type), Optional.ofNullable(source),
                usualAddress, Duration.ofSeconds(deadline));
    }

    private int serve(Libfabric libfabric) {
        InetAddress address = Listener.own(Optional.ofNullable(source));
        SubjectChoice choice = choice(libfabric, Loopback.ADDRESS);
        PrintWriter out = spec.commandLine().getOut();
        Duration patience = timeout == null ? Duration.ofNanos(Long.MAX_VALUE) : Duration.ofSeconds(timeout);
        try (Listener listener = new Listener(address, sourcePort == null ? Ports.DEFAULT : sourcePort);
                Interrupt interrupt = new Interrupt()) {
            return new VerifyServer(choice.subject, libfabric.version().toString(), out, spec.commandLine().getErr())
                    .run(listener, patience, interrupt).exitCode;
        }
    }

    /** Over two machines if there is another. */
    private int verify(Libfabric libfabric, SubjectChoice choice, List<String> pages, OtherMachine other) {
        PrintWriter out = spec.commandLine().getOut();
        Map<String, String> facts = Machine.describe(libfabric, choice, withNames);
        if (other != null) { join(other, choice.subject, libfabric, facts); }
        Report report = new Report("ofi4j verify", facts, withNames);
        begin(report);
        long start = System.nanoTime();
        FarHost farHost = other == null ? FarRunner.here(choice.subject) : other;
        try (Interrupt interrupt = new Interrupt()) {
            BooleanSupplier ends = () -> interrupt.isAsked() || other != null && other.failure().isPresent();
            TrialRun run = new TrialRun(choice.subject, withoutQuirks ? List.of(QUIRKS + "none") : List.of(),
                    Duration.ofSeconds(limit), ends, result -> add(report, result, other), farHost);
            if (other != null) { requireReached(choice.subject, farHost, ends, other); }
            try {
                for (String page : pages) {
                    if (ends.getAsBoolean()) { break; }
                    if (page.equals(PERFORMANCE)) {
                        measure(choice, report, ends, left(start));
                    } else {
                        run.run(List.of(page));
                        if (!ends.getAsBoolean()) { out.println(report.pageLine(page)); }
                    }
                    out.flush();
                }
                assumptions(choice, report, ends, left(start), farHost);
            } catch (RuntimeException e) {
                try {
                    end(report, true); // with the results so far
                } catch (RuntimeException another) {
                    e.addSuppressed(another);
                }
                throw e;
            }
            try {
                return end(report, ends.getAsBoolean());
            } finally { // also if a report cannot be written
                if (other != null) { conclude(other, report); }
            }
        }
    }

    private void join(OtherMachine other, Subject subject, Libfabric libfabric, Map<String, String> facts) {
        Introduction there = other.join(subject, libfabric);
        if (there.isOfOneMachine() && !other.isThisMachine()) {
            throw new CommandFailure("The provider " + subject.provider()
                    + " reaches processes of one machine only: leave HOST out, or choose another (-p).");
        }
        boolean isSame = there.libfabric().equals(libfabric.version().toString());
        facts.put("other side", "libfabric " + there.libfabric() + (isSame ? "" : ", another version than here"));
        if (withNames) { facts.put("server", host); }
    }

    /** What keeps messages from arriving would be a wrong row of each trial, after its deadline. */
    private void requireReached(Subject subject, FarHost farHost, BooleanSupplier ends, OtherMachine other) {
        List<Result> results = new ArrayList<>();
        new TrialRun(subject, List.of(), Duration.ofSeconds(limit), ends, results::add, farHost).run(RuleTrials.PEERS,
                List.of(RuleTrials.REACHED));
        other.failure().ifPresent(failure -> {
            throw failure;
        });
        for (Result result : results) {
            if (!result.outcome().isWrong()) { continue; }
            throw new CommandFailure("The endpoints of the two sides do not reach each other, though the connection to "
                    + "port " + (destinationPort == null ? Ports.DEFAULT : destinationPort) + " works: " + result.text()
                    + ". Is a firewall between? Providers choose ports as they like: let all through.");
        }
    }

    private static void conclude(OtherMachine other, Report report) {
        other.failure().ifPresent(failure -> {
            throw failure;
        });
        other.tell(report.verdict(), report.summary());
    }

    private int tryDevice() {
        String refusal = "--device takes no %s: the trials name their provider, such as --only shm";
        requireNone(OF_PROVIDERS, refusal);
        if (host != null) { throw misuse(refusal.formatted("HOST")); }
        if (memory.longest < 1) {
            throw misuse(
                    "Invalid value for option '--longest': '" + memory.longest + "' is not a number of MiB from 1");
        }
        List<String> groups = chosen(DeviceRun.groups());
        PrintWriter out = spec.commandLine().getOut();
        Libfabric libfabric = Libfabric.load();
        try (Interrupt interrupt = new Interrupt(); LogFolder logs = LogFolder.of(Optional.ofNullable(memory.logs))) {
            List<Report> reports = new ArrayList<>();
            DeviceRun run = new DeviceRun(memory.device, memory.longestInBytes(), Optional.ofNullable(memory.program),
                    logs.folder(), Duration.ofSeconds(limit), interrupt::isAsked,
                    result -> add(reports.getFirst(), result, null));
            Report report = new Report("ofi4j verify --device", Machine.describe(libfabric, run.probe(), withNames),
                    withNames);
            reports.add(report);
            begin(report);
            for (String group : groups) {
                if (interrupt.isAsked()) { break; }
                run.run(group);
                if (!interrupt.isAsked()) { out.println(report.pageLine(group)); }
                out.flush();
            }
            return end(report, interrupt.isAsked());
        }
    }

    private void begin(Report report) {
        Interrupt.obstacle().ifPresent(spec.commandLine().getErr()::println);
        spec.commandLine().getOut().println(report.heading() + "\n");
        spec.commandLine().getOut().flush();
    }

    private int end(Report report, boolean isInterrupted) {
        if (isInterrupted) { report.interrupted(); }
        spec.commandLine().getOut().println("\n" + report.summary());
        spec.commandLine().getOut().flush();
        try {
            write(json, report.json());
        } finally { // one may be written where the other cannot
            write(markdown, report.markdown());
        }
        if (report.verdict() == FindingKind.UNTRIED) {
            spec.commandLine().getErr().println("ofi4j: Nothing was tried: " + report.obstacle() + ".");
        }
        return report.verdict().exitCode;
    }

    private Duration left(long start) {
        Duration left = Duration.ofSeconds(limit).minus(Duration.ofNanos(System.nanoTime() - start));
        return left.isNegative() ? Duration.ZERO : left;
    }

    private void measure(SubjectChoice choice, Report report, BooleanSupplier ends, Duration left) {
        PrintWriter out = spec.commandLine().getOut();
        if (choice.subject.isOfDatagrams()) {
            out.println("\n" + PERFORMANCE + ": datagrams are not measured");
            return;
        }
        out.println("\n" + PERFORMANCE + ", both ends in one process");
        CallCosts.measure(choice.subject).ifPresent(costs -> {
            report.add(costs);
            out.println(costs);
            out.flush();
        });
        boolean isWhole = new Measurements(choice.subject, left, ends).run(measurement -> {
            report.add(measurement);
            out.println(measurement);
            out.flush();
        }, out::println);
        if (!isWhole) { report.cut(); }
    }

    /** What ofi4j knows of the provider, and whether it is still so. */
    private void assumptions(SubjectChoice choice, Report report, BooleanSupplier ends, Duration left,
            FarHost farHost) {
        PrintWriter out = spec.commandLine().getOut();
        List<ProviderQuirk> on = choice.info.quirks().stream().filter(ProviderQuirk::isOn).toList();
        if (ends.getAsBoolean() || withoutQuirks) { return; }
        if (on.isEmpty()) {
            out.println("\nofi4j knows nothing of this provider and version: it makes plain calls.");
            return;
        }
        out.println("\n" + on.size() + " quirks of this provider and version are on"
                + (quirks ? ":" : "; --quirks says whether each is needed."));
        out.flush();
        if (!quirks) { return; }
        new QuirkRun(choice.subject, left, ends, report.results(), farHost).run(on, finding -> {
            report.add(finding);
            out.println(Report.line(finding));
            out.flush();
        });
    }

    private void requireSeconds(String option, int seconds) {
        if (seconds < 1 || seconds > MAX_SECONDS) {
            throw new ParameterException(spec.commandLine(), "Invalid value for option '" + option + "': '" + seconds
                    + "' is not a number of seconds from 1 to " + MAX_SECONDS);
        }
    }

    /** Said before anything is tried. */
    private void requireWritable(String option, Path file) {
        if (file == null) { return; }
        WholeFile.obstacle(file).ifPresent(obstacle -> {
            throw misuse("Invalid value for option '" + option + "': " + obstacle);
        });
    }

    /** Those that are asked for. */
    private List<String> chosen(List<String> all) {
        requirePages("--only", only, all);
        requirePages("--skip", skip, all);
        List<String> pages = new ArrayList<>(only.isEmpty() ? all : only);
        pages.removeAll(skip);
        if (pages.isEmpty()) { throw misuse("--only and --skip leave nothing to try: leave one of them out"); }
        return pages;
    }

    private void requirePages(String option, List<String> pages, List<String> all) {
        for (String page : pages) {
            if (!all.contains(page)) {
                throw new ParameterException(spec.commandLine(), "Invalid value for option '" + option
                        + "': there is no page '" + page + "'; there are " + String.join(", ", all));
            }
        }
    }

    private void add(Report report, Result result, OtherMachine other) {
        report.add(result);
        boolean isNews = result.outcome().isWrong();
        if (isNews && other != null) { other.tell(FindingKind.LINE, Report.line(result)); }
        if (verbose || isNews) {
            spec.commandLine().getOut().println(Report.line(result));
            spec.commandLine().getOut().flush();
        }
    }

    private static void write(Path file, String text) {
        if (file == null) { return; }
        try {
            WholeFile.write(file, text);
        } catch (IOException e) {
            throw new CommandFailure("The report cannot be written: " + e.getMessage() + ".", e);
        }
    }
}
