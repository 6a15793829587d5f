package io.ofi4j;

import io.ofi4j.info.AddressVectorAttributes;
import io.ofi4j.info.EndpointAddress;
import io.ofi4j.info.ThreadingModel;
import io.ofi4j.internal.engine.AddressFormats;
import io.ofi4j.internal.engine.AddressLookup;
import io.ofi4j.internal.engine.OpenChildren;
import io.ofi4j.internal.ffi.FidOps;
import io.ofi4j.internal.quirks.VectorView;
import io.ofi4j.internal.quirks.PeerPlaces;
import io.ofi4j.internal.quirks.Fact;
import io.ofi4j.internal.quirks.Status;
import io.ofi4j.internal.ffi.AvOps;
import io.ofi4j.internal.os.Errno;
import io.ofi4j.internal.ffi.Handle;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The peers that endpoints can reach; fi_av(3). Opened by {@link Domain#openAddressVector}, bound to endpoints before they
 * are enabled. Threads: as the domain's {@link ThreadingModel} says.
 */
public final class AddressVector implements AutoCloseable {
    private final Domain domain;
    private final Handle handle;
    private final AddressVectorAttributes attributes;
    private final OpenChildren endpoints = new OpenChildren();
    private final Map<EndpointAddress, Entry> entries = new HashMap<>();
    private final Map<Long, Entry> sources = new HashMap<>();
    /** Queues of endpoints that were enabled while this vector was empty, where that matters. */
    private final Set<CompletionQueue> prepared = new HashSet<>();
    /** Null where the provider's places need no care. */
    private final PeerPlaces places;
    private final VectorView view = new View();
    private volatile boolean closed;
    /** Whether the provider has closed it, too. */
    private boolean gone;

    /**
     * An address that libfabric knows. It is told once, however often an address is inserted: providers differ in what the
     * second insertion gives, and some count their peers wrongly after a second removal.
     */
    static final class Entry {
        final long fabricAddress;
        final EndpointAddress address;
        /** How many peers share it; used under the vector's monitor. */
        private int peers;
        /** The one that was inserted last. */
        private Peer latest;

        Entry(EndpointAddress address, long fabricAddress) {
            this.address = address;
            this.fabricAddress = fabricAddress;
        }
    }

    AddressVector(Domain domain, Handle handle, AddressVectorAttributes attributes) {
        this.domain = domain;
        this.handle = handle;
        this.attributes = attributes;
        this.places = domain.quirks.places();
    }

    /** What the provider's quirks see of it. */
    private final class View implements VectorView {
        @Override
        public boolean knows(EndpointAddress address) {
            synchronized (AddressVector.this) {
                return entries.containsKey(address);
            }
        }

        @Override
        public boolean admitsCaller() {
            return domain.guard.admits(Thread.currentThread());
        }

        @Override
        public void forget(EndpointAddress address) {
            AddressVector.this.forget(address);
        }

        @Override
        public boolean isClosed() {
            return closed;
        }
    }

    VectorView view() {
        return view;
    }

    /** {@return what it was opened with} */
    public AddressVectorAttributes attributes() {
        return attributes;
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

    OpenChildren endpoints() {
        return endpoints;
    }

    /** @throws IllegalStateException if this vector is closed */
    synchronized void bind(Endpoint endpoint) {
        requireOpen();
        if (places != null && endpoints.isEmpty()) {
            places.restart(entries.size());
        }
        endpoints.add(endpoint);
    }

    /**
     * With COMPLETION, tcp of libfabric 2.x gives each queue a copy of the vector, and does not copy all of what it needs of an
     * address: the first operation to such a peer, or its removal, would end the JVM.
     *
     * @throws IllegalStateException if an endpoint with this queue must not be enabled now
     */
    synchronized void prepare(CompletionQueue queue) {
        if (prepared.contains(queue)) {
            return;
        }
        if (!entries.isEmpty()) {
            throw new IllegalStateException("with threading model COMPLETION on provider " + provider()
                    + ", enable endpoints before inserting peers, or give each completion queue an address vector of its own");
        }
        prepared.add(queue);
    }

    /**
     * Inserts a peer; fi_av_insert. The peer need not be there yet, except with shm on libfabric 1.x.
     *
     * @param address where its endpoint is, from {@link Endpoint#address}
     * @return the peer, to be named in operations
     * @throws IllegalArgumentException if the address is none of this provider's
     * @throws FabricException if the provider refuses it
     * @throws IllegalStateException if this vector is closed, or shared and full; with shm, also if 256 were
     *         inserted or were endpoints of this process, of which one is closed, since the first endpoint was bound
     * @throws WrongThreadException if the threading model gives this vector's domain to another thread
     */
    public synchronized Peer insert(EndpointAddress address) {
        requireOpen();
        AddressFormats.require(domain.info(), address);
        return domain.quirks.insert(address, view, () -> insertHere(address), Peer::refuse);
    }

    private Peer insertHere(EndpointAddress address) {
        Entry entry = entries.get(address);
        if (entry == null) {
            requireRoom();
            entry = new Entry(address, insertNatively(address));
            entries.put(address, entry);
        }
        entry.peers++;
        Peer peer = new Peer(this, entry);
        entry.latest = peer;
        sources.put(entry.fabricAddress, entry);
        return peer;
    }

    /** The one provider that shares vectors keeps a pointer into its table when it makes it larger. */
    private void requireRoom() {
        if (attributes.name().isPresent() && entries.size() >= attributes.count()) {
            throw new IllegalStateException("the " + attributes.count() + " places of the shared " + this
                    + " are taken: open it with a larger count");
        }
        if (places != null) {
            places.requireNext(entries.keySet(), this);
        }
    }

    private long insertNatively(EndpointAddress address) {
        give();
        AvOps.Inserted inserted = AvOps.fi_av_insert(handle, List.of(domain.quirks.spelling(address)));
        if (!inserted.has(0)) {
            throw Status.exception(-inserted.error(0), "fi_av_insert", provider());
        }
        return inserted.addresses()[0];
    }

    /**
     * Inserts many peers; fi_av_insert. What the provider does not know yet is told to it in one call where addresses of its
     * kind allow that, and again one by one where it refuses some.
     *
     * @param addresses where their endpoints are
     * @return for each address its peer, or why there is none: what {@link #insert} would have thrown
     * @throws IllegalStateException if this vector is closed
     * @throws WrongThreadException if the threading model gives this vector's domain to another thread
     */
    public synchronized List<InsertResult> insertAll(List<EndpointAddress> addresses) {
        requireOpen();
        insertTogether(addresses.stream().filter(this::isNewAndSafe).distinct().toList());
        return addresses.stream().map(this::tryInsert).toList();
    }

    private boolean isNewAndSafe(EndpointAddress address) {
        if (entries.containsKey(address) || attributes.name().isPresent()) {
            return false;
        }
        try {
            AddressFormats.require(domain.info(), address);
        } catch (IllegalArgumentException e) { // reported when it is inserted by itself
            return false;
        }
        return AddressFormats.isSafeAmongOthers(domain.info(), address);
    }

    private void insertTogether(List<EndpointAddress> addresses) {
        List<EndpointAddress> sameLength = addresses.stream()
                .filter(address -> address.toBytes().length == addresses.getFirst().toBytes().length).toList();
        if (sameLength.size() < 2) {
            return;
        }
        AvOps.Inserted inserted = AvOps.fi_av_insert(handle,
                sameLength.stream().map(EndpointAddress::toBytes).toList());
        for (int i = 0; i < inserted.status() && i < sameLength.size(); i++) { // rxm does not know those behind them
            if (inserted.has(i)) {
                entries.put(sameLength.get(i), new Entry(sameLength.get(i), inserted.addresses()[i]));
            }
        }
    }

    private InsertResult tryInsert(EndpointAddress address) {
        try {
            return InsertResult.of(insert(address));
        } catch (IllegalArgumentException | IllegalStateException | FabricException e) {
            return InsertResult.failed(e);
        }
    }

    /**
     * Inserts a peer that is known by names; fi_av_insertsvc. Blocks while names are looked up.
     *
     * @param node a host name or address of the provider's address family
     * @param service a port, or with a host name also a service name
     * @return the peer, to be named in operations
     * @throws IllegalArgumentException if one is no name
     * @throws UnsupportedOperationException if the provider does not look up names
     * @throws FabricException if there is no such name, or the provider refuses its address
     * @throws IllegalStateException if this vector is closed, or shared and full
     * @throws WrongThreadException if the threading model gives this vector's domain to another thread
     */
    public synchronized Peer insertService(String node, String service) {
        requireOpen();
        return insert(new AddressLookup(domain.handle(), domain.info(), node, service).one());
    }

    /**
     * Inserts peers at numbers in a row; fi_av_insertsym.
     *
     * @param node the first node's address, in numbers
     * @param nodes how many nodes, at least 1
     * @param service the first port of each
     * @param services how many ports, at least 1
     * @return for the ports of the first node, then of the second and so on, its peer, or why there is none. The provider
     *         {@code sockets} does not tell which addresses it refuses: with it, reasons stand last
     * @throws IllegalArgumentException if these are no such numbers, or more than 65,535 in all
     * @throws UnsupportedOperationException if the provider does not offer it
     * @throws FabricException if there is no peer at all
     * @throws IllegalStateException if this vector is closed
     * @throws WrongThreadException if the threading model gives this vector's domain to another thread
     */
    public synchronized List<InsertResult> insertSymmetric(String node, int nodes, String service, int services) {
        requireOpen();
        AddressLookup names = new AddressLookup(domain.handle(), domain.info(), node, service);
        return names.symmetric(nodes, services).stream()
                .map(found -> found.map(this::tryInsert).orElseGet(() -> InsertResult.failed(names.unresolved(0))))
                .toList();
    }

    /**
     * {@return the address of a peer, as the provider knows it; fi_av_lookup}
     *
     * @param peer one of this vector's
     * @throws IllegalArgumentException if it is another vector's, or was removed
     * @throws FabricException if the provider does not tell
     * @throws IllegalStateException if this vector is closed
     * @throws WrongThreadException if the threading model gives this vector's domain to another thread
     */
    public synchronized EndpointAddress address(Peer peer) {
        requireOpen();
        requireHere(peer);
        AvOps.Found found = AvOps.fi_av_lookup(handle, peer.entry.fabricAddress);
        if (found.status() == -Errno.ENODATA || domain.quirks.has(Fact.LOOKUP_INEXACT)) {
            return peer.entry.address;
        }
        Status.check(found.status(), "fi_av_lookup", provider());
        return EndpointAddress.of(found.address(), domain.info().addressFormat());
    }

    private void requireHere(Peer peer) {
        if (peer.vector != this || peer.removed) {
            throw new IllegalArgumentException(peer + " is not in this address vector");
        }
    }

    /**
     * {@return the peer behind a completion's source; the one inserted last, where its address was inserted several times}
     * Where every nanosecond counts, compare the source with {@link Peer#fabricAddress} instead.
     *
     * @param source as a {@link DetailedCompletionHandler} learns it; {@link Peer#ADDRESS_NOT_AVAILABLE} is nobody's
     * @throws IllegalStateException if this vector is closed
     * @throws WrongThreadException if the threading model gives this vector's domain to another thread
     */
    public synchronized Optional<Peer> peer(long source) {
        requireOpen();
        return Optional.ofNullable(sources.get(source)).map(entry -> entry.latest);
    }

    /**
     * Removes a peer; fi_av_remove. Operations to it must have completed.
     *
     * @param peer one of this vector's
     * @throws IllegalArgumentException if it is another vector's, or removed already
     * @throws FabricException if the provider refuses
     * @throws IllegalStateException if this vector is closed
     * @throws WrongThreadException if the threading model gives this vector's domain to another thread
     */
    public synchronized void remove(Peer peer) {
        requireOpen();
        requireHere(peer);
        peer.refuse();
        if (!domain.quirks.has(Fact.REMOVED_PEERS_STAY) && --peer.entry.peers == 0) {
            domain.queues.awaitPosts();
            removeNatively(peer.entry);
        }
    }

    /**
     * Makes libfabric forget an endpoint that is about to be closed, and that operations are refused to already. It may be known
     * though nobody inserted it: some providers take in whoever sends something. Only a known one can be removed.
     */
    private synchronized void forget(EndpointAddress address) {
        if (gone) {
            return;
        }
        Entry entry = entries.get(address);
        if (entry != null) {
            removeNatively(entry);
            if (Arrays.equals(domain.quirks.spelling(address), address.toBytes())) {
                return;
            }
        }
        give();
        AvOps.Inserted inserted = AvOps.fi_av_insert(handle, List.of(address.toBytes()));
        if (inserted.has(0)) {
            removeNatively(new Entry(address, inserted.addresses()[0]));
        }
    }

    private void removeNatively(Entry entry) {
        entries.remove(entry.address);
        sources.remove(entry.fabricAddress);
        if (places != null) {
            places.free();
        }
        if (attributes.isReadOnly()) { // it stays in the table that another process has
            return;
        }
        Status.check(domain.quirks.removePeer(handle, entry.address, entry.fabricAddress), "fi_av_remove", provider());
    }

    private void give() {
        if (places != null) {
            places.give();
        }
    }

    /**
     * {@return an address as text; fi_av_straddr}
     *
     * @param address one of this provider's
     * @throws IllegalArgumentException if the address is none of this provider's
     * @throws IllegalStateException if this vector is closed
     * @throws WrongThreadException if the threading model gives this vector's domain to another thread
     */
    public synchronized String toText(EndpointAddress address) {
        requireOpen();
        AddressFormats.require(domain.info(), address);
        return AvOps.fi_av_straddr(handle, address.toBytes());
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
     * @throws WrongThreadException if the threading model gives this vector's domain to another thread
     */
    @Override
    public void close() {
        synchronized (this) {
            if (closed) {
                return;
            }
            domain.checkThread();
            endpoints.requireNone(this);
            closed = true;
        }
        domain.forget(this);
        domain.quirks.vectorClosed(view); // outside the monitor: it may close endpoints of other domains
        int status = domain.closes.close(this::closeNatively);
        Status.check(status, "fi_close(address vector)", provider());
    }

    private synchronized int closeNatively() {
        gone = true;
        return FidOps.fi_close(handle);
    }

    @Override
    public String toString() {
        return "AddressVector of " + provider();
    }
}
