package io.ofi4j.jmh;

import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Warmup;

/** An inject, with a poll for the target after every 16th. */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(value = 1, jvmArgsAppend = "--enable-native-access=ALL-UNNAMED")
@Warmup(iterations = 4, time = 300, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 5, time = 400, timeUnit = TimeUnit.MILLISECONDS)
public class InjectBenchmark {
    /** The generated bindings, called plainly. */
    @Benchmark
    public void rawGenerated(GeneratedLayer layer) { layer.inject(); }

    /** Critical calls with addresses as numbers, and nothing around them. */
    @Benchmark
    public void rawCritical(CriticalLayer layer) { layer.inject(); }

    /** The public API. */
    @Benchmark
    public void publicApi(PublicLayer layer) { layer.inject(); }

    /** The public API, with an operation that was prepared. */
    @Benchmark
    public void prepared(PreparedLayer layer) { layer.inject(); }
}
