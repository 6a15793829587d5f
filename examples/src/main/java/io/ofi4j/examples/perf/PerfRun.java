package io.ofi4j.examples.perf;

import io.ofi4j.Libfabric;
import io.ofi4j.ProgressModel;
import io.ofi4j.ThreadingModel;
import io.ofi4j.examples.CommandFailure;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.Callable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** What the three measurements have in common. */
abstract class PerfRun implements Callable<Integer> {
    /** The models that can be asked for. */
    enum Threading {
        safe, domain, completion
    }

    /** The models that can be asked for. */
    enum ProgressChoice {
        auto, manual
    }

    @Option(names = {"-p", "--provider"}, paramLabel = "NAME", description = "The provider, as 'ofi4j info' names it. "
            + "Without it, shm.")
    private String provider = "shm";

    @Option(names = {"-d", "--domain"}, paramLabel = "NAME", description = "The device or network interface.")
    private String domain;

    @Option(names = {"-s", "--source"}, paramLabel = "ADDRESS", description = "This side's address. Without it "
            + "everything stays on the loopback address 127.0.0.1, unless -d names another device.")
    private String source;

    @Option(names = {"-S",
            "--sizes"}, paramLabel = "SIZES", converter = Sizes.Converter.class, description = "How many bytes an operation transfers: 8, or 8,4k,1m, or all (1 to 4m). "
                    + "Without it, a selection.")
    private Sizes sizes = Sizes.SELECTION;

    @Option(names = {"-I",
            "--iterations"}, paramLabel = "COUNT", converter = Numbers.Count.class, description = "How many operations. Without it, as many as take half a second.")
    private Long iterations;

    @Option(names = {"-w",
            "--warmup"}, paramLabel = "COUNT", converter = Numbers.CountOrNone.class, description = "How many operations go before, unmeasured. Without it, as many as take 0.3 seconds.")
    private Long warmUp;

    @Option(names = {"-W",
            "--window"}, paramLabel = "COUNT", converter = Numbers.Window.class, description = "How many operations are in flight, 1 to 4096. Without it 1: the latency is that of one operation.")
    private int window = 1;

    @Option(names = {"-v",
            "--verify"}, description = "Verify the data, in a pass of its own: every operation has random "
                    + "contents, and every byte and the guard bytes around it are checked.")
    private boolean verify;

    @Option(names = "--threading", paramLabel = "MODEL", description = "${COMPLETION-CANDIDATES}. Without it domain "
            + "(completion with tcp on libfabric 2.x), or safe where the provider lacks that.")
    private Threading threading;

    @Option(names = "--progress", paramLabel = "MODEL", description = "${COMPLETION-CANDIDATES}. Without it manual, "
            + "or the provider's own where it lacks that.")
    private ProgressChoice progress;

    @Option(names = "--timeout", paramLabel = "SECONDS", converter = Numbers.Seconds.class, description = "How long to wait for anything to move. Without it 10.")
    private int timeout = 10;

    @Option(names = "--json", description = "Print one JSON object a line for each size.")
    private boolean json;

    @Spec
    private CommandSpec spec;

    abstract Operation operation();

    @Override
    public Integer call() {
        Libfabric libfabric = Libfabric.load();
        PrintWriter out = spec.commandLine().getOut();
        Report report = json ? new JsonReport(out) : new TableReport(out);
        try (Device device = new Device(libfabric, new ProviderChoice(libfabric, settings(sizes.bytes())).info())) {
            Settings settings = settings(Limits.of(operation(), device.info()).allowed(sizes));
            long errors = new Embedded(libfabric, settings).run(device, report);
            if (errors > 0) {
                throw new CommandFailure(errors + " operations did not arrive intact.");
            }
        }
        return 0;
    }

    private Settings settings(List<Long> bytes) {
        return new Settings(operation(), provider, Optional.ofNullable(domain), Optional.ofNullable(source), bytes,
                optional(iterations), optional(warmUp), window, verify,
                Optional.ofNullable(threading).map(model -> ThreadingModel.valueOf(model.name().toUpperCase())),
                Optional.ofNullable(progress).map(model -> ProgressModel.valueOf(model.name().toUpperCase())),
                Duration.ofSeconds(timeout));
    }

    private static OptionalLong optional(Long number) {
        return number == null ? OptionalLong.empty() : OptionalLong.of(number);
    }
}
