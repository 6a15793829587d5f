package io.ofi4j.internal.quirks;

import io.ofi4j.info.EndpointAddress;
import java.util.Set;
import java.util.function.ToIntFunction;

/**
 * Bounds how many addresses an address vector takes while endpoints are bound to it, where the provider would take the
 * next peer for one that is gone. Used under the vector's monitor.
 */
public final class PeerSlots {
    private final int count;
    private final ToIntFunction<Set<EndpointAddress>> others;
    /** How many were given since the last time that no endpoint was bound. */
    private int given;
    private boolean anyFree;

    /**
     * The places of one vector.
     *
     * @param count how many there are
     * @param others how many peers may take a place by themselves, beside those that are known
     */
    public PeerSlots(int count, ToIntFunction<Set<EndpointAddress>> others) {
        this.count = count;
        this.others = others;
    }

    /** The first endpoint is about to be bound, while so many addresses are known. */
    public void restart(int known) {
        given = known;
        anyFree = false;
    }

    /** An address is about to be told to the provider. */
    public void give() { given++; }

    /** The provider has forgotten an address. */
    public void free() { anyFree = true; }

    /** Refuses an address where the provider would mistake it; where no place is free, the provider refuses. */
    public void requireNext(Set<EndpointAddress> known, Object vector) {
        if (anyFree && given + others.applyAsInt(known) >= count) {
            throw new IllegalStateException("the " + count + " places of " + vector
                    + " were given out, and shm would take the next peer for one that is gone: close the endpoints"
                    + " that are bound, or open them with another vector");
        }
    }
}
