package io.ofi4j;

import io.ofi4j.info.AddressVectorAttributes;
import io.ofi4j.info.CompletionQueueAttributes;
import io.ofi4j.info.CounterAttributes;
import io.ofi4j.info.DomainAttributes;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.info.MemoryRegionMode;
import io.ofi4j.info.ThreadingModel;
import io.ofi4j.internal.engine.CloseOrder;
import io.ofi4j.internal.engine.ClosingRegions;
import io.ofi4j.internal.engine.FileMapping;
import io.ofi4j.internal.engine.FoundInfo;
import io.ofi4j.internal.engine.OpenChildren;
import io.ofi4j.internal.quirks.Quirks;
import io.ofi4j.internal.quirks.Fact;
import io.ofi4j.internal.quirks.Status;
import io.ofi4j.internal.engine.ContextSlab;
import io.ofi4j.internal.engine.ThreadGuard;
import io.ofi4j.internal.ffi.Handle;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/**
 * The resources of one device; fi_domain(3). Opened by {@link Fabric#openDomain()}, opens queues, address vectors and
 * endpoints, and registers memory. Threads: as its {@link ThreadingModel} says.
 */
public final class Domain implements AutoCloseable {
    final ThreadGuard guard;
    final DomainQueues queues;
    /** Used under the monitor. */
    final DomainRegions regions;
    /** Noted by {@link #regions}. */
    final ClosingRegions closingRegions = new ClosingRegions() {
        @Override
        public void finishIdle() {
            finishIdleRegions();
        }
    };

    /** What is known of the provider. */
    final Quirks quirks;
    /** Closes what this domain has opened. */
    final CloseOrder closes = new CloseOrder();

    private final Fabric fabric;
    private final Handle handle;
    private final FabricInfo info;
    private final OpenChildren children = OpenChildren.owned();
    private int lastNumber;
    private volatile boolean closed;

    Domain(Fabric fabric, Handle handle, FabricInfo info) {
        this.fabric = fabric;
        this.handle = handle;
        this.info = info;
        this.quirks = FoundInfo.of(info).quirks();
        this.guard = info.domain().threading() == ThreadingModel.DOMAIN
                ? ThreadGuard.owned("DOMAIN")
                : ThreadGuard.exclusive();
        this.queues = new DomainQueues(this, guard);
        this.regions = new DomainRegions(this);
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
     * @throws UnsupportedOperationException if there is a wait object, and the domain is tcp's of libfabric 2.x with COMPLETION
     */
    public synchronized CompletionQueue openCompletionQueue(CompletionQueueAttributes attributes) {
        requireOpen();
        return adopt(queues.open(attributes));
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
     * @throws UnsupportedOperationException if there is a wait object, and the domain is tcp's of libfabric 2.x with COMPLETION
     */
    public synchronized Counter openCounter(CounterAttributes attributes) {
        requireOpen();
        return adopt(queues.open(attributes));
    }

    /** Whether the provider makes of each queue, with all that is used with it, a domain of its own. */
    boolean hasQueuesOfTheirOwn() {
        return quirks.has(Fact.QUEUES_ARE_DOMAINS);
    }

    boolean isClosed() {
        return closed;
    }

    /**
     * Opens an address vector of the provider's preference; see {@link #openAddressVector(AddressVectorAttributes)}.
     *
     * @return the vector, to be closed by the caller before this domain
     * @throws UnsupportedOperationException if this domain has no vectors, since its endpoints are connected
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
     */
    public synchronized AddressVector openAddressVector(AddressVectorAttributes attributes) {
        requireOpen();
        return adopt(AddressVectors.open(this, attributes));
    }

    /**
     * Opens an endpoint with the info that this domain was opened with; see {@link #openEndpoint(FabricInfo)}.
     *
     * @return the endpoint, to be closed by the caller before this domain
     * @throws UnsupportedOperationException if the endpoint's type is neither RDM nor MSG
     * @throws IllegalArgumentException if the provider wants to know the destination of a MSG endpoint now, as verbs
     *         does, and the info has none
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
     * @throws UnsupportedOperationException if the endpoint's type is neither RDM nor MSG
     * @throws IllegalArgumentException if the provider wants to know the destination of a MSG endpoint now, as verbs does, and the
     *         info has none
     */
    public synchronized Endpoint openEndpoint(FabricInfo endpointInfo) {
        requireOpen();
        return adoptEndpoint(Endpoints.open(this, endpointInfo));
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
        return adoptEndpoint(Endpoints.open(this, request));
    }

    /**
     * Allocates zeroed, page-aligned memory and registers it; fi_mr_reg, fi_mr(3). It is freed when the region is closed. From
     * 2 MiB on it is in huge pages, where the system has some.
     *
     * @param length how many bytes, at least 1
     * @param access what it may be used for, at least one right; nothing else is granted
     * @return the region, to be closed by the caller before this domain
     * @throws IllegalArgumentException if the length or the rights are out of range
     * @throws OutOfMemoryError if the system gives this process no such memory
     */
    public synchronized MemoryRegion allocate(long length, Access... access) {
        requireOpen();
        return adopt(regions.allocate(length, access));
    }

    /**
     * Registers native memory of the caller's; fi_mr_reg, fi_mr(3). The region keeps it reachable. The arena it comes from
     * must stay open until the region is closed: a provider does not notice that memory is gone.
     *
     * @param memory off-heap memory, not read-only unless the rights only read it
     * @param access what it may be used for, at least one right; nothing else is granted
     * @return the region, to be closed by the caller before this domain
     * @throws IllegalArgumentException if the memory is on the heap, empty or read-only, or no right is named
     * @throws IllegalStateException if this domain is closed, or the memory's arena is
     * @throws WrongThreadException if the memory is confined to another thread, or the threading model gives this domain to one
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
     * @throws IllegalStateException if this domain is closed, or an arena of the memory is
     * @throws WrongThreadException if the memory is confined to another thread, or the threading model gives this domain to one
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
     * @throws WrongThreadException if the memory is confined to another thread, or the threading model gives this domain to one
     */
    public MemoryRegion register(MemoryRegionAttributes attributes) {
        return register(attributes, Registration.Call.ATTRIBUTES);
    }

    private synchronized MemoryRegion register(MemoryRegionAttributes attributes, Registration.Call call) {
        requireOpen();
        return adopt(regions.register(attributes, call));
    }

    /**
     * Maps part of a file into memory and registers it; fi_mr_reg, fi_mr(3). It is unmapped when the region is closed. The file
     * must not be made shorter until then: touching what is gone ends the process. So would writing what the disk has no room for:
     * a mapping that writes gets the room that a sparse file lacks now, where the file system knows how to.
     *
     * @param file an existing regular file; a mode that writes makes it longer where need be
     * @param mode {@link MapMode#READ_ONLY} for rights that only read, {@link MapMode#READ_WRITE}, or {@link MapMode#PRIVATE},
     *        whose changes never come to the file
     * @param offset where in the file
     * @param length how many bytes, at least 1
     * @param access what it may be used for, at least one right; nothing else is granted
     * @return the region, to be closed by the caller before this domain
     * @throws IOException if the file is not a regular one, cannot be opened or mapped, or there is no room for the part
     * @throws IllegalArgumentException if offset, length or the rights are out of range, or a right writes what is read-only
     * @throws FabricException if the provider refuses; with {@code EFAULT} (14) where a device is to read what is mapped
     *         {@link MapMode#READ_ONLY}, before Linux 6.2
     */
    public MemoryRegion map(Path file, MapMode mode, long offset, long length, Access... access) throws IOException {
        return map(mode, access, () -> FileMapping.of(file, mode, offset, length));
    }

    /**
     * Maps part of an open file into memory and registers it, as {@link #map(Path, MapMode, long, long, Access...)}. The channel
     * may be closed at once. The file is taken as it is: whoever maps more than the disk has room for, of a sparse file, sees to it
     * that no more is written.
     *
     * @param channel the file, open for what the mode does: a channel of the JDK's own, such as of {@link FileChannel#open}
     * @param mode {@link MapMode#READ_ONLY} for rights that only read, {@link MapMode#READ_WRITE}, or {@link MapMode#PRIVATE}
     * @param offset where in the file
     * @param length how many bytes, at least 1
     * @param access what it may be used for, at least one right; nothing else is granted
     * @return the region, to be closed by the caller before this domain
     * @throws IOException if the file cannot be mapped
     * @throws IllegalArgumentException if offset, length or the rights are out of range, a right writes what is read-only, or the
     *         channel is of another class than the JDK's
     * @throws FabricException if the provider refuses; with {@code EFAULT} (14) where a device is to read what is mapped
     *         {@link MapMode#READ_ONLY}, before Linux 6.2
     */
    public MemoryRegion map(FileChannel channel, MapMode mode, long offset, long length, Access... access)
            throws IOException {
        return map(mode, access, () -> FileMapping.of(channel, mode, offset, length));
    }

    private MemoryRegion map(MapMode mode, Access[] access, FileMapping.Source file) throws IOException {
        synchronized (this) {
            requireOpen();
        }
        Registration.requireReadable(mode == MapMode.READ_ONLY, Registration.requireRights(access)); // before it is touched
        FileMapping mapping = file.map(); // may take long: not under the monitor
        synchronized (this) {
            if (closed) {
                mapping.arena().close();
            }
            requireOpen();
            return adopt(regions.adopt(mapping, access));
        }
    }

    /**
     * Turns a peer's raw key into a region that operations can be aimed at; fi_mr_map_raw, fi_mr(3). Needed where the provider's
     * {@link MemoryRegionMode} has RAW.
     *
     * @param key what the peer's {@link MemoryRegion#rawKey} gave
     * @return the region and its key, to be closed by the caller before this domain
     * @throws UnsupportedOperationException if the provider has no raw keys
     */
    public synchronized MappedKey mapRawKey(RawKey key) {
        requireOpen();
        return adopt(MappedKey.of(this, key));
    }

    private <T> T adopt(T child) {
        children.add(child);
        return child;
    }

    /**
     * Starts a thread that makes progress on this domain's queues; see {@link #startProgress(Duration)}. It pauses
     * {@link ProgressThread#DEFAULT_PAUSE} at a time.
     *
     * @return the thread, to be closed by the caller before this domain
     * @throws IllegalStateException if the threading model is not {@link ThreadingModel#SAFE}, such a thread is
     *         running, or this domain is closed
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
        return adopt(queues.startProgress(pause));
    }

    /** A number for an endpoint or a region; never 0, which marks a free slot. */
    int nextNumber() {
        lastNumber = lastNumber == ContextSlab.LARGEST_NUMBER ? 1 : lastNumber + 1;
        return lastNumber;
    }

    Fabric fabric() {
        return fabric;
    }

    Handle handle() {
        return handle;
    }

    void checkThread() {
        guard.checkThread();
    }

    private void requireOpen() {
        checkThread();
        if (closed) {
            throw new IllegalStateException(this + " is closed");
        }
    }

    private Endpoint adoptEndpoint(Endpoint endpoint) {
        regions.quarantine.endpointOpened();
        return adopt(endpoint);
    }

    void forget(Object child) {
        children.remove(child);
        queues.forget(child);
        if (child instanceof Endpoint) {
            closes.close(regions::endpointClosed);
        }
    }

    /** {@return what is registered here now} Any thread may ask, also after this domain was closed. */
    public synchronized DomainStatistics statistics() {
        return regions.statistics();
    }

    synchronized void finishIdleRegions() {
        regions.finishIdle();
    }

    /**
     * Closes the domain; fi_close.
     *
     * @throws IllegalStateException if anything opened from it is open, a region with operations in flight included; it is
     *         named
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
        if (closes.isHolding()) {
            fabric.closes.hold(this);
        }
        Status.check(closes.close(this::closeNatively), "fi_close(domain)", info.provider());
        regions.quarantine.checkLate();
    }

    private int closeNatively() {
        regions.quarantine.close();
        int status = fabric.domainList().close(handle);
        fabric.closes.release(this);
        return status;
    }

    @Override
    public String toString() {
        return "Domain " + info.domain().name() + " of " + info.provider();
    }
}
