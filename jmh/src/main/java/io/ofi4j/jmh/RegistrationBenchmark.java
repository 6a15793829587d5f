package io.ofi4j.jmh;

import io.ofi4j.Access;
import io.ofi4j.Domain;
import io.ofi4j.Fabric;
import io.ofi4j.info.FabricHints;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.Libfabric;
import io.ofi4j.MemoryRegion;
import io.ofi4j.info.ThreadingModel;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/** Registering memory and closing the region again, by size. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(value = 1, jvmArgsAppend = "--enable-native-access=ALL-UNNAMED")
@Warmup(iterations = 4, time = 300, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 5, time = 400, timeUnit = TimeUnit.MILLISECONDS)
public class RegistrationBenchmark {
    private static final long PAGE = 4096;

    /** The provider, as libfabric names it. */
    @Param({"shm", "tcp;ofi_rxm"})
    public String provider;

    /** How many bytes are registered. */
    @Param({"4096", "65536", "1048576", "16777216"})
    public long size;

    private final Arena arena = Arena.ofShared();
    private Fabric fabric;
    private Domain domain;
    private MemorySegment memory;

    /** Opens a domain, and allocates the memory. */
    @Setup(Level.Trial)
    public void setUp() {
        Libfabric libfabric = Libfabric.load();
        FabricInfo info = libfabric.info(FabricHints.rma().provider(provider).threading(ThreadingModel.DOMAIN)).get(0);
        fabric = libfabric.openFabric(info);
        domain = fabric.openDomain();
        memory = arena.allocate(size, PAGE);
    }

    /** Closes everything. */
    @TearDown(Level.Trial)
    public void tearDown() {
        domain.close();
        fabric.close();
        arena.close();
    }

    /** Registers memory of the caller's, and deregisters it. */
    @Benchmark
    public long register() {
        try (MemoryRegion region = domain.register(memory, Access.REMOTE_READ, Access.REMOTE_WRITE)) {
            return region.length();
        }
    }

    /** Allocates memory and registers it, deregisters it and frees it. */
    @Benchmark
    public long allocate() {
        try (MemoryRegion region = domain.allocate(size, Access.REMOTE_READ, Access.REMOTE_WRITE)) {
            return region.length();
        }
    }
}
