package io.ofi4j.examples;

import io.ofi4j.Access;
import io.ofi4j.AddressVector;
import io.ofi4j.CompletionError;
import io.ofi4j.CompletionHandler;
import io.ofi4j.CompletionQueue;
import io.ofi4j.Domain;
import io.ofi4j.Endpoint;
import io.ofi4j.Fabric;
import io.ofi4j.Libfabric;
import io.ofi4j.MemoryRegion;
import io.ofi4j.Peer;
import io.ofi4j.ProgressThread;
import io.ofi4j.RemoteRegion;
import io.ofi4j.Waiting;
import io.ofi4j.errors.FabricException;
import io.ofi4j.errors.FabricTimeoutException;
import io.ofi4j.info.CompletionFlags;
import io.ofi4j.info.FabricHints;
import io.ofi4j.job.Rendezvous;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.zip.CRC32C;
import org.HdrHistogram.Histogram;

/**
 * A log in the memory of two replicas. Shows group commit by one-sided writes: the leader writes what has been
 * appended, as one write with data, into both replicas' memory; each checks it and writes back how much of the log it
 * has; what both have is acknowledged. Meanwhile the next entries gather, and go together. A replica that is killed is
 * replaced by one that reads the log from the survivor's memory, before anything else is acknowledged: nothing
 * acknowledged is lost as long as one of two replicas lives.
 */
public final class ReplicatedLog {
    private static final Duration SOON = Duration.ofSeconds(60);
    /** A replica that has not answered for so long is lost. It gets no further writes, also if it lives. */
    private static final Duration SILENCE = Duration.ofSeconds(5);
    /** Longer than the leader waits for a replacement, which reads from this one. */
    private static final Duration WHILE_REPLACED = SOON.plus(SILENCE.multipliedBy(3));
    /** An entry: its number, what a client appended, and a checksum of both. */
    private static final int ENTRY = 64;
    private static final int CHECKSUM = 56;
    private static final int CAPACITY = 1 << 18;
    private static final int LARGEST_GROUP = 4096;
    /** What clients append in a second. */
    private static final int RATE = 5000;
    private static final int MOST_REPLICAS = 16;
    private static final int FIRST_REPLICAS = 2;
    private static final long GOODBYE = 0;
    private static final long NOTHING = -1;
    private static final int REPORT = 1000;

    private final Rendezvous rendezvous;
    private final Domain domain;
    private final Endpoint endpoint;
    private final AddressVector peers;
    private final CompletionQueue queue;
    private final MemoryRegion log;
    /** At the leader, how many entries each replica has, which it writes there itself. At a replica, what it writes. */
    private final MemoryRegion counts;
    private final boolean[] lost = new boolean[MOST_REPLICAS];
    private final Histogram commits = new Histogram(3);
    private List<Replica> replicas = new ArrayList<>();
    private final Random random = new Random();
    private int newest = FIRST_REPLICAS;
    /** At a replica, the end of the log that the leader has written. */
    private long told = NOTHING;
    private int completed;

    /** Another process, and its memory: 0 is the leader, and no two replicas ever had one number. */
    private record Replica(int number, Peer peer, RemoteRegion memory) {}

    private ReplicatedLog(Rendezvous rendezvous, Domain domain, Endpoint endpoint, AddressVector peers,
            CompletionQueue queue, MemoryRegion log, MemoryRegion counts) {
        this.rendezvous = rendezvous;
        this.domain = domain;
        this.endpoint = endpoint;
        this.peers = peers;
        this.queue = queue;
        this.log = log;
        this.counts = counts;
    }

    /**
     * Runs the leader, or a replica.
     *
     * @param arguments the provider; for a replica that is started by hand also the leader's host, and the port and the
     *         secret that it printed, and a number: the first two are 1 and 2, those that replace lost ones 3 and so
     *         on. A rank of {@code scripts/launch} takes the provider and how many entries are appended: rank 0 leads,
     *         the others have their numbers
     */
    public static void main(String[] arguments) {
        Place place = Place.of(arguments);
        Libfabric libfabric = Libfabric.load();
        try (Fabric fabric = libfabric.openFabric(libfabric.info(FabricHints.rma().provider(arguments[0])).getFirst());
                Domain domain = fabric.openDomain();
                CompletionQueue queue = domain.openCompletionQueue();
                AddressVector peers = domain.openAddressVector();
                MemoryRegion log = domain.allocate((long) CAPACITY * ENTRY, Access.values());
                MemoryRegion counts = domain.allocate(MOST_REPLICAS * Long.BYTES, Access.values());
                Endpoint endpoint = domain.openEndpoint().bind(queue).bind(peers).enable();
                Rendezvous rendezvous = place.number == 0
                        ? Rendezvous.serve(place.address, place.secret)
                        : Rendezvous.join(place.address, place.secret, SOON)) {
            ReplicatedLog one = new ReplicatedLog(rendezvous, domain, endpoint, peers, queue, log, counts);
            if (place.number == 0) {
                System.out.println("leader at port " + rendezvous.address().getPort() + " with secret " + place.secret);
                one.lead(place.entries, place.spares);
            } else {
                one.follow(place.number);
            }
        }
    }

    /** Who this process is: the leader's number is 0. Spares wait for a replica to be lost. */
    private record Place(int number, InetSocketAddress address, String secret, int entries, int spares) {
        static Place of(String[] arguments) {
            String rank = System.getenv("OFI4J_RANK");
            if (arguments.length == 1) {
                return new Place(0, new InetSocketAddress(0), Rendezvous.newSecret(), CAPACITY, 0);
            }
            if (arguments.length == 5 && arguments[2].matches("\\d{1,5}") && arguments[4].matches("\\d{1,2}")) {
                InetSocketAddress leader = new InetSocketAddress(arguments[1], Integer.parseInt(arguments[2]));
                return new Place(inBounds(Integer.parseInt(arguments[4])), leader, arguments[3], 0, 0);
            }
            if (arguments.length != 2 || rank == null || !arguments[1].matches("[1-9]\\d{0,5}")) {
                throw usage("usage: ReplicatedLog PROVIDER [HOST PORT SECRET NUMBER], where the leader prints PORT and "
                        + "SECRET; or scripts/launch 3 -- ... ReplicatedLog PROVIDER ENTRIES");
            }
            int size = inBounds(Integer.parseInt(System.getenv("OFI4J_SIZE")) - 1) + 1;
            if (size <= FIRST_REPLICAS) { throw usage("the log takes three processes and more, not " + size); }
            String[] leader = System.getenv("OFI4J_RENDEZVOUS").split(":");
            return new Place(Integer.parseInt(rank), new InetSocketAddress(leader[0], Integer.parseInt(leader[1])),
                    System.getenv("OFI4J_SECRET"), Math.min(Integer.parseInt(arguments[1]), CAPACITY),
                    size - 1 - FIRST_REPLICAS);
        }

        private static int inBounds(int number) {
            if (number < 0 || number >= MOST_REPLICAS) {
                throw usage("the number of a replica is 1 to " + (MOST_REPLICAS - 1) + ", not " + number);
            }
            return number;
        }

        private static IllegalStateException usage(String text) {
            System.err.println(text);
            System.exit(2);
            return new IllegalStateException(text);
        }
    }

    // @start region=leader
    private void lead(int entries, int spares) {
        publish(0, counts);
        replicas = new ArrayList<>(List.of(meet(1), meet(2)));
        System.out.println("appending; a line ends it");
        long acknowledged = 0;
        long appended = 0;
        int groups = 0;
        long start = System.nanoTime();
        while (acknowledged < entries && !hasInput()) {
            long due = Math.min((System.nanoTime() - start) * RATE / 1_000_000_000, entries);
            while (appended < Math.min(due, acknowledged + LARGEST_GROUP)) {
                append(appended++);
            }
            if (appended > acknowledged) {
                commit(acknowledged, appended);
                groups++;
                if (appended / REPORT > acknowledged / REPORT) { System.out.println("acknowledged " + appended); }
                acknowledged = appended;
            } else {
                Thread.onSpinWait();
            }
        }
        sayGoodbye();
        for (int spare = newest + 1; spare <= FIRST_REPLICAS + spares; spare++) {
            rendezvous.publish("task " + spare, new byte[0]);
            rendezvous.await("checked " + spare, SOON);
        }
        System.out.printf("acknowledged %d in all, checksum %x; groups of %.1f, commit p50 %.1f us, p99 %.1f us%n",
                acknowledged, checksum(0, acknowledged), (double) appended / groups,
                commits.getValueAtPercentile(50) / 1e3, commits.getValueAtPercentile(99) / 1e3);
    }

    /** Returns when both replicas have the entries, the first of which is the first that is not acknowledged. */
    private void commit(long first, long end) {
        long start = System.nanoTime();
        replicas.forEach(replica -> write(replica, first, end));
        for (int i = 0; i < replicas.size(); i++) {
            while (!has(replicas.get(i), end)) {
                if (!has(replicas.get(1 - i), end)) {
                    throw new IllegalStateException("both replicas are lost, and " + first + " entries with them");
                }
                replicas.set(i, replacement(replicas.get(i), replicas.get(1 - i), first));
                write(replicas.get(i), first, end);
            }
        }
        commits.recordValue(System.nanoTime() - start);
    }

    private void write(Replica replica, long first, long end) {
        try {
            endpoint.rma().writeData(log.slice(first * ENTRY, (end - first) * ENTRY), end, replica.peer,
                    replica.memory.slice(first * ENTRY, (end - first) * ENTRY), replica.number);
        } catch (FabricException e) {
            lost[replica.number] = true;
        }
    }

    /** Polls until a replica has so many entries; false if it is lost before. */
    private boolean has(Replica replica, long end) {
        try {
            Waiting.YIELD.until(() -> {
                queue.poll(completions, 16);
                return lost[replica.number] || counts.getLongAcquire((long) replica.number * Long.BYTES) >= end;
            }, SILENCE);
        } catch (FabricTimeoutException e) {
            lost[replica.number] = true;
        }
        return !lost[replica.number];
    }

    /** Waits for a replica that has read from the survivor what is acknowledged. */
    private Replica replacement(Replica gone, Replica survivor, long acknowledged) {
        int number = ++newest;
        if (number == MOST_REPLICAS) {
            throw new IllegalStateException("all " + (number - 1) + " replicas are used up");
        }
        System.out.printf("replica %d is lost, with %d entries acknowledged; waiting for replica %d%n", gone.number,
                acknowledged, number);
        rendezvous.publish("task " + number,
                ByteBuffer.allocate(Integer.BYTES + Long.BYTES).putInt(survivor.number).putLong(acknowledged).array());
        return meet(number);
    }
    // @end

    private void sayGoodbye() {
        try (ProgressThread _ = domain.startProgress()) {
            for (Replica replica : replicas) {
                endpoint.rma().writeData(log.slice(0, ENTRY), GOODBYE, replica.peer, replica.memory, replica.number);
            }
            replicas.forEach(replica -> rendezvous.await("checked " + replica.number, SOON));
        }
    }

    // @start region=replica
    private void follow(int number) {
        System.out.println("replica " + number + " is process " + ProcessHandle.current().pid());
        Replica leader = meet(0);
        long end = number > FIRST_REPLICAS ? copy(number) : 0;
        if (end == NOTHING) {
            System.out.println("replica " + number + " was not needed");
            rendezvous.publish("checked " + number, new byte[0]);
            return;
        }
        publish(number, log);
        while (awaitEnd() != GOODBYE) {
            check(end, told);
            end = told;
            told = NOTHING;
            counts.setLongRelease(0, end);
            endpoint.rma().injectWriteData(counts.slice(0, Long.BYTES), number, leader.peer,
                    leader.memory.slice((long) number * Long.BYTES, Long.BYTES));
        }
        System.out.printf("replica %d has %d entries, checksum %x%n", number, end, checksum(0, end));
        rendezvous.publish("checked " + number, new byte[0]);
    }

    /**
     * Reads what is acknowledged from the replica that still has it; returns how much, or NOTHING if no replica was
     * lost.
     */
    private long copy(int number) {
        ByteBuffer task = ByteBuffer.wrap(rendezvous.await("task " + number, WHILE_REPLACED));
        if (!task.hasRemaining()) { return NOTHING; }
        Replica survivor = meet(task.getInt());
        long end = task.getLong();
        if (end > 0) {
            endpoint.rma().read(log.slice(0, end * ENTRY), survivor.peer, survivor.memory, survivor.number);
            Waiting.BACKOFF.until(() -> {
                queue.poll(completions, 1);
                return completed > 0;
            }, SOON);
        }
        check(0, end);
        System.out.printf("replica %d has copied %d entries of replica %d%n", number, end, survivor.number);
        return end;
    }

    private long awaitEnd() {
        Waiting.BACKOFF.until(() -> {
            queue.poll(completions, 1);
            return told != NOTHING;
        }, WHILE_REPLACED);
        return told;
    }
    // @end

    private final CompletionHandler completions = new CompletionHandler() {
        @Override
        public void onCompletion(long token, long flags, long length, long data) {
            if ((flags & CompletionFlags.REMOTE_CQ_DATA) != 0) {
                told = data;
            } else {
                completed++;
            }
        }

        @Override
        public void onError(CompletionError error) {
            if (error.token() == NO_TOKEN) { throw error.toException(); }
            lost[(int) error.token()] = true;
        }
    };

    private void publish(int number, MemoryRegion memory) {
        rendezvous.publish("address " + number, endpoint.address());
        rendezvous.publish("memory " + number, memory.remote());
    }

    private Replica meet(int number) {
        Peer peer = peers.insert(rendezvous.awaitAddress("address " + number, SOON));
        return new Replica(number, peer, rendezvous.awaitRegion("memory " + number, SOON));
    }

    private void append(long number) {
        MemorySegment entry = log.segment().asSlice(number * ENTRY, ENTRY);
        entry.set(ValueLayout.JAVA_LONG, 0, number);
        entry.setString(Long.BYTES, "what client " + random.nextInt(100) + " says at " + System.nanoTime());
        entry.set(ValueLayout.JAVA_LONG, CHECKSUM, checksum(entry.asSlice(0, CHECKSUM)));
    }

    /** Throws unless each of these entries is there, and as it was appended. */
    private void check(long first, long end) {
        for (long number = first; number < end; number++) {
            MemorySegment entry = log.segment().asSlice(number * ENTRY, ENTRY);
            if (entry.get(ValueLayout.JAVA_LONG, 0) != number
                    || entry.get(ValueLayout.JAVA_LONG, CHECKSUM) != checksum(entry.asSlice(0, CHECKSUM))) {
                throw new IllegalStateException("entry " + number + " is not there, of those up to " + end);
            }
        }
    }

    private long checksum(long first, long end) {
        return checksum(log.segment().asSlice(first * ENTRY, (end - first) * ENTRY));
    }

    private static long checksum(MemorySegment bytes) {
        CRC32C crc = new CRC32C();
        crc.update(bytes.asByteBuffer());
        return crc.getValue();
    }

    private static boolean hasInput() {
        try {
            return System.in.available() > 0;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
