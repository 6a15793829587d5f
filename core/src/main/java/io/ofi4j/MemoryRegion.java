package io.ofi4j;

import io.ofi4j.info.MemoryRegionMode;
import io.ofi4j.info.ThreadingModel;
import io.ofi4j.internal.quirks.Status;
import static io.ofi4j.internal.observe.EventRecorder.RECORDER;

import io.ofi4j.internal.ffi.FidOps;
import io.ofi4j.internal.ffi.Handle;
import io.ofi4j.internal.ffi.MrOps;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;
import java.util.Set;

/**
 * Registered off-heap memory, which providers read and write; fi_mr(3). Made by {@link Domain#allocate} or
 * {@link Domain#register(MemorySegment, Access...) Domain.register} or {@link Domain#map Domain.map}. Which demands the provider
 * makes of registrations does not matter to the caller. Threads: as the domain's {@link ThreadingModel} says, but for the memory
 * itself, which any thread may touch.
 *
 * <p><b>Closing</b> with operations in flight is safe: from then on new ones are refused, and the memory is deregistered
 * and, if it was allocated here, freed when the last one has completed or its endpoint was closed. What peers had begun may go
 * on: software providers look at a region's key when a transfer begins. So memory of this library's that peers may use keeps its
 * addresses, without their pages, in a quarantine: the latest 1 GiB and 4,096 regions of a domain, until its last endpoint is closed.
 * Memory of the application's must be kept as long. {@code shm} of libfabric 2.x may honour the key of a region in quarantine.
 *
 * <p>Memory that JDK code uses while the region is closed, such as a channel that writes it, is freed after that: with the next
 * progress that a queue of the domain makes, or when the next region is closed. What is read of a file's then may be zeros.
 */
public final class MemoryRegion implements AutoCloseable {
    static final int OPEN = 0;
    private static final int CLOSING = 1;
    private static final int CLOSED = 2;

    /** Of a region of several segments, so that every range is out of its bounds. */
    private static final long NOT_ADDRESSABLE = -1;

    final Domain domain;
    final int number;
    final long address;
    final long length;
    long descriptor;
    final long accessBits;
    final RegionBinding demands;
    /** Written by the domain's thread or under its monitor, as is what follows. */
    int state = OPEN;
    /** The rights of {@link #accessBits} while it is open, then none; read by posting threads inside a queue's guard. */
    long rights;

    private final Handle handle;
    private final MemorySegment memory;
    /** Of the caller's memory, whose arena the caller may close; null where the memory is this region's own. */
    private final MemorySegment.Scope scope;
    private final Arena arena;
    private final MemoryKind kind;
    /** What this is a part of, or null. */
    private final MemoryRegion whole;
    private final List<MemoryRegion> parts;
    /** Of what peers write, or null. */
    private final Counter counter;
    private boolean deregistered;
    /** What fi_close gave. */
    private int closeStatus;
    private volatile RemoteRegion remote;

    /** By {@link MemoryRegions}. */
    MemoryRegion(Domain domain, Handle handle, MemoryRegionAttributes attributes, Arena arena, MemoryKind kind,
            int number) {
        boolean several = attributes.segments().size() > 1;
        this.domain = domain;
        this.number = number;
        this.handle = handle;
        this.memory = several ? null : attributes.segments().getFirst();
        this.arena = arena;
        this.kind = kind;
        this.scope = arena == null && !several ? memory.scope() : null;
        this.address = several ? 0 : memory.address();
        this.length = several ? NOT_ADDRESSABLE : memory.byteSize();
        this.accessBits = Access.bitsOf(attributes.access().toArray(Access[]::new));
        this.rights = accessBits;
        this.whole = null;
        this.demands = new RegionBinding(this, handle);
        this.counter = attributes.counter().orElse(null);
        this.parts = several
                ? attributes.segments().stream().map(segment -> new MemoryRegion(this, segment)).toList()
                : List.of(this);
    }

    /** One segment of several. */
    private MemoryRegion(MemoryRegion whole, MemorySegment memory) {
        this.domain = whole.domain;
        this.number = whole.number;
        this.handle = whole.handle;
        this.memory = memory;
        this.arena = null;
        this.kind = MemoryKind.of(memory);
        this.scope = memory.scope();
        this.address = memory.address();
        this.length = memory.byteSize();
        this.accessBits = whole.accessBits;
        this.rights = accessBits;
        this.whole = whole;
        this.demands = whole.demands;
        this.counter = null;
        this.parts = List.of(this);
    }

    /** It can be used now. */
    void usable(long itsDescriptor, RemoteRegion there) {
        parts.forEach(part -> part.descriptor = itsDescriptor);
        descriptor = itsDescriptor;
        remote = there;
    }

    /**
     * {@return the memory; it throws on use after the region was closed, if it was allocated here}
     *
     * @throws IllegalStateException if there are several segments, or a file's mapping was closed
     */
    public MemorySegment segment() {
        if (memory == null) {
            throw several();
        }
        if (state == CLOSED && arena != null && kind == MemoryKind.FILE) { // its mapping may linger
            throw new IllegalStateException(this + " is closed");
        }
        return memory;
    }

    /** {@return the memory, segment by segment} */
    public List<MemorySegment> segments() {
        return parts.stream().map(part -> part.memory).toList();
    }

    /**
     * {@return what operations address: a region for each segment} A region of one segment is its own only part. The parts of
     * one of several share its descriptor and its life: closing one closes all. An operation cannot reach from one to the next.
     */
    public List<MemoryRegion> parts() {
        return parts;
    }

    boolean hasSeveralSegments() {
        return parts.size() > 1;
    }

    IllegalStateException several() {
        return new IllegalStateException(this + " has " + parts.size() + " segments: use one of its parts()");
    }

    /** {@return how many bytes it has, all segments together} */
    public long length() {
        return memory == null ? segments().stream().mapToLong(MemorySegment::byteSize).sum() : length;
    }

    /** {@return where its bytes are} */
    public MemoryKind kind() {
        return kind;
    }

    /** {@return what it may be used for} */
    public Set<Access> access() {
        return Access.setOf(accessBits);
    }

    /**
     * {@return what peers need to reach it: to be sent to those that may}
     *
     * @throws IllegalStateException if the provider ties regions to endpoints, and this one's is not enabled yet
     * @throws UnsupportedOperationException if the provider has raw keys; see {@link #rawKey}
     */
    public RemoteRegion remote() {
        RemoteRegion there = whole == null ? remote : whole.remote;
        if (there == null) {
            throw demands.notReachable();
        }
        return there;
    }

    /**
     * {@return what peers need to reach it, for {@link Domain#mapRawKey}; fi_mr_raw_attr} Only where the provider's
     * {@link MemoryRegionMode} has RAW is this needed.
     *
     * @throws UnsupportedOperationException if the provider has no raw keys
     * @throws IllegalStateException if this region is closed
     * @throws FabricException if libfabric reports an error
     * @throws WrongThreadException if the threading model gives this region's domain to another thread
     */
    public RawKey rawKey() {
        synchronized (domain) {
            requireOpen();
            MrOps.Raw raw = MrOps.fi_mr_raw_attr(handle);
            Status.checkOffered(raw.status(), "fi_mr_raw_attr", handle.provider());
            return new RawKey(raw.base(), length(), accessBits & Access.REMOTE, raw.key());
        }
    }

    /**
     * Tells the provider that other pages of memory may be behind the region now; fi_mr_refresh.
     *
     * @throws UnsupportedOperationException if the provider does not offer it
     * @throws IllegalStateException if this region or the memory's arena is closed
     * @throws FabricException if libfabric reports an error
     * @throws WrongThreadException if the threading model gives this region's domain to another thread
     */
    public void refresh() {
        refresh(segments());
    }

    /**
     * Tells the provider that other pages of memory may be behind part of the region now; fi_mr_refresh.
     *
     * @param offset where in it
     * @param bytes how many
     * @throws IndexOutOfBoundsException if they are not all inside
     * @throws UnsupportedOperationException if the provider does not offer it
     * @throws IllegalStateException if this region or the memory's arena is closed, or there are several segments
     * @throws FabricException if libfabric reports an error
     * @throws WrongThreadException if the threading model gives this region's domain to another thread
     */
    public void refresh(long offset, long bytes) {
        refresh(List.of(segment().asSlice(offset, bytes)));
    }

    private void refresh(List<MemorySegment> ranges) {
        synchronized (domain) {
            requireOpen();
            if (!parts.stream().allMatch(MemoryRegion::isMemoryAlive)) {
                throw new IllegalStateException("the arena of this region's memory is closed");
            }
            Status.checkOffered(MrOps.fi_mr_refresh(handle, ranges), "fi_mr_refresh", handle.provider());
        }
    }

    /**
     * Makes what is in the memory durable in its file; {@link MemorySegment#force}. What peers have written must have arrived.
     *
     * @throws UnsupportedOperationException if it is not a file's
     * @throws IllegalStateException if this region is closed
     * @throws WrongThreadException if the threading model gives this region's domain to another thread
     */
    public void force() {
        parts.forEach(part -> part.force(0, part.length));
    }

    /**
     * Makes part of what is in the memory durable in its file; {@link MemorySegment#force}.
     *
     * @param offset where in it
     * @param bytes how many
     * @throws IndexOutOfBoundsException if they are not all inside
     * @throws UnsupportedOperationException if it is not a file's
     * @throws IllegalStateException if this region is closed, or there are several segments
     * @throws WrongThreadException if the threading model gives this region's domain to another thread
     */
    public void force(long offset, long bytes) {
        if (kind != MemoryKind.FILE) {
            throw new UnsupportedOperationException(this + " is not a file's: map one with Domain.map");
        }
        MemorySegment range = segment().asSlice(offset, bytes);
        requireOpenNow();
        range.force(); // may take long: not under the monitor
        requireOpenNow(); // or the file may have been let go before it was written
    }

    private void requireOpenNow() {
        synchronized (domain) {
            requireOpen();
        }
    }

    private void requireOpen() {
        domain.checkThread();
        if (state != OPEN) {
            throw new IllegalStateException(toString());
        }
    }

    /**
     * {@return how many operations on it are in flight}
     *
     * @throws WrongThreadException if the threading model gives this region's domain to another thread
     */
    public int operationsInFlight() {
        domain.checkThread();
        return domain.queues.inFlight(this);
    }

    /** {@return whether it takes operations} */
    public boolean isOpen() {
        return state == OPEN;
    }

    /**
     * Refuses new operations, and deregisters the memory when none is in flight any more; fi_close. Returns at once.
     *
     * @throws WrongThreadException if the domain's threading model is DOMAIN and this is not its thread
     * @throws FabricException if libfabric reports an error; the region counts as closed all the same
     */
    @Override
    public void close() {
        if (whole != null) {
            whole.close();
            return;
        }
        domain.checkThread();
        synchronized (domain) {
            if (state != OPEN) {
                return;
            }
            become(CLOSING);
            domain.regions.finishWhenIdle(this);
            checkClosed();
        }
    }

    private void checkClosed() {
        Status.check(closeStatus, "fi_close(memory region)", handle.provider());
    }

    /** No longer open. */
    private void become(int newState) {
        take(newState);
        parts.forEach(part -> part.take(newState));
    }

    private void take(int newState) {
        state = newState;
        rights = 0;
    }

    /** Before its endpoint is closed, which must not outlive it: deregisters it, whatever is in flight. */
    void leaveEndpoint() {
        if (state == OPEN) {
            become(CLOSING);
            domain.regions.finishLater(this);
        }
        deregistered = FidOps.fi_close(handle) == 0; // if not, it is tried again after the endpoint
    }

    /**
     * Closes the region and waits until it is deregistered. Somebody else must poll the queues meanwhile.
     *
     * @param deadline how long at most
     * @throws FabricTimeoutException if operations are still in flight then; the region is deregistered after them
     * @throws WrongThreadException if the threading model gives this region's domain to another thread
     * @throws FabricException if libfabric reports an error; the region counts as closed all the same
     */
    public void close(Duration deadline) {
        close();
        if (!Waiting.YIELD.tryUntil(this::isFinished, deadline)) {
            throw new FabricTimeoutException("closing " + this, deadline,
                    "Operations on it are still in flight: " + "poll their completion queue, or close their endpoint.");
        }
        checkClosed();
    }

    boolean isMemoryAlive() {
        return scope == null || scope.isAlive();
    }

    private boolean isFinished() {
        synchronized (domain) {
            return state == CLOSED;
        }
    }

    /**
     * Called under the domain's monitor once nothing is in flight.
     *
     * @return what fi_close gave
     */
    int finish() {
        become(CLOSED);
        domain.forget(this);
        domain.regions.forget(this);
        Object recording = RECORDER.deregistering();
        closeStatus = deregistered ? 0 : deregister();
        RECORDER.deregistered(recording, handle.provider(), length(), access());
        if (counter != null) {
            counter.unbind(this);
        }
        if (arena != null && closeStatus == 0) { // memory that may still be registered is better lost than freed
            free();
        }
        return closeStatus;
    }

    private int deregister() {
        return counter == null
                ? domain.regions.quarantine.deregister(handle, memory == null ? 0 : memory.address(), accessBits)
                : FidOps.fi_close(handle); // now, since its counter may be closed next
    }

    private void free() {
        if (kind == MemoryKind.FILE) {
            domain.regions.quarantine.freeFile(arena, memory, accessBits);
        } else {
            domain.regions.quarantine.free(arena);
        }
    }

    @Override
    public String toString() {
        return "MemoryRegion of " + length() + " bytes"
                + (state == OPEN ? "" : state == CLOSING ? " (closing, operations in flight)" : " (closed)");
    }
}
