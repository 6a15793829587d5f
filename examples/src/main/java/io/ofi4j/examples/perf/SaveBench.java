package io.ofi4j.examples.perf;

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
import io.ofi4j.RmaMessage;
import io.ofi4j.SaveService;
import io.ofi4j.Waiting;
import io.ofi4j.info.Capability;
import io.ofi4j.info.Durability;
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
    private static final List<Integer> SIZES = List.of(64, 64 << 10, 1 << 20);
    private static final List<Integer> WRITES = List.of(1, 16, 256);
    private static final int LONGEST = 1 << 20;
    private static final int SHORT = 4096;
    private static final int WARM_UPS = 10;
    private static final Duration DEADLINE = Duration.ofSeconds(30);
    private static final String ROW = "%10s %12s %12s %12s %12s %12s %12s%n";

    private final FabricDevice device;
    private final long iterations;
    private final CompletionQueue queue;
    private final CompletionQueue farQueue;
    private final AddressVector peers;
    private final MemoryRegion source;
    private final MemoryRegion target;
    private final Endpoint near;
    private final Endpoint far;
    private final SaveService service;
    private final Peer peer;
    private int arrived;

    private final CompletionHandler handler = new CompletionHandler() {
        @Override
        public void onCompletion(long token, long flags, long length, long data) { arrived++; }

        @Override
        public void onError(CompletionError error) { throw error.toException(); }
    };

    SaveBench(FabricDevice device, Path file, long iterations) throws IOException {
        this.device = device;
        this.iterations = iterations;
        Domain domain = device.domain();
        queue = domain.openCompletionQueue();
        farQueue = domain.openCompletionQueue();
        peers = domain.openAddressVector();
        source = domain.allocate(LONGEST, Access.WRITE);
        target = domain.map(file, MapMode.READ_WRITE, 0, LONGEST, Access.REMOTE_WRITE);
        near = domain.openEndpoint().bind(queue).bind(peers).enable();
        far = domain.openEndpoint().bind(farQueue).bind(peers).enable();
        service = domain.openSaveService();
        peer = peers.insert(far.address());
        near.rma().saveThrough(peer, service.ticket());
    }

    /** What is measured: it posts, and says how many completions it has. */
    private interface Work {
        int post();
    }

    void run(Libfabric libfabric, PrintWriter out) {
        for (int turn = 0; turn < WARM_UPS; turn++) { // else the first rows are of code that is not compiled yet
            time(() -> write(SHORT));
            saved(1, SHORT, Durability.DELIVERED);
        }
        out.printf("save: provider %s, libfabric %s, memory of kind %s, medians in us, of %d each%n%n",
                device.info().provider(), libfabric.version(), target.kind(), iterations);
        out.printf(ROW, "size B", "plain", "DELIVERY", "COMMIT", "DELIVERED", "PROCESS_SAFE", "POWER_SAFE");
        SIZES.forEach(
                size -> out.printf(ROW, size, time(() -> write(size)), flagged(size, OperationFlag.DELIVERY_COMPLETE),
                        device.info().capabilities().contains(Capability.RMA_PMEM)
                                ? flagged(size, OperationFlag.COMMIT_COMPLETE)
                                : "-",
                        saved(1, size, Durability.DELIVERED), saved(1, size, Durability.PROCESS_SAFE),
                        saved(1, size, Durability.POWER_SAFE)));
        out.printf("%none save for so many writes of %d B, us a write%n%n", SHORT);
        out.printf(ROW, "writes", "plain", "", "", "DELIVERED", "PROCESS_SAFE", "POWER_SAFE");
        WRITES.forEach(writes -> out.printf(ROW, writes, perWrite(writes, null), "", "",
                perWrite(writes, Durability.DELIVERED), perWrite(writes, Durability.PROCESS_SAFE),
                perWrite(writes, Durability.POWER_SAFE)));
        out.flush();
    }

    private int write(int size) {
        near.rma().write(source, 0, size, peer, target.remote(), 0, 1);
        return 1;
    }

    private String flagged(int size, OperationFlag flag) {
        RmaMessage message = near.rma().message().peer(peer).local(source, 0, size).remote(target.remote(), 0, size)
                .flags(flag);
        return time(() -> {
            message.write(1);
            return 1;
        });
    }

    private String saved(int writes, int size, Durability level) { return time(() -> post(writes, size, level)); }

    /** Each to a place of its own; the level may be null. */
    private int post(int writes, int size, Durability level) {
        Rma rma = near.rma();
        RemoteRegion remote = target.remote();
        for (int write = 0; write < writes; write++) {
            long at = (long) write * size % LONGEST;
            rma.write(source, at, size, peer, remote, at, 1);
        }
        if (level == null) { return writes; }
        rma.save(peer, remote.slice(0, Math.min(LONGEST, (long) writes * size)), level, 2);
        return writes + 1;
    }

    private String perWrite(int writes, Durability level) {
        return String.format(Locale.ROOT, "%.2f", median(() -> post(writes, SHORT, level)) / writes);
    }

    private String time(Work work) { return String.format(Locale.ROOT, "%.2f", median(work)); }

    /** In microseconds. */
    private double median(Work work) {
        Histogram times = Latencies.histogram();
        for (long done = -iterations / 4; done < iterations; done++) {
            source.segment().set(JAVA_LONG, 0, done); // there is something new to be written
            arrived = 0;
            long start = System.nanoTime();
            int wanted = work.post();
            Waiting.SPIN.until(() -> {
                farQueue.progress();
                queue.poll(handler, 64);
                return arrived >= wanted;
            }, DEADLINE);
            if (done >= 0) { Latencies.record(times, System.nanoTime() - start); }
        }
        return times.getValueAtPercentile(50) / 1e3;
    }

    @Override
    public void close() {
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
