package io.ofi4j.command.perf;

import io.ofi4j.Libfabric;
import io.ofi4j.command.Loopback;
import io.ofi4j.command.NameConverter;
import io.ofi4j.info.Capability;
import io.ofi4j.info.FabricHints;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.info.ThreadingModel;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code ofi4j perf save}. */
@Command(name = "save",
        description = "Measures what it costs to know that writes last: plain writes, DELIVERY_COMPLETE, "
                + "COMMIT_COMPLETE where it is offered, and saves. Both ends are in this process, on one thread.")
final class PerfSave implements Callable<Integer> {
    private static final int DEFAULT_ITERATIONS = 200;

    @Option(names = {"-p", "--provider"}, paramLabel = "NAME", converter = NameConverter.class,
            description = "The provider, as 'ofi4j info' names it. Without it shm.")
    private String provider = "shm";

    @Option(names = {"-I", "--iterations"}, paramLabel = "COUNT", converter = Numbers.Count.class,
            description = "How many operations of each kind, with a MiB each: fewer of those that move more. Without it "
                    + DEFAULT_ITERATIONS + ".")
    private long iterations = DEFAULT_ITERATIONS;

    @Option(names = {"-S", "--sizes"}, paramLabel = "SIZES", converter = Sizes.Converter.class,
            description = "How many bytes a write has: 64, or 64,4k,1m, up to 1m. Without it 64,64k,1m. The file has room for 256.")
    private Sizes sizes = new Sizes(List.of(64L, 64L << 10, 1L << 20), false);

    @Option(names = "--folder", paramLabel = "FOLDER",
            description = "Where the file is made that is written to. Without it, the current folder: the disk and its "
                    + "file system decide what POWER_SAFE costs.")
    private Path folder = Path.of("");

    @Option(names = "--timeout", paramLabel = "SECONDS", converter = Numbers.Seconds.class,
            description = "How long nothing may move. Then the command ends: 3 seconds later if a call of the provider or "
                    + "of the disk does not return. Opening and closing may take ten times as long. Without it "
                    + PerfRun.DEFAULT_TIMEOUT_SECONDS + ".")
    private int timeout = PerfRun.DEFAULT_TIMEOUT_SECONDS;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws IOException {
        List<Long> bytes = sizes.upTo(SaveBench.LONGEST);
        if (bytes.stream().anyMatch(size -> size < 1 || size > SaveBench.LONGEST)) {
            throw new ParameterException(spec.commandLine(), "perf save writes 1 byte to 1m at once: see -S");
        }
        Libfabric libfabric = Libfabric.load();
        FabricInfo info = info(libfabric);
        Path file = Files.createTempFile(folder.toAbsolutePath(), "ofi4j-save", ".tmp");
        file.toFile().deleteOnExit(); // also after Ctrl-C
        Duration limit = Duration.ofSeconds(timeout);
        try (Watchdog watchdog = Watchdog.start(limit, spec.commandLine().getErr(), "")) {
            watchdog.watchSlow();
            try (FabricDevice device = new FabricDevice(libfabric, info);
                    SaveBench bench = new SaveBench(device, file, bytes, iterations, limit, watchdog)) {
                try {
                    bench.run(libfabric, spec.commandLine().getOut());
                } finally {
                    watchdog.watchSlow();
                }
            }
        } finally {
            Files.delete(file);
        }
        return 0;
    }

    /** With persistent memory where the provider has that: it has COMMIT_COMPLETE then. */
    private FabricInfo info(Libfabric libfabric) {
        FabricHints hints = FabricHints.rma().capabilities(Capability.RMA, Capability.MSG).provider(provider)
                .threading(ThreadingModel.UNSPECIFIED);
        FabricInfo found = libfabric.info(hints).getFirst();
        if (found.addressFormatName().startsWith("SOCKADDR")) {
            hints = hints.source(Loopback.ADDRESS, null);
            found = libfabric.info(hints).getFirst();
        }
        if (!libfabric.info(FabricHints.any().provider(provider)).getFirst().capabilities()
                .contains(Capability.RMA_PMEM)) {
            return found;
        }
        List<FabricInfo> persistent = libfabric
                .info(hints.capabilities(Capability.RMA, Capability.MSG, Capability.RMA_PMEM));
        return persistent.getFirst();
    }
}
