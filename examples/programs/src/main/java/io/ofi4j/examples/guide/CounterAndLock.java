package io.ofi4j.examples.guide;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.ofi4j.Access;
import io.ofi4j.AddressVector;
import io.ofi4j.Atomics;
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
import io.ofi4j.info.Datatype;
import io.ofi4j.info.FabricHints;
import java.time.Duration;

/** Raises a number in a peer's memory, and takes a lock there. */
public final class CounterAndLock {
    private static final Duration SOON = Duration.ofSeconds(10);
    private static final long COUNTER = 0;
    private static final long LOCK = 8;

    private CounterAndLock() {}

    public static void main(String[] arguments) {
        Libfabric libfabric = Libfabric.load();
        try (Fabric fabric = libfabric.openFabric(libfabric.info(FabricHints.atomics().provider("shm")).getFirst());
                Domain domain = fabric.openDomain();
                CompletionQueue queue = domain.openCompletionQueue();
                AddressVector peers = domain.openAddressVector();
                MemoryRegion shared = domain.allocate(16, Access.REMOTE_READ, Access.REMOTE_WRITE);
                MemoryRegion cell = domain.allocate(24, Access.READ, Access.WRITE); // the result and the operands
                Endpoint here = domain.openEndpoint().bind(queue).bind(peers).enable();
                Endpoint there = domain.openEndpoint().bind(queue).bind(peers).enable()) {
            Peer peer = peers.insert(there.address());
            RemoteRegion remote = shared.remote();
            Atomics atomics = here.atomics();

            do { // the lock is 0 while it is free: whoever finds 0 has put the 7 there, and holds it
                atomics.compare(AtomicOperation.CSWAP, Datatype.INT64, 7, 0, cell.slice(0, 24), peer,
                        remote.slice(LOCK, 8), 1);
                Waiting.YIELD.until(() -> queue.poll((token, flags, length, data) -> {}, 1) > 0, SOON);
            } while (cell.segment().get(JAVA_LONG, 0) != 0);

            atomics.fetch(AtomicOperation.SUM, Datatype.INT64, 5, cell.slice(0, 16), peer, remote.slice(COUNTER, 8), 2);
            Waiting.YIELD.until(() -> queue.poll((token, flags, length, data) -> {}, 1) > 0, SOON);
            System.out.println("the counter was " + cell.segment().get(JAVA_LONG, 0));

            // A fetch completes when the target was changed: from here on another process can take the lock.
            atomics.fetch(AtomicOperation.ATOMIC_WRITE, Datatype.INT64, 0, cell.slice(0, 16), peer,
                    remote.slice(LOCK, 8), 3);
            Waiting.YIELD.until(() -> queue.poll((token, flags, length, data) -> {}, 1) > 0, SOON);
            System.out.println("the counter is " + shared.getLongAcquire(COUNTER) + ", the lock is "
                    + shared.getLongAcquire(LOCK));
        }
    }
}
