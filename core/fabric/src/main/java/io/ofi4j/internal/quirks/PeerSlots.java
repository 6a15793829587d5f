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
    private final ToIntFunction<Set<EndpointAddress>> unknownPeers;
    /** The number of slots assigned since no endpoint was bound. */
    private int assigned;
    private boolean anyReleased;

    /**
     * The slots of one vector.
     *
     * @param count how many there are
     * @param unknownPeers how many peers may take a slot without being inserted
     */
    public PeerSlots(int count, ToIntFunction<Set<EndpointAddress>> unknownPeers) {
        this.count = count;
        this.unknownPeers = unknownPeers;
    }

    /** The first endpoint is about to be bound, and the vector has this number of addresses. */
    public void reset(int known) {
        assigned = known;
        anyReleased = false;
    }

    /** An address is about to be inserted. */
    public void assign() { assigned++; }

    /** The provider has forgotten an address. */
    public void release() { anyReleased = true; }

    /**
     * Refuses an address that the provider would take for a removed one. Where no slot is free, the provider refuses.
     */
    public void requireSafe(Set<EndpointAddress> known, Object vector) {
        if (anyReleased && assigned + unknownPeers.applyAsInt(known) >= count) {
            throw new IllegalStateException("all " + count + " places of " + vector
                    + " have been used, and shm would take the next peer for one that is gone: close the endpoints"
                    + " that are bound to it, or open them with another vector");
        }
    }
}
