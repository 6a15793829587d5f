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
    /** Whether its endpoint was not there yet when it was inserted, with shm: then {@link #realm} is null until it is. */
    boolean awaited;

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

    /** Its endpoint is not there yet. */
    void await() {
        awaited = true;
        realm = null;
    }

    /**
     * Whether it is awaited, and an operation may be tried. If its endpoint is there by now, it is awaited no more.
     *
     * @throws FabricException if it is there, and cannot be written to
     */
    synchronized boolean mayArrive() {
        if (!awaited || removed) {
            return false;
        }
        if (vector.isThere(entry.address)) {
            awaited = false;
            realm = vector;
        }
        return true;
    }

    /** From now on, whoever enters a queue's guard refuses operations to it. */
    synchronized void refuse() {
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
