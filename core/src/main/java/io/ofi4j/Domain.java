package io.ofi4j;

import io.ofi4j.internal.ContextSlab;
import io.ofi4j.internal.DomainOps;
import io.ofi4j.internal.Errno;
import io.ofi4j.internal.FidOps;
import io.ofi4j.internal.Guard;
import io.ofi4j.internal.Handle;
import io.ofi4j.internal.InfoHandle;
import io.ofi4j.internal.MrOps;
import io.ofi4j.internal.Out;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Path;
import java.time.Duration;
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
    private final Children children = Children.owned();
    private final List<CompletionQueue> queues = new CopyOnWriteArrayList<>();
    private final List<MemoryRegion> closingRegions = new ArrayList<>();
    private final EndpointRegions endpointRegions = new EndpointRegions();
    private volatile boolean regionsClosing;
    private volatile ProgressThread progressThread;
    private int lastNumber;
    private int regions;
    private long registeredBytes;
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
        return openCompletionQueue(CompletionQueueAttributes.defaults());
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
    public CompletionQueue openCompletionQueue(int size) {
        return openCompletionQueue(CompletionQueueAttributes.defaults().size(size));
    }

    /**
     * Opens a completion queue; fi_cq_open, fi_cq(3). With the threading model {@link ThreadingModel#COMPLETION}, the
     * calling thread becomes its owner.
     *
     * @param attributes what it shall be like
     * @return the queue, to be closed by the caller before this domain
     * @throws FabricException if the provider refuses, such as a wait object that it does not offer
     * @throws IllegalStateException if this domain is closed
     */
    public synchronized CompletionQueue openCompletionQueue(CompletionQueueAttributes attributes) {
        requireOpen();
        int size = attributes.size()
                .orElse(Math.clamp(info.transmit().size(), MINIMUM_QUEUE_SIZE, MAXIMUM_DEFAULT_QUEUE_SIZE));
        // Room beside the operations of this process for what peers cause: their completion data.
        Out out = DomainOps.fi_cq_open(handle, 2L * size, attributes.format().value(), attributes.waitObject().value(),
                attributes.signalingVector().orElse(-1));
        FabricException.check(out.status(), "fi_cq_open", info.provider());
        CompletionQueue queue = CompletionQueue.adopt(this, out.handle(), size, attributes, queueGuard());
        children.add(queue);
        queues.add(queue);
        return queue;
    }

    /**
     * Opens a counter without a wait object; see {@link #openCounter(CounterAttributes)}.
     *
     * @return the counter, to be closed by the caller before this domain
     */
    public Counter openCounter() {
        return openCounter(CounterAttributes.defaults());
    }

    /**
     * Opens a counter; fi_cntr_open, fi_cntr(3). With the threading model {@link ThreadingModel#COMPLETION}, the calling thread
     * becomes its owner.
     *
     * @param attributes what it shall be like
     * @return the counter, to be closed by the caller before this domain
     * @throws FabricException if the provider refuses, such as a wait object that it does not offer
     * @throws IllegalStateException if this domain is closed
     */
    public synchronized Counter openCounter(CounterAttributes attributes) {
        requireOpen();
        Out out = DomainOps.fi_cntr_open(handle, attributes.waitObject().value());
        FabricException.check(out.status(), "fi_cntr_open", info.provider());
        Counter counter = Counter.adopt(this, out.handle(), attributes.waitObject(), queueGuard());
        children.add(counter);
        return counter;
    }

    /** Whether the provider makes of each queue, with all that is used with it, a domain of its own: tcp of libfabric 2.x. */
    boolean hasQueuesOfTheirOwn() {
        return info.provider().equals("tcp") && info.domain().threading() == ThreadingModel.COMPLETION
                && Libfabric.load().version().major() >= 2;
    }

    private Guard queueGuard() {
        return switch (info.domain().threading()) {
            case DOMAIN -> guard;
            case COMPLETION -> Guard.ownedExclusive("COMPLETION");
            default -> Guard.exclusive();
        };
    }

    /**
     * Opens an address vector of the provider's preference; see {@link #openAddressVector(AddressVectorAttributes)}.
     *
     * @return the vector, to be closed by the caller before this domain
     */
    public AddressVector openAddressVector() {
        return openAddressVector(AddressVectorAttributes.defaults());
    }

    /**
     * Opens an address vector; fi_av_open, fi_av(3).
     *
     * @param attributes what it shall be like
     * @return the vector, to be closed by the caller before this domain
     * @throws IllegalArgumentException if it is to be shared and has no count, or read-only and has no name
     * @throws UnsupportedOperationException if this domain has not that type of vector, or does not share vectors, or has none at all, since its
     *         endpoints are connected
     * @throws FabricException if the provider refuses
     * @throws IllegalStateException if this domain is closed
     */
    public synchronized AddressVector openAddressVector(AddressVectorAttributes attributes) {
        requireOpen();
        AddressVector vector = AddressVectors.open(this, attributes);
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
     * @throws WrongThreadException if the memory is confined to another thread
     */
    public MemoryRegion register(MemorySegment memory, Access... access) {
        return register(MemoryRegionAttributes.of(memory).access(access), Registration.Call.ONE);
    }

    /**
     * Registers several pieces of native memory as one region for local use, addressed by its {@link MemoryRegion#parts};
     * fi_mr_regv, fi_mr(3). As {@link #register(MemorySegment, Access...)} otherwise.
     *
     * @param segments off-heap memory, as many as {@link DomainAttributes#memoryRegionIovLimit} says
     * @param access what it may be used for, at least one right
     * @return the region, to be closed by the caller before this domain
     * @throws IllegalArgumentException if there are too many segments, or one is on the heap, empty or read-only
     * @throws UnsupportedOperationException if a right is a peer's: no provider gives peers more than the first segment
     * @throws FabricException if the provider refuses
     * @throws IllegalStateException if this domain is closed, or an arena of the memory is
     * @throws WrongThreadException if the memory is confined to another thread
     */
    public MemoryRegion register(List<MemorySegment> segments, Access... access) {
        return register(MemoryRegionAttributes.of(segments).access(access), Registration.Call.VECTOR);
    }

    /**
     * Registers native memory of the caller's as its attributes say; fi_mr_regattr, fi_mr(3). As
     * {@link #register(MemorySegment, Access...)} otherwise.
     *
     * @param attributes what is registered, and how
     * @return the region, to be closed by the caller before this domain
     * @throws IllegalArgumentException if there are too many segments, one is on the heap, empty or read-only, no right is named,
     *         or the requested key has too many bytes
     * @throws UnsupportedOperationException if the provider does not offer what was asked for
     * @throws FabricException if the provider refuses; with {@code ENOKEY} (266) if the requested key is another region's
     * @throws IllegalStateException if this domain is closed, or an arena of the memory is
     * @throws WrongThreadException if the memory is confined to another thread
     */
    public MemoryRegion register(MemoryRegionAttributes attributes) {
        return register(attributes, Registration.Call.ATTRIBUTES);
    }

    private synchronized MemoryRegion register(MemoryRegionAttributes attributes, Registration.Call call) {
        requireOpen();
        return adopt(MemoryRegion.register(this, attributes, call, nextNumber()));
    }

    /**
     * Maps part of a file into memory and registers it; fi_mr_reg, fi_mr(3). It is unmapped when the region is closed. The file
     * must not be made shorter until then: touching what is gone ends the process.
     *
     * @param file an existing file; a mode that writes makes it longer where need be
     * @param mode {@link MapMode#READ_ONLY} for rights that only read, {@link MapMode#READ_WRITE}, or {@link MapMode#PRIVATE},
     *        whose changes never come to the file
     * @param offset where in the file
     * @param length how many bytes, at least 1
     * @param access what it may be used for, at least one right; nothing else is granted
     * @return the region, to be closed by the caller before this domain
     * @throws IOException if the file cannot be opened or mapped
     * @throws IllegalArgumentException if offset, length or the rights are out of range, or a right writes what is read-only
     * @throws FabricException if the provider refuses
     * @throws IllegalStateException if this domain is closed
     */
    public synchronized MemoryRegion map(Path file, MapMode mode, long offset, long length, Access... access)
            throws IOException {
        requireMappable(mode, access);
        return adopt(FileMapping.of(file, mode, offset, length), access);
    }

    /**
     * Maps part of an open file into memory and registers it, as {@link #map(Path, MapMode, long, long, Access...)}. The channel
     * may be closed at once.
     *
     * @param channel the file, open for what the mode does
     * @param mode {@link MapMode#READ_ONLY} for rights that only read, {@link MapMode#READ_WRITE}, or {@link MapMode#PRIVATE}
     * @param offset where in the file
     * @param length how many bytes, at least 1
     * @param access what it may be used for, at least one right; nothing else is granted
     * @return the region, to be closed by the caller before this domain
     * @throws IOException if the file cannot be mapped
     * @throws IllegalArgumentException if offset, length or the rights are out of range, or a right writes what is read-only
     * @throws FabricException if the provider refuses
     * @throws IllegalStateException if this domain is closed
     */
    public synchronized MemoryRegion map(FileChannel channel, MapMode mode, long offset, long length, Access... access)
            throws IOException {
        requireMappable(mode, access);
        return adopt(FileMapping.of(channel, mode, offset, length), access);
    }

    /** Before the file is touched. */
    private void requireMappable(MapMode mode, Access[] access) {
        requireOpen();
        Registration.requireReadable(mode == MapMode.READ_ONLY, Registration.requireRights(access));
    }

    private MemoryRegion adopt(FileMapping mapping, Access[] access) {
        return adopt(MemoryRegion.own(this, mapping.memory(), mapping.arena(), MemoryKind.FILE, access, nextNumber()));
    }

    /**
     * Turns a peer's raw key into a region that operations can be aimed at; fi_mr_map_raw, fi_mr(3). Needed where the provider's
     * {@link MemoryRegionMode} has RAW.
     *
     * @param key what the peer's {@link MemoryRegion#rawKey} gave
     * @return the region and its key, to be closed by the caller before this domain
     * @throws UnsupportedOperationException if the provider has no raw keys
     * @throws FabricException if libfabric reports an error
     * @throws IllegalStateException if this domain is closed
     */
    public synchronized MappedKey mapRawKey(RawKey key) {
        requireOpen();
        MrOps.Mapped mapped = MrOps.fi_mr_map_raw(handle, key.base(), key.key());
        requireOffered(mapped.status(), "fi_mr_map_raw");
        MappedKey result = new MappedKey(this, key.withKey(mapped.key()));
        children.add(result);
        return result;
    }

    /** A call that few providers have says so itself. */
    void requireOffered(int status, String operation) {
        if (status == -Errno.ENOSYS || status == -Errno.EOPNOTSUPP) {
            throw new UnsupportedOperationException(operation + " is not offered by the provider " + info.provider());
        }
        FabricException.check(status, operation, info.provider());
    }

    EndpointRegions endpointRegions() {
        return endpointRegions;
    }

    private MemoryRegion adopt(MemoryRegion region) {
        children.add(region);
        regions++;
        registeredBytes += region.length();
        return region;
    }

    /**
     * Starts a thread that makes progress on this domain's queues; see {@link #startProgress(Duration)}. It pauses
     * {@link ProgressThread#DEFAULT_PAUSE} at a time.
     *
     * @return the thread, to be closed by the caller before this domain
     */
    public ProgressThread startProgress() {
        return startProgress(ProgressThread.DEFAULT_PAUSE);
    }

    /**
     * Starts a thread that makes progress on all queues of this domain, those that are opened later included, so that peers are
     * served while the application polls nothing.
     *
     * @param pause how long it rests between two rounds; nothing makes it the fastest, and takes a processor
     * @return the thread, to be closed by the caller before this domain
     * @throws IllegalArgumentException if the pause is below nothing, or above a second
     * @throws IllegalStateException if the threading model is not {@link ThreadingModel#SAFE}, such a thread is running, or this
     *         domain is closed
     */
    public synchronized ProgressThread startProgress(Duration pause) {
        requireOpen();
        if (info.domain().threading() != ThreadingModel.SAFE) {
            throw new IllegalStateException("a progress thread needs ThreadingModel.SAFE, and " + this + " has "
                    + info.domain().threading() + ": ask for SAFE, or poll");
        }
        if (progressThread != null) {
            throw new IllegalStateException(this + " already has " + progressThread);
        }
        progressThread = new ProgressThread(this, pause, this::progress);
        children.add(progressThread);
        return progressThread;
    }

    /** A number for an endpoint or a region; never 0, which marks a free slot. */
    private int nextNumber() {
        lastNumber = lastNumber == ContextSlab.LARGEST_NUMBER ? 1 : lastNumber + 1;
        return lastNumber;
    }

    Fabric fabric() {
        return fabric;
    }

    Handle handle() {
        return handle;
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
        if (child instanceof MemoryRegion region) { // under the monitor
            endpointRegions.forget(region);
            regions--;
            registeredBytes -= region.length();
        }
        if (child == progressThread) {
            forgetProgressThread();
        }
    }

    private synchronized void forgetProgressThread() {
        progressThread = null;
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

    List<CompletionQueue> queues() {
        return List.copyOf(queues);
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

    /**
     * {@return what is registered here now} Any thread may ask, also after this domain was closed.
     */
    public synchronized DomainStatistics statistics() {
        return new DomainStatistics(regions, registeredBytes, closingRegions.size());
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
        finishLater(region);
        finishIdleRegions();
    }

    synchronized void finishLater(MemoryRegion region) {
        closingRegions.add(region);
        regionsClosing = true; // before looking, so that a completion between the look and the return looks again
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
