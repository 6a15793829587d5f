package io.ofi4j;

/**
 * A peer that was inserted into an address vector: what operations are addressed to. Stands for an {@code fi_addr_t},
 * and is good only for endpoints bound to the same vector.
 */
public final class Peer {
    final AddressVector vector;
    final AddressVector.Entry entry;
    final long fabricAddress;
    /** Read by posting threads inside a queue's guard. */
    boolean removed;

    Peer(AddressVector vector, AddressVector.Entry entry) {
        this.vector = vector;
        this.entry = entry;
        this.fabricAddress = entry.fabricAddress;
    }

    /** {@return libfabric's number for it, an {@code fi_addr_t}} */
    public long fabricAddress() {
        return fabricAddress;
    }

    /** From now on, whoever enters a queue's guard refuses operations to it. */
    void refuse() {
        removed = true;
    }

    @Override
    public String toString() {
        return "Peer " + fabricAddress + (removed ? " (removed)" : "");
    }
}
