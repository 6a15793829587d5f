package io.ofi4j;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;

/**
 * The shm endpoints of this process. Within one process the provider gives every endpoint the others' memory as it is mapped
 * already, and closing an endpoint unmaps it: a command that a neighbour has not worked off yet, a later operation or even a
 * later insertion of its address would then read unmapped memory, which ends the JVM. So before one is closed its neighbours
 * work off what is pending, and forget it.
 *
 * <p>A neighbour whose threading model gives it to another thread cannot be made to; such a thread should be idle, or have
 * closed its endpoint, before.
 */
final class ShmNeighbours {
    static final ShmNeighbours OF_THIS_PROCESS = new ShmNeighbours();

    private static final long QUIET_NANOS = 200_000_000;
    private static final int ROUNDS = 8;

    private final Map<Endpoint, EndpointAddress> open = new LinkedHashMap<>();
    private final Map<EndpointAddress, List<Peer>> peers = new HashMap<>();
    private final Set<EndpointAddress> closed = new HashSet<>();

    private ShmNeighbours() {
    }

    /** Whether endpoints of a provider are neighbours. */
    static boolean concerns(FabricInfo info) {
        return info.provider().contains("shm");
    }

    synchronized void opened(Endpoint endpoint) {
        open.put(endpoint, endpoint.address());
    }

    /** How many open endpoints have none of these addresses. */
    synchronized int countOthers(Set<EndpointAddress> addresses) {
        return (int) open.values().stream().filter(address -> !addresses.contains(address)).count();
    }

    /**
     * Inserts a peer; in one go, lest its endpoint be closed meanwhile.
     *
     * @throws IllegalArgumentException if it is the address of an endpoint of this process that is closed
     */
    synchronized Peer insert(EndpointAddress address, Supplier<Peer> insertion) {
        if (closed.contains(address)) {
            throw new IllegalArgumentException("the endpoint with this address is closed");
        }
        Peer peer = insertion.get();
        peers.computeIfAbsent(address, key -> new ArrayList<>()).add(peer);
        return peer;
    }

    synchronized void closed(AddressVector vector) {
        peers.values().forEach(list -> list.removeIf(peer -> peer.vector == vector));
        peers.values().removeIf(List::isEmpty);
    }

    /** Makes everybody in this process forget an endpoint that takes no operations any more. */
    void beforeClose(Endpoint endpoint) {
        List<Peer> known;
        Set<CompletionQueue> queues = new LinkedHashSet<>();
        Map<Endpoint, EndpointAddress> neighbours;
        synchronized (this) {
            known = peers.getOrDefault(endpoint.address(), List.of());
            peers.remove(endpoint.address());
            closed.add(endpoint.address());
            known.forEach(Peer::refuse); // before looking who is open: who opens after this look sees it
            neighbours = new LinkedHashMap<>(open);
            open.remove(endpoint);
        }
        neighbours.keySet().forEach(neighbour -> queues.addAll(neighbour.queues()));
        queues.removeIf(queue -> !queue.guard.admitsAnyone(Thread.currentThread()));
        queues.forEach(CompletionQueue::drain); // who entered before now has posted, who enters after is refused
        awaitQuiet(queues);
        for (AddressVector vector : vectorsThatKnow(endpoint, known, neighbours)) {
            if (vector.domain().guard.admits(Thread.currentThread())) {
                vector.forget(endpoint.address());
            }
        }
    }

    /** Those that it was inserted into, and those of whom it may have sent something to: each forgetting costs a place. */
    private static Set<AddressVector> vectorsThatKnow(Endpoint endpoint, List<Peer> known,
            Map<Endpoint, EndpointAddress> neighbours) {
        Set<AddressVector> vectors = new LinkedHashSet<>();
        known.forEach(peer -> vectors.add(peer.vector));
        neighbours.forEach((neighbour, address) -> {
            if (endpoint.vector().knows(address)) {
                vectors.add(neighbour.vector());
            }
        });
        return vectors;
    }

    private static void awaitQuiet(Set<CompletionQueue> queues) {
        long start = System.nanoTime();
        int inFlight;
        int round = 0;
        do {
            inFlight = 0;
            for (CompletionQueue queue : queues) {
                queue.drain();
                inFlight += queue.inFlight();
            }
        } while (++round < ROUNDS || inFlight > 0 && System.nanoTime() - start < QUIET_NANOS);
    }
}
