package io.ofi4j;

/**
 * A peer that was inserted into an address vector: what operations are addressed to. Stands for an {@code fi_addr_t},
 * and is good only for endpoints bound to the same vector.
 */
public final class Peer {
    /** The source of a completion that has none, or none that is in the address vector; FI_ADDR_NOTAVAIL. */
    public static final long ADDRESS_NOT_AVAILABLE = -1;

    final AddressVector vector;
    final AddressVector.Entry entry;
    final long fabricAddress;
    /**
     * What it has in common with the endpoints that may reach it: their {@link Endpoint#realm} is the same object, until
     * either is gone. Read by posting threads inside a queue's guard.
     */
    Object realm;
    boolean removed;

    Peer(AddressVector vector, AddressVector.Entry entry) {
        this.vector = vector;
        this.entry = entry;
        this.fabricAddress = entry.fabricAddress;
        this.realm = vector;
    }

    /** {@return libfabric's number for it, an {@code fi_addr_t}} */
    public long fabricAddress() {
        return fabricAddress;
    }

    /** From now on, whoever enters a queue's guard refuses operations to it. */
    synchronized void refuse() {
        removed = true;
        realm = null;
    }

    @Override
    public String toString() {
        return "Peer " + fabricAddress + (removed ? " (removed)" : "");
    }
}
