package io.ofi4j.jmh;

import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Warmup;

/** A poll that finds nothing. */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(value = 1, jvmArgsAppend = "--enable-native-access=ALL-UNNAMED")
@Warmup(iterations = 4, time = 300, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 5, time = 400, timeUnit = TimeUnit.MILLISECONDS)
public class PollBenchmark {
    /** The generated bindings, called plainly. */
    @Benchmark
    public int rawGenerated(GeneratedLayer layer) { return layer.poll(); }

    /** Critical calls with addresses as numbers, and nothing around them. */
    @Benchmark
    public int rawCritical(CriticalLayer layer) { return layer.poll(); }

    /** The public API. */
    @Benchmark
    public int publicApi(PublicLayer layer) { return layer.poll(); }
}
