package io.ofi4j.command.perf;

import io.ofi4j.command.NameConverter;
import io.ofi4j.command.WholeFile;
import io.ofi4j.command.control.Connection;
import io.ofi4j.command.control.Listener;
import io.ofi4j.command.control.Ports;
import io.ofi4j.info.EndpointType;
import io.ofi4j.Libfabric;
import io.ofi4j.info.Hook;
import io.ofi4j.info.ProgressModel;
import io.ofi4j.info.ThreadingModel;
import io.ofi4j.command.Columns;
import io.ofi4j.command.Descriptor;
import io.ofi4j.command.CommandFailure;
import io.ofi4j.command.Interrupt;
import java.io.PrintWriter;
import java.net.InetAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.Callable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** What the three measurements have in common. */
abstract class PerfRun implements Callable<Integer> {
    /** Who measures for so long may want to end it. */
    private static final int LASTING_SECONDS = 10;
    /** How many operations an open loop may have in flight. */
    private static final int OPEN_WINDOW = 64;
    static final int DEFAULT_TIMEOUT_SECONDS = 10;
    private static final Set<Operation> VERBS = EnumSet.of(Operation.WRITE, Operation.READ, Operation.MSG,
            Operation.ATOMIC);

    /** The models that can be asked for. */
    enum Threading {
        safe, domain, completion
    }

    /** The types of endpoints that have one-sided operations. */
    enum EndpointChoice {
        rdm, msg
    }

    /** What leads to the device. */
    enum PathChoice {
        libfabric, verbs
    }

    /** The models that can be asked for. */
    enum ProgressChoice {
        auto, manual
    }

    @Option(names = {"-p", "--provider"}, paramLabel = "NAME", converter = NameConverter.class,
            description = "The provider, as 'ofi4j info' names it. "
                    + "Without it, shm with both ends in one process; with two tcp;ofi_rxm, and tcp with -e msg.")
    private String provider;

    @Option(names = {"-e", "--endpoint"}, paramLabel = "TYPE",
            description = "rdm, which takes any peer, or msg, which is connected to one. Without it rdm.")
    private EndpointChoice endpoint;

    @Option(names = "--path", paramLabel = "PATH",
            description = "libfabric, or verbs: an RDMA device without libfabric, the first in use or that of -d or -s. "
                    + "Without it libfabric.")
    private PathChoice path = PathChoice.libfabric;

    @Option(names = {"-d", "--domain"}, paramLabel = "NAME", converter = NameConverter.class,
            description = "The device or network interface.")
    private String domain;

    @Option(names = "--device", paramLabel = "DEVICE", converter = MemoryChoice.Converter.class,
            description = "Whose memory this side has: cuda or cuda:N, a GPU's by its number, or host beside "
                    + "another side that has a GPU's. Give it at both. Without it memory of the host, at both.")
    private MemoryChoice memory;

    @Parameters(arity = "0..1", paramLabel = "HOST", description = "Where a server runs ('ofi4j perf ${COMMAND-NAME} "
            + "--server'). Without it both ends are in this process.")
    private String host;

    @Option(names = "--server", description = "Be the other end: wait for a client, serve it, and end.")
    private boolean server;

    @Option(names = "--keep", description = "With --server: serve clients until it is ended, several at once.")
    private boolean keep;

    @Option(names = {"-B", "--source-port"}, paramLabel = "PORT", converter = Ports.Source.class,
            description = "With --server: the port to listen on, 0 for any. Without it " + Ports.DEFAULT + ".")
    private Integer sourcePort;

    @Option(names = {"-P", "--destination-port"}, paramLabel = "PORT", converter = Ports.Destination.class,
            description = "With HOST: the server's port. Without it " + Ports.DEFAULT + ".")
    private Integer destinationPort;

    @Option(names = {"-s", "--source"}, paramLabel = "ADDRESS", description = "This side's address. Without it "
            + "everything stays on the loopback address, unless -d names another device.")
    private String source;

    @Option(names = {"-S", "--sizes"}, paramLabel = "SIZES", converter = Sizes.Converter.class,
            description = "How many bytes an operation transfers: 8, or 8,4k,1m, or all (1 to 4m). "
                    + "Without it, a selection.")
    private Sizes sizes = Sizes.SELECTION;

    @Option(names = {"-I", "--iterations"}, paramLabel = "COUNT", converter = Numbers.Count.class,
            description = "How many operations. Without it, as many as take half a second.")
    private Long iterations;

    @Option(names = {"-D", "--duration"}, paramLabel = "SECONDS", converter = Numbers.Seconds.class,
            description = "How long each of the two passes of a size takes, in place of -I.")
    private Integer duration;

    @Option(names = {"-w", "--warmup"}, paramLabel = "COUNT", converter = Numbers.CountOrNone.class,
            description = "How many operations go before, unmeasured. "
                    + "Without it, as many as take a second at the first size and 0.3 seconds at others.")
    private Long warmUp;

    @Option(names = {"-W", "--window"}, paramLabel = "COUNT", converter = Numbers.Window.class,
            description = "How many operations are in flight, 1 to 4096. "
                    + "Without it 1: the latency is that of one operation; with --rate " + OPEN_WINDOW + ".")
    private Integer window;

    @Option(names = "--rate", paramLabel = "PER_SECOND", converter = Numbers.Rate.class,
            description = "Begin this many operations a second, whether or not earlier ones are done, with up to -W in "
                    + "flight: in one pass, of two seconds unless -I or -D says otherwise. Latencies count from the "
                    + "planned start, so that a pause counts in each operation that it delays. With --threads this is "
                    + "the rate of all together, with --bidirectional that of each direction.")
    private Long rate;

    @Option(names = "--threads", paramLabel = "COUNT", converter = Numbers.Threads.class,
            description = "How many threads measure at the same time, 1 to 64, each with an endpoint and a connection to the server "
                    + "of its own. The rates are those of all together.")
    private int threads = 1;

    @Option(names = "--bidirectional",
            description = "With HOST: the server measures the same towards this side at the same time. The "
                    + "rates are those of both directions together, the latencies those of this side.")
    private boolean bidirectional;

    @Option(names = {"-v", "--verify"},
            description = "Verify the data, in a pass of its own: every operation has random "
                    + "contents, and every byte and the guard bytes around it are checked.")
    private boolean verify;

    @Option(names = "--threading", paramLabel = "THREADING",
            description = "${COMPLETION-CANDIDATES}. Without it domain "
                    + "(completion with tcp on libfabric 2.x), or safe where the provider lacks that.")
    private Threading threading;

    @Option(names = "--progress", paramLabel = "PROGRESS", description = "${COMPLETION-CANDIDATES}. Without it manual, "
            + "or the provider's own where it lacks that.")
    private ProgressChoice progress;

    @Option(names = "--hook", paramLabel = "NAME", description = "${COMPLETION-CANDIDATES}: a hooking provider between "
            + "this command and the provider, which FI_LOG_LEVEL=trace lets print what it has seen. May be repeated.")
    private List<Hook> hooks = List.of();

    @Option(names = "--timeout", paramLabel = "SECONDS", converter = Numbers.Seconds.class,
            description = "How long to wait for the peer, and how long nothing may move. Then the command ends: 3 seconds "
                    + "later if a call of the provider does not return. Opening, closing, filling and checking memory "
                    + "may take ten times as long. Without it " + DEFAULT_TIMEOUT_SECONDS
                    + ", and a server waits for clients without a limit, as one with --keep always does.")
    private Integer timeout;

    @Option(names = "--json", description = "Print one JSON object a line for each size. A server then has "
            + "nothing on stdout, and says on stderr what it does.")
    private boolean json;

    @Option(names = "--narrow", description = "Print a table of at most 80 columns, with the most important ones. A "
            + "terminal that has less than the whole table needs gets such a one by itself.")
    private boolean narrow;

    @Option(names = "--csv", description = "Print lines of comma-separated values, the first with the names of --json.")
    private boolean csv;

    @Option(names = "--histogram", paramLabel = "FILE", description = "Write the latencies there too, in microseconds "
            + "and HdrHistogram's text form; with several sizes, to FILE.SIZE each, and to a pipe one after the other.")
    private Path histogram;

    @Option(names = "--chart", paramLabel = "FILE.html",
            description = "Draw the percentiles of the latencies there too, and with "
                    + "several sizes the bandwidth, as a page for a browser that needs no other file.")
    private Path chart;

    @Spec
    private CommandSpec spec;

    abstract Operation operation();

    boolean isPingPong() { return false; }

    @Override
    public Integer call() throws Exception {
        requireConsistent();
        requireOne();
        if (keep || duration != null && duration >= LASTING_SECONDS) {
            Interrupt.obstacle().ifPresent(spec.commandLine().getErr()::println);
        }
        if (memory != null) { memory.require(); }
        InetAddress address = address();
        Settings asked = settings(sizes.bytes());
        PrintWriter err = spec.commandLine().getErr();
        if (host == null) {
            return withDevice(asked, "", device -> {
                if (!server) { return conclude(new Embedded(possible(device), err).run(device, report())); }
                serve(device, address);
                return 0;
            });
        }
        try (Connection connection = Connection.open(host, destinationPort == null ? Ports.DEFAULT : destinationPort,
                asked.timeout(), err)) {
            return withDevice(asked, connection.other(),
                    device -> conclude(new Client(possible(device), err).run(device, connection, report())));
        }
    }

    private interface Work {
        int on(Device device) throws Exception;
    }

    /** Opening and closing have a time limit; the work has limits of its own. */
    private int withDevice(Settings asked, String other, Work work) throws Exception {
        try (Watchdog watchdog = Watchdog.start(asked.timeout(), spec.commandLine().getErr(), other)) {
            watchdog.watchSlow();
            try (Device device = open(asked)) {
                watchdog.rest();
                try {
                    return work.on(device);
                } finally {
                    watchdog.watchSlow();
                }
            }
        }
    }

    private Device open(Settings asked) {
        if (path == PathChoice.verbs) { return VerbsDevice.open(asked); }
        Libfabric libfabric = hooks.isEmpty() ? Libfabric.load() : Libfabric.load(hooks);
        return new FabricDevice(libfabric, new ProviderChoice(libfabric, asked).info(), asked.memory());
    }

    private void requireConsistent() {
        if (server && host != null) {
            throw misuse("--server waits for a client and HOST names a server: give one of them");
        }
        if (!server && (keep || sourcePort != null)) { throw misuse((keep ? "--keep" : "-B") + " goes with --server"); }
        if (host == null && bidirectional) {
            throw misuse("--bidirectional goes with HOST: both directions need a process each");
        }
        if (path == PathChoice.verbs) { requireForVerbs(); }
        if (host == null && destinationPort != null) { throw misuse("-P goes with HOST, the server to connect to"); }
    }

    /** Options of libfabric, and operations that it has alone. */
    private void requireForVerbs() {
        if (!VERBS.contains(operation())) {
            throw misuse("--path verbs measures write, read, msg and atomic, not " + operation());
        }
        if (provider != null || endpoint != null || threading != null || progress != null || !hooks.isEmpty()
                || memory != null) {
            throw misuse("--path verbs goes past libfabric: leave -p, -e, --threading, --progress, --hook and --device"
                    + " out");
        }
    }

    /** What can be said in one way only. */
    private void requireOne() {
        if (json && csv) { throw misuse("--json and --csv are two forms of the same: give one of them"); }
        if (iterations != null && duration != null) {
            throw misuse("-I and -D both say when to end: give one of them");
        }
        if (isPingPong() && rate != null) {
            throw misuse("--ping-pong goes as fast as the answers come: leave --rate out");
        }
        if (isPingPong() && window() != 1) { throw misuse("--ping-pong has one message in flight: leave -W out"); }
        if (chart != null && !chart.toString().matches(".*\\.html?")) {
            throw misuse("--chart writes a page for a browser: give it a name that ends in .html");
        }
        requireWritable("--histogram", histogram);
        requireWritable("--chart", chart);
        if (operation() == Operation.INJECT && memory != null) {
            throw misuse("an inject takes memory of the host alone: leave --device out, or measure write");
        }
        if (operation() == Operation.ATOMIC && !sizes.equals(Sizes.SELECTION)
                && !sizes.bytes().equals(List.of((long) Long.BYTES))) {
            throw misuse("an addition has 8 bytes: give -S 8, or leave it out");
        }
    }

    /** Said before anything is measured. */
    private void requireWritable(String option, Path file) {
        if (file == null) { return; }
        WholeFile.obstacle(file).ifPresent(obstacle -> {
            throw misuse(option + ": " + obstacle);
        });
    }

    private ParameterException misuse(String sentence) { return new ParameterException(spec.commandLine(), sentence); }

    private void serve(Device device, InetAddress address) {
        Settings settings = possible(device);
        Terms terms = new Terms(operation(), device.kind(), device.traits().libfabric(),
                sizes.isExact() ? Optional.of(settings.sizes()) : Optional.empty(),
                sizes.isExact() ? Plan.longest(settings) : Terms.DEFAULT_LENGTH);
        Duration patience = timeout == null ? Duration.ofNanos(Long.MAX_VALUE) : settings.timeout();
        try (Listener listener = new Listener(address, sourcePort == null ? Ports.DEFAULT : sourcePort)) {
            PrintWriter err = spec.commandLine().getErr();
            new Server(device, terms, settings.timeout(), json ? err : spec.commandLine().getOut(), err).run(listener,
                    patience, keep);
        }
    }

    /** Where a server listens; null where nobody does and no address was given. */
    private InetAddress address() {
        return source == null && !server ? null : Listener.own(Optional.ofNullable(source));
    }

    private Report report() {
        PrintWriter out = spec.commandLine().getOut();
        Report report = json
                ? new JsonReport(out)
                : csv
                        ? new CsvReport(out)
                        : new TableReport(out, narrow ? Columns.USUAL : Columns.of(Descriptor.OUTPUT));
        if (histogram != null) { report = new HistogramFiles(report, histogram, sizes.bytes().size() > 1); }
        return chart == null ? report : new ChartFile(report, chart);
    }

    private static int conclude(Benchmark.Result result) {
        if (result.errors() > 0) { throw new CommandFailure(result.errors() + " operations did not arrive intact."); }
        return result.isInterrupted() ? Interrupt.EXIT_CODE : 0;
    }

    private Settings possible(Device device) { return settings(sizes.possible(operation(), device.traits())); }

    private Settings settings(List<Long> bytes) {
        boolean isConnected = endpoint == EndpointChoice.msg;
        return new Settings(operation(), provider == null ? usualProvider() : provider,
                provider == null && path == PathChoice.libfabric, isConnected ? EndpointType.MSG : EndpointType.RDM,
                Optional.ofNullable(domain), Optional.ofNullable(source), Optional.ofNullable(host), bytes,
                optional(iterations),
                duration == null ? OptionalLong.empty() : OptionalLong.of(duration * 1_000_000_000L), optional(warmUp),
                optional(rate), window(), threads, bidirectional, isPingPong(), verify,
                Optional.ofNullable(threading)
                        .map(model -> ThreadingModel.valueOf(model.name().toUpperCase(Locale.ROOT))),
                Optional.ofNullable(progress)
                        .map(model -> ProgressModel.valueOf(model.name().toUpperCase(Locale.ROOT))),
                Optional.ofNullable(memory).map(choice -> choice.direct(server || host != null)),
                Duration.ofSeconds(timeout == null ? DEFAULT_TIMEOUT_SECONDS : timeout));
    }

    /** The same on every libfabric: tcp has had unconnected endpoints of its own in some. */
    private String usualProvider() {
        if (!server && host == null) { return "shm"; }
        return endpoint == EndpointChoice.msg ? "tcp" : "tcp;ofi_rxm";
    }

    private int window() { return window != null ? window : rate == null ? 1 : OPEN_WINDOW; }

    private static OptionalLong optional(Long number) {
        return number == null ? OptionalLong.empty() : OptionalLong.of(number);
    }
}
