package io.ofi4j;

import io.ofi4j.internal.AvOps;
import io.ofi4j.internal.Errno;
import io.ofi4j.internal.FidOps;
import io.ofi4j.internal.Handle;
import io.ofi4j.internal.ShmFiles;
import java.util.HashMap;
import java.util.Map;

/**
 * The peers that endpoints can reach; fi_av(3). Opened by {@link Domain#openAddressVector}, bound to endpoints before they
 * are enabled. Threads: as the domain's {@link ThreadingModel} says.
 */
public final class AddressVector implements AutoCloseable {
    private final Domain domain;
    private final Handle handle;
    private final Children endpoints = new Children();
    private final Map<EndpointAddress, Entry> entries = new HashMap<>();
    private boolean closed;

    /**
     * An address that libfabric knows. It is told once, however often an address is inserted: providers differ in what the
     * second insertion gives, and shm divides by a count of peers that a second removal has spoiled. Of shm it is also not
     * removed with its last peer: what that peer has sent and this process has not worked off would lead into nowhere, and so
     * would, on libfabric 1.x, the next insertion, which gets its place.
     */
    static final class Entry {
        final long fabricAddress;
        private final EndpointAddress address;
        /** How many peers share it; used under the vector's monitor. */
        private int peers;

        Entry(EndpointAddress address, long fabricAddress) {
            this.address = address;
            this.fabricAddress = fabricAddress;
        }
    }

    AddressVector(Domain domain, Handle handle) {
        this.domain = domain;
        this.handle = handle;
    }

    Handle handle() {
        return handle;
    }

    Domain domain() {
        return domain;
    }

    /** Whether it is a connected endpoint's, of which libfabric knows nothing. */
    boolean isOfConnection() {
        return handle == null;
    }

    Children endpoints() {
        return endpoints;
    }

    /** @throws IllegalStateException if this vector is closed */
    synchronized void bind(Endpoint endpoint) {
        requireOpen();
        endpoints.add(endpoint);
    }

    /**
     * Inserts a peer; fi_av_insert. The peer need not be there yet, except with shm on libfabric 1.x.
     *
     * @param address where its endpoint is, from {@link Endpoint#address}
     * @return the peer, to be named in operations
     * @throws IllegalArgumentException if the address is none of this provider's
     * @throws FabricException if the provider refuses it
     * @throws IllegalStateException if this vector is closed
     */
    public synchronized Peer insert(EndpointAddress address) {
        requireOpen();
        byte[] bytes = address.toBytes();
        AddressFormat.require(domain.info(), bytes);
        boolean isShm = ShmNeighbours.concerns(domain.info());
        if (isShm) {
            ShmNeighbours.OF_THIS_PROCESS.requireNotClosed(address);
            requireThere(bytes);
        }
        Entry entry = entries.get(address);
        if (entry == null) {
            entry = new Entry(address, insertNatively(bytes));
            entries.put(address, entry);
        }
        entry.peers++;
        Peer peer = new Peer(this, entry);
        if (isShm) {
            ShmNeighbours.OF_THIS_PROCESS.inserted(address, peer);
        }
        return peer;
    }

    /** shm of libfabric 1.x gives the place of a peer that is not there to the next one, too. */
    private void requireThere(byte[] address) {
        if (Libfabric.load().version().major() < 2 && ShmFiles.find(address).isEmpty()) {
            throw FabricException.of(-Errno.ENOENT, "fi_av_insert", provider());
        }
    }

    private long insertNatively(byte[] bytes) {
        AvOps.Inserted inserted = AvOps.fi_av_insert(handle, bytes);
        FabricException.check(inserted.count(), "fi_av_insert", provider());
        if (inserted.count() != 1) {
            throw FabricException.of(-Errno.EINVAL, "fi_av_insert", provider());
        }
        return inserted.address();
    }

    /**
     * Removes a peer; fi_av_remove. Operations to it must have completed.
     *
     * @param peer one of this vector's
     * @throws IllegalArgumentException if it is another vector's, or removed already
     * @throws FabricException if the provider refuses
     * @throws IllegalStateException if this vector is closed
     */
    public synchronized void remove(Peer peer) {
        requireOpen();
        if (peer.vector != this || peer.removed) {
            throw new IllegalArgumentException(peer + " is not in this address vector");
        }
        peer.refuse();
        if (!ShmNeighbours.concerns(domain.info()) && --peer.entry.peers == 0) {
            domain.awaitPosts();
            removeNatively(peer.entry);
        }
    }

    /**
     * Makes libfabric forget an shm endpoint that is about to be closed, and that operations are refused to already. It may
     * be known though nobody inserted it: shm takes in whoever sends something. Only a known one can be removed.
     */
    synchronized void forget(EndpointAddress address) {
        if (closed) {
            return;
        }
        Entry entry = entries.get(address);
        if (entry != null) {
            removeNatively(entry);
            return;
        }
        AvOps.Inserted inserted = AvOps.fi_av_insert(handle, address.toBytes());
        if (inserted.count() == 1) {
            removeNatively(new Entry(address, inserted.address()));
        }
    }

    private void removeNatively(Entry entry) {
        entries.remove(entry.address);
        FabricException.check(AvOps.fi_av_remove(handle, entry.fabricAddress), "fi_av_remove", provider());
    }

    /**
     * {@return an address as text; fi_av_straddr}
     *
     * @param address one of this provider's
     * @throws IllegalArgumentException if the address is none of this provider's
     * @throws IllegalStateException if this vector is closed
     */
    public synchronized String toText(EndpointAddress address) {
        requireOpen();
        byte[] bytes = address.toBytes();
        AddressFormat.require(domain.info(), bytes);
        return AvOps.fi_av_straddr(handle, bytes);
    }

    private void requireOpen() {
        domain.checkThread();
        if (closed) {
            throw new IllegalStateException(this + " is closed");
        }
    }

    private String provider() {
        return domain.info().provider();
    }

    /**
     * Closes the vector; fi_close.
     *
     * @throws IllegalStateException if endpoints bound to it are open; they are named
     * @throws FabricException if libfabric reports an error; the vector counts as closed all the same
     */
    @Override
    public synchronized void close() {
        if (closed) {
            return;
        }
        domain.checkThread();
        endpoints.requireNone(this);
        closed = true;
        domain.forget(this);
        ShmNeighbours.OF_THIS_PROCESS.closed(this);
        FabricException.check(FidOps.fi_close(handle), "fi_close(address vector)", provider());
    }

    @Override
    public String toString() {
        return "AddressVector of " + provider();
    }
}
