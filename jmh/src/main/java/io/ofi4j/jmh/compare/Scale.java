package io.ofi4j.jmh.compare;

import io.ofi4j.Libfabric;
import io.ofi4j.info.Version;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * How what an operation takes grows with the number of regions, peers, operations in flight, queues, endpoints and
 * threads, and how much memory each needs: C and Java in turns.
 */
final class Scale {
    private static final int SMALL = 8;
    private static final long SLICE = 20_000_000;
    private static final double WARM_UP = 0.3;
    /** The part of the free memory that both sides may take. */
    private static final double MOST_OF_MEMORY = 0.75;
    private static final String ROW = "%-34s %-11s %9s %10s %10s %7s  %-15s %7s%n";
    private static final String MEMORY = "%-34s %-11s %16s %12s %12s %12s%n";
    /** A heap that is in memory from the start, so that what else comes into memory is not the heap's. */
    private static final List<String> HEAP = List.of("-Xms512m", "-Xmx512m", "-XX:+AlwaysPreTouch");

    /**
     * The C library raises this threshold when a program frees much at once, as a JVM does. Memory of endpoints is then
     * mapped at other distances, for which the processor's translation buffers have half as much room.
     */
    private static final List<String> MALLOC = List.of("env", "GLIBC_TUNABLES=glibc.malloc.mmap_threshold=33554432");

    private final PrintWriter out;
    private final String libfabric;
    private final int libfabricMajor;
    private final double rowSeconds;
    private final boolean quick;
    private final List<String> baseline;
    private final List<String> java;
    private final Charts charts;
    private final List<String> memory = new ArrayList<>();
    private final List<String> notes = new ArrayList<>();
    /** Of each thing that grows, how many there were and what an operation took. */
    private final Map<String, List<double[]>> times = new LinkedHashMap<>();

    /** What grows. */
    private enum Thing {
        REGIONS("regions at each end", "a region", "grow regions %d", "regions", 1, 10, 100, 1_000, 10_000, 100_000),
        PEERS("peers in the vector", "a peer", "grow peers %d", "write", 1, 10, 100, 1_000, 10_000),
        FLIGHT("operations in flight", "", "", "stream", 1, 4, 16, 64, 256, 1_024),
        QUEUES("queues, with an endpoint each", "a queue and its endpoint", "grow queues %d", "senders", 1, 4, 16, 64),
        ENDPOINTS("endpoints of one queue", "an endpoint", "grow endpoints %d", "senders", 1, 16, 128),
        MANY_ENDPOINTS("endpoints of one queue", "an endpoint", "grow endpoints %d", "senders", 1, 128, 1_024),
        THREADS("threads, an endpoint each", "", "threads %d 0", "threads", 1, 2, 4, 8),
        SHARED("threads, one endpoint, SAFE", "", "threads %d 1", "threads", 1, 2, 4, 8);

        private static final int QUICK_COUNTS = 2;

        private final String title;
        /** What the table of memory calls one, or nothing. */
        private final String one;
        private final String command;
        private final String work;
        private final int[] counts;

        Thing(String title, String one, String command, String work, int... counts) {
            this.title = title;
            this.one = one;
            this.command = command;
            this.work = work;
            this.counts = counts;
        }

        boolean hasThreads() { return this == THREADS || this == SHARED; }

        /**
         * The provider to measure, beside one that was named, or nothing. Peers need internet addresses, which need not
         * be anybody's; of shared memory, 1,024 endpoints need more than most machines have.
         */
        Optional<String> provider(String named, int libfabricMajor) {
            boolean shm = named.startsWith("shm");
            return switch (this) {
                case PEERS -> Optional.of(shm ? "tcp;ofi_rxm" : named);
                case ENDPOINTS -> shm ? Optional.of(named) : Optional.empty();
                case MANY_ENDPOINTS -> Optional.of(!shm ? named : libfabricMajor >= 2 ? "tcp" : "net");
                default -> Optional.of(named);
            };
        }

        int[] counts(boolean quick) { return quick ? Arrays.copyOf(counts, QUICK_COUNTS) : counts; }

        /** {@return how many objects are made for so many in the table} */
        int objects(int count) {
            return this == REGIONS ? 2 * count : count;
        }

        long window(int count) { return this == FLIGHT ? count : 1; }
    }

    /** What both sides have in memory, in bytes. */
    private record Memory(long ofC, long ofJava, long heap) {
        static Memory of(Contest contest) {
            String[] ofJava = contest.java().ask("memory");
            return new Memory(Long.parseLong(contest.c().ask("memory")[2]), Long.parseLong(ofJava[2]),
                    Long.parseLong(ofJava[1]));
        }

        /** What is not libfabric's in Java, beside the heap: what Java has more than C. */
        long other() {
            return ofJava - ofC;
        }
    }

    /**
     * A measurement of all things.
     *
     * @param seconds how long it takes, about
     * @param quick whether each thing has only its two smallest numbers
     * @param charts where it is drawn, or null
     */
    Scale(PrintWriter out, double seconds, boolean quick, List<String> baseline, List<String> jvmOptions,
            Charts charts) {
        this.out = out;
        this.quick = quick;
        this.baseline = Stream.concat(MALLOC.stream(), baseline.stream()).toList();
        this.java = Stream
                .concat(MALLOC.stream(),
                        Jvm.command(JavaWorker.class,
                                Stream.concat(HEAP.stream(), jvmOptions.stream()).toArray(String[]::new)).stream())
                .toList();
        this.charts = charts;
        Version version = Libfabric.load().version();
        this.libfabric = version.toString();
        this.libfabricMajor = version.major();
        this.rowSeconds = seconds / Stream.of(Thing.values()).mapToInt(thing -> thing.counts(quick).length).sum();
    }

    /** Measures over a provider, and prints two tables. */
    void run(String provider) {
        out.printf(
                "%s, writes of 8 B with completion, manual progress where there is; slices of %d ms in turns; Java with %s%n",
                provider, SLICE / 1_000_000, String.join(" ", HEAP));
        out.printf(ROW, "what grows", "provider", "count", "C ns", "Java ns", "ratio", "quartiles", "B/op");
        memory.clear();
        notes.clear();
        times.clear();
        for (Thing thing : Thing.values()) {
            try {
                thing.provider(provider, libfabricMajor).ifPresent(its -> measure(thing, its));
            } catch (Absence e) {
                notes.add(thing.title + ": not measured: " + e.getMessage());
            }
        }
        out.printf(MEMORY, "memory in bytes", "provider", "between", "libfabric", "Java heap", "Java's rest");
        memory.forEach(out::print);
        notes.forEach(out::println);
        out.flush();
        if (charts != null) { charts.scale(libfabric, provider, times); }
    }

    private void measure(Thing thing, String provider) {
        List<Models> models = thing == Thing.SHARED ? Models.safe() : Models.toTry(provider, libfabricMajor);
        try (Contest contest = new Contest(provider, Family.RMA, models, baseline, java)) {
            if (!thing.hasThreads()) { contest.tie(); }
            int before = 0;
            long each = 0;
            for (int count : thing.counts(quick)) {
                if (2 * each * thing.objects(count - before) > MOST_OF_MEMORY * available()) {
                    notes.add(thing.title + ": not measured with " + count + ": each side needs " + (each >> 10)
                            + " KiB for each, and there is no room for that");
                    return;
                }
                try {
                    each = grow(thing, contest, provider, before, count);
                } catch (BenchFailure e) {
                    notes.add(thing.title + ": not measured with " + count + ": " + e.getMessage());
                    return;
                }
                before = count;
                row(thing, provider, count, duel(thing, contest, count));
            }
        }
    }

    /** Makes so many; how many bytes each needs. */
    private long grow(Thing thing, Contest contest, String provider, int before, int count) {
        if (thing.command.isEmpty()) { return 0; }
        Memory earlier = Memory.of(contest);
        String command = String.format(Locale.ROOT, thing.command, count);
        contest.c().ask(command);
        contest.java().ask(command);
        if (thing.one.isEmpty()) { return 0; }
        Memory later = Memory.of(contest);
        double more = thing.objects(count - before);
        if (count == thing.counts(quick)[thing.counts(quick).length - 1]) {
            memory.add(String.format(Locale.ROOT, MEMORY, thing.one, provider, before + " and " + count,
                    bytes((later.ofC - earlier.ofC) / more), bytes((later.heap - earlier.heap) / more),
                    bytes((later.other() - earlier.other()) / more)));
        }
        return (long) Math.max((later.ofC - earlier.ofC) / more, (later.ofJava - earlier.ofJava) / more);
    }

    private Row duel(Thing thing, Contest contest, int count) {
        Job job = new Job(thing.title, Family.RMA, thing.work, SMALL, thing.window(count));
        Duel duel = new Duel(SLICE, job, contest.c(), contest.java());
        duel.warmUp((long) (rowSeconds * WARM_UP * 1e9));
        contest.settle();
        duel.round((long) (rowSeconds * (1 - WARM_UP) * 1e9));
        return duel.row(libfabric, "");
    }

    private void row(Thing thing, String provider, int count, Row row) {
        out.printf(Locale.ROOT, ROW, thing.title, provider, count, String.format(Locale.ROOT, "%.1f", row.cNs()),
                String.format(Locale.ROOT, "%.1f", row.javaNs()), String.format(Locale.ROOT, "%.3f", row.ratio()),
                String.format(Locale.ROOT, "%.3f to %.3f", row.from(), row.to()),
                String.format(Locale.ROOT, "%.2f", row.allocBytes()));
        out.flush();
        String name = thing.title + ", " + provider;
        times.computeIfAbsent(name + ", C", _ -> new ArrayList<>()).add(new double[]{count, row.cNs()});
        times.computeIfAbsent(name + ", Java", _ -> new ArrayList<>()).add(new double[]{count, row.javaNs()});
    }

    private static String bytes(double number) { return String.format(Locale.ROOT, "%.0f", number); }

    /** How many bytes of this machine's memory are free. */
    private static long available() {
        try (Stream<String> lines = Files.lines(Path.of("/proc/meminfo"))) {
            return lines.filter(line -> line.startsWith("MemAvailable:"))
                    .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")) << 10).findFirst()
                    .orElse(Long.MAX_VALUE);
        } catch (IOException e) {
            return Long.MAX_VALUE;
        }
    }
}
