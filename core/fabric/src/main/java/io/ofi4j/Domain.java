package io.ofi4j;

import io.ofi4j.errors.FabricException;
import io.ofi4j.info.AddressVectorAttributes;
import io.ofi4j.info.AtomicForm;
import io.ofi4j.info.AtomicOperation;
import io.ofi4j.info.Capability;
import io.ofi4j.info.CompletionQueueAttributes;
import io.ofi4j.info.CounterAttributes;
import io.ofi4j.info.Datatype;
import io.ofi4j.info.DomainAttributes;
import io.ofi4j.info.DomainStatistics;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.info.MemoryRegionMode;
import io.ofi4j.info.ThreadingModel;
import io.ofi4j.internal.engine.CloseOrder;
import io.ofi4j.internal.engine.FileMapping;
import io.ofi4j.internal.engine.LifeCycle;
import io.ofi4j.internal.engine.NativeFabricInfo;
import io.ofi4j.internal.engine.NumberPool;
import io.ofi4j.internal.engine.OpenChildren;
import io.ofi4j.internal.engine.StackRoom;
import io.ofi4j.internal.engine.ThreadGuard;
import io.ofi4j.internal.ffi.DomainOps;
import io.ofi4j.internal.ffi.FidOps;
import io.ofi4j.internal.ffi.Handle;
import io.ofi4j.internal.observe.LockOrder;
import io.ofi4j.internal.quirks.Fact;
import io.ofi4j.internal.quirks.Quirks;
import io.ofi4j.internal.quirks.Status;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.stream.Collectors;

/**
 * The resources of one device; fi_domain(3). Opened by {@link Fabric#openDomain()}. It opens queues, counters, vectors
 * and endpoints, and registers memory. Close these objects before the domain. A region grants the rights that are named
 * when it is made, at least one, and no others.
 *
 * <p>Its {@link ThreadingModel} decides which threads may call it; others get {@link WrongThreadException}. Except for
 * accessors, every method throws {@link IllegalStateException} once the domain is closed, and {@link FabricException}
 * if libfabric reports an error, for example for a size or a wait object that the provider does not support.
 * {@link UnsupportedOperationException} says that the provider does not have something, or would do it wrong; the table
 * of refusals in {@code core/guide/REFUSALS.md} lists such cases.
 */
public final class Domain implements AutoCloseable {
    final ThreadGuard guard;
    final DomainQueues queues;
    /** Used under the monitor. */
    final DomainRegions regions;
    final Quirks quirks;
    final NumberPool endpointNumbers = new NumberPool("endpoints");
    final NumberPool regionNumbers = new NumberPool("regions");
    /** Closes the native objects of this domain in order. */
    final CloseOrder closes = new CloseOrder();

    /** The families of operations that exist, which have copies of the owner. */
    private final Set<PostPath> families = Collections.newSetFromMap(new WeakHashMap<>());
    private final Fabric fabric;
    private final Handle handle;
    private final FabricInfo info;
    final OpenChildren children = OpenChildren.owned();
    private final LifeCycle lifeCycle = new LifeCycle();
    /** Whether an endpoint was ever opened in it. */
    private boolean hadEndpoint;

    Domain(Fabric fabric, Handle handle, FabricInfo info) {
        this.fabric = fabric;
        this.handle = handle;
        this.info = info;
        this.quirks = NativeFabricInfo.of(info).chosenQuirks();
        this.guard = info.domain().threading() == ThreadingModel.DOMAIN
                ? ThreadGuard.owned("DOMAIN")
                : ThreadGuard.exclusive();
        guard.copies(this::ownerChanged);
        this.queues = new DomainQueues(this, guard);
        this.regions = new DomainRegions(this);
    }

    /** {@return the info that this domain was opened with} */
    public FabricInfo info() { return info; }

    /** Records a family of operations, which has a copy of the owner. */
    <T extends PostPath> T withOwner(T family) {
        synchronized (families) {
            families.add(family);
        }
        return family;
    }

    private void ownerChanged(Thread unlocked) {
        synchronized (families) {
            families.forEach(family -> family.unlockedThread(unlocked));
        }
        queues.all().forEach(queue -> queue.unlockedThread(unlocked));
    }

    /**
     * Hands this domain and all that was opened in it over to another thread, where {@link ThreadingModel#DOMAIN} gives
     * them to one. The other thread takes over with its first call, and sees what this one has written before. From now
     * on this thread gets {@link WrongThreadException}; until the other one has taken over, it may call this method
     * again, for a third thread or for itself. Operations, receives and completions stay as they are. What was made for
     * one thread remains that thread's: prepared operations, and pipelines.
     *
     * @param next the thread that takes over
     * @throws IllegalStateException if the domain has another threading model, or is closed, or this is called in a
     *         handler of completions
     */
    public void handOver(Thread next) {
        Objects.requireNonNull(next);
        lifeCycle.requireOpen(this);
        if (info.domain().threading() != ThreadingModel.DOMAIN) {
            throw new IllegalStateException(this + " has ThreadingModel." + info.domain().threading()
                    + ", which gives it to no thread: with COMPLETION hand over its queues");
        }
        DomainQueues.requireNoHandler();
        guard.handOver(next);
    }

    /** As {@link #openCompletionQueue(CompletionQueueAttributes)}, with the size that the provider prefers. */
    public CompletionQueue openCompletionQueue() {
        return openCompletionQueue(CompletionQueueAttributes.defaults());
    }

    /**
     * As {@link #openCompletionQueue(CompletionQueueAttributes)}, with room for 1 to 1,048,576 operations in flight.
     */
    public CompletionQueue openCompletionQueue(int size) {
        return openCompletionQueue(CompletionQueueAttributes.defaults().size(size));
    }

    /**
     * Opens a completion queue; fi_cq_open, fi_cq(3). With {@link ThreadingModel#COMPLETION}, the calling thread
     * becomes its owner.
     *
     * @param attributes its size, format and wait object
     * @throws UnsupportedOperationException if the provider does not offer the wait object; {@link FabricInfo#supports}
     *         tells
     */
    public synchronized CompletionQueue openCompletionQueue(CompletionQueueAttributes attributes) {
        beginOpen();
        return adopt(queues.open(attributes));
    }

    /** As {@link #openCounter(CounterAttributes)}, without a wait object. */
    public Counter openCounter() {
        return openCounter(CounterAttributes.defaults());
    }

    /**
     * Opens a counter; fi_cntr_open, fi_cntr(3). With {@link ThreadingModel#COMPLETION}, the calling thread becomes its
     * owner.
     *
     * @param attributes its wait object
     * @throws UnsupportedOperationException if the provider does not offer the wait object
     */
    public synchronized Counter openCounter(CounterAttributes attributes) {
        beginOpen();
        return adopt(queues.open(attributes));
    }

    /** Whether its close has begun. Then nothing is open in it. */
    boolean isClosed() { return !lifeCycle.isOpen(); }

    /** As {@link #openAddressVector(AddressVectorAttributes)}, with the provider's preferences. */
    public AddressVector openAddressVector() {
        return openAddressVector(AddressVectorAttributes.defaults());
    }

    /**
     * Opens an address vector; fi_av_open, fi_av(3).
     *
     * @param attributes its type, and its size and name if it is shared
     * @throws IllegalArgumentException if the vector is shared and has no count, or is read-only and has no name
     * @throws UnsupportedOperationException if the domain does not offer this type or shared vectors
     */
    public synchronized AddressVector openAddressVector(AddressVectorAttributes attributes) {
        beginOpen();
        return adopt(AddressVector.open(this, attributes));
    }

    /** As {@link #openEndpoint(FabricInfo)}, with the info that this domain was opened with. */
    public Endpoint openEndpoint() {
        return openEndpoint(info);
    }

    /**
     * Opens an endpoint; fi_endpoint(3). Bind a completion queue, and an address vector; if the endpoint is connected
     * (MSG), bind an event queue instead of the vector. Then enable it.
     *
     * @param endpointInfo an info of the same domain, threading model and data progress
     * @throws UnsupportedOperationException if this release does not know the type of endpoint, or the provider has one
     *         endpoint in each domain, and this domain has had it
     * @throws IllegalArgumentException if the info is of another provider, fabric or domain, has other models, or has
     *         collectives and the domain has none; if the provider resolves the route of a MSG endpoint when it is
     *         opened, and the info has no destination ({@link FabricInfo#withDestination})
     */
    public synchronized Endpoint openEndpoint(FabricInfo endpointInfo) {
        beginOpen();
        if (hadEndpoint) { quirks.require(Fact.DOMAINS_HAVE_ONE_ENDPOINT); }
        Endpoint opened = adopt(Endpoint.open(this, endpointInfo));
        hadEndpoint = true;
        return opened;
    }

    /**
     * Opens an endpoint to accept a connection request; fi_endpoint(3). Bind a completion queue and an event queue,
     * enable the endpoint, and call {@link Connection#accept}. If libfabric cannot open the endpoint, the request is
     * rejected.
     *
     * @param request a pending request to a passive endpoint of the same fabric
     * @throws IllegalArgumentException if the request came to another fabric
     * @throws IllegalStateException if the request is not pending
     */
    public synchronized Endpoint openEndpoint(ConnectionRequest request) {
        beginOpen();
        return adopt(Endpoint.open(this, request));
    }

    /**
     * Opens an endpoint that connects from the address of a passive endpoint; fi_endpoint(3) with the passive endpoint
     * as the handle of the info. The passive endpoint must not listen, and can only be closed afterwards, also where
     * this fails. Bind, enable and connect the new endpoint as any other of its type.
     *
     * @param passive a passive endpoint of the same fabric whose info is of this domain
     * @throws IllegalArgumentException if it is of another fabric or domain
     * @throws IllegalStateException if it listens, is closed, or another endpoint has taken over its address already,
     *         or has failed to
     */
    public synchronized Endpoint openEndpoint(PassiveEndpoint passive) {
        beginOpen();
        return adopt(Endpoint.open(this, passive));
    }

    /**
     * {@return a receive context that endpoints share, for {@link Endpoint#bind(SharedReceiveContext)}; fi_srx_context,
     * fi_endpoint(3)}
     *
     * @throws UnsupportedOperationException if the provider has no such contexts for this type of endpoint
     */
    public synchronized SharedReceiveContext openSharedReceiveContext() {
        beginOpen();
        return new SharedReceiveContext(adopt(Endpoint.openSharedReceive(this)));
    }

    /**
     * {@return a shared transmit context, for {@link Endpoint#bind(SharedTransmitContext)}; fi_stx_context,
     * fi_endpoint(3)}
     *
     * @throws UnsupportedOperationException if the provider has no such contexts
     */
    public synchronized SharedTransmitContext openSharedTransmitContext() {
        beginOpen();
        return adopt(SharedTransmitContext.open(this));
    }

    /**
     * {@return an endpoint of several contexts; fi_scalable_ep, fi_endpoint(3)}
     *
     * @throws UnsupportedOperationException if the provider has no scalable endpoints for this type of endpoint and
     *         this progress model
     */
    public synchronized ScalableEndpoint openScalableEndpoint() {
        beginOpen();
        return adopt(ScalableEndpoint.open(this));
    }

    /**
     * Allocates zeroed, page-aligned memory and registers it; fi_mr_reg, fi_mr(3). Closing the region frees it. Regions
     * of 2 MiB or more use huge pages if the system has them.
     *
     * @param length in bytes, at least 1
     * @param access the rights of the region, at least one
     * @throws IllegalArgumentException if the length is out of range, or no right is named
     * @throws OutOfMemoryError if the system cannot provide the memory
     */
    public synchronized MemoryRegion allocate(long length, Access... access) {
        beginOpen();
        return adopt(regions.allocate(length, access));
    }

    /**
     * Registers native memory of the caller; fi_mr_reg, fi_mr(3). The region keeps the segment reachable. Its arena
     * must stay open until the region is closed: a provider does not notice that the memory is unmapped.
     *
     * @param memory off-heap memory; it may be read-only if the rights only read it
     * @param access the rights of the region, at least one
     * @throws IllegalArgumentException if the memory is on the heap, empty, or read-only and a right writes to it, or
     *         no right is named
     * @throws IllegalStateException if the memory's arena is closed
     * @throws WrongThreadException if the memory is confined to another thread
     */
    public MemoryRegion register(MemorySegment memory, Access... access) {
        return register(MemoryRegionAttributes.of(memory).access(access), Registration.Call.ONE);
    }

    /**
     * Registers several segments as one region for local use; operations name its {@link MemoryRegion#parts};
     * fi_mr_regv, fi_mr(3). Memory, ownership and errors are as in {@link #register(MemorySegment, Access...)}.
     *
     * @param segments off-heap memory, at most {@link DomainAttributes#memoryRegionIovLimit} segments
     * @param access at least one local right
     * @throws UnsupportedOperationException if a right is for peers: every provider gives peers access to the first
     *         segment only
     */
    public MemoryRegion register(List<MemorySegment> segments, Access... access) {
        return register(MemoryRegionAttributes.of(segments).access(access), Registration.Call.VECTOR);
    }

    /**
     * Registers native memory with attributes; fi_mr_regattr, fi_mr(3). Memory, ownership and errors are as in
     * {@link #register(MemorySegment, Access...)}.
     *
     * @param attributes the memory, its rights and options
     * @throws IllegalArgumentException if there are too many segments, or the requested key has too many bytes
     * @throws UnsupportedOperationException if the provider does not offer an attribute, or this machine has no such
     *         device
     * @throws FabricException with errno {@code ENOKEY} (266) if another region has the requested key
     */
    public MemoryRegion register(MemoryRegionAttributes attributes) {
        return register(attributes, Registration.Call.ATTRIBUTES);
    }

    private synchronized MemoryRegion register(MemoryRegionAttributes attributes, Registration.Call call) {
        beginOpen();
        return adopt(regions.register(attributes, call));
    }

    /**
     * Maps part of a file into memory and registers it; fi_mr_reg, fi_mr(3). Closing the region unmaps it. Do not
     * truncate the file before that: access to a missing page ends the process with a signal. A write to a hole of the
     * file when the disk is full does the same. A writable mapping therefore reserves disk space for holes now, if the
     * file system supports that. To register the file in another domain, too, map it there: {@link #register} takes the
     * segment of this region for plain memory.
     *
     * @param file an existing regular file; a writable mapping extends it if needed
     * @param mode {@link MapMode#READ_ONLY} for rights that only read, {@link MapMode#READ_WRITE}, or
     *         {@link MapMode#PRIVATE}, whose changes never reach the file; {@code ExtendedMapMode.READ_WRITE_SYNC} on a
     *         file system with DAX
     * @param offset the start in the file, in bytes
     * @param length in bytes, at least 1
     * @throws IOException if the file is not regular, cannot be opened or mapped, or the disk is full
     * @throws IllegalArgumentException if offset, length or the rights are out of range, a right writes to a read-only
     *         mapping, or the path does not belong to the default file system
     * @throws FabricException with errno {@code EFAULT} (14) if a network device must read a {@link MapMode#READ_ONLY}
     *         mapping and the kernel is older than Linux 6.2
     */
    public MemoryRegion map(Path file, MapMode mode, long offset, long length, Access... access) throws IOException {
        return map(mode, access, () -> FileMapping.of(file, mode, offset, length));
    }

    /**
     * As {@link #map(Path, MapMode, long, long, Access...)}, but with an open channel of the JDK
     * ({@link FileChannel#open}), which may be closed afterwards. No disk space is reserved: do not write to holes of a
     * sparse file if the disk cannot hold them.
     *
     * @throws IOException if the file cannot be mapped
     * @throws IllegalArgumentException if the channel is of another class than the JDK's
     */
    public MemoryRegion map(FileChannel channel, MapMode mode, long offset, long length, Access... access)
            throws IOException {
        return map(mode, access, () -> FileMapping.of(channel, mode, offset, length));
    }

    private MemoryRegion map(MapMode mode, Access[] access, FileMapping.Source file) throws IOException {
        beginOpen();
        Registration.requireRights(access); // before the file is opened, and perhaps extended
        FileMapping mapping = file.map(); // may take long, therefore not under the monitor
        synchronized (this) {
            if (isClosed()) { mapping.arena().close(); }
            requireOpen();
            return adopt(regions.own(mapping, access));
        }
    }

    /**
     * Maps a peer's raw key to a region that operations can target; fi_mr_map_raw, fi_mr(3). Needed if the provider's
     * {@link MemoryRegionMode} has RAW.
     *
     * @param key from the peer's {@link MemoryRegion#rawKey}
     * @throws UnsupportedOperationException if the provider has no raw keys
     */
    public synchronized MappedKey mapRawKey(RawKey key) {
        beginOpen();
        return adopt(MappedKey.of(this, key));
    }

    /**
     * {@return the deferred work of this domain: operations that start when a counter reaches a threshold;
     * fi_trigger(3)}
     *
     * @throws UnsupportedOperationException if this domain was opened without {@link Capability#TRIGGER}
     */
    public DeferredWork deferredWork() {
        requireOpen();
        return queues.works.requireOffered(this, info.capabilityBits());
    }

    /** @throws UnsupportedOperationException if the provider does not offer such objects, named in the plural */
    void requireOffered(boolean isOffered, String what) {
        if (!isOffered) {
            throw new UnsupportedOperationException(what + " are not offered by the provider " + info.provider()
                    + " with endpoints of type " + info.endpoint().type());
        }
    }

    <T extends AutoCloseable> T adopt(T child) { return children.adopt(child); }

    /** Begins a call that opens something. */
    private void beginOpen() {
        StackRoom.require();
        requireOpen();
    }

    /** As {@link #startProgress(Duration)}, with a pause of {@link ProgressThread#DEFAULT_PAUSE}. */
    public ProgressThread startProgress() {
        return startProgress(ProgressThread.DEFAULT_PAUSE);
    }

    /**
     * As {@link #startProgress(Waiting)}, with the same sleep after each round.
     *
     * @param pause the sleep between two rounds, zero to one second; zero is fastest, and occupies a processor
     * @throws IllegalArgumentException if the pause is negative or above a second
     */
    public ProgressThread startProgress(Duration pause) { return startProgress(ProgressThread.every(pause)); }

    /**
     * Starts a thread that makes progress on all queues of this domain, including those opened later. It serves peers
     * while the application does not poll.
     *
     * @param pauses what passes the time between two rounds; its turns begin at 0 again after each round that found a
     *         completion
     * @return the thread; the caller closes it before the domain
     * @throws IllegalStateException if the threading model is not {@link ThreadingModel#SAFE}, or such a thread is
     *         running
     */
    public synchronized ProgressThread startProgress(Waiting pauses) {
        beginOpen();
        return adopt(queues.startProgress(Objects.requireNonNull(pauses, "pauses")));
    }

    /**
     * Makes progress on every queue of this domain, as {@link CompletionQueue#progress} does.
     *
     * @return false if a queue makes no progress until it is polled, because its buffer of completions is full
     * @throws WrongThreadException if the threading model gives a queue to another thread; then no queue has made
     *         progress
     */
    public boolean progress() {
        requireOpen();
        return queues.progressAll();
    }

    /**
     * {@return the provider's own operations of this domain, by the name in the provider's man page; fi_open_ops,
     * fi_domain(3)} It is a table of function pointers, a struct that the provider owns and that its headers declare.
     * The segment has length 0: give it the struct's length with {@link MemorySegment#reinterpret(long)}, a restricted
     * method, and call the functions with a {@link java.lang.foreign.Linker}. ofi4j checks nothing of these calls. The
     * table must not be used once this domain is closed.
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
     * {@return the largest number of elements of an atomic operation in endpoints of this domain, as the provider says,
     * or 0 if it does not offer the operation; fi_query_atomic, fi_atomic(3)} {@link Atomics#valid} also takes into
     * account what ofi4j refuses.
     */
    public synchronized long atomicValid(AtomicForm form, AtomicOperation operation, Datatype datatype) {
        requireOpen();
        long flags = switch (form) {
            case EXECUTE -> 0;
            case FETCH -> DomainOps.fetchAtomic();
            case COMPARE -> DomainOps.compareAtomic();
        };
        return DomainOps.fi_query_atomic(handle, datatype.value(), operation.value(), flags);
    }

    /** {@return the open region of this domain that has this key} It searches all regions. */
    public Optional<MemoryRegion> region(long key) {
        return Optional.ofNullable(children.find(MemoryRegion.class, one -> one.hasKey(key)));
    }

    Fabric fabric() { return fabric; }

    Handle handle() { return handle; }

    void checkThread() { guard.checkThread(); }

    boolean admits(Thread thread) { return guard.admits(thread); }

    private synchronized void requireOpen() {
        assert LockOrder.taken(LockOrder.Rank.DOMAIN, this);
        checkThread();
        lifeCycle.requireOpen(this);
    }

    /**
     * Closes the open children for a scope, what uses others first. Its owner alone may do that.
     *
     * @throws WrongThreadException once, instead of one for each child
     */
    void closeChildren(ScopeClose close) {
        if (isClosed()) { return; }
        checkThread();
        List<AutoCloseable> open = children.all(AutoCloseable.class).collect(Collectors.toList()).reversed();
        open.sort(Comparator.comparing(Domain::placeInClose));
        close.closeAll(open);
        regions.finishIdle(); // slots of operations may have been freed since
    }

    /** Endpoints before regions, whose operations in flight end with them; queues last. */
    private static int placeInClose(AutoCloseable child) {
        return switch (child) {
            case ProgressThread _ -> 0;
            case Endpoint endpoint when endpoint.bindings.role != EndpointBindings.Role.SHARED_RECEIVE -> 1;
            case Endpoint _,ScalableEndpoint _,SharedTransmitContext _ -> 2;
            case MemoryRegion _,MappedKey _ -> 3;
            default -> 4;
        };
    }

    void forget(Object child) {
        children.remove(child);
        queues.forget(child);
        if (child instanceof Endpoint) { closes.close(regions::endpointClosed); }
    }

    /** {@return counts of what is registered now} Any thread may call it. It works after close. */
    public synchronized DomainStatistics statistics() {
        return regions.statistics();
    }

    /**
     * Closes the domain; fi_close, fi_domain(3). If objects that it opened are open, including closed regions with
     * operations in flight, it throws {@link IllegalStateException}, which names them, and stays open. After
     * FabricException of fi_close, of the domain or of a region that was closed before, it is closed. After any other
     * exception it takes no calls but {@code close}, which continues.
     */
    @Override
    public void close() {
        StackRoom.require();
        synchronized (this) {
            if (!lifeCycle.mayClose()) { return; }
            checkThread();
            regions.forgetHeld();
            children.requireNone(this);
            lifeCycle.begin();
        }
        int closeStatus = lifeCycle.finish(() -> {
            // outside the monitor: it may close endpoints whose close was postponed
            if (closes.hasPostponed()) { fabric.closes.postpone(this); }
            int status = closes.close(this::closeNatively);
            fabric.forget(this);
            return status;
        });
        Status.check(closeStatus, "fi_close(domain)", info.provider());
        regions.quarantine.throwFailure();
    }

    private int closeNatively() {
        if (!lifeCycle.beginNativeClose()) { return 0; }
        regions.quarantine.close();
        int status = fabric.lock.locked(() -> FidOps.fi_close(handle));
        if (status == 0) { quirks.domainClosed(); } // else libfabric keeps it
        fabric.closes.release(this);
        return status;
    }

    @Override
    public String toString() { return "Domain " + info.domain().name() + " of " + info.provider(); }
}
