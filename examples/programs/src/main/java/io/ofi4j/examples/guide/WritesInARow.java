package io.ofi4j.examples.guide;

import io.ofi4j.Access;
import io.ofi4j.AddressVector;
import io.ofi4j.CompletionQueue;
import io.ofi4j.Counter;
import io.ofi4j.DeferredWork;
import io.ofi4j.Domain;
import io.ofi4j.Endpoint;
import io.ofi4j.Fabric;
import io.ofi4j.Libfabric;
import io.ofi4j.MemoryRegion;
import io.ofi4j.Peer;
import io.ofi4j.info.Capability;
import io.ofi4j.info.FabricHints;
import java.time.Duration;

/** Queues two writes that the provider starts by itself, the second when the first has completed. */
public final class WritesInARow {
    private WritesInARow() {}

    public static void main(String[] arguments) {
        Libfabric libfabric = Libfabric.load();
        FabricHints hints = FabricHints.rma().capabilities(Capability.RMA, Capability.TRIGGER).provider("sockets")
                .source("127.0.0.1", null);
        try (Fabric fabric = libfabric.openFabric(libfabric.info(hints).getFirst());
                Domain domain = fabric.openDomain();
                CompletionQueue queue = domain.openCompletionQueue();
                AddressVector peers = domain.openAddressVector();
                Counter start = domain.openCounter();
                Counter written = domain.openCounter();
                MemoryRegion source = domain.allocate(64, Access.WRITE);
                MemoryRegion target = domain.allocate(128, Access.REMOTE_WRITE);
                Endpoint here = domain.openEndpoint().bind(queue).bind(peers).enable();
                Endpoint there = domain.openEndpoint().bind(queue).bind(peers).enable()) {
            Peer peer = peers.insert(there.address());
            source.segment().setString(0, "twice");
            DeferredWork deferred = domain.deferredWork();
            deferred.when(start, 1).write(
                    here.rma().prepare().peer(peer).local(source, 0, 64).remote(target.remote(), 0, 64), written, 1);
            deferred.when(written, 1).write(
                    here.rma().prepare().peer(peer).local(source, 0, 64).remote(target.remote(), 64, 64), written, 2);

            start.add(1); // now the first one starts
            written.await(2, Duration.ofSeconds(10));
            System.out.println("at 0: " + target.segment().getString(0) + ", at 64: " + target.segment().getString(64));
        }
    }
}
