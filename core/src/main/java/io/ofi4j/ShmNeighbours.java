package io.ofi4j;

import io.ofi4j.internal.ShmMapping;
import java.nio.file.Path;
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
 * work off what is pending, and forget it. Where they cannot, since something never completes, or since their threading model
 * gives them to another thread, the memory stays mapped until their address vectors are closed.
 */
final class ShmNeighbours {
    static final ShmNeighbours OF_THIS_PROCESS = new ShmNeighbours();

    private static final long QUIET_NANOS = 200_000_000;
    private static final int ROUNDS = 8;

    private final Map<Endpoint, EndpointAddress> open = new LinkedHashMap<>();
    private final Map<EndpointAddress, List<Peer>> peers = new HashMap<>();
    private final Set<EndpointAddress> closed = new HashSet<>();
    private final List<Kept> kept = new ArrayList<>();
    /**
     * Of each vector, the open endpoints that may have written to one of its endpoints that is closed: it knows them, and its next
     * endpoint looks into their memory, though nobody inserted them.
     */
    private final Map<AddressVector, Set<EndpointAddress>> writers = new HashMap<>();

    /** The memory of a closed endpoint, and those who may look into it. */
    private record Kept(ShmMapping mapping, Set<AddressVector> vectors) {
    }

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

    synchronized void closing(AddressVector vector) {
        peers.values().forEach(list -> list.removeIf(peer -> peer.vector == vector));
        peers.values().removeIf(List::isEmpty);
        writers.remove(vector);
    }

    synchronized void closed(AddressVector vector) {
        kept.forEach(one -> one.vectors.remove(vector));
        kept.stream().filter(one -> one.vectors.isEmpty()).forEach(one -> one.mapping.release());
        kept.removeIf(one -> one.vectors.isEmpty());
    }

    /**
     * Makes everybody in this process forget an endpoint that takes no operations any more.
     *
     * @param file where its memory is; null if that is not known
     */
    void beforeClose(Endpoint endpoint, Path file) {
        List<Peer> known;
        Set<CompletionQueue> queues = new LinkedHashSet<>();
        Map<Endpoint, EndpointAddress> neighbours;
        noteWriters(endpoint); // while it is among the open ones, so that one of them that closes now sees it, or is noted
        synchronized (this) {
            known = peers.getOrDefault(endpoint.address(), List.of());
            peers.remove(endpoint.address());
            closed.add(endpoint.address());
            known.forEach(Peer::refuse); // before looking who is open: who opens after this look sees it
            neighbours = new LinkedHashMap<>(open);
            open.remove(endpoint);
        }
        neighbours.keySet().forEach(neighbour -> queues.addAll(neighbour.queues()));
        boolean othersLookIn = queues.removeIf(queue -> !queue.guard.admitsAnyone(Thread.currentThread()));
        queues.forEach(CompletionQueue::drain); // who entered before now has posted, who enters after is refused
        boolean isQuiet = awaitQuiet(queues);
        noteWriters(endpoint); // those that have inserted it since, too: now nobody can any more
        Set<AddressVector> vectors = vectorsThatKnow(endpoint, known, neighbours);
        for (AddressVector vector : vectors) {
            if (vector.domain().guard.admits(Thread.currentThread())) {
                vector.forget(endpoint.address());
            } else {
                othersLookIn = true;
            }
        }
        if ((othersLookIn || !isQuiet) && file != null) {
            keep(file, vectors);
        }
    }

    /** Notes the open endpoints that may have written to one that is about to be closed. */
    private void noteWriters(Endpoint endpoint) {
        Map<Endpoint, EndpointAddress> others;
        synchronized (this) {
            others = new LinkedHashMap<>(open);
        }
        others.keySet().removeIf(other -> other == endpoint || !other.vector().knows(endpoint.address()));
        synchronized (this) {
            others.keySet().retainAll(open.keySet());
            writers.computeIfAbsent(endpoint.vector(), key -> new HashSet<>()).addAll(others.values());
        }
    }

    /** The vectors that one who closes may have written to, though the endpoint there is closed. */
    private synchronized List<AddressVector> writtenTo(EndpointAddress writer) {
        return writers.entrySet().stream().filter(entry -> entry.getValue().remove(writer)).map(Map.Entry::getKey)
                .toList();
    }

    private synchronized void keep(Path file, Set<AddressVector> vectors) {
        vectors.removeIf(AddressVector::isGone);
        if (!vectors.isEmpty()) {
            ShmMapping.keep(file).ifPresent(mapping -> kept.add(new Kept(mapping, vectors)));
        }
    }

    /** Those that it was inserted into, and those of whom it may have sent something to: each forgetting costs a place. */
    private Set<AddressVector> vectorsThatKnow(Endpoint endpoint, List<Peer> known,
            Map<Endpoint, EndpointAddress> neighbours) {
        Set<AddressVector> vectors = new LinkedHashSet<>();
        known.forEach(peer -> vectors.add(peer.vector));
        vectors.addAll(writtenTo(endpoint.address()));
        neighbours.forEach((neighbour, address) -> {
            if (endpoint.vector().knows(address)) {
                vectors.add(neighbour.vector());
            }
        });
        return vectors;
    }

    /** Whether nothing is in flight, and all that peers have sent is worked off. */
    private static boolean awaitQuiet(Set<CompletionQueue> queues) {
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
        return inFlight == 0;
    }
}
