package io.ofi4j.jmh;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Collection;
import org.junit.jupiter.api.Test;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.Options;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;

/** Runs every benchmark for a moment, so that none can rot. What it measures means nothing. */
class BenchmarksRunTest {
    private static final int KINDS_OF_WORK = 4;
    private static final int LAYERS = 3;
    private static final int PREPARED = 3;
    private static final int THREADING_MODELS = 2;
    private static final int REGISTRATIONS = 2 * 2 * 4;
    private static final int INSERTIONS = 1;
    private static final int WAITS = 4;

    @Test
    void everyBenchmarkRuns() throws RunnerException {
        System.setProperty("jmh.ignoreLock", "true"); // somebody may be measuring on this machine
        Options options = new OptionsBuilder().include("io\\.ofi4j\\.jmh\\..*").forks(0).warmupIterations(0)
                .measurementIterations(1).measurementTime(TimeValue.milliseconds(20)).shouldFailOnError(true)
                .verbosity(VerboseMode.SILENT).build();
        Collection<RunResult> results = new Runner(options).run();
        assertThat(results)
                .hasSize((KINDS_OF_WORK * LAYERS + PREPARED) * THREADING_MODELS + REGISTRATIONS + INSERTIONS + WAITS)
                .allSatisfy(result -> assertThat(result.getPrimaryResult().getScore()).isPositive());
    }
}
