package io.ofi4j.examples;

import io.ofi4j.Access;
import io.ofi4j.AddressVector;
import io.ofi4j.CompletionQueue;
import io.ofi4j.Domain;
import io.ofi4j.Endpoint;
import io.ofi4j.Fabric;
import io.ofi4j.info.FabricHints;
import io.ofi4j.info.OperationFlag;
import io.ofi4j.Libfabric;
import io.ofi4j.MemoryRegion;
import io.ofi4j.Peer;
import io.ofi4j.Waiting;
import java.time.Duration;

/** Writes to a peer's memory. For brevity, both ends are in this process; they talk through shared memory. */
public final class WriteToPeer {
    public static void main(String[] arguments) {
        // @start region=write
        Libfabric libfabric = Libfabric.load();
        // without these flags a completion says only that the source may be reused
        FabricHints hints = FabricHints.rma().provider("shm").operationFlags(OperationFlag.DELIVERY_COMPLETE);
        try (Fabric fabric = libfabric.openFabric(libfabric.info(hints).getFirst());
                Domain domain = fabric.openDomain();
                CompletionQueue queue = domain.openCompletionQueue();
                AddressVector peers = domain.openAddressVector();
                MemoryRegion source = domain.allocate(64, Access.WRITE);
                MemoryRegion target = domain.allocate(64, Access.REMOTE_WRITE);
                Endpoint here = domain.openEndpoint().bind(queue).bind(peers).enable();
                Endpoint there = domain.openEndpoint().bind(queue).bind(peers).enable()) {
            Peer peer = peers.insert(there.address()); // with two processes: bytes sent over, as is target.remote()
            source.segment().setString(0, "Hello, peer");
            here.rma().write(source.slice(0, 64), peer, target.remote(), 42);
            Waiting.YIELD.until(() -> queue.poll((token, flags, length, data) -> {
                System.out.println("operation " + token + " has completed: the peer has the bytes");
            }, 1) > 0, Duration.ofSeconds(5));
            System.out.println("the peer's memory says: " + target.segment().getString(0));
        }
        // @end
    }
}
