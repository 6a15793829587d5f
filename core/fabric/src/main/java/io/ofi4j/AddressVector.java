package io.ofi4j;

import io.ofi4j.errors.FabricException;
import io.ofi4j.info.AddressVectorAttributes;
import io.ofi4j.info.AddressVectorType;
import io.ofi4j.info.Capability;
import io.ofi4j.info.EndpointAddress;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.info.ThreadingModel;
import io.ofi4j.internal.engine.AddressFormats;
import io.ofi4j.internal.engine.AddressLookup;
import io.ofi4j.internal.engine.LifeCycle;
import io.ofi4j.internal.engine.OpenChildren;
import io.ofi4j.internal.engine.StackRoom;
import io.ofi4j.internal.engine.ThreadGuard;
import io.ofi4j.internal.ffi.AvOps;
import io.ofi4j.internal.ffi.DomainOps;
import io.ofi4j.internal.ffi.FidOps;
import io.ofi4j.internal.ffi.Handle;
import io.ofi4j.internal.ffi.OpenResult;
import io.ofi4j.internal.observe.LockOrder;
import io.ofi4j.internal.os.Errno;
import io.ofi4j.internal.quirks.Fact;
import io.ofi4j.internal.quirks.PeerSlots;
import io.ofi4j.internal.quirks.Status;
import io.ofi4j.internal.quirks.VectorView;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * The peers that endpoints can reach; fi_av(3). Opened by {@link Domain#openAddressVector}. A program binds it to
 * endpoints before it enables them.
 *
 * <p>The {@link ThreadingModel} of the domain decides which threads may call it; others get
 * {@link WrongThreadException}. Except for accessors, every method throws {@link IllegalStateException} once the vector
 * is closed, and {@link FabricException} if libfabric reports an error. Methods that take an {@link EndpointAddress}
 * throw {@link IllegalArgumentException} for an address of another format than the provider's. An insertion or removal
 * waits until no other thread is in a call on an endpoint of this vector.
 */
public final class AddressVector implements AutoCloseable {
    /** The error numbers with which providers say that they do not look up an address, or this one. */
    private static final Set<Integer> NO_LOOKUP = Set.of(Errno.ENODATA, Errno.ENOSYS, Errno.EOPNOTSUPP);

    private final Domain domain;
    private final Handle handle;
    private final AddressVectorAttributes attributes;
    /** What needs this vector: endpoints bound to it, and lookups of names under way. */
    private final OpenChildren endpoints = new OpenChildren();
    /** The guards that each insertion enters; null if an endpoint was enabled or closed since they were collected. */
    private CallGuards guards;
    private final Map<EndpointAddress, Peer.Entry> entries = new HashMap<>();
    /** What has each number that libfabric or the application has chosen. */
    private final Map<Long, Peer.Entry> sources = new HashMap<>();
    /** Queues whose endpoints were enabled while this vector was empty; see {@link #prepare}. */
    private final Set<CompletionQueue> prepared = new HashSet<>();
    /** Null if the provider does not limit peers. */
    private final PeerSlots slots;
    private final VectorView view = new View();
    private final LifeCycle lifeCycle = new LifeCycle();
    /** Why the provider inserts only while the endpoint is open that was bound last; null where it always does. */
    private final String endpointRefusal;
    /** The endpoint that was bound natively last, or null once the provider has closed it. */
    private volatile Endpoint boundLast;
    /** Whether nothing was inserted yet, and the number 0 must not be a peer's. */
    private boolean needsPlaceholder;
    /** Whether an endpoint has joined a group of peers. */
    private volatile boolean hasGroups;

    AddressVector(Domain domain, Handle handle, AddressVectorAttributes attributes) {
        this.domain = domain;
        this.handle = handle;
        this.attributes = attributes;
        this.slots = domain.quirks.peerSlots();
        this.endpointRefusal = domain.quirks.refusal(Fact.INSERTS_NEED_ENDPOINT);
        this.needsPlaceholder = handle != null && domain.info().capabilities().contains(Capability.SOURCE)
                && domain.quirks.has(Fact.UNKNOWN_SOURCES_ARE_ZERO);
    }

    /** Opens a vector. Rejects attributes that a provider would misinterpret. */
    static AddressVector open(Domain domain, AddressVectorAttributes attributes) {
        FabricInfo info = domain.info();
        AddressVectorType type = type(info, attributes.type());
        requireShareable(info, attributes);
        DomainOps.OpenedVector opened = DomainOps.fi_av_open(domain.handle(),
                new DomainOps.VectorAttributes(type.value(), domain.quirks.vectorCount(attributes.count()),
                        attributes.endpointsPerNode(), attributes.receiveContextBits(), attributes.name().orElse(null),
                        attributes.isReadOnly(), attributes.isSymmetric()));
        OpenResult out = opened.result();
        if (out.status() == -Errno.ENOSYS) {
            throw new UnsupportedOperationException("fi_av_open is not offered by the provider " + info.provider()
                    + ": bind an event queue to its endpoints and connect them");
        }
        Status.check(out.status(), "fi_av_open", info.provider());
        AddressVectorType known = type == AddressVectorType.UNSPECIFIED ? known(opened.type()) : type;
        return out.adopt(handle -> new AddressVector(domain, handle, attributes.type(known)), FidOps::fi_close);
    }

    private static AddressVectorType known(int type) {
        AddressVectorType known = AddressVectorType.of(type);
        return known == AddressVectorType.OTHER ? AddressVectorType.UNSPECIFIED : known;
    }

    private static AddressVectorType type(FabricInfo info, AddressVectorType wanted) {
        AddressVectorType theirs = known(info.domain().addressVectorType().value());
        if (wanted == AddressVectorType.UNSPECIFIED) { return theirs; }
        if (theirs != AddressVectorType.UNSPECIFIED && wanted != theirs) {
            throw new UnsupportedOperationException(
                    "this domain of provider " + info.provider() + " has address vectors of type " + theirs + ", not "
                            + wanted + ": request the type with FabricHints.attributes");
        }
        return wanted;
    }

    private static void requireShareable(FabricInfo info, AddressVectorAttributes attributes) {
        if (attributes.name().isEmpty()) {
            if (attributes.isReadOnly()) {
                throw new IllegalArgumentException("a read-only address vector needs the name of a shared one");
            }
            return;
        }
        if (!info.capabilities().contains(Capability.SHARED_AV)
                && !info.domain().capabilities().contains(Capability.SHARED_AV)) {
            throw new UnsupportedOperationException(
                    "address vectors shared between processes are not offered by the provider " + info.provider());
        }
        if (attributes.count() == 0) {
            throw new IllegalArgumentException("a shared address vector needs a count of addresses");
        }
    }

    /** This vector, as the provider's quirks see it. */
    private final class View implements VectorView {
        @Override
        public boolean knows(EndpointAddress address) {
            synchronized (AddressVector.this) {
                assert LockOrder.taken(LockOrder.Rank.VECTOR, AddressVector.this);
                return entries.containsKey(address);
            }
        }

        @Override
        public boolean admitsCaller() { return domain.guard.admits(Thread.currentThread()); }

        @Override
        public void forget(EndpointAddress address) {
            domain.queues.locked(AddressVector.this, () -> forgetLocked(address));
        }

        @Override
        public boolean isClosed() { return !lifeCycle.isOpen(); }
    }

    VectorView view() { return view; }

    /**
     * Stops native removals: a provider sends to the members of a group without checking that they are still in the
     * vector.
     */
    void noteGroup() { hasGroups = true; }

    /** {@return the attributes that this vector was opened with} */
    public AddressVectorAttributes attributes() {
        return attributes;
    }

    Handle handle() { return handle; }

    Domain domain() { return domain; }

    /** Whether it belongs to a connected endpoint and has no native vector. */
    boolean isConnectionOriented() {
        return handle == null;
    }

    OpenChildren endpoints() { return endpoints; }

    synchronized void bind(Object endpoint) {
        requireOpen();
        boolean isFirst = endpoints.all(Object.class).allMatch(AddressLookup.class::isInstance);
        if (slots != null && isFirst) { slots.reset(entries.size()); }
        endpoints.add(endpoint);
    }

    /** Records that an endpoint is bound natively; inside the fabric's lock, as {@link #closedNatively}. */
    void boundNatively(Endpoint endpoint) {
        boundLast = endpoint;
    }

    /** Records that an endpoint is about to be closed natively. */
    void closedNatively(Endpoint endpoint) {
        if (boundLast == endpoint) { boundLast = null; }
    }

    /** Whether the provider would use an endpoint that there is not. */
    private boolean lacksEndpoint() {
        return endpointRefusal != null && boundLast == null;
    }

    /**
     * Checks that an endpoint with this queue may be enabled. With COMPLETION, tcp of libfabric 2.x gives each queue an
     * incomplete copy of the vector's addresses: the first operation to a copied peer, or its removal, crashes the
     * process.
     */
    synchronized void prepare(CompletionQueue queue) {
        if (!prepared.contains(queue) && !entries.isEmpty()) {
            throw new IllegalStateException(domain.quirks.refusal(Fact.QUEUE_DOMAINS_COPY_PEERS));
        }
        prepared.add(queue);
    }

    /**
     * Inserts a peer; fi_av_insert, fi_av(3). The peer need not exist yet, unless the provider looks for it; then
     * FabricException has errno {@code ENOENT} (2). The same address may be inserted several times: each call returns
     * another {@link Peer}.
     *
     * @param address the address of its endpoint, from {@link Endpoint#address}
     * @return the peer, for use in operations
     * @throws IllegalStateException if the vector is shared and full; if the provider has no further place for a peer
     *         (the notes in {@code core/guide/providers} say how many places it has), or needs an enabled endpoint for
     *         the insertion
     */
    public Peer insert(EndpointAddress address) {
        return domain.queues.locked(this, () -> {
            requireOpen();
            AddressFormats.requireForVector(domain.info(), address);
            if (lacksEndpoint()) { throw new IllegalStateException(endpointRefusal); }
            return domain.quirks.insert(address, view, () -> insertLocked(address), Peer::refuse);
        });
    }

    /**
     * Changes the vector natively while no thread is in a call on its endpoints: some providers visit them without a
     * lock, or take locks in another order than polls do. Called inside the fabric's lock.
     */
    private <R> R callNatively(Supplier<R> call) {
        if (guards == null) { guards = CallGuards.of(enabledEndpoints()); }
        return guards.insideAll(call);
    }

    /**
     * {@return the result of an action during which no thread is in a call on an endpoint of this vector, nor on this
     * endpoint, which is being enabled or closed} Called inside the fabric's lock.
     */
    <R> R insideGuards(EndpointBindings changing, Supplier<R> action) {
        guards = null;
        return CallGuards.of(Stream.concat(Stream.of(changing), enabledEndpoints())).insideAll(action);
    }

    private Stream<EndpointBindings> enabledEndpoints() {
        Stream<Endpoint> contexts = endpoints.all(ScalableEndpoint.class).flatMap(ScalableEndpoint::contexts);
        return Stream.concat(endpoints.all(Endpoint.class), contexts).filter(Endpoint::wasEnabled)
                .map(one -> one.bindings);
    }

    /** The queues and counters whose guards are entered by calls on some endpoints, each once. */
    private record CallGuards(List<CompletionQueue> queues, List<Counter> counters) {
        static CallGuards of(Stream<EndpointBindings> endpoints) {
            List<EndpointBindings> all = endpoints.toList();
            return new CallGuards(all.stream().flatMap(one -> one.queues().stream()).distinct().toList(),
                    all.stream().flatMap(one -> one.counters.all().stream()).distinct().toList());
        }

        <R> R insideAll(Supplier<R> action) {
            return ThreadGuard.insideAll(queues, queue -> queue.guard.enterFromAnyThread(),
                    () -> ThreadGuard.insideAll(counters, Counter::enterWithoutWaiters, action));
        }
    }

    private Peer insertLocked(EndpointAddress address) {
        Peer.Entry entry = entries.get(address);
        if (entry == null) {
            requireRoom();
            insertPlaceholder(address);
            byte[] nativeAddress = domain.quirks.nativeAddress(address);
            AvOps.Inserted inserted = insertNatively(nativeAddress);
            if (!inserted.has(0)) { throw Status.exception(-inserted.error(0), "fi_av_insert", provider()); }
            entry = new Peer.Entry(address, inserted.addresses()[0], !Arrays.equals(nativeAddress, address.toBytes()));
            entries.put(address, entry);
        }
        return peerOf(entry);
    }

    private Peer peerOf(Peer.Entry entry) {
        Peer peer = new Peer(this, entry);
        entry.peers.add(peer);
        sources.put(entry.fabricAddress, entry);
        return peer;
    }

    private void insertPlaceholder(EndpointAddress first) {
        if (!needsPlaceholder) { return; }
        AvOps.Inserted inserted = insertNatively(domain.quirks.placeholder(first));
        if (!inserted.has(0)) { throw Status.exception(-inserted.error(0), "fi_av_insert", provider()); }
        needsPlaceholder = false;
    }

    /**
     * {@return the peer that another process has inserted into this shared, read-only vector as number
     * {@code index}; fi_av_lookup, fi_av(3)} Peers are numbered from 0, in the order of insertion. The number of a peer
     * is the same in all processes, so that none need exchange addresses.
     *
     * @param index 0 or more
     * @throws IndexOutOfBoundsException if the vector has no such address, or no process has inserted it yet
     * @throws IllegalStateException if this vector is not {@link AddressVectorAttributes#readOnly}: insert the address
     */
    public Peer sharedPeer(int index) {
        return domain.queues.locked(this, () -> {
            requireOpen();
            if (!attributes.isReadOnly()) {
                throw new IllegalStateException(this + " is not read-only: insert the address");
            }
            AvOps.Found found = index < 0 || index >= attributes.count() ? null : AvOps.fi_av_lookup(handle, index);
            if (found == null || found.status() != 0 || isBlank(found.address())) {
                throw new IndexOutOfBoundsException(this + " has no address " + index);
            }
            EndpointAddress address = EndpointAddress.of(found.address(), domain.info().addressFormat());
            return peerOf(entries.computeIfAbsent(address, its -> new Peer.Entry(its, index, false)));
        });
    }

    /** Whether a place of the table was never filled. */
    private static boolean isBlank(byte[] address) {
        for (byte one : address) {
            if (one != 0) { return false; }
        }
        return true;
    }

    /** Refuses to grow a shared vector: the provider would keep a stale pointer into its table. */
    private void requireRoom() {
        if (attributes.name().isPresent() && entries.size() >= attributes.count()) {
            throw new IllegalStateException("the shared " + this + " already has all " + attributes.count()
                    + " addresses it was opened for: open it with a larger count");
        }
        if (slots != null) { slots.requireSafe(entries.keySet(), this); }
    }

    /**
     * Inserts several peers; fi_av_insert, fi_av(3). The provider gets all new addresses in one call where their format
     * allows that, and then one by one those that it refused.
     *
     * @param addresses the addresses of their endpoints
     * @return for each address its peer, or the exception that {@link #insert} would have thrown
     */
    public List<InsertResult> insertAll(List<EndpointAddress> addresses) {
        requireOpen();
        List<EndpointAddress> all = new ArrayList<>(addresses); // the caller's list may return other elements each time
        all.forEach(address -> Objects.requireNonNull(address, "one of the addresses is null"));
        return domain.queues.locked(this, () -> {
            requireOpen();
            insertTogether(all.stream().filter(this::isNewAndSafe).distinct().toList());
            return all.stream().map(this::tryInsert).toList();
        });
    }

    private boolean isNewAndSafe(EndpointAddress address) {
        return !entries.containsKey(address) && attributes.name().isEmpty() && !lacksEndpoint()
                && AddressFormats.isSafeAmongOthers(domain.info(), address);
    }

    private void insertTogether(List<EndpointAddress> addresses) {
        List<EndpointAddress> sameLength = addresses.stream()
                .filter(address -> address.toBytes().length == addresses.getFirst().toBytes().length).toList();
        if (sameLength.size() < 2) { return; }
        insertPlaceholder(sameLength.getFirst());
        AvOps.Inserted inserted = callNatively(
                () -> AvOps.fi_av_insert(handle, sameLength.stream().map(EndpointAddress::toBytes).toList()));
        for (int i = 0; i < inserted.status() && i < sameLength.size(); i++) {
            // a provider may report nothing beyond status
            if (inserted.has(i)) {
                entries.put(sameLength.get(i), new Peer.Entry(sameLength.get(i), inserted.addresses()[i], false));
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
     * Inserts a peer by host and service name; fi_av_insertsvc, fi_av(3). Blocks during the name lookup.
     *
     * @param node a host name, or an address of the provider's address family
     * @param service a port; with a host name also a service name
     * @return the peer, for use in operations
     * @throws IllegalArgumentException if a name is malformed
     * @throws UnsupportedOperationException if the provider does not look up names
     * @throws IllegalStateException as {@link #insert}
     */
    public Peer insertService(String node, String service) {
        requireOpen();
        AddressLookup names = new AddressLookup(domain.handle(), domain.info(), node, service);
        return insert(whileOpen(names, names::resolve));
    }

    /**
     * {@return the result of a lookup} The vector, and therefore its domain, stays open during it, as for an endpoint:
     * the lookup may take so long that no lock may be held.
     */
    private <R> R whileOpen(AddressLookup names, Supplier<R> lookup) {
        synchronized (this) {
            requireOpen();
            endpoints.add(names);
        }
        try {
            return lookup.get();
        } finally {
            endpoints.remove(names);
        }
    }

    /**
     * Inserts peers at consecutive node addresses and ports; fi_av_insertsym, fi_av(3).
     *
     * @param node the numeric address of the first node
     * @param nodes the number of nodes, at least 1
     * @param service the first port on each node
     * @param services the number of ports on each node, at least 1
     * @return for each port of the first node, then of the second and so on, its peer or the reason for the failure.
     *         Where the provider does not say which addresses it refused, failures come last
     * @throws IllegalArgumentException if an argument is not numeric or out of range, or there are more than 65,535
     *         peers
     * @throws UnsupportedOperationException if the provider does not offer it
     */
    public List<InsertResult> insertSymmetric(String node, int nodes, String service, int services) {
        requireOpen();
        AddressLookup names = new AddressLookup(domain.handle(), domain.info(), node, service);
        return whileOpen(names, () -> names.resolveSymmetric(nodes, services)).stream()
                .map(found -> found.map(this::tryInsert).orElseGet(() -> InsertResult.failed(names.unresolved(0))))
                .toList();
    }

    /**
     * {@return the address of a peer, as the provider stores it, or as it was inserted if the provider does not say;
     * fi_av_lookup}
     *
     * @param peer a peer of this vector
     * @throws IllegalArgumentException if the peer is of another vector, or was removed
     */
    public synchronized EndpointAddress address(Peer peer) {
        requireOpen();
        requireContained(peer);
        if (!isKnown(peer.entry) || domain.quirks.has(Fact.LOOKUP_INEXACT)) { return peer.entry.address; }
        AvOps.Found found = AvOps.fi_av_lookup(handle, peer.entry.fabricAddress);
        if (NO_LOOKUP.contains(-found.status())) { return peer.entry.address; }
        Status.check(found.status(), "fi_av_lookup", provider());
        return EndpointAddress.of(found.address(), domain.info().addressFormat());
    }

    /**
     * {@return one receive context of a peer, as a target of operations; fi_rx_addr, fi_av(3)} The same object for the
     * same number. The peer itself is its context 0. Removing the peer removes its contexts.
     *
     * @param peer a peer of this vector whose endpoint is a {@link ScalableEndpoint}
     * @param index the number of the context, less than two to the power of
     *         {@link AddressVectorAttributes#receiveContextBits}
     * @throws IllegalArgumentException if the peer is of another vector, or was removed
     * @throws IndexOutOfBoundsException if the number does not fit into those bits
     */
    public synchronized Peer receiveContext(Peer peer, int index) {
        requireOpen();
        requireContained(peer);
        int bits = attributes.receiveContextBits();
        if (index < 0 || index >= 1 << bits) {
            throw new IndexOutOfBoundsException("receive context " + index + " does not fit into " + bits
                    + " bits: open the vector with more AddressVectorAttributes.receiveContextBits");
        }
        return peer.context(bits == 0 ? 0 : (long) index << Long.SIZE - bits);
    }

    /**
     * Gives a peer a number of the application's choice, which completions then have as their source;
     * fi_av_set_user_id, fi_av(3). {@link #peer} finds the peer by that number, too.
     *
     * @param peer a peer of this vector
     * @param id any number but {@link Peer#ADDRESS_NOT_AVAILABLE}; ofi4j does not check that it is the only one
     * @throws IllegalArgumentException if the peer is of another vector, was removed, or its endpoint is closed
     * @throws UnsupportedOperationException if the provider does not offer it, as few do: {@link Capability#AV_USER_ID}
     */
    public synchronized void userId(Peer peer, long id) {
        requireOpen();
        requireContained(peer);
        if (!domain.info().capabilities().contains(Capability.AV_USER_ID)
                && !domain.info().domain().capabilities().contains(Capability.AV_USER_ID)) {
            throw new UnsupportedOperationException("fi_av_set_user_id needs Capability.AV_USER_ID, which " + domain
                    + " lacks: ask for it in FabricHints, or for another provider");
        }
        if (!isKnown(peer.entry)) { throw new IllegalArgumentException("the endpoint of " + peer + " is closed"); }
        Status.checkOffered(AvOps.fi_av_set_user_id(handle, peer.entry.fabricAddress, id), "fi_av_set_user_id",
                provider());
        forgetUserId(peer.entry);
        peer.entry.userId = id;
        sources.put(id, peer.entry);
    }

    private void forgetUserId(Peer.Entry entry) { if (entry.userId != null) { sources.remove(entry.userId, entry); } }

    /**
     * Whether libfabric knows the address: not if the endpoint was of this process and is closed, over some providers.
     */
    private boolean isKnown(Peer.Entry entry) { return entries.get(entry.address) == entry; }

    private void requireContained(Peer peer) {
        if (peer.vector != this || peer.isRemoved()) {
            throw new IllegalArgumentException(peer + " is not in this address vector");
        }
    }

    /**
     * {@return the peer that caused a completion; if its address was inserted several times, the peer inserted last} It
     * looks in a map: on the data path, compare the source with {@link Peer#fabricAddress} instead.
     *
     * @param source from a {@link DetailedCompletionHandler}; {@link Peer#ADDRESS_NOT_AVAILABLE} matches no peer
     */
    public synchronized Optional<Peer> peer(long source) {
        requireOpen();
        Peer.Entry entry = sources.get(source);
        return entry == null || entry.peers.isEmpty() ? Optional.empty() : Optional.of(entry.peers.getLast());
    }

    /**
     * Removes a peer; fi_av_remove, fi_av(3). Operations to it must have completed. New ones throw
     * {@link IllegalStateException}. The peer's endpoint may be closed before.
     *
     * @param peer a peer of this vector
     * @throws IllegalArgumentException if the peer is of another vector, or was removed
     */
    public void remove(Peer peer) { domain.queues.locked(this, () -> removeLocked(peer)); }

    private void removeLocked(Peer peer) {
        requireOpen();
        requireContained(peer);
        if (peer.isContext()) {
            throw new IllegalArgumentException(peer + " is a receive context of a peer: remove that peer");
        }
        peer.remove();
        peer.entry.peers.remove(peer);
        if (!domain.quirks.has(Fact.REMOVED_PEERS_STAY) && peer.entry.peers.isEmpty() && isKnown(peer.entry)) {
            domain.queues.awaitPosts(); // joins hold the guard, too
            if (!hasGroups) { removeNatively(peer.entry); }
        }
    }

    /**
     * Has libfabric forget the address of an endpoint that is about to close. Operations to it are refused already.
     * Some providers learn the address of a sender by themselves. An unknown address is therefore inserted first: only
     * inserted addresses can be removed.
     */
    private void forgetLocked(EndpointAddress address) {
        if (lifeCycle.isClosedNatively()) { return; }
        Peer.Entry entry = entries.get(address);
        if (entry != null) {
            removeNatively(entry);
            if (Arrays.equals(domain.quirks.nativeAddress(address), address.toBytes())) { return; }
        }
        AvOps.Inserted inserted = insertNatively(address.toBytes());
        if (inserted.has(0)) { removeNatively(new Peer.Entry(address, inserted.addresses()[0], false)); }
    }

    private void removeNatively(Peer.Entry entry) {
        entries.remove(entry.address);
        sources.remove(entry.fabricAddress);
        forgetUserId(entry);
        if (slots != null) { slots.release(); }
        if (attributes.isReadOnly()) { return; } // another process owns the table
        if (lacksEndpoint()) { return; } // the peer went with it
        Status.check(callNatively(() -> domain.quirks.removePeer(handle, entry.address, entry.fabricAddress)),
                "fi_av_remove", provider());
    }

    private AvOps.Inserted insertNatively(byte[] address) {
        if (slots != null) { slots.assign(); }
        return callNatively(() -> AvOps.fi_av_insert(handle, List.of(address)));
    }

    /**
     * {@return an address as text; fi_av_straddr}
     *
     * @param address an address of this provider
     */
    public synchronized String toText(EndpointAddress address) {
        requireOpen();
        AddressFormats.requireForVector(domain.info(), address);
        return AvOps.fi_av_straddr(handle, address.toBytes());
    }

    private void requireOpen() {
        assert LockOrder.takenIfHeld(LockOrder.Rank.VECTOR, this);
        domain.checkThread();
        lifeCycle.requireOpen(this);
    }

    private String provider() { return domain.info().provider(); }

    /**
     * Closes the vector; fi_close, fi_av(3). If endpoints bound to it are open, or another thread inserts by names, it
     * throws {@link IllegalStateException}, which names them, and stays open. After FabricException of fi_close it is
     * closed. After any other exception it takes no calls but {@code close}, which continues.
     */
    @Override
    public void close() {
        StackRoom.require();
        synchronized (this) {
            if (!lifeCycle.mayClose()) { return; }
            domain.checkThread();
            endpoints.requireNone(this);
            lifeCycle.begin();
        }
        int closeStatus = lifeCycle.finish(() -> {
            domain.quirks.vectorClosed(view); // outside the monitor: it may close endpoints of other domains
            int status = domain.closes.close(this::closeNatively);
            domain.forget(this);
            return status;
        });
        Status.check(closeStatus, "fi_close(address vector)", provider());
    }

    private synchronized int closeNatively() { return lifeCycle.beginNativeClose() ? FidOps.fi_close(handle) : 0; }

    @Override
    public String toString() { return "AddressVector of " + provider(); }
}
