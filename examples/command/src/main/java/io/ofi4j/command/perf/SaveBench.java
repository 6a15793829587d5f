package io.ofi4j.command.perf;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.ofi4j.Access;
import io.ofi4j.AddressVector;
import io.ofi4j.CompletionError;
import io.ofi4j.CompletionHandler;
import io.ofi4j.CompletionQueue;
import io.ofi4j.Domain;
import io.ofi4j.Endpoint;
import io.ofi4j.Libfabric;
import io.ofi4j.MemoryRegion;
import io.ofi4j.Peer;
import io.ofi4j.RemoteRegion;
import io.ofi4j.Rma;
import io.ofi4j.PreparedRma;
import io.ofi4j.durable.Durability;
import io.ofi4j.durable.SaveService;
import io.ofi4j.durable.Saver;
import io.ofi4j.command.CommandFailure;
import io.ofi4j.info.Capability;
import io.ofi4j.info.OperationFlag;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import org.HdrHistogram.Histogram;

/** Both ends of saves: an endpoint that writes, and one that owns a file and serves saves. */
final class SaveBench implements AutoCloseable {
    /** The most bytes of one write. */
    static final int LONGEST = 1 << 20;

    private static final List<Integer> WRITES = List.of(1, 16, 256);
    private static final int MOST_WRITES = 256;
    private static final int SHORT = 4096;
    private static final int WARM_UPS = 10;
    /** What an operation may move on average; those that move more are done less often. */
    private static final long BYTES = 1 << 20;
    private static final long LEAST_ITERATIONS = 5;
    private static final int IDLE_TURNS_PER_CHECK = 256;
    private static final String ROW = "%10s %8s %12s %12s %12s %12s %12s %12s%n";

    private final FabricDevice device;
    private final List<Long> sizes;
    private final long iterations;
    private final Stall stall;
    private final Watchdog watchdog;
    private final CompletionQueue queue;
    private final CompletionQueue farQueue;
    private final AddressVector peers;
    private final MemoryRegion source;
    private final MemoryRegion target;
    private final Endpoint near;
    private final Endpoint far;
    private final SaveService service;
    private final Saver saver;
    private final Peer peer;
    private int arrived;

    private final CompletionHandler handler = new CompletionHandler() {
        @Override
        public void onCompletion(long token, long flags, long length, long data) { arrived++; }

        @Override
        public void onError(CompletionError error) { throw error.toException(); }
    };

    /**
     * @param sizes of the writes, 1 to {@link #LONGEST} bytes each
     * @param timeout how long nothing may move
     */
    SaveBench(FabricDevice device, Path file, List<Long> sizes, long iterations, Duration timeout, Watchdog watchdog)
            throws IOException {
        this.device = device;
        this.sizes = sizes;
        this.iterations = iterations;
        this.stall = new Stall(() -> {}, timeout);
        this.watchdog = watchdog;
        Domain domain = device.domain();
        queue = domain.openCompletionQueue();
        farQueue = domain.openCompletionQueue();
        peers = domain.openAddressVector();
        source = domain.allocate(LONGEST, Access.WRITE);
        long longest = sizes.stream().mapToLong(Long::longValue).reduce(SHORT, Math::max);
        target = domain.map(file, MapMode.READ_WRITE, 0, longest * MOST_WRITES, Access.REMOTE_WRITE);
        near = domain.openEndpoint().bind(queue).bind(peers).enable();
        near.postTimeout(timeout);
        far = domain.openEndpoint().bind(farQueue).bind(peers).enable();
        service = new SaveService(domain);
        saver = new Saver(domain, near, queue);
        peer = peers.insert(far.address());
        saver.saveThrough(peer, service.ticket());
    }

    /** What is measured: it posts, and says how many completions it has. */
    private interface Work {
        int post();
    }

    void run(Libfabric libfabric, PrintWriter out) {
        watchdog.watch();
        for (int turn = 0; turn < WARM_UPS; turn++) { // else the first rows are of code that is not compiled yet
            median(() -> write(1, SHORT), iterations);
            median(() -> save(1, SHORT, Durability.DELIVERED), iterations);
        }
        out.printf(
                "save: provider %s, libfabric %s, memory of kind %s, medians in us a write, of %d each,%n"
                        + "fewer where they move more than %d MiB, at least %d; one save for so many writes%n%n",
                device.info().provider(), libfabric.version(), target.kind(), iterations, iterations * BYTES >> 20,
                leastIterations());
        out.printf(ROW, "size B", "writes", "plain", "DELIVERY", "COMMIT", "DELIVERED", "PROCESS_SAFE", "POWER_SAFE");
        Durability highest = Durability.of(target.kind());
        if (!highest.meets(Durability.POWER_SAFE)) {
            out.printf(
                    "(this file is in memory, or its file system is not known: POWER_SAFE needs --folder on a disk)%n");
        }
        boolean commits = device.info().capabilities().contains(Capability.RMA_PMEM);
        for (long size : sizes) {
            for (int writes : WRITES) {
                out.printf(ROW, size, writes, perWrite(writes, size, () -> write(writes, size)),
                        flagged(writes, size, OperationFlag.DELIVERY_COMPLETE),
                        commits ? flagged(writes, size, OperationFlag.COMMIT_COMPLETE) : "-",
                        saved(writes, size, Durability.DELIVERED), saved(writes, size, Durability.PROCESS_SAFE),
                        highest.meets(Durability.POWER_SAFE) ? saved(writes, size, Durability.POWER_SAFE) : "-");
                out.flush();
            }
        }
    }

    private long leastIterations() { return Math.min(LEAST_ITERATIONS, iterations); }

    private String flagged(int writes, long size, OperationFlag flag) {
        RemoteRegion remote = target.remote();
        PreparedRma prepared = near.rma().prepare().peer(peer).flags(flag).local(source, 0, size).remote(remote, 0,
                size);
        return perWrite(writes, size, () -> {
            for (int write = 0; write < writes; write++) {
                watchdog.beat();
                prepared.replaceRemote(0, remote, write * size, size).write(1);
            }
            return writes;
        });
    }

    private String saved(int writes, long size, Durability level) {
        return perWrite(writes, size, () -> save(writes, size, level));
    }

    private int save(int writes, long size, Durability level) {
        write(writes, size);
        saver.save(peer, target.remote().slice(0, writes * size), level, 2);
        return writes + 1;
    }

    /** Each to a place of its own. */
    private int write(int writes, long size) {
        Rma rma = near.rma();
        RemoteRegion remote = target.remote();
        for (int write = 0; write < writes; write++) {
            watchdog.beat();
            rma.write(source.slice(0, size), peer, remote.slice(write * size, size), 1);
        }
        return writes;
    }

    private String perWrite(int writes, long size, Work work) {
        long times = Math.clamp(iterations * BYTES / (writes * size), leastIterations(), iterations);
        return String.format(Locale.ROOT, "%.2f", median(work, times) / writes);
    }

    /** In microseconds. */
    private double median(Work work, long count) {
        Histogram times = Latencies.histogram();
        for (long done = -count / 4; done < count; done++) {
            source.segment().set(JAVA_LONG, 0, done); // there is something new to be written
            arrived = 0;
            long start = System.nanoTime();
            int wanted = work.post();
            await(wanted);
            if (done >= 0) { Latencies.record(times, System.nanoTime() - start); }
        }
        return times.getValueAtPercentile(50) / 1e3;
    }

    /**
     * Polls both ends until so many completions have arrived.
     *
     * @throws CommandFailure if nothing has moved for too long
     */
    void await(int wanted) {
        stall.reset();
        int idleTurns = 0;
        while (true) {
            watchdog.beat();
            farQueue.progress();
            service.progress();
            saver.poll(handler, 64);
            if (arrived >= wanted) { return; }
            if (++idleTurns % IDLE_TURNS_PER_CHECK == 0) { stall.check(arrived); }
        }
    }

    @Override
    public void close() {
        saver.close();
        service.close();
        near.close();
        far.close();
        peers.close();
        queue.close();
        farQueue.close();
        source.close();
        target.close();
    }
}
