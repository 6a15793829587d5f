package io.ofi4j.jmh.compare;

import com.sun.management.ThreadMXBean;
import io.ofi4j.Access;
import io.ofi4j.info.EndpointAddress;
import io.ofi4j.Libfabric;
import io.ofi4j.MemoryRegion;
import io.ofi4j.RemoteRegion;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.LongUnaryOperator;
import java.util.stream.IntStream;

/**
 * How what an operation takes grows with the number of regions, peers, operations in flight and threads, and how much
 * memory they need; through the public API, within one process. Runs in a JVM of its own.
 */
final class Scale {
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private static final int SMALL = 8;
    private static final int ROOM = 1 << 16;
    private static final int REGION = 64;
    private static final int[] REGIONS = {1, 10, 100, 1_000, 10_000, 100_000};
    private static final int[] PEERS = {1, 10, 100, 1_000, 10_000};
    private static final int[] THREAD_COUNTS = {1, 2, 4, 8};
    private static final int SLICES = 9;
    private static final long SLICE = 20_000_000;
    private static final long WARM_UP = 400_000_000;
    private static final long GROWTH_OPERATIONS = 2_000_000;
    private static final long MILLION = 1_000_000;
    private static final int TURNS = 4;
    private static final String FORMAT = "%-36s %9s %10s %8s %9s %9s%n";
    /** Where a struct sockaddr_in has the port and the address. */
    private static final int PORT_AT = 2;

    private final String provider;
    private final int libfabricMajor;
    /** Of each thing that grows, how many there were and what an operation took. */
    private final Map<String, List<double[]>> times = new LinkedHashMap<>();

    private Scale(String provider) {
        this.provider = provider;
        this.libfabricMajor = Libfabric.load().version().major();
    }

    /** Runs in JVMs of their own, one a provider; how they ended. The folder of charts may be null. */
    static int run(List<String> providers, Path charts) {
        try {
            for (String provider : providers) {
                List<String> command = new ArrayList<>(Jvm.command(Scale.class));
                command.add(provider);
                if (charts != null) { command.add(charts.toString()); }
                int status = new ProcessBuilder(command).inheritIO().start().waitFor();
                if (status != 0) { return status; }
            }
            return 0;
        } catch (IOException e) {
            throw new BenchFailure("cannot start a JVM: " + e.getMessage(), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new BenchFailure("interrupted", e);
        }
    }

    /** Measures over the provider that is named, prints a table, and draws it where a folder is named. */
    public static void main(String[] arguments) throws Exception {
        Scale scale = new Scale(arguments[0]);
        Charts charts = arguments.length == 1 ? null : new Charts(Path.of(arguments[1]));
        System.out.printf("libfabric %s, %s, write of 8 B with completion through the public API, %d cores%n",
                Libfabric.load().version(), arguments[0], Runtime.getRuntime().availableProcessors());
        System.out.printf(FORMAT, "what grows", "count", "ns/op", "B/op", "heap MiB", "RSS MiB");
        scale.regions();
        scale.peers();
        scale.window();
        scale.threads();
        scale.time();
        if (charts != null) { charts.scale(Libfabric.load().version().toString(), arguments[0], scale.times); }
    }

    private World open(String name) {
        return new World(Family.RMA, Models.toTry(name, libfabricMajor).getFirst().hints(name), ROOM);
    }

    /** Writes go from and to another region each time. */
    private void regions() {
        for (int count : REGIONS) {
            try (World world = open(provider); Arena arena = Arena.ofShared()) {
                MemorySegment memory = arena.allocate((long) count * REGION * 2, REGION);
                MemoryRegion[] locals = new MemoryRegion[count];
                MemoryRegion[] targets = new MemoryRegion[count];
                RemoteRegion[] remotes = new RemoteRegion[count];
                for (int at = 0; at < count; at++) {
                    locals[at] = world.domain.register(memory.asSlice(2L * at * REGION, REGION), Access.WRITE);
                    targets[at] = world.domain.register(memory.asSlice((2L * at + 1) * REGION, REGION),
                            Access.REMOTE_WRITE);
                    remotes[at] = targets[at].remote();
                }
                measure("regions at each end", count, operations -> writeToEach(world, locals, remotes, operations));
                Arrays.stream(locals).forEach(MemoryRegion::close);
                Arrays.stream(targets).forEach(MemoryRegion::close);
            }
        }
    }

    private static long writeToEach(World world, MemoryRegion[] locals, RemoteRegion[] remotes, long operations) {
        long start = System.nanoTime();
        int at = 0;
        for (long done = 0; done < operations; done++) {
            while (!world.rma.tryWrite(locals[at], 0, SMALL, world.peer, remotes[at], 0, done)) {
                world.makeProgress();
            }
            world.posted++;
            at = at + 1 == locals.length ? 0 : at + 1;
            while (world.completed < world.posted) {
                if (world.pollQueue() == 0) { world.pollTarget(); }
            }
        }
        return System.nanoTime() - start;
    }

    /**
     * Over a provider with internet addresses, which need not be anybody's; writes go to the one peer that is there.
     */
    private void peers() {
        String name = provider.startsWith("shm") ? "tcp;ofi_rxm" : provider;
        for (int count : PEERS) {
            try (World world = open(name)) {
                byte[] address = world.source.address().toBytes();
                for (int at = 1; at < count; at++) {
                    byte[] another = address.clone();
                    ByteBuffer.wrap(another).putShort(PORT_AT, (short) (1024 + at)).put(PORT_AT + 3, (byte) 1);
                    world.vector.insert(EndpointAddress.of(another));
                }
                measure("peers in the vector, " + name, count, write(world));
            }
        }
    }

    private static LongUnaryOperator write(World world) {
        Work work = new Work(world, Family.RMA);
        return operations -> work.run("write", SMALL, 1, operations);
    }

    private void window() {
        try (World world = open(provider)) {
            Work work = new Work(world, Family.RMA);
            long most = Math.min(world.queue.size(), world.info().transmit().size());
            for (long count = 1; count < 2 * most; count *= 4) {
                long window = Math.min(count, Long.highestOneBit(most));
                measure("operations in flight", window, operations -> work.run("stream", SMALL, window, operations));
            }
        }
    }

    private void threads() throws InterruptedException {
        for (int count : THREAD_COUNTS) {
            double[] times = new double[count];
            double[] allocated = new double[count];
            List<Thread> threads = IntStream.range(0, count).mapToObj(number -> Thread.ofPlatform().start(() -> {
                try (World world = open(provider)) {
                    LongUnaryOperator write = write(world);
                    times[number] = nanoseconds(write);
                    allocated[number] = allocated(write, GROWTH_OPERATIONS / count);
                }
            })).toList();
            for (Thread thread : threads) {
                thread.join();
            }
            double together = 1 / Arrays.stream(times).map(time -> 1 / time).sum();
            row("threads with an endpoint each, together", count, together,
                    Arrays.stream(allocated).average().orElseThrow());
        }
    }

    /** Whether memory grows while operations go by. */
    private void time() {
        try (World world = open(provider)) {
            LongUnaryOperator write = write(world);
            for (int turn = 1; turn <= TURNS; turn++) {
                long before = THREADS.getCurrentThreadAllocatedBytes();
                double nanoseconds = (double) write.applyAsLong(GROWTH_OPERATIONS) / GROWTH_OPERATIONS;
                row("million operations gone by", turn * GROWTH_OPERATIONS / MILLION, nanoseconds,
                        (double) (THREADS.getCurrentThreadAllocatedBytes() - before) / GROWTH_OPERATIONS);
            }
        }
    }

    private void measure(String what, long count, LongUnaryOperator work) {
        double nanoseconds = nanoseconds(work);
        row(what, count, nanoseconds, allocated(work, Math.max(1, (long) (SLICE / nanoseconds))));
    }

    /** The bytes that an operation allocates, of so many. */
    private static double allocated(LongUnaryOperator work, long operations) {
        long before = THREADS.getCurrentThreadAllocatedBytes();
        work.applyAsLong(operations);
        return (double) (THREADS.getCurrentThreadAllocatedBytes() - before) / operations;
    }

    /** The median of some slices. */
    private static double nanoseconds(LongUnaryOperator work) {
        long end = System.nanoTime() + WARM_UP;
        long operations = 0;
        long time = 0;
        while (System.nanoTime() - end < 0) {
            operations += 1_000;
            time += work.applyAsLong(1_000);
        }
        long count = Math.max(1, SLICE * operations / time);
        return Statistics.median(
                IntStream.range(0, SLICES).mapToDouble(slice -> (double) work.applyAsLong(count) / count).toArray());
    }

    private void row(String what, long count, double nanoseconds, double allocated) {
        times.computeIfAbsent(what, _ -> new ArrayList<>()).add(new double[]{count, nanoseconds});
        System.gc();
        long heap = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
        System.out.printf(FORMAT, what, count, String.format(Locale.ROOT, "%.1f", nanoseconds),
                String.format(Locale.ROOT, "%.2f", allocated), String.format(Locale.ROOT, "%.1f", heap / 1048576.0),
                String.format(Locale.ROOT, "%.1f", resident() / 1024.0));
    }

    /** In KiB. */
    private static long resident() {
        try {
            return Files.readAllLines(Path.of("/proc/self/status")).stream().filter(line -> line.startsWith("VmRSS:"))
                    .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", ""))).findFirst().orElse(0);
        } catch (IOException e) {
            return 0;
        }
    }
}
