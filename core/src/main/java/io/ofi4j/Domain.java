package io.ofi4j;

import io.ofi4j.internal.DomainOps;
import io.ofi4j.internal.Errno;
import io.ofi4j.internal.FabricConstants;
import io.ofi4j.internal.FidOps;
import io.ofi4j.internal.Guard;
import io.ofi4j.internal.Handle;
import io.ofi4j.internal.InfoHandle;
import io.ofi4j.internal.Out;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * The resources of one device; fi_domain(3). Opened by {@link Fabric#openDomain()}, opens queues, address vectors and
 * endpoints, and registers memory. Threads: as its {@link ThreadingModel} says.
 */
public final class Domain implements AutoCloseable {
    private static final int MINIMUM_QUEUE_SIZE = 128;
    private static final int MAXIMUM_DEFAULT_QUEUE_SIZE = 4096;

    private final Fabric fabric;
    private final Handle handle;
    private final FabricInfo info;
    private final Guard guard;
    private final Children children = new Children();
    private final List<CompletionQueue> queues = new CopyOnWriteArrayList<>();
    private final List<MemoryRegion> closingRegions = new ArrayList<>();
    private volatile boolean regionsClosing;
    private int lastNumber;
    private boolean closed;

    Domain(Fabric fabric, Handle handle, FabricInfo info) {
        this.fabric = fabric;
        this.handle = handle;
        this.info = info;
        this.guard = info.domain().threading() == ThreadingModel.DOMAIN ? Guard.owned("DOMAIN") : Guard.exclusive();
    }

    /** {@return what it was opened with} */
    public FabricInfo info() {
        return info;
    }

    /**
     * Opens a completion queue of the size that the provider prefers; see {@link #openCompletionQueue(int)}.
     *
     * @return the queue, to be closed by the caller before this domain
     */
    public CompletionQueue openCompletionQueue() {
        return openCompletionQueue(Math.clamp(info.transmit().size(), MINIMUM_QUEUE_SIZE, MAXIMUM_DEFAULT_QUEUE_SIZE));
    }

    /**
     * Opens a completion queue; fi_cq_open, fi_cq(3). With the threading model {@link ThreadingModel#COMPLETION}, the
     * calling thread becomes its owner.
     *
     * @param size how many operations can be in flight on it, from 1 to 1,048,576
     * @return the queue, to be closed by the caller before this domain
     * @throws IllegalArgumentException if the size is out of range
     * @throws FabricException if the provider refuses
     * @throws IllegalStateException if this domain is closed
     */
    public synchronized CompletionQueue openCompletionQueue(int size) {
        requireOpen();
        if (size < 1 || size > CompletionQueue.MAXIMUM_SIZE) {
            throw new IllegalArgumentException(
                    "a completion queue has 1 to " + CompletionQueue.MAXIMUM_SIZE + " entries, not " + size);
        }
        // Room beside the operations of this process for what peers cause: their completion data.
        Out out = DomainOps.fi_cq_open(handle, 2L * size);
        FabricException.check(out.status(), "fi_cq_open", info.provider());
        CompletionQueue queue = CompletionQueue.adopt(this, out.handle(), size, queueGuard());
        children.add(queue);
        queues.add(queue);
        return queue;
    }

    private Guard queueGuard() {
        return switch (info.domain().threading()) {
            case DOMAIN -> guard;
            case COMPLETION -> Guard.ownedExclusive("COMPLETION");
            default -> Guard.exclusive();
        };
    }

    /**
     * Opens an address vector; fi_av_open, fi_av(3).
     *
     * @return the vector, to be closed by the caller before this domain
     * @throws UnsupportedOperationException if the provider has none, since its endpoints are connected
     * @throws FabricException if the provider refuses
     * @throws IllegalStateException if this domain is closed
     */
    public synchronized AddressVector openAddressVector() {
        requireOpen();
        int preferred = info.domain().addressVectorType();
        Out out = DomainOps.fi_av_open(handle, preferred == 0 ? FabricConstants.FI_AV_TABLE : preferred, 0);
        if (out.status() == -Errno.ENOSYS) {
            throw new UnsupportedOperationException("fi_av_open is not offered by the provider " + info.provider()
                    + ": bind an event queue to its endpoints, and connect them");
        }
        FabricException.check(out.status(), "fi_av_open", info.provider());
        AddressVector vector = new AddressVector(this, out.handle());
        children.add(vector);
        return vector;
    }

    /**
     * Opens an endpoint with the info that this domain was opened with; see {@link #openEndpoint(FabricInfo)}.
     *
     * @return the endpoint, to be closed by the caller before this domain
     */
    public Endpoint openEndpoint() {
        return openEndpoint(info);
    }

    /**
     * Opens an endpoint; fi_endpoint(3). It works once it was bound to a completion queue and an address vector, or an event
     * queue where it is connected (MSG), and enabled.
     *
     * @param endpointInfo what to open, for the same domain
     * @return the endpoint, to be closed by the caller before this domain
     * @throws FabricException if the provider refuses
     * @throws UnsupportedOperationException if the endpoint's type is neither RDM nor MSG
     * @throws IllegalArgumentException if the provider wants to know the destination of a MSG endpoint now, as verbs does, and the
     *         info has none
     * @throws IllegalStateException if this domain is closed
     */
    public synchronized Endpoint openEndpoint(FabricInfo endpointInfo) {
        requireOpen();
        EndpointType type = endpointInfo.endpoint().type();
        if (type != EndpointType.RDM && type != EndpointType.MSG) {
            throw new UnsupportedOperationException(
                    "endpoints of type " + type + " are not offered by this release; ask for EndpointType.RDM or MSG");
        }
        Verbs.requireDestination(endpointInfo);
        return openEndpoint(endpointInfo, endpointInfo.handle(), null);
    }

    /**
     * Opens an endpoint that accepts a connection request; fi_endpoint(3). It accepts once it was bound to a completion queue
     * and an event queue, and enabled.
     *
     * @param request of a passive endpoint of the same fabric, neither accepted nor rejected
     * @return the endpoint, to be closed by the caller before this domain
     * @throws IllegalArgumentException if the request came to another fabric
     * @throws FabricException if the provider refuses; the request is rejected then
     * @throws IllegalStateException if this domain is closed, or the request was accepted or rejected
     */
    public synchronized Endpoint openEndpoint(ConnectionRequest request) {
        requireOpen();
        if (request.passiveEndpoint().fabric != fabric) {
            throw new IllegalArgumentException(request + " came to another fabric");
        }
        InfoHandle taken = request.take();
        try {
            return openEndpoint(request.info(), taken, request);
        } catch (FabricException | UnsupportedOperationException e) {
            request.giveBack(false);
            throw e;
        }
    }

    private Endpoint openEndpoint(FabricInfo endpointInfo, InfoHandle infoHandle, ConnectionRequest request) {
        Out out = DomainOps.fi_endpoint(handle, Verbs.withReceives(endpointInfo, infoHandle));
        FabricException.check(out.status(), "fi_endpoint", endpointInfo.provider());
        Endpoint endpoint = new Endpoint(this, out.handle(), endpointInfo, nextNumber(), request);
        children.add(endpoint);
        return endpoint;
    }

    /**
     * Allocates zeroed, page-aligned memory and registers it; fi_mr_reg, fi_mr(3). It is freed when the region is closed.
     *
     * @param length how many bytes, at least 1
     * @param access what it may be used for, at least one right; nothing else is granted
     * @return the region, to be closed by the caller before this domain
     * @throws IllegalArgumentException if the length or the rights are out of range
     * @throws FabricException if the provider refuses
     * @throws IllegalStateException if this domain is closed
     */
    public synchronized MemoryRegion allocate(long length, Access... access) {
        requireOpen();
        return adopt(MemoryRegion.allocate(this, length, access, nextNumber()));
    }

    /**
     * Registers native memory of the caller's; fi_mr_reg, fi_mr(3). The region keeps it reachable. The arena it comes from
     * must stay open until the region is closed: a provider does not notice that memory is gone.
     *
     * @param memory off-heap memory, not read-only unless the rights only read it
     * @param access what it may be used for, at least one right; nothing else is granted
     * @return the region, to be closed by the caller before this domain
     * @throws IllegalArgumentException if the memory is on the heap, empty or read-only, or no right is named
     * @throws FabricException if the provider refuses
     * @throws IllegalStateException if this domain is closed, or the memory's arena is
     */
    public synchronized MemoryRegion register(MemorySegment memory, Access... access) {
        requireOpen();
        return adopt(MemoryRegion.register(this, memory, access, nextNumber()));
    }

    private MemoryRegion adopt(MemoryRegion region) {
        children.add(region);
        return region;
    }

    /** A number for an endpoint or a region; never 0, which marks a free slot. */
    private int nextNumber() {
        lastNumber = lastNumber == Integer.MAX_VALUE ? 1 : lastNumber + 1;
        return lastNumber;
    }

    Handle handle() {
        return handle;
    }

    Fabric fabric() {
        return fabric;
    }

    /** @throws WrongThreadException if the model is DOMAIN and this is not the owner */
    void checkThread() {
        guard.checkThread();
    }

    boolean admits(Thread thread) {
        return guard.admits(thread);
    }

    private void requireOpen() {
        checkThread();
        if (closed) {
            throw new IllegalStateException(this + " is closed");
        }
    }

    void forget(Object child) {
        children.remove(child);
        if (child instanceof CompletionQueue queue) {
            queues.remove(queue);
        }
    }

    /**
     * Makes progress on every queue that this thread may use: where one thread has both ends of a transfer, the end that
     * waits for room is not the one that must act.
     */
    void progress() {
        for (CompletionQueue queue : queues) {
            if (queue.guard.admits(Thread.currentThread())) {
                queue.progressIfOpen();
            }
        }
    }

    /** Does something while nobody uses a vector or queues. One at a time, so that no two wait for each other's queues. */
    synchronized void undisturbed(AddressVector vector, List<CompletionQueue> itsQueues, Runnable action) {
        synchronized (vector) {
            int entered = 0;
            try {
                for (CompletionQueue queue : itsQueues) {
                    queue.guard.enterAsAnyone();
                    entered++;
                }
                action.run();
            } finally {
                itsQueues.subList(0, entered).forEach(queue -> queue.guard.exit());
            }
        }
    }

    /** Returns when whoever is posting now has posted: who posts later sees what was changed before. */
    void awaitPosts() {
        for (CompletionQueue queue : queues) {
            queue.guard.enterAsAnyone();
            queue.guard.exit();
        }
    }

    int inFlight(MemoryRegion region) {
        int inFlight = 0;
        for (CompletionQueue queue : queues) {
            inFlight += queue.inFlight(region);
        }
        return inFlight;
    }

    /** Finishes a region that takes no new operations, now or when its last operation has completed. */
    synchronized void finishWhenIdle(MemoryRegion region) {
        closingRegions.add(region);
        regionsClosing = true; // before looking, so that a completion between the look and the return looks again
        finishIdleRegions();
    }

    boolean hasClosingRegions() {
        return regionsClosing;
    }

    synchronized void finishIdleRegions() {
        List<MemoryRegion> idle = closingRegions.stream().filter(region -> inFlight(region) == 0).toList();
        closingRegions.removeAll(idle);
        regionsClosing = !closingRegions.isEmpty();
        idle.forEach(MemoryRegion::finish);
    }

    /**
     * Closes the domain; fi_close.
     *
     * @throws IllegalStateException if anything opened from it is open, a region with operations in flight included; it is
     *         named
     * @throws FabricException if libfabric reports an error; the domain counts as closed all the same
     */
    @Override
    public synchronized void close() {
        if (closed) {
            return;
        }
        checkThread();
        children.requireNone(this);
        closed = true;
        fabric.forget(this);
        FabricException.check(FidOps.fi_close(handle), "fi_close(domain)", info.provider());
    }

    @Override
    public String toString() {
        return "Domain " + info.domain().name() + " of " + info.provider();
    }
}
