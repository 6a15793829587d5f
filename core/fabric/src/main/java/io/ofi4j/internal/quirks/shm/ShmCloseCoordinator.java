package io.ofi4j.internal.quirks.shm;

import io.ofi4j.info.EndpointAddress;
import io.ofi4j.info.VersionRange;
import io.ofi4j.internal.observe.LockOrder;
import io.ofi4j.internal.os.Errno;
import io.ofi4j.internal.quirks.EndpointView;
import io.ofi4j.internal.quirks.QueueView;
import io.ofi4j.internal.quirks.Quirk;
import io.ofi4j.internal.quirks.Status;
import io.ofi4j.internal.quirks.VectorView;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import java.util.function.IntSupplier;
import java.util.function.Supplier;

/**
 * Closes shm endpoints in an order that leaves no endpoint of this process with a pointer to unmapped memory. Before an
 * endpoint is closed, operations to it are refused, the other endpoints of this process finish what is pending, and
 * their vectors forget it. Where that is not possible, since something never completes or since the other endpoint
 * belongs to another thread, the provider closes the endpoint later: when the vectors that know it are closed.
 */
final class ShmCloseCoordinator extends Quirk {
    private static final String UPSTREAM = """
            Endpoints of one process use each other's memory as it is mapped; closing one unmaps it, and a neighbour \
            that still has a command or an address of it ends the process.""";
    private static final Duration DRAIN_TIMEOUT = Duration.ofMillis(200);
    private static final int MIN_ROUNDS = 8;

    /** Endpoints that the provider has open, also those whose close is postponed. */
    private final Map<EndpointView, EndpointAddress> open = new LinkedHashMap<>();
    /** Addresses of those that are about to be closed. */
    private final Set<EndpointAddress> closing = new HashSet<>();
    private final Map<EndpointAddress, List<InsertedPeer>> peers = new HashMap<>();
    /** Read inside the guards of queues, too, where the monitor must not be taken. */
    private final List<PostponedClose> postponed = new CopyOnWriteArrayList<>();
    /**
     * For each vector, the open endpoints that may have written to a closed endpoint of it: the provider has entered
     * them into the vector, though the program has not inserted them.
     */
    private final Map<VectorView, Set<EndpointAddress>> writers = new HashMap<>();

    /** A peer that was inserted, and how operations to it are refused. */
    private record InsertedPeer(VectorView vector, Runnable refusal) {}

    /** An endpoint whose close is postponed, and the vectors that still know it. */
    private record PostponedClose(EndpointView endpoint, EndpointAddress address, Set<VectorView> vectors) {}

    ShmCloseCoordinator() {
        super("shm-neighbours", provider -> provider.is("shm"), VersionRange.from(1, 15), UPSTREAM,
                "ShmCloseCoordinatorTest");
    }

    /**
     * Refuses the name of an endpoint whose close is postponed: the name is in use until the provider closes that one.
     */
    @Override
    protected int enable(Supplier<EndpointAddress> address, long transmitSize, long receiveSize, IntSupplier enable) {
        return isPostponed(address.get()) ? -Errno.EADDRINUSE : enable.getAsInt();
    }

    private boolean isPostponed(EndpointAddress address) {
        return postponed.stream().anyMatch(one -> one.address.equals(address));
    }

    @Override
    protected synchronized void enabled(EndpointView endpoint) {
        assert LockOrder.taken(LockOrder.Rank.QUIRK, this);
        open.put(endpoint, endpoint.address());
    }

    /** How many open endpoints have none of these addresses. */
    synchronized int countOthers(Set<EndpointAddress> addresses) {
        assert LockOrder.taken(LockOrder.Rank.QUIRK, this);
        return (int) open.values().stream().filter(address -> !addresses.contains(address)).count();
    }

    /** Keeps the monitor throughout, so that the peer's endpoint is not closed meanwhile. */
    @Override
    protected synchronized <P> P insert(EndpointAddress address, VectorView vector, Supplier<P> insertion,
            Consumer<P> refusal) {
        assert LockOrder.taken(LockOrder.Rank.QUIRK, this);
        if (isPostponed(address)) {
            throw new IllegalStateException(
                    "the endpoint with this address is closed, and other endpoints of this process"
                            + " still use it: close those first, or give the new endpoint another name");
        }
        if (closing.contains(address)) { throw Status.exception(-Errno.ENOENT, "fi_av_insert", "shm"); }
        P peer = insertion.get();
        peers.computeIfAbsent(address, key -> new ArrayList<>())
                .add(new InsertedPeer(vector, () -> refusal.accept(peer)));
        return peer;
    }

    @Override
    protected CloseTime beforeClose(EndpointView endpoint) {
        List<InsertedPeer> known;
        Map<EndpointView, EndpointAddress> others;
        // before it leaves the open endpoints: another one that closes now either sees it or is recorded here
        recordWriters(endpoint);
        synchronized (this) {
            assert LockOrder.taken(LockOrder.Rank.QUIRK, this);
            // they stay in the map, because a repeated close needs them again
            known = List.copyOf(peers.getOrDefault(endpoint.address(), List.of()));
            closing.add(endpoint.address());
            // before the open endpoints are copied: one that opens later finds the address in closing
            known.forEach(peer -> peer.refusal.run());
            others = new LinkedHashMap<>(open);
            open.remove(endpoint);
        }
        endpoint.takeMessages(); // while the endpoints that have sent them are mapped
        Set<QueueView> queues = new LinkedHashSet<>();
        others.keySet().forEach(other -> queues.addAll(other.queues()));
        boolean isUsedByOthers = queues.removeIf(queue -> !queue.admitsCaller());
        boolean isDrained = drain(queues, endpoint.closeWaits()); // earlier calls have posted, later ones are refused
        if (!isDrained && !endpoint.closeWaits() && !endpoint.isTriedFor(DRAIN_TIMEOUT)) {
            synchronized (this) {
                open.put(endpoint, endpoint.address()); // others that close meanwhile wait for its operations
            }
            return CloseTime.TRY_AGAIN;
        }
        recordWriters(endpoint); // again, for endpoints that have inserted it since; no more can
        Set<VectorView> vectors = knowingVectors(endpoint, known, others);
        for (VectorView vector : vectors) {
            if (vector.admitsCaller()) {
                vector.forget(endpoint.address());
            } else {
                isUsedByOthers = true;
            }
        }
        boolean isLater = (!isDrained || isUsedByOthers) && postpone(endpoint, vectors);
        return isLater ? CloseTime.LATER : CloseTime.NOW;
    }

    private synchronized boolean postpone(EndpointView endpoint, Set<VectorView> vectors) {
        assert LockOrder.taken(LockOrder.Rank.QUIRK, this);
        vectors.removeIf(VectorView::isClosed);
        if (vectors.isEmpty()) { return false; }
        postponed.add(new PostponedClose(endpoint, endpoint.address(), vectors));
        open.put(endpoint, endpoint.address());
        return true;
    }

    @Override
    protected synchronized void closed(EndpointView endpoint) {
        assert LockOrder.taken(LockOrder.Rank.QUIRK, this);
        EndpointAddress address = endpoint.address();
        open.remove(endpoint);
        if (open.containsValue(address)) { return; } // another has the name by now
        closing.remove(address);
        peers.remove(address);
        writers.values().forEach(noted -> noted.remove(address));
    }

    /**
     * Makes the closed vector forget the endpoints whose close is postponed. Those that no vector knows any more are
     * then closed.
     */
    @Override
    protected void vectorClosed(VectorView vector) {
        List<PostponedClose> ofVector;
        synchronized (this) {
            peers.values().forEach(list -> list.removeIf(peer -> peer.vector == vector));
            peers.values().removeIf(List::isEmpty);
            writers.remove(vector);
            ofVector = postponed.stream().filter(one -> one.vectors.contains(vector)).toList();
        }
        ofVector.forEach(one -> vector.forget(one.address));
        List<PostponedClose> due;
        synchronized (this) {
            ofVector.forEach(one -> one.vectors.remove(vector));
            due = postponed.stream().filter(one -> one.vectors.isEmpty()).toList();
            postponed.removeAll(due);
        }
        due.forEach(one -> one.endpoint.closePostponed());
    }

    /** Notes the open endpoints that may have written to one that is about to be closed. */
    private void recordWriters(EndpointView endpoint) {
        Map<EndpointView, EndpointAddress> others;
        synchronized (this) {
            others = new LinkedHashMap<>(open);
        }
        others.keySet().removeIf(other -> other == endpoint || !other.vector().knows(endpoint.address()));
        synchronized (this) {
            others.keySet().retainAll(open.keySet());
            writers.computeIfAbsent(endpoint.vector(), key -> new HashSet<>()).addAll(others.values());
        }
    }

    /** The vectors that a closing endpoint may have written to, though the target endpoint is closed. */
    private synchronized List<VectorView> writtenTo(EndpointAddress writer) {
        return writers.entrySet().stream().filter(entry -> entry.getValue().contains(writer)).map(Map.Entry::getKey)
                .toList();
    }

    /**
     * The vectors that the endpoint was inserted into, and those of endpoints that it may have sent to. Each removal
     * from a vector costs a slot.
     */
    private Set<VectorView> knowingVectors(EndpointView endpoint, List<InsertedPeer> known,
            Map<EndpointView, EndpointAddress> others) {
        Set<VectorView> vectors = new LinkedHashSet<>();
        known.forEach(peer -> vectors.add(peer.vector));
        vectors.addAll(writtenTo(endpoint.address()));
        others.forEach((other, address) -> {
            if (endpoint.vector().knows(address)) { vectors.add(other.vector()); }
        });
        return vectors;
    }

    /** The number of recorded endpoints, peers and vectors. */
    synchronized int size() {
        return open.size() + closing.size() + peers.size() + postponed.size() + writers.size();
    }

    /**
     * Makes progress until nothing is in flight and all that peers have sent is handled; only some rounds, if it does
     * not wait. Returns whether nothing is in flight.
     */
    private static boolean drain(Set<QueueView> queues, boolean waits) {
        long timeout = waits ? DRAIN_TIMEOUT.toNanos() : 0;
        long start = System.nanoTime();
        int inFlight;
        int round = 0;
        do {
            queues.forEach(QueueView::drain);
            inFlight = queues.stream().mapToInt(QueueView::inFlight).sum();
        } while (++round < MIN_ROUNDS || inFlight > 0 && System.nanoTime() - start < timeout);
        return inFlight == 0;
    }
}
