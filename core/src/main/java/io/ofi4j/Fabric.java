package io.ofi4j;

import io.ofi4j.info.EndpointType;
import io.ofi4j.info.EventQueueAttributes;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.info.MemoryRegionMode;
import io.ofi4j.info.ThreadingModel;
import io.ofi4j.internal.engine.CloseOrder;
import io.ofi4j.internal.engine.ClosedWithFabric;
import io.ofi4j.internal.engine.DomainListLock;
import io.ofi4j.internal.engine.FoundInfo;
import io.ofi4j.internal.engine.OpenChildren;
import io.ofi4j.internal.observe.LeakReport;
import io.ofi4j.internal.quirks.Quirks;
import io.ofi4j.internal.quirks.Status;
import io.ofi4j.internal.ffi.FidOps;
import io.ofi4j.internal.ffi.Handle;
import io.ofi4j.internal.ffi.Opened;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * A network, or what stands for one; fi_fabric(3). Opened by {@link Libfabric#openFabric}, opens domains, event
 * queues and passive endpoints. Any thread may
 * call anything here.
 */
public final class Fabric implements AutoCloseable {
    /** Closes what this fabric has opened. */
    final CloseOrder closes = new CloseOrder();

    private final Handle handle;
    private final FabricInfo info;
    private final OpenChildren children = OpenChildren.owned();
    private final List<EventQueue> eventQueues = new CopyOnWriteArrayList<>();
    private final ClosedWithFabric retired = new ClosedWithFabric();
    private final DomainListLock domainList;
    private boolean closed;

    Fabric(Handle handle, FabricInfo info) {
        this.handle = handle;
        this.info = info;
        this.domainList = new DomainListLock(handle);
    }

    /** {@return what it was opened with} */
    public FabricInfo info() {
        return info;
    }

    /**
     * Opens a domain with the info that this fabric was opened with; see {@link #openDomain(FabricInfo)}.
     *
     * @return the domain, to be closed by the caller before this fabric
     * @throws FabricException if the provider refuses
     * @throws UnsupportedOperationException if it demands of registrations what this release does not do, or if it is
     *         {@code verbs;ofi_rxm} with automatic data progress, which ends the process when a peer goes away
     * @throws IllegalStateException if this fabric is closed
     */
    public Domain openDomain() {
        return openDomain(info);
    }

    /**
     * Opens a domain: the resources of one device; fi_domain(3). With the threading model {@link ThreadingModel#DOMAIN}, the
     * calling thread becomes its owner.
     *
     * @param domainInfo what to open, from the same fabric
     * @return the domain, to be closed by the caller before this fabric
     * @throws FabricException if the provider refuses
     * @throws UnsupportedOperationException if it demands of registrations what this release does not do, or if it is
     *         {@code verbs;ofi_rxm} with automatic data progress, which ends the process when a peer goes away
     * @throws IllegalStateException if this fabric is closed
     */
    public synchronized Domain openDomain(FabricInfo domainInfo) {
        requireOpen();
        requireHandled(domainInfo);
        FoundInfo.of(domainInfo).chosenQuirks().beforeDomain(FoundInfo.of(domainInfo).identity());
        Opened out = domainList.open(FoundInfo.of(domainInfo).handle());
        Status.check(out.status(), "fi_domain", domainInfo.provider());
        Domain domain = new Domain(this, out.handle(), domainInfo);
        children.add(domain);
        return domain;
    }

    /**
     * Opens an event queue as the provider prefers it, without a wait object; see
     * {@link #openEventQueue(EventQueueAttributes)}.
     *
     * @return the queue, to be closed by the caller before this fabric
     * @throws FabricException if the provider refuses
     * @throws UnsupportedOperationException if the provider has no event queues
     * @throws IllegalStateException if this fabric is closed
     */
    public EventQueue openEventQueue() {
        return openEventQueue(EventQueueAttributes.defaults());
    }

    /**
     * Opens an event queue; fi_eq_open, fi_eq(3).
     *
     * @param attributes how
     * @return the queue, to be closed by the caller before this fabric
     * @throws FabricException if the provider refuses
     * @throws UnsupportedOperationException if the provider has no event queues, or not with that wait object
     * @throws IllegalStateException if this fabric is closed
     */
    public synchronized EventQueue openEventQueue(EventQueueAttributes attributes) {
        requireOpen();
        EventQueue queue = EventQueue.open(this, handle, attributes);
        children.add(queue);
        eventQueues.add(queue);
        return queue;
    }

    private static void requireHandled(FabricInfo info) {
        List<MemoryRegionMode> lacking = info.domain().memoryRegionMode().stream().filter(mode -> !mode.isHandled())
                .toList();
        if (!lacking.isEmpty()) {
            throw new UnsupportedOperationException("provider " + info.provider() + " demands of registrations "
                    + lacking + ", which this release does not handle");
        }
    }

    /**
     * Makes progress on the other event queues: where one thread has both ends of a connection, verbs needs the end that does not
     * wait.
     */
    void progressBeside(EventQueue waiting) {
        for (EventQueue queue : eventQueues) {
            if (queue != waiting) {
                queue.tryProgress();
            }
        }
    }

    /**
     * Opens an endpoint where peers ask for connections; fi_passive_ep, fi_endpoint(3).
     *
     * @param endpointInfo what to open, from the same fabric: of type {@link EndpointType#MSG}, and with the address to listen
     *        at as its source
     * @return the endpoint, to be closed by the caller before this fabric
     * @throws IllegalArgumentException if the info's type is not MSG
     * @throws FabricException if the provider refuses
     * @throws UnsupportedOperationException if the provider has no passive endpoints
     * @throws IllegalStateException if this fabric is closed
     */
    public synchronized PassiveEndpoint openPassiveEndpoint(FabricInfo endpointInfo) {
        requireOpen();
        if (endpointInfo.endpoint().type() != EndpointType.MSG) {
            throw new IllegalArgumentException(
                    "a passive endpoint is of type MSG, not " + endpointInfo.endpoint().type());
        }
        PassiveEndpoint endpoint = PassiveEndpoint.open(this, endpointInfo);
        children.add(endpoint);
        return endpoint;
    }

    /**
     * {@return whether a thread may block on the wait descriptors of all of these now; where not, something is there to be read
     * first} fi_trywait, fi_poll(3). To be asked each time before blocking.
     *
     * @param objects queues with wait descriptors
     * @throws IllegalStateException if one has no wait descriptor, or is closed
     * @throws WrongThreadException if the threading model gives one of them to another thread
     * @throws FabricException if libfabric reports an error
     */
    public boolean tryWait(Waitable... objects) {
        boolean all = true;
        for (Waitable object : objects) {
            all &= object.tryWait();
        }
        return all;
    }

    Handle handle() {
        return handle;
    }

    DomainListLock domainList() {
        return domainList;
    }

    ClosedWithFabric retired() {
        return retired;
    }

    private void requireOpen() {
        if (closed) {
            throw new IllegalStateException(this + " is closed");
        }
    }

    void forget(Object child) {
        children.remove(child);
        if (child instanceof EventQueue queue) {
            eventQueues.remove(queue);
        }
    }

    /**
     * Closes the fabric; fi_close.
     *
     * @throws IllegalStateException if anything opened from it is open; it is named
     * @throws FabricException if libfabric reports an error; the fabric counts as closed all the same
     */
    @Override
    public synchronized void close() {
        if (closed) {
            return;
        }
        children.requireNone(this);
        closed = true;
        LeakReport.closed(this);
        Status.check(closes.close(this::closeNatively), "fi_close(fabric)", info.provider());
    }

    private int closeNatively() {
        retired.close();
        return FidOps.fi_close(handle);
    }

    @Override
    public String toString() {
        return "Fabric " + info.fabric().name() + " of " + info.provider();
    }
}
