package io.ofi4j;

/**
 * A peer that was inserted into an address vector: what operations are addressed to. Stands for an {@code fi_addr_t},
 * and is good only for endpoints bound to the same vector.
 *
 * <p>With {@code shm} of libfabric 1.x, a peer whose process was killed may have left its memory locked. About a second later
 * operations to it throw a {@link FabricException} with the error number of a connection that was reset (ECONNRESET, 104).
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
    /** Whether that is since its process has ended. */
    boolean lost;

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
    void refuse() {
        removed = true;
        realm = null;
    }

    /** As {@link #refuse}, since its process has ended. */
    void lose() {
        lost = true;
        refuse();
    }

    @Override
    public String toString() {
        return "Peer " + fabricAddress + (lost ? " (its process has ended)" : removed ? " (removed)" : "");
    }
}
