package io.ofi4j.jmh;

import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Warmup;

/** A write, until its completion was polled. */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(value = 1, jvmArgsAppend = "--enable-native-access=ALL-UNNAMED")
@Warmup(iterations = 4, time = 300, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 5, time = 400, timeUnit = TimeUnit.MILLISECONDS)
public class WriteBenchmark {
    /** The generated bindings, called plainly. */
    @Benchmark
    public long rawGenerated(GeneratedLayer layer) { return layer.write(); }

    /** Critical calls with addresses as numbers, and nothing around them. */
    @Benchmark
    public long rawCritical(CriticalLayer layer) { return layer.write(); }

    /** The public API. */
    @Benchmark
    public long publicApi(PublicLayer layer) { return layer.write(); }

    /** The public API, with an operation that was prepared. */
    @Benchmark
    public long prepared(PreparedLayer layer) { return layer.write(); }
}
