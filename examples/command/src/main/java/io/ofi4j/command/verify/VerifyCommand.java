package io.ofi4j.command.verify;

import io.ofi4j.Libfabric;
import io.ofi4j.command.CommandFailure;
import io.ofi4j.command.Interrupt;
import io.ofi4j.command.NameConverter;
import io.ofi4j.command.WholeFile;
import io.ofi4j.command.device.DeviceRun;
import io.ofi4j.conformance.Result;
import io.ofi4j.conformance.run.Catalogue;
import io.ofi4j.conformance.run.QuirkRun;
import io.ofi4j.conformance.run.TrialRun;
import io.ofi4j.info.EndpointType;
import io.ofi4j.info.ProviderQuirk;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
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
    private static final int MAX_SECONDS = 86_400;

    @Option(names = {"-p", "--provider"}, paramLabel = "NAME", converter = NameConverter.class,
            description = "The provider, as 'ofi4j info' names it.")
    private String provider;

    @Option(names = {"-e", "--endpoint"}, paramLabel = "TYPE",
            description = "${COMPLETION-CANDIDATES}. Without it the first of RDM, MSG and DGRAM that the provider has.")
    private EndpointType type;

    @Option(names = {"-s", "--source"}, paramLabel = "ADDRESS", converter = NameConverter.class,
            description = "The address of this machine that the endpoints have. Without it the loopback address, or"
                    + " that of the device.")
    private String source;

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

    @Option(names = "--limit", paramLabel = "SECONDS", defaultValue = "270",
            description = "How long all of it takes at most; what is left then is not tried. Without it"
                    + " ${DEFAULT-VALUE}.")
    private int limit;

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
        requireSeconds("--limit", limit);
        requireFolder("--json", json);
        requireFolder("--report", markdown);
        return memory == null ? tryProvider() : tryDevice();
    }

    private int tryProvider() {
        if (provider == null) {
            throw new ParameterException(spec.commandLine(), "Missing required option: '--provider=NAME'");
        }
        List<String> all = new ArrayList<>(Catalogue.pages());
        all.add(PERFORMANCE);
        List<String> pages = chosen(all);
        PrintWriter out = spec.commandLine().getOut();
        Libfabric libfabric = Libfabric.load();
        SubjectChoice choice = SubjectChoice.of(libfabric, provider, Optional.ofNullable(type),
                Optional.ofNullable(source), Duration.ofSeconds(deadline));
        Report report = new Report("ofi4j verify", Machine.describe(libfabric, choice, withNames));
        begin(report);
        long start = System.nanoTime();
        try (Interrupt interrupt = new Interrupt()) {
            TrialRun run = new TrialRun(choice.subject, withoutQuirks ? List.of(QUIRKS + "none") : List.of(),
                    Duration.ofSeconds(limit), interrupt::isAsked, result -> add(report, result));
            for (String page : pages) {
                if (interrupt.isAsked()) { break; }
                if (page.equals(PERFORMANCE) && !choice.subject.isOfDatagrams()) {
                    measure(choice, report, interrupt, left(start));
                } else if (!page.equals(PERFORMANCE)) {
                    run.run(List.of(page));
                    if (!interrupt.isAsked()) { out.println(report.pageLine(page)); }
                }
                out.flush();
            }
            assumptions(choice, report, interrupt, left(start));
            return end(report, interrupt);
        }
    }

    private int tryDevice() {
        if (provider != null) {
            throw new ParameterException(spec.commandLine(),
                    "--device takes no --provider: the trials name theirs, such as --only shm");
        }
        List<String> groups = chosen(DeviceRun.groups());
        PrintWriter out = spec.commandLine().getOut();
        Libfabric libfabric = Libfabric.load();
        try (Interrupt interrupt = new Interrupt(); LogFolder logs = LogFolder.of(Optional.ofNullable(memory.logs))) {
            List<Report> reports = new ArrayList<>();
            DeviceRun run = new DeviceRun(memory.device, memory.longestInBytes(), Optional.ofNullable(memory.program),
                    logs.folder(), Duration.ofSeconds(limit), interrupt::isAsked,
                    result -> add(reports.getFirst(), result));
            Report report = new Report("ofi4j verify --device", Machine.describe(libfabric, run.probe(), withNames));
            reports.add(report);
            begin(report);
            for (String group : groups) {
                if (interrupt.isAsked()) { break; }
                run.run(group);
                if (!interrupt.isAsked()) { out.println(report.pageLine(group)); }
                out.flush();
            }
            return end(report, interrupt);
        }
    }

    private void begin(Report report) {
        Interrupt.obstacle().ifPresent(spec.commandLine().getErr()::println);
        spec.commandLine().getOut().println(report.heading() + "\n");
        spec.commandLine().getOut().flush();
    }

    private int end(Report report, Interrupt interrupt) {
        if (interrupt.isAsked()) { report.interrupted(); }
        spec.commandLine().getOut().println("\n" + report.summary());
        spec.commandLine().getOut().flush();
        write(json, report.json());
        write(markdown, report.markdown());
        return interrupt.isAsked() ? Interrupt.EXIT_CODE : report.hasWrongs() ? 1 : 0;
    }

    private Duration left(long start) {
        Duration left = Duration.ofSeconds(limit).minus(Duration.ofNanos(System.nanoTime() - start));
        return left.isNegative() ? Duration.ZERO : left;
    }

    private void measure(SubjectChoice choice, Report report, Interrupt interrupt, Duration left) {
        PrintWriter out = spec.commandLine().getOut();
        out.println("\n" + PERFORMANCE + ", both ends in one process");
        new Measurements(choice.subject, left, interrupt::isAsked).run(measurement -> {
            report.add(measurement);
            out.println(measurement);
            out.flush();
        }, out::println);
    }

    /** What ofi4j knows of the provider, and whether it is still so. */
    private void assumptions(SubjectChoice choice, Report report, Interrupt interrupt, Duration left) {
        PrintWriter out = spec.commandLine().getOut();
        List<ProviderQuirk> on = choice.info.quirks().stream().filter(ProviderQuirk::isOn).toList();
        if (interrupt.isAsked() || withoutQuirks) { return; }
        if (on.isEmpty()) {
            out.println("\nofi4j knows nothing of this provider and version: it makes plain calls.");
            return;
        }
        out.println("\n" + on.size() + " quirks of this provider and version are on"
                + (quirks ? ":" : "; --quirks says whether each is needed."));
        out.flush();
        if (!quirks) { return; }
        new QuirkRun(choice.subject, left, interrupt::isAsked, report.results()).run(on, finding -> {
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

    private void requireFolder(String option, Path file) {
        if (file == null) { return; }
        Path folder = file.toAbsolutePath().getParent();
        if (folder == null || !Files.isDirectory(folder)) {
            throw new ParameterException(spec.commandLine(),
                    "Invalid value for option '" + option + "': it needs a folder, and " + folder + " is none");
        }
    }

    /** Those that are asked for. */
    private List<String> chosen(List<String> all) {
        requirePages("--only", only, all);
        requirePages("--skip", skip, all);
        List<String> pages = new ArrayList<>(only.isEmpty() ? all : only);
        pages.removeAll(skip);
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

    private void add(Report report, Result result) {
        report.add(result);
        boolean isNews = result.outcome().isWrong();
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
