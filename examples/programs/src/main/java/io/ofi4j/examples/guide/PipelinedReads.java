package io.ofi4j.examples.guide;

import io.ofi4j.Access;
import io.ofi4j.AddressVector;
import io.ofi4j.CompletionError;
import io.ofi4j.CompletionQueue;
import io.ofi4j.Domain;
import io.ofi4j.Endpoint;
import io.ofi4j.Fabric;
import io.ofi4j.Libfabric;
import io.ofi4j.MemoryRegion;
import io.ofi4j.MemoryRegion.Slice;
import io.ofi4j.Peer;
import io.ofi4j.RemoteRegion;
import io.ofi4j.info.EndpointStatistics.Latencies;
import io.ofi4j.info.FabricHints;
import io.ofi4j.info.ThreadingModel;
import io.ofi4j.util.Pipeline;
import io.ofi4j.util.PipelineHandler;
import java.time.Duration;

/** Reads blocks from a peer, 16 in flight at a time, and prints how long the reads took. */
public final class PipelinedReads {
    private static final int BLOCK = 4096;
    private static final int BLOCKS = 10_000;

    private PipelinedReads() {}

    public static void main(String[] arguments) {
        Libfabric libfabric = Libfabric.load();
        FabricHints hints = FabricHints.rma().provider("shm").threading(ThreadingModel.DOMAIN); // one thread: no locks
        try (Fabric fabric = libfabric.openFabric(libfabric.info(hints).getFirst());
                Domain domain = fabric.openDomain();
                CompletionQueue queue = domain.openCompletionQueue();
                AddressVector peers = domain.openAddressVector();
                MemoryRegion copy = domain.allocate(BLOCK, Access.READ);
                MemoryRegion theirs = domain.allocate(BLOCK, Access.REMOTE_READ);
                Endpoint here = domain.openEndpoint().bind(queue).bind(peers).enable();
                Endpoint there = domain.openEndpoint().bind(queue).bind(peers).enable()) {
            Peer peer = peers.insert(there.address());
            Slice local = copy.slice(0, BLOCK); // making a slice allocates: make it once
            RemoteRegion remote = theirs.remote();
            long[] bytes = new long[1];
            PipelineHandler<Slice> handler = new PipelineHandler<>() {
                @Override
                public void onCompletion(Slice block, long length, long data) { bytes[0] += block.length(); }

                @Override
                public void onError(Slice block, CompletionError error) { throw error.toException(); }
            };

            here.recordLatencies(true);
            Pipeline<Slice> reads = new Pipeline<>(here, queue, 16, handler);
            for (int block = 0; block < BLOCKS; block++) {
                reads.read(local, peer, remote, local); // polls while 16 are in flight
            }
            reads.drain(Duration.ofSeconds(10));

            Latencies latencies = here.statistics().latencies();
            System.out.printf("%d bytes read, latency in ns: median %d, 99 %% below %d, longest %d%n", bytes[0],
                    latencies.p50(), latencies.p99(), latencies.maximum());
        }
    }
}
