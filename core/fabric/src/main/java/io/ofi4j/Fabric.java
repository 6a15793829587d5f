package io.ofi4j;

import io.ofi4j.errors.FabricException;
import io.ofi4j.info.EndpointType;
import io.ofi4j.info.EventQueueAttributes;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.info.MemoryRegionMode;
import io.ofi4j.info.ThreadingModel;
import io.ofi4j.internal.engine.CloseOrder;
import io.ofi4j.internal.engine.FabricLock;
import io.ofi4j.internal.engine.LifeCycle;
import io.ofi4j.internal.engine.NativeFabricInfo;
import io.ofi4j.internal.engine.OpenChildren;
import io.ofi4j.internal.engine.StackRoom;
import io.ofi4j.internal.ffi.FabricOps;
import io.ofi4j.internal.ffi.FidOps;
import io.ofi4j.internal.ffi.Handle;
import io.ofi4j.internal.ffi.OpenResult;
import io.ofi4j.internal.observe.LeakReport;
import io.ofi4j.internal.observe.LockOrder;
import io.ofi4j.internal.os.Blocker;
import io.ofi4j.internal.os.Errno;
import io.ofi4j.internal.quirks.Fact;
import io.ofi4j.internal.quirks.Status;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A network, or its software substitute; fi_fabric(3). Opened by {@link Libfabric#openFabric}. It opens domains, event
 * queues and passive endpoints, which the caller closes before this fabric. Any thread may call any method. Methods
 * that make a C call throw IllegalStateException once this is closed, and FabricException if libfabric reports an
 * error.
 */
public final class Fabric implements AutoCloseable {
    /** Runs the closes of this fabric's children in a safe order. */
    final CloseOrder closes = new CloseOrder();
    final FabricLock lock = new FabricLock();
    /**
     * Objects that are closed in Java, and in libfabric only with this fabric: passive endpoints, each followed by its
     * queue.
     */
    final Deque<Handle> retired = new ConcurrentLinkedDeque<>();

    private final Handle handle;
    private final FabricInfo info;
    private final OpenChildren children = OpenChildren.owned();
    /** Replaced in each change, inside the monitor of {@link #retired}. */
    private volatile EventQueue[] eventQueues = {};
    private final LifeCycle lifeCycle = new LifeCycle();

    Fabric(Handle handle, FabricInfo info) {
        this.handle = handle;
        this.info = info;
        Blocker.retain();
    }

    /** A snapshot of the open domains. */
    Stream<Domain> domains() { return children.all(Domain.class); }

    /** {@return the info that this fabric was opened with} */
    public FabricInfo info() { return info; }

    /** As {@link #openDomain(FabricInfo)}, with the info that this fabric was opened with. */
    public Domain openDomain() {
        return openDomain(info);
    }

    /**
     * Opens a domain: the resources of one device; fi_domain(3). With {@link ThreadingModel#DOMAIN} the calling thread
     * becomes its owner.
     *
     * @param domainInfo an info of the same fabric
     * @throws IllegalArgumentException if the info is of another provider or fabric
     * @throws UnsupportedOperationException if the provider demands a {@link MemoryRegionMode} that ofi4j does not
     *         handle, if the info has automatic data progress and the provider would end the process with it, or if an
     *         environment variable has a value with which the provider ends the process or stops; see
     *         {@code core/guide/REFUSALS.md} and {@code core/guide/providers/all.md}
     */
    public synchronized Domain openDomain(FabricInfo domainInfo) {
        beginOpen();
        requireHandled(domainInfo);
        NativeFabricInfo found = NativeFabricInfo.requireSameFabric(domainInfo, info);
        found.chosenQuirks().beforeDomain(found.identity());
        Domain domain;
        try {
            OpenResult out = lock.locked(() -> FabricOps.fi_domain(handle, found.handle()));
            Status.check(out.status(), "fi_domain", domainInfo.provider());
            domain = out.adopt(opened -> new Domain(this, opened, domainInfo), FidOps::fi_close);
        } catch (Throwable t) {
            found.chosenQuirks().domainClosed();
            throw t;
        }
        return children.adopt(domain);
    }

    /** As {@link #openEventQueue(EventQueueAttributes)}, with the provider's preferences and without a wait object. */
    public EventQueue openEventQueue() {
        return openEventQueue(EventQueueAttributes.defaults());
    }

    /**
     * Opens an event queue; fi_eq_open, fi_eq(3).
     *
     * @throws UnsupportedOperationException if the provider has no event queues, or none with that wait object
     */
    public synchronized EventQueue openEventQueue(EventQueueAttributes attributes) {
        beginOpen();
        EventQueue queue = children.adopt(EventQueue.open(this, handle, attributes));
        synchronized (retired) {
            eventQueues = Stream.concat(Arrays.stream(eventQueues), Stream.of(queue)).toArray(EventQueue[]::new);
        }
        return queue;
    }

    private static void requireHandled(FabricInfo info) {
        List<MemoryRegionMode> lacking = info.domain().memoryRegionMode().stream().filter(mode -> !mode.isHandled())
                .toList();
        if (!lacking.isEmpty()) {
            throw new UnsupportedOperationException("provider " + info.provider() + " requires the registration modes "
                    + lacking + ", which this release does not handle: choose another provider");
        }
    }

    /**
     * Makes progress on the other event queues: if one thread has both ends of a connection, a provider may need
     * progress on both.
     */
    void progressOthers(EventQueue waiting) {
        for (EventQueue queue : eventQueues) {
            if (queue != waiting) { queue.tryProgress(); }
        }
    }

    /** Whether this fabric has another event queue which lacks progress unless the calling thread makes it. */
    boolean hasUnattended(EventQueue waiting) {
        for (EventQueue queue : eventQueues) {
            if (queue != waiting && queue.needsCaller()) { return true; }
        }
        return false;
    }

    /**
     * Opens an endpoint that listens for connections; fi_passive_ep, fi_endpoint(3).
     *
     * @param endpointInfo an info of the same fabric, of type {@link EndpointType#MSG}, with the address to listen at
     *         as its source
     * @throws IllegalArgumentException if the info is of another type, provider or fabric
     * @throws UnsupportedOperationException if the provider has no passive endpoints
     */
    public synchronized PassiveEndpoint openPassiveEndpoint(FabricInfo endpointInfo) {
        beginOpen();
        if (endpointInfo.endpoint().type() != EndpointType.MSG) {
            throw new IllegalArgumentException(
                    "a passive endpoint is of type MSG, not " + endpointInfo.endpoint().type());
        }
        return children.adopt(PassiveEndpoint.open(this, endpointInfo));
    }

    /**
     * {@return the provider's own operations of this fabric, by the name in the provider's man page; fi_open_ops,
     * fi_domain(3)} It is a table of function pointers, a struct that the provider owns and that its headers declare.
     * The segment has length 0: give it the struct's length with {@link MemorySegment#reinterpret(long)}, a restricted
     * method, and call the functions with a {@link java.lang.foreign.Linker}. ofi4j checks nothing of these calls. The
     * table must not be used once this fabric is closed.
     *
     * @param name as the provider's header defines it
     * @throws IllegalArgumentException if the name is empty or has a zero character
     * @throws UnsupportedOperationException if the provider has no operations of that name
     */
    public synchronized MemorySegment operations(String name) {
        requireOpen();
        return ProviderOperations.open(handle, name);
    }

    /**
     * {@return whether a thread may block on the wait descriptors of all these objects now; fi_trywait, fi_poll(3)} If
     * not, read the objects first. Call it before each wait; see {@link Waitable#tryWait}.
     */
    public boolean tryWait(Waitable... objects) {
        boolean all = true;
        for (Waitable object : objects) {
            all &= object.tryWait();
        }
        return all;
    }

    Handle handle() { return handle; }

    /** Begins a call that opens something. */
    private void beginOpen() {
        StackRoom.require();
        requireOpen();
    }

    private void requireOpen() {
        assert LockOrder.taken(LockOrder.Rank.FABRIC, this);
        lifeCycle.requireOpen(this);
    }

    boolean isClosed() { return !lifeCycle.isOpen(); }

    boolean hasChildren() { return !children.isEmpty(); }

    /** Closes the open children for a scope: domains first, since their endpoints need the other children. */
    void closeChildren(ScopeClose close) {
        List<AutoCloseable> open = children.all(AutoCloseable.class).collect(Collectors.toList()).reversed();
        open.sort(Comparator.comparing(child -> !(child instanceof Domain)));
        close.closeAll(open);
    }

    void forget(Object child) {
        children.remove(child);
        if (!(child instanceof EventQueue)) { return; }
        synchronized (retired) {
            eventQueues = Arrays.stream(eventQueues).filter(queue -> queue != child).toArray(EventQueue[]::new);
        }
    }

    /**
     * Closes the fabric; fi_close, fi_fabric(3). After FabricException it is closed. EBUSY of a provider that is known
     * to miscount its regions is not reported: libfabric then keeps the fabric until the process ends.
     *
     * @throws IllegalStateException if an object opened by it is open; the message names it, and the fabric stays open
     */
    @Override
    public void close() {
        StackRoom.require();
        synchronized (this) {
            if (!lifeCycle.mayClose()) { return; }
            children.requireNone(this);
            lifeCycle.begin();
        }
        int status = lifeCycle.finish(() -> closes.close(this::closeNatively));
        LeakReport.closed(this);
        OpenObjects.closed(this);
        boolean seemsBusy = status == -Errno.EBUSY
                && NativeFabricInfo.of(info).chosenQuirks().has(Fact.FABRICS_SEEM_BUSY);
        if (!seemsBusy) { Status.check(status, "fi_close(fabric)", info.provider()); }
    }

    private int closeNatively() {
        if (!lifeCycle.beginNativeClose()) { return 0; }
        Blocker.release();
        retired.forEach(FidOps::fi_close);
        return FidOps.fi_close(handle);
    }

    @Override
    public String toString() { return "Fabric " + info.fabric().name() + " of " + info.provider(); }
}
