package io.ofi4j;

import io.ofi4j.info.EndpointAddress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A peer in an address vector: the target of operations. Stands for an {@code fi_addr_t}, and is valid only for
 * endpoints bound to the same vector.
 */
public final class Peer {
    /** The source of a completion without a source, or from outside the address vector; FI_ADDR_NOTAVAIL. */
    public static final long ADDRESS_NOT_AVAILABLE = -1;

    /**
     * An address known to libfabric. It is inserted natively once, however often the application inserts it: providers
     * differ in what a second insertion returns, and some miscount their peers after a second removal.
     */
    static final class Entry {
        final long fabricAddress;
        final EndpointAddress address;
        /** Whether the provider got the address in another spelling. */
        final boolean isRespelled;
        /** The peers that share the entry and are not removed; guarded by the vector's monitor, as the next field. */
        final List<Peer> peers = new ArrayList<>(1);
        /** The number that the application has chosen, or null. */
        Long userId;

        Entry(EndpointAddress address, long fabricAddress, boolean isRespelled) {
            this.address = address;
            this.isRespelled = isRespelled;
            this.fabricAddress = fabricAddress;
        }
    }

    final AddressVector vector;
    final Entry entry;
    final long fabricAddress;
    /**
     * The same object as the {@link Endpoint#reachableVector} of each endpoint that may reach it; null once it is
     * removed, or its endpoint in this process is closed. Read by posting threads inside a queue's guard.
     */
    Object reachableVector;
    /** Whether the program has removed it; guarded by the vector's monitor. */
    private boolean isRemoved;
    /** The longest message that may be sent to it. Read by posting threads. */
    long maxMessageSize = Long.MAX_VALUE;

    /** The peer that this is a receive context of, or this. */
    private final Peer whole;
    /** The receive contexts by their bits; guarded by the monitor of this peer, which is none itself. */
    private final Map<Long, Peer> contexts = new HashMap<>();

    Peer(AddressVector vector, Entry entry) {
        this.vector = vector;
        this.entry = entry;
        this.fabricAddress = entry.fabricAddress;
        this.whole = this;
        this.reachableVector = vector;
    }

    private Peer(Peer whole, long bits) {
        this.vector = whole.vector;
        this.entry = whole.entry;
        this.fabricAddress = entry.fabricAddress | bits;
        this.whole = whole;
        this.reachableVector = whole.reachableVector;
        this.maxMessageSize = whole.maxMessageSize;
    }

    /** Whether this is one of several receive contexts of a peer. */
    boolean isContext() { return whole != this; }

    /** {@return the context with these bits of this peer, or of the peer that this is a context of} */
    Peer context(long bits) {
        synchronized (whole) {
            return whole.contexts.computeIfAbsent(bits, its -> new Peer(whole, its));
        }
    }

    /** {@return libfabric's number for this peer, an {@code fi_addr_t}; a completion's source} */
    public long fabricAddress() {
        return fabricAddress;
    }

    /**
     * Limits the length of messages to this peer, with tags or without: from then on, sending a longer one throws
     * {@link IllegalArgumentException}, because a message longer than its receive can harm more than itself. Both sides
     * must agree on the length. By default there is no limit. It holds for the receive contexts of the peer, too.
     * Another thread that sends sees the limit once the call happens before the send.
     *
     * @param bytes the length of the longest message, 0 or more; Long.MAX_VALUE for no limit
     * @return this peer
     * @throws IllegalArgumentException if it is negative
     */
    public synchronized Peer longestMessage(long bytes) {
        if (bytes < 0) { throw new IllegalArgumentException("a message has 0 bytes or more, not " + bytes); }
        maxMessageSize = bytes;
        contexts.values().forEach(context -> context.maxMessageSize = bytes);
        return this;
    }

    /** Has threads that enter a queue's guard from now on refuse operations to this peer. */
    synchronized void refuse() {
        reachableVector = null;
        contexts.values().forEach(Peer::refuse);
    }

    /** As {@link #refuse}, because the program removes it. */
    synchronized void remove() {
        refuse();
        isRemoved = true;
        contexts.values().forEach(Peer::remove);
    }

    boolean isRemoved() { return isRemoved; }

    boolean isReachable() { return reachableVector != null; }

    /** {@return its number and its address in readable form} */
    @Override
    public String toString() {
        String where = entry.address == null
                ? "Peer of a connection"
                : "Peer " + fabricAddress + " at " + entry.address;
        return where + (isRemoved ? " (removed)" : isReachable() ? "" : " (its endpoint is closed)");
    }
}
