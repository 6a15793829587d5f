package io.ofi4j.test;

import io.ofi4j.Access;
import io.ofi4j.AddressVector;
import io.ofi4j.CompletionHandler;
import io.ofi4j.CompletionQueue;
import io.ofi4j.Domain;
import io.ofi4j.Endpoint;
import io.ofi4j.MemoryRegion;
import io.ofi4j.Peer;
import io.ofi4j.errors.FabricException;
import io.ofi4j.errors.FabricTimeoutException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** What one side of a {@link TestFabric} has. The fabric closes it. */
public final class TestSide {
    private static final int LIMIT = 16;

    private final TestFabric fabric;
    private final String name;
    private final Domain domain;
    private final CompletionQueue queue;
    private final List<MemoryRegion> regions = new ArrayList<>();
    /** Those that nobody has waited for yet. */
    private final List<Completion> completions = new ArrayList<>();
    private AddressVector vector;
    private Endpoint endpoint;
    private Peer peer;

    /**
     * An operation that has completed, as in {@link CompletionHandler#onCompletion}.
     *
     * @param token the token with which it was posted, or {@link CompletionHandler#NO_TOKEN}
     * @param flags the kind of operation, as {@link io.ofi4j.info.CompletionFlags}
     * @param length the number of bytes received; meaningful for receives only
     * @param data the peer's completion data, if the flags say that there is some
     */
    public record Completion(long token, long flags, long length, long data) {}

    TestSide(TestFabric fabric, String name, Domain domain) {
        this.fabric = fabric;
        this.name = name;
        this.domain = domain;
        this.queue = domain.openCompletionQueue();
    }

    /** Opens an endpoint that has peers by address. */
    void enable() {
        vector = domain.openAddressVector();
        enable(domain.openEndpoint().bind(vector));
    }

    void meet(TestSide other) { peer = vector.insert(other.endpoint.address()); }

    /** Takes an endpoint, with its vector or with its event queue bound. */
    void enable(Endpoint opened) {
        endpoint = opened.bind(queue).postTimeout(TestFabric.deadline()).enable();
    }

    void meetConnected() { peer = endpoint.connection().peer(); }

    /** {@return the domain of this side alone; the program under test may open more in it, and closes that} */
    public Domain domain() {
        return domain;
    }

    /** {@return the endpoint, which is enabled, and connected where endpoints are} */
    public Endpoint endpoint() {
        return endpoint;
    }

    /** {@return the queue on which the operations of the endpoint complete} */
    public CompletionQueue queue() {
        return queue;
    }

    /** {@return the addresses that the endpoint knows; none where it is connected} */
    public Optional<AddressVector> addresses() {
        return Optional.ofNullable(vector);
    }

    /** {@return the other side, as this one posts to it} */
    public Peer peer() { return peer; }

    /**
     * Allocates memory that is registered with the domain of this side. The fabric closes the region, unless the test
     * does. Any thread may call this.
     *
     * @param length in bytes
     * @param access the rights; all of them if none is given
     * @throws IllegalArgumentException if the length is not above zero
     */
    public MemoryRegion allocate(long length, Access... access) {
        MemoryRegion region = domain.allocate(length, access.length == 0 ? Access.values() : access);
        synchronized (regions) {
            regions.add(region);
        }
        return region;
    }

    /**
     * Makes progress on both sides until an operation of this side has completed. It takes completions from the queue
     * of this side, and keeps those with other tokens for later calls; of the other side it takes none. Where the
     * program under test polls the queue itself, use {@link TestFabric#until}.
     *
     * @param token with which the operation was posted; {@link CompletionHandler#NO_TOKEN} for a peer's write with data
     * @return its completion; each is returned once
     * @throws FabricTimeoutException if it does not complete within {@link TestFabric#deadline}
     * @throws FabricException if an operation of this side has failed, whatever its token
     */
    public Completion await(long token) {
        if (!fabric.tryUntil(() -> has(token) || poll() > 0 && has(token))) {
            throw new FabricTimeoutException("waiting for token " + token + " at the " + name, TestFabric.deadline(),
                    "Both sides have made progress. " + (completions.isEmpty()
                            ? "Nothing has completed there."
                            : "Only these have completed there: " + completions));
        }
        Completion found = completions.stream().filter(one -> one.token == token).findFirst().orElseThrow();
        completions.remove(found);
        return found;
    }

    private boolean has(long token) { return completions.stream().anyMatch(one -> one.token == token); }

    private int poll() {
        return queue.poll((token, flags, length, data) -> completions.add(new Completion(token, flags, length, data)),
                LIMIT);
    }

    /** All but the endpoint, in the order in which they are closed. */
    List<AutoCloseable> belongings() {
        List<AutoCloseable> all = new ArrayList<>();
        synchronized (regions) {
            all.addAll(regions);
        }
        addresses().ifPresent(all::add);
        all.add(queue);
        all.add(domain);
        return all;
    }

    @Override
    public String toString() { return name + " of " + fabric; }
}
