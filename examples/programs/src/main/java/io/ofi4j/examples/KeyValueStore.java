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
import io.ofi4j.RemoteRegion;
import io.ofi4j.Waiting;
import io.ofi4j.info.AtomicOperation;
import io.ofi4j.info.CompletionFlags;
import io.ofi4j.info.Datatype;
import io.ofi4j.info.FabricHints;
import io.ofi4j.job.Job;
import io.ofi4j.job.Ranks;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.Random;
import java.util.zip.CRC32C;
import org.HdrHistogram.Histogram;

/**
 * A key-value store whose clients do all the work. Rank 0 has a hash table in a registered region, and does nothing but
 * poll. The others read it with one-sided reads, which need no lock: an entry has a checksum, and a read that does not
 * match it is repeated. An update takes the entry's lock by compare-and-swap of its version, and writes the entry with
 * data, which gives the lock back and tells rank 0. Clients raise the numbers of shared keys; rank 0 checks that none
 * of the updates is lost.
 */
public final class KeyValueStore {
    private static final Duration SOON = Duration.ofSeconds(60);
    /** An entry: version, key, value, checksum of these. The version is odd while a client updates it. */
    private static final int ENTRY = 64;
    private static final int KEY = 8;
    private static final int VALUE = 16;
    private static final int CHECKSUM = 56;
    private static final int ENTRIES = 4096;
    /** The data of a client's last write. */
    private static final int GOODBYE = ENTRIES;

    private final Job job;
    private final Endpoint endpoint;
    private final CompletionQueue queue;
    private final MemoryRegion entry;
    private final MemoryRegion cell;
    private final Peer server;
    private final RemoteRegion table;
    private final Random random;
    private int completed;

    private KeyValueStore(Job job, Endpoint endpoint, CompletionQueue queue, MemoryRegion entry, MemoryRegion cell,
            Ranks ranks) {
        this.job = job;
        this.endpoint = endpoint;
        this.queue = queue;
        this.entry = entry;
        this.cell = cell;
        this.server = ranks.peer(0);
        this.table = ranks.region(0, 0);
        this.random = new Random(job.rank());
    }

    /**
     * Runs the server at rank 0, clients at the others.
     *
     * @param arguments a provider with atomic operations, how many updates a client makes, with nine times as many
     *         reads, and how many keys there are, up to 4,000
     */
    public static void main(String[] arguments) {
        if (arguments.length != 3) {
            System.err.println("usage: KeyValueStore PROVIDER UPDATES KEYS");
            System.exit(2);
        }
        int updates = Integer.parseInt(arguments[1]);
        int keys = Integer.parseInt(arguments[2]);
        Libfabric libfabric = Libfabric.load();
        FabricHints hints = FabricHints.atomics().provider(arguments[0]);
        try (Job job = Job.join();
                Fabric fabric = libfabric.openFabric(libfabric.info(hints).getFirst());
                Domain domain = fabric.openDomain();
                CompletionQueue queue = domain.openCompletionQueue();
                AddressVector peers = domain.openAddressVector();
                MemoryRegion table = domain.allocate((ENTRIES + 1) * ENTRY, Access.values());
                MemoryRegion entry = domain.allocate(ENTRY, Access.READ, Access.WRITE);
                MemoryRegion cell = domain.allocate(64, Access.values());
                Endpoint endpoint = domain.openEndpoint().bind(queue).bind(peers).enable()) {
            if (job.rank() == 0) { fill(table, keys); }
            Ranks ranks = Ranks.exchange(job, endpoint, peers, table.remote());
            if (job.rank() == 0) {
                serve(job, queue, table, updates);
            } else {
                new KeyValueStore(job, endpoint, queue, entry, cell, ranks).work(updates, keys);
            }
            job.barrier();
        }
    }

    /** Keys go to the first free entry from their hash on. They are there before clients come: this store adds none. */
    private static void fill(MemoryRegion table, int keys) {
        for (long key = 1; key <= keys; key++) {
            int at = hash(key);
            while (table.segment().get(ValueLayout.JAVA_LONG, (long) at * ENTRY + KEY) != 0) {
                at = (at + 1) % ENTRIES;
            }
            table.segment().set(ValueLayout.JAVA_LONG, (long) at * ENTRY + KEY, key);
        }
        for (int at = 0; at < ENTRIES; at++) {
            MemorySegment one = table.segment().asSlice((long) at * ENTRY, ENTRY);
            one.set(ValueLayout.JAVA_LONG, CHECKSUM, checksum(one));
        }
    }

    private static int hash(long key) { return (int) (key * 0x9e3779b97f4a7c15L >>> 52); }

    private static long checksum(MemorySegment entry) {
        CRC32C crc = new CRC32C();
        crc.update(entry.asSlice(0, CHECKSUM).asByteBuffer());
        return crc.getValue();
    }

    /** Polls, which serves the clients, until all have said goodbye; then looks whether every update is there. */
    private static void serve(Job job, CompletionQueue queue, MemoryRegion table, int updates) {
        int[] told = new int[2];
        CompletionHandler changes = (token, flags, length, data) -> {
            if ((flags & CompletionFlags.REMOTE_CQ_DATA) != 0) { told[data == GOODBYE ? 1 : 0]++; }
        };
        while (told[1] < job.size() - 1) {
            job.check();
            if (queue.poll(changes, 64) == 0) { Thread.yield(); }
        }
        long sum = 0;
        for (int at = 0; at < ENTRIES; at++) {
            sum += table.segment().get(ValueLayout.JAVA_LONG, (long) at * ENTRY + VALUE);
        }
        long expected = (long) updates * (job.size() - 1);
        System.out.printf("%d updates were told, and the values add up to %d of %d%n", told[0], sum, expected);
        if (sum != expected || told[0] != expected) { throw new IllegalStateException("updates are lost"); }
    }

    private void work(int updates, int keys) {
        Histogram reads = new Histogram(3);
        Histogram writes = new Histogram(3);
        int retries = 0;
        long begin = System.nanoTime();
        for (int i = 0; i < updates * 10; i++) {
            long key = 1 + random.nextInt(keys);
            long start = System.nanoTime();
            if (i % 10 == 0) {
                retries += update(key);
                writes.recordValue(System.nanoTime() - start);
            } else {
                find(key);
                reads.recordValue(System.nanoTime() - start);
            }
        }
        double seconds = (System.nanoTime() - begin) / 1e9;
        endpoint.rma().writeData(entry.slice(0, ENTRY), GOODBYE, server, table.slice((long) ENTRIES * ENTRY, ENTRY), 0);
        await();
        System.out.printf(
                "%.0f operations/s; read p50 %.1f us, p99 %.1f us; update p50 %.1f us, p99 %.1f us; %d waits for locks%n",
                updates * 10 / seconds, micros(reads, 50), micros(reads, 99), micros(writes, 50), micros(writes, 99),
                retries);
    }

    private static double micros(Histogram histogram, double percentile) {
        return histogram.getValueAtPercentile(percentile) / 1e3;
    }

    // @start region=store
    /**
     * Reads the entry of a key, and returns its place. What a client writes meanwhile makes the checksum wrong: then it
     * reads again.
     */
    private int find(long key) {
        for (int at = hash(key);; at = (at + 1) % ENTRIES) {
            do {
                endpoint.rma().read(entry.slice(0, ENTRY), server, table.slice((long) at * ENTRY, ENTRY), 0);
                await();
            } while (entry.segment().get(ValueLayout.JAVA_LONG, CHECKSUM) != checksum(entry.segment()));
            long found = entry.segment().get(ValueLayout.JAVA_LONG, KEY);
            if (found == key) { return at; }
            if (found == 0) { throw new IllegalStateException("there is no key " + key); }
        }
    }

    /** Raises the number of a key by one; returns how often another client had its lock. */
    private int update(long key) {
        for (int retries = 0;; retries++) {
            int at = find(key);
            MemorySegment memory = entry.segment();
            long version = memory.get(ValueLayout.JAVA_LONG, 0);
            if (lock(at, version)) {
                memory.set(ValueLayout.JAVA_LONG, 0, version + 2);
                memory.set(ValueLayout.JAVA_LONG, VALUE, memory.get(ValueLayout.JAVA_LONG, VALUE) + 1);
                memory.set(ValueLayout.JAVA_LONG, CHECKSUM, checksum(memory));
                endpoint.rma().writeData(entry.slice(0, ENTRY), at, server, table.slice((long) at * ENTRY, ENTRY), 0);
                await();
                return retries;
            }
            Thread.yield(); // who has the lock may need this processor
        }
    }

    /** Makes the version odd, if it is still this one. */
    private boolean lock(int at, long version) {
        endpoint.atomics().compare(AtomicOperation.CSWAP, Datatype.INT64, version + 1, version, cell.slice(0, 24),
                server, table.slice((long) at * ENTRY, 8), 0);
        await();
        return cell.segment().get(ValueLayout.JAVA_LONG, 0) == version;
    }

    private void await() {
        completed = 0;
        Waiting.YIELD.until(() -> {
            job.check();
            queue.poll(completions, 1);
            return completed > 0;
        }, SOON);
    }

    private final CompletionHandler completions = (token, flags, length, data) -> completed++;
    // @end
}
