package io.ofi4j.examples;

import io.ofi4j.Access;
import io.ofi4j.AddressVector;
import io.ofi4j.CompletionHandler;
import io.ofi4j.CompletionQueue;
import io.ofi4j.Domain;
import io.ofi4j.Endpoint;
import io.ofi4j.Fabric;
import io.ofi4j.Libfabric;
import io.ofi4j.MemoryRegion;
import io.ofi4j.Peer;
import io.ofi4j.Waiting;
import io.ofi4j.info.AtomicOperation;
import io.ofi4j.info.Capability;
import io.ofi4j.info.CompletionFlags;
import io.ofi4j.info.Datatype;
import io.ofi4j.info.FabricHints;
import io.ofi4j.job.Job;
import io.ofi4j.job.JobCollectives;
import io.ofi4j.job.Ranks;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;

/**
 * The sum of all ranks' gradients at every rank, as training with parallel data needs it after each step. Shows a ring
 * of one-sided writes: in the first half (reduce-scatter) each rank writes a block to the next one's memory, which adds
 * its own and passes the sum on; in the second half (all-gather) the sums go around. Each rank sends 2 (N-1)/N of the
 * gradient, whatever N is. Beside it, the same by {@link JobCollectives}, which sends tagged messages, and by
 * libfabric's own all-reduce, where there is one. Every element of every round is checked.
 */
public final class GradientAllReduce {
    private static final Duration SOON = Duration.ofSeconds(60);
    private static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT;
    private static final int SMALLEST = 1024;
    private static final int MEBIBYTE = 1 << 20;
    /** Of the numbers that are summed up: sums of so small integers are exact, in any order. */
    private static final int VARIETY = 1009;

    private final Job job;
    private final Endpoint endpoint;
    private final CompletionQueue queue;
    /**
     * The gradient. At {@link #inbox} in the same region the previous rank's partial sums come, one block for each
     * step.
     */
    private final MemoryRegion memory;
    private final long inbox;
    private final Ranks ranks;
    /** Libfabric's own all-reduce, where the provider has one of floats. */
    private final Optional<LibfabricCollectives> libfabrics;
    /** Writes that have come, by the step that they belong to. */
    private final int[] arrived;
    private int written;
    private final CompletionHandler completions = this::count;

    private GradientAllReduce(Job job, Endpoint endpoint, CompletionQueue queue, MemoryRegion memory, Ranks ranks,
            Optional<LibfabricCollectives> libfabrics) {
        this.job = job;
        this.endpoint = endpoint;
        this.queue = queue;
        this.memory = memory;
        this.inbox = memory.length() / 2;
        this.ranks = ranks;
        this.libfabrics = libfabrics;
        this.arrived = new int[2 * job.size()];
    }

    /** Who sums up. */
    private enum Way {
        RING("ring of writes"), MESSAGES("messages"), LIBFABRIC("libfabric's own");

        private final String title;

        Way(String title) { this.title = title; }
    }

    /** What one size took, in bytes and nanoseconds. */
    private record Row(long bytes, Map<Way, Long> nanos) {
        private String size() { return bytes < MEBIBYTE ? bytes / 1024 + " KiB" : bytes / MEBIBYTE + " MiB"; }

        private double megabytes(Way way) { return bytes * 1e3 / nanos.get(way); }

        /** A table's row: microseconds and megabytes a second of each way. */
        @Override
        public String toString() {
            StringBuilder row = new StringBuilder(String.format("%-9s", size()));
            for (Way way : Way.values()) {
                row.append(nanos.containsKey(way)
                        ? String.format(" %12.1f %9.1f", nanos.get(way) / 1e3, megabytes(way))
                        : String.format(" %12s %9s", "-", "-"));
            }
            return row.toString();
        }

        static String header() {
            StringBuilder header = new StringBuilder(String.format("%-9s", "gradient"));
            StringBuilder units = new StringBuilder(String.format("%-9s", ""));
            for (Way way : Way.values()) {
                header.append(String.format(" %22s", way.title));
                units.append(String.format(" %12s %9s", "us", "MB/s"));
            }
            return header + System.lineSeparator() + units;
        }
    }

    /**
     * Runs one rank.
     *
     * @param arguments the provider, the bytes of the largest gradient, and how many rounds there are of each size
     */
    public static void main(String[] arguments) {
        if (arguments.length != 3 || !arguments[1].matches("[1-9]\\d{0,11}")
                || !arguments[2].matches("[1-9]\\d{0,8}")) {
            System.err.println("usage: GradientAllReduce PROVIDER LARGEST ROUNDS, LARGEST in bytes, both above 0");
            System.exit(2);
        }
        long largest = Math.max(SMALLEST, Long.parseLong(arguments[1]) & -Float.BYTES); // whole elements
        int rounds = Integer.parseInt(arguments[2]);
        Libfabric libfabric = Libfabric.load();
        FabricHints hints = FabricHints.rma().provider(arguments[0]).capabilities(Capability.RMA, Capability.TAGGED);
        try (Job job = Job.join();
                Fabric fabric = libfabric.openFabric(libfabric.info(hints).getFirst());
                Domain domain = fabric.openDomain();
                CompletionQueue queue = domain.openCompletionQueue();
                AddressVector peers = domain.openAddressVector();
                MemoryRegion memory = domain.allocate(2 * (largest + (long) job.size() * Float.BYTES), Access.WRITE,
                        Access.REMOTE_WRITE, Access.SEND, Access.RECEIVE);
                Endpoint endpoint = domain.openEndpoint().bind(queue).bind(peers).enable();
                JobCollectives all = new JobCollectives(job, domain)) {
            Ranks ranks = Ranks.exchange(job, endpoint, peers, memory.remote());
            Optional<LibfabricCollectives> libfabrics = LibfabricCollectives.join(job, arguments[0]);
            GradientAllReduce ring = new GradientAllReduce(job, endpoint, queue, memory, ranks, libfabrics);
            ring.print(job.size() + " ranks, " + arguments[0] + ", libfabric " + libfabric.version() + ", median of "
                    + rounds + " rounds, JDK " + Runtime.version());
            ring.print(Row.header());
            for (long bytes = SMALLEST; bytes <= largest; bytes *= 4) {
                ring.print(ring.measure(all, bytes, rounds).toString());
            }
            job.barrier(); // nobody closes what a neighbour still writes to
            libfabrics.ifPresent(LibfabricCollectives::close);
        }
    }

    private void print(String line) { if (job.rank() == 0) { System.out.println(line); } }

    private Row measure(JobCollectives all, long bytes, int rounds) {
        int count = (int) (bytes / Float.BYTES);
        Map<Way, long[]> nanos = new EnumMap<>(Way.class);
        for (int round = 0; round < rounds; round++) {
            int at = round;
            nanos.computeIfAbsent(Way.RING, way -> new long[rounds])[at] = time(all, memory.segment(), memory.segment(),
                    count, round, () -> allReduce(count));
            nanos.computeIfAbsent(Way.MESSAGES, way -> new long[rounds])[at] = time(all, memory.segment(),
                    memory.segment(), count, round,
                    () -> all.allReduce(memory.slice(0, bytes), AtomicOperation.SUM, Datatype.FLOAT));
            libfabrics.filter(own -> bytes <= LibfabricCollectives.LONGEST && own.sums(Datatype.FLOAT))
                    .ifPresent(own -> nanos.computeIfAbsent(Way.LIBFABRIC, way -> new long[rounds])[at] = time(all,
                            own.numbers(), own.result(), count, at, () -> own.allReduce(Datatype.FLOAT, count)));
        }
        Map<Way, Long> medians = new EnumMap<>(Way.class);
        nanos.forEach((way, times) -> medians.put(way, median(times)));
        return new Row(bytes, medians);
    }

    private long time(JobCollectives all, MemorySegment own, MemorySegment sums, int count, int round,
            Runnable reduction) {
        for (int i = 0; i < count; i++) {
            own.setAtIndex(FLOAT, i, gradient(job.rank(), round, i));
        }
        all.barrier();
        long start = System.nanoTime();
        reduction.run();
        long nanos = System.nanoTime() - start;
        check(sums, count, round);
        return nanos;
    }

    private static float gradient(int rank, int round, int index) { return (index + round + 7 * rank) % VARIETY; }

    private void check(MemorySegment sums, int count, int round) {
        for (int i = 0; i < count; i++) {
            float expected = 0;
            for (int rank = 0; rank < job.size(); rank++) {
                expected += gradient(rank, round, i);
            }
            float found = sums.getAtIndex(FLOAT, i);
            if (found != expected) {
                throw new IllegalStateException("element " + i + " of " + count + " is " + found + ", not " + expected);
            }
        }
    }

    private static long median(long[] nanos) {
        Arrays.sort(nanos);
        return nanos[nanos.length / 2];
    }

    // @start region=ring
    /**
     * Sums up elements over all ranks. A step waits for the previous rank's write, and for nothing else: each partial
     * sum has a place of its own, and a sum replaces a block only after that block went around. The next call may write
     * here when this one has returned at the previous rank, which then has had a sum of this rank's last step.
     */
    private void allReduce(int count) {
        int size = job.size();
        int rank = job.rank();
        for (int step = 0; step < size - 1; step++) {
            int block = Math.floorMod(rank - step - 1, size);
            write(step, count, Math.floorMod(rank - step, size), place(step, count));
            await(step);
            add(place(step, count), first(block, count), first(block + 1, count));
        }
        for (int step = 0; step < size - 1; step++) {
            int block = Math.floorMod(rank + 1 - step, size);
            write(size + step, count, block, (long) first(block, count) * Float.BYTES);
            await(size + step);
        }
    }

    /** The first element of a block. */
    private int first(int block, int count) {
        return (int) ((long) count * block / job.size());
    }

    /** Where the partial sums of a step come. */
    private long place(int step, int count) {
        return inbox + (long) step * Math.ceilDiv(count, job.size()) * Float.BYTES;
    }

    /** Brings a block to the next rank. */
    private void write(int step, int count, int block, long to) {
        int next = (job.rank() + 1) % job.size();
        long from = (long) first(block, count) * Float.BYTES;
        long length = (long) first(block + 1, count) * Float.BYTES - from;
        Peer peer = ranks.peer(next);
        endpoint.rma().writeData(memory.slice(from, length), step, peer, ranks.region(next, 0).slice(to, length), 0);
    }

    /** Waits for the previous rank's write, and until the block that this one has written may change. */
    private void await(int step) {
        Waiting.YIELD.until(() -> {
            job.check(); // a neighbour that has died is named
            queue.poll(completions, 8);
            return arrived[step] > 0 && written > 0;
        }, SOON);
        arrived[step]--;
        written--;
    }

    private void count(long token, long flags, long length, long data) {
        if ((flags & CompletionFlags.REMOTE_CQ_DATA) != 0) {
            arrived[(int) data]++;
        } else {
            written++;
        }
    }
    // @end

    private void add(long from, int first, int end) {
        MemorySegment segment = memory.segment();
        MemorySegment partial = segment.asSlice(from, (long) (end - first) * Float.BYTES);
        MemorySegment sums = segment.asSlice((long) first * Float.BYTES, partial.byteSize());
        for (long at = 0; at < partial.byteSize(); at += Float.BYTES) {
            sums.set(FLOAT, at, sums.get(FLOAT, at) + partial.get(FLOAT, at));
        }
    }
}
