package io.ofi4j.examples;

import io.ofi4j.Access;
import io.ofi4j.AddressVector;
import io.ofi4j.CompletionQueue;
import io.ofi4j.Domain;
import io.ofi4j.Endpoint;
import io.ofi4j.Fabric;
import io.ofi4j.Libfabric;
import io.ofi4j.MemoryRegion;
import io.ofi4j.MemoryRegion.Slice;
import io.ofi4j.info.AtomicOperation;
import io.ofi4j.info.Datatype;
import io.ofi4j.info.EndpointAddress;
import io.ofi4j.info.FabricHints;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.job.Job;
import io.ofi4j.job.JobCollectives;
import io.ofi4j.job.Reduction;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * What a job costs on this machine. Shows how long it takes from the start of the processes until each has joined, and
 * until each has exchanged bytes with each; what collective operations take then, by {@link JobCollectives} and by
 * libfabric itself where the provider has them; and what peers cost that are only in an address vector.
 */
public final class JobTimes {
    private static final int BLOCK = 8;
    private static final int PORT_AT = 2;
    private static final int[] SIZES = {8, 4 << 10, 64 << 10, 1 << 20};
    /** Beyond it, a tenth of the rounds. */
    private static final int SMALL = 4 << 10;

    private JobTimes() {}

    /**
     * Runs one rank.
     *
     * @param arguments the provider, how often the operations are measured, after as many that are not, and how many
     *         peers are inserted by rank 0 at the end, whose addresses nobody has: 0 unless addresses are those of IP
     */
    public static void main(String[] arguments) {
        if (arguments.length != 3 || !arguments[1].matches("[1-9]\\d{0,8}") || !arguments[2].matches("\\d{1,9}")) {
            System.err.println("usage: JobTimes PROVIDER ROUNDS PEERS, ROUNDS above 0");
            System.exit(2);
        }
        int rounds = Integer.parseInt(arguments[1]);
        Instant start = ProcessHandle.current().info().startInstant().orElseThrow();
        Libfabric libfabric = Libfabric.load();
        FabricInfo info = libfabric.info(FabricHints.tagged().provider(arguments[0])).getFirst();
        try (Job job = Job.join();
                Fabric fabric = libfabric.openFabric(info);
                Domain domain = fabric.openDomain();
                MemoryRegion memory = domain.allocate(Math.max(2L * BLOCK * job.size(), SIZES[SIZES.length - 1]),
                        Access.SEND, Access.RECEIVE)) {
            final long joined = Duration.between(start, Instant.now()).toMillis();
            try (JobCollectives all = new JobCollectives(job, domain)) {
                all.allToAll(memory.slice(0, (long) BLOCK * job.size()),
                        memory.slice((long) BLOCK * job.size(), (long) BLOCK * job.size()));
                long connected = Duration.between(start, Instant.now()).toMillis();
                report(job, all, memory, "from its start, joined after", joined);
                report(job, all, memory, "from its start, each connected with each after", connected);
                report(job, all, memory, "resident MiB", residentKilobytes() / 1024);
                measure(job, domain, all, memory, rounds);
            }
            LibfabricCollectives.join(job, arguments[0]).ifPresent(own -> {
                try (own) {
                    measure(job, own, rounds);
                }
            });
            int peers = Integer.parseInt(arguments[2]);
            if (job.rank() == 0 && peers > 0) { insert(job, domain, peers); }
            job.barrier();
        }
    }

    /** The highest of all ranks. */
    private static void report(Job job, JobCollectives all, MemoryRegion memory, String what, long own) {
        memory.segment().set(ValueLayout.JAVA_LONG, 0, own);
        all.allReduce(memory.slice(0, Long.BYTES), AtomicOperation.MAX, Datatype.INT64);
        print(job, "%s: %d, the highest of all ranks", what, memory.segment().get(ValueLayout.JAVA_LONG, 0));
    }

    private static void print(Job job, String form, Object... values) {
        if (job.rank() == 0) { System.out.println(job.size() + " ranks, " + String.format(form, values)); }
    }

    private static void measure(Job job, Domain domain, JobCollectives all, MemoryRegion memory, int rounds) {
        measure(job, rounds, "JobCollectives, barrier", 0, all::barrier);
        Reduction sum = Reduction.of(AtomicOperation.SUM, Datatype.INT64);
        for (int size : SIZES) {
            memory.segment().fill((byte) 0); // sums stay 0, as in C
            Slice own = memory.slice(0, size);
            measure(job, rounds, "JobCollectives, all-reduce", size, () -> all.allReduce(own, sum));
            measure(job, rounds, "JobCollectives, broadcasts", size, () -> broadcastFromEach(job, all, own));
            try (MemoryRegion blocks = domain.allocate((long) size * job.size(), Access.SEND, Access.RECEIVE)) {
                Slice everybody = blocks.slice(0, blocks.length());
                measure(job, rounds, "JobCollectives, all-gather", size, () -> all.allGather(own, everybody));
                all.barrier(); // nobody sends to memory that is closed
            }
        }
    }

    /** In turn, so that each waits for the one before it, and none runs ahead. */
    private static void broadcastFromEach(Job job, JobCollectives all, Slice own) {
        for (int root = 0; root < job.size(); root++) {
            all.broadcast(own, root);
        }
    }

    private static void measure(Job job, LibfabricCollectives own, int rounds) {
        measure(job, rounds, "endpoint.collectives(), barrier", 0, own::barrier);
        for (int size : SIZES) {
            if (size <= LibfabricCollectives.LONGEST) {
                measure(job, rounds, "endpoint.collectives(), all-reduce", size,
                        () -> own.allReduce(Datatype.INT64, size / Long.BYTES));
            }
        }
    }

    /** 0 bytes are a barrier. */
    private static void measure(Job job, int rounds, String what, int bytes, Runnable operation) {
        int count = bytes > SMALL ? Math.ceilDiv(rounds, 10) : rounds;
        long[] nanos = new long[count];
        for (int round = -count; round < count; round++) {
            long start = System.nanoTime();
            operation.run();
            if (round >= 0) { nanos[round] = System.nanoTime() - start; }
        }
        Arrays.sort(nanos);
        print(job, "median of %d: %s%s %.1f us", count, what, bytes == 0 ? "" : " of " + bytes + " bytes",
                nanos[count / 2] / 1e3);
    }

    /**
     * The addresses are of 127.0.0.0/8, each with a port of its own: a vector does not look whether anybody is there.
     */
    private static void insert(Job job, Domain domain, int count) {
        List<EndpointAddress> addresses = new ArrayList<>();
        try (CompletionQueue queue = domain.openCompletionQueue();
                AddressVector vector = domain.openAddressVector();
                Endpoint endpoint = domain.openEndpoint().bind(queue).bind(vector).enable()) {
            byte[] bytes = endpoint.address().toBytes();
            for (int i = 0; i < count; i++) {
                ByteBuffer.wrap(bytes).putShort(PORT_AT, (short) (1024 + i % 60_000)).put(PORT_AT + 3,
                        (byte) (1 + i / 60_000));
                addresses.add(EndpointAddress.of(bytes));
            }
            long before = residentKilobytes();
            long start = System.nanoTime();
            vector.insertAll(addresses).forEach(result -> result.peer());
            double millis = (System.nanoTime() - start) / 1e6;
            print(job, "%d peers inserted in %.1f ms, %d KiB more resident", count, millis,
                    residentKilobytes() - before);
        }
    }

    private static long residentKilobytes() {
        try {
            return Files.readAllLines(Path.of("/proc/self/status")).stream().filter(line -> line.startsWith("VmRSS:"))
                    .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", ""))).findFirst().orElseThrow();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
