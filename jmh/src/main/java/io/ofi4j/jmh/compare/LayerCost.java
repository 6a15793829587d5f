package io.ofi4j.jmh.compare;

import io.ofi4j.Libfabric;
import io.ofi4j.jmh.CriticalLayer;
import io.ofi4j.jmh.Layer;
import io.ofi4j.jmh.PublicLayer;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * What the public API takes beyond the bare critical calls, measured in turns in one JVM: what disturbs the machine
 * disturbs both, so that a difference of a few nanoseconds is seen where benchmarks that run one after the other differ
 * by more.
 */
@Command(name = "bench --layer", mixinStandardHelpOptions = true,
        description = "Measures the public API beside bare critical calls, "
                + "in turns in one JVM: 8 bytes, both ends on one thread.")
public final class LayerCost implements Callable<Integer> {
    private static final int SLICE = 4000;
    private static final int WARM_UP = 60;

    /** Kinds of work. */
    enum Work {
        write(Layer::write), read(Layer::read), inject(Layer::inject), poll(Layer::poll);

        private final Consumer<Layer> once;

        Work(Consumer<Layer> once) { this.once = once; }
    }

    /** What the layers can ask for. */
    enum Threading {
        DOMAIN, SAFE
    }

    @Spec
    private CommandSpec spec;

    @Option(names = {"-p", "--provider"}, defaultValue = "shm", paramLabel = "NAME", description = "The provider.")
    private String provider;

    @Option(names = {"-w", "--work"}, defaultValue = "write", paramLabel = "NAME",
            description = "${COMPLETION-CANDIDATES}.")
    private Work work;

    @Option(names = {"-t", "--threading"}, defaultValue = "DOMAIN", paramLabel = "MODEL",
            description = "DOMAIN or SAFE.")
    private Threading threading;

    @Option(names = "--rounds", defaultValue = "1500", paramLabel = "COUNT", description = "How many slices each has.")
    private int rounds;

    /**
     * A command line of its own; each kind of work wants a JVM of its own, as compilers look at what has run before.
     */
    public static void main(String[] arguments) {
        System.exit(Bench.withSentences(new CommandLine(new LayerCost())).execute(arguments));
    }

    @Override
    public Integer call() {
        if (rounds < 1) { throw new ParameterException(spec.commandLine(), "--rounds takes a number from 1 on"); }
        CriticalLayer bare = opened(new CriticalLayer());
        PublicLayer whole = opened(new PublicLayer());
        double[] bareTimes = new double[rounds];
        double[] wholeTimes = new double[rounds];
        double[] differences = new double[rounds];
        for (int round = -WARM_UP; round < rounds; round++) {
            double bareTime = bareSlice(bare, work.once);
            double wholeTime = wholeSlice(whole, work.once);
            if (round >= 0) {
                bareTimes[round] = bareTime;
                wholeTimes[round] = wholeTime;
                differences[round] = wholeTime - bareTime;
            }
        }
        whole.tearDown();
        bare.tearDown();
        spec.commandLine().getOut().printf(Locale.ROOT,
                "libfabric %s, %s, threading %s, progress MANUAL, window 1, %s %d B: bare %.1f ns, public API %.1f ns, difference %.1f ns, quartiles %.1f to %.1f%n",
                Libfabric.load().version(), provider, threading, work, Long.BYTES, Statistics.quantile(bareTimes, 0.5),
                Statistics.quantile(wholeTimes, 0.5), Statistics.quantile(differences, 0.5),
                Statistics.quantile(differences, 0.25), Statistics.quantile(differences, 0.75));
        return 0;
    }

    private <T extends Layer> T opened(T layer) {
        layer.provider = provider;
        layer.threading = threading.name();
        layer.size = Long.BYTES;
        layer.setUp();
        return layer;
    }

    /** Nanoseconds an operation. The same as the other, for the compiler to look at each by itself. */
    private static double bareSlice(CriticalLayer layer, Consumer<Layer> once) {
        long begin = System.nanoTime();
        for (int i = 0; i < SLICE; i++) {
            once.accept(layer);
        }
        return (System.nanoTime() - begin) / (double) SLICE;
    }

    private static double wholeSlice(PublicLayer layer, Consumer<Layer> once) {
        long begin = System.nanoTime();
        for (int i = 0; i < SLICE; i++) {
            once.accept(layer);
        }
        return (System.nanoTime() - begin) / (double) SLICE;
    }
}
