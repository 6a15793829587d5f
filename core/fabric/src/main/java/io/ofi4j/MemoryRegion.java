package io.ofi4j;

import static io.ofi4j.internal.observe.EventRecorder.RECORDER;

import io.ofi4j.info.DeviceInterface;
import io.ofi4j.info.MemoryKind;
import io.ofi4j.info.MemoryRegionMode;
import io.ofi4j.info.ThreadingModel;
import io.ofi4j.internal.ffi.FidOps;
import io.ofi4j.internal.ffi.Handle;
import io.ofi4j.internal.ffi.MrOps;
import io.ofi4j.internal.observe.LockOrder;
import io.ofi4j.internal.os.DeviceDrivers;
import io.ofi4j.internal.os.NativeMemory;
import io.ofi4j.internal.quirks.Status;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Set;

/**
 * Registered off-heap memory that providers read and write; fi_mr(3). Made by {@link Domain#allocate},
 * {@link Domain#register(MemorySegment, Access...) Domain.register} and {@link Domain#map Domain.map}, which meet the provider's
 * demands for registration. Any thread may touch the memory itself. Methods that make a C call throw IllegalStateException once
 * this is closed, WrongThreadException where the domain's {@link ThreadingModel} gives it to another thread, and FabricException if
 * libfabric reports an error.
 *
 * <p><b>Closing</b> with operations in flight is safe. New operations are refused at once. The memory is deregistered, and freed if
 * it was allocated here, when the last operation has completed or its endpoint was closed. A peer's operation may still go on after
 * that, because software providers check a region's key when a transfer begins. Memory that ofi4j allocated and peers may use
 * therefore keeps its addresses, without pages, in a quarantine: the latest 1 GiB and 4,096 regions of a domain, until its last
 * endpoint is closed. Keep memory of your own as long. {@code shm} of libfabric 2.x may honour the key of a region in quarantine.
 *
 * <p>Memory in use by JDK code while the region is closed, such as a channel that writes it, is freed with the next progress on a
 * queue of the domain, or with the next close of a region. Bytes of a file that are read in that time may be zeros.
 */
public final class MemoryRegion implements AutoCloseable {
    /** Where a region is in its life. */
    private enum State {
        /** It takes operations. */
        OPEN,
        /** It takes no operations, and waits for those in flight. */
        CLOSING,
        /** As CLOSING, and deregistered already, because its endpoint closes. */
        DEREGISTERED,
        /** Closed. */
        CLOSED
    }

    /** The length of a region of several segments: every range is out of bounds. */
    private static final long NOT_ADDRESSABLE = -1;

    final Domain domain;
    final int number;
    final long address;
    final long length;
    long descriptor;
    final long accessBits;
    final Registration.Binding binding;
    /** Written by the domain's thread or under its monitor, as are the fields below. */
    private State state = State.OPEN;
    /**
     * Set by {@link #become}: {@link #accessBits} while open, then 0. One comparison tells posting threads, inside a
     * queue's guard, both.
     */
    long rights;

    private final Handle handle;
    private final MemorySegment memory;
    private final MemoryKind kind;
    private final DeviceInterface deviceInterface;
    /** The scope of the caller's memory, which the caller may close; null for memory allocated here. */
    private final MemorySegment.Scope scope;
    private final Arena arena;
    /** The region of several segments that this is a part of, or this. */
    private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();

    private final MemoryRegion whole;
    private final List<MemoryRegion> parts;
    /** Counts writes by peers, or null. */
    private final Counter counter;
    /** The result of fi_close. */
    private int closeStatus;
    private volatile RemoteRegion remote;

    /**
     * @param arena of memory allocated here, or null
     * @param kind of the memory
     * @param whole the region of several segments that this is a part of, or null
     */
    MemoryRegion(Domain domain, Handle handle, MemoryRegionAttributes attributes, Arena arena, MemoryKind kind,
            MemoryRegion whole) {
        List<MemorySegment> segments = attributes.segments();
        boolean severalSegments = segments.size() > 1;
        this.domain = domain;
        this.number = whole == null ? domain.nextNumber() : whole.number;
        this.kind = kind;
        this.deviceInterface = attributes.deviceInterface();
        this.handle = handle;
        this.memory = severalSegments ? null : segments.getFirst();
        this.arena = arena;
        this.scope = arena == null && !severalSegments ? memory.scope() : null;
        this.address = severalSegments ? 0 : memory.address();
        this.length = severalSegments ? NOT_ADDRESSABLE : attributes.length();
        this.accessBits = attributes.accessBits();
        this.rights = accessBits;
        this.whole = whole == null ? this : whole;
        this.binding = new Registration.Binding(this, handle);
        this.counter = attributes.counter().orElse(null);
        this.parts = severalSegments
                ? segments.stream().map(one -> new MemoryRegion(domain, handle, attributes.part(one), null, kind, this))
                        .toList()
                : List.of(this);
    }

    /** Sets the results of registration; from now on the region can be used. */
    void publish(long itsDescriptor, RemoteRegion remoteRegion) {
        parts.forEach(part -> part.descriptor = itsDescriptor);
        descriptor = itsDescriptor;
        remote = remoteRegion;
    }

    /**
     * {@return the memory; if ofi4j allocated it, access throws after the region is closed}
     *
     * @throws IllegalStateException if there are several segments, or a file's mapping was closed
     * @throws UnsupportedOperationException if it is a device's
     */
    public MemorySegment segment() {
        if (memory == null) { throw severalSegments(); }
        if (kind == MemoryKind.DEVICE) {
            throw new UnsupportedOperationException(this + " is on a device: this process cannot read or write it");
        }
        if (state == State.CLOSED && arena != null && memory.isMapped()) { // its mapping may linger
            throw new IllegalStateException(this + " is closed");
        }
        return memory;
    }

    /** {@return the segments of the memory} */
    public List<MemorySegment> segments() {
        return parts.stream().map(part -> part.memory).toList();
    }

    /**
     * {@return a region for each segment, for use in operations} The only part of a region of one segment is itself. Parts share
     * one descriptor, and closing one closes all. One operation cannot span two parts.
     */
    public List<MemoryRegion> parts() { return parts; }

    boolean hasSeveralSegments() { return memory == null; }

    IllegalStateException severalSegments() {
        return new IllegalStateException(this + " has " + parts.size() + " segments: use one of its parts()");
    }

    /** {@return the number of bytes, of all segments together} */
    public long length() {
        return memory == null ? segments().stream().mapToLong(MemorySegment::byteSize).sum() : length;
    }

    /**
     * Some bytes of a region, for operations that take them as one argument. It allocates: make it once, and use it often.
     *
     * @param region the region
     * @param offset the start, in bytes
     * @param length the number of bytes
     */
    public record Slice(MemoryRegion region, long offset, long length) {
        /** Checks the bounds; throws IndexOutOfBoundsException if the bytes are not all inside the region. */
        public Slice {
            Objects.checkFromIndexSize(offset, length, region.length());
        }

        /** {@return the memory of these bytes} As {@link MemoryRegion#segment}. */
        public MemorySegment segment() {
            return region.segment().asSlice(offset, length);
        }
    }

    /**
     * {@return these bytes of this region}
     *
     * @throws IndexOutOfBoundsException if they are not all inside
     */
    public Slice slice(long offset, long length) { return new Slice(this, offset, length); }

    /**
     * {@return the memory as a buffer of the machine's byte order} As {@link #segment}.
     *
     * @throws IllegalStateException also if the region has more bytes than a buffer can have, 2^31 - 1
     */
    public ByteBuffer asByteBuffer() {
        if (length() > Integer.MAX_VALUE) {
            throw new IllegalStateException(
                    this + " has more bytes than a ByteBuffer holds: use segment(), or slice it");
        }
        return segment().asByteBuffer().order(ByteOrder.nativeOrder());
    }

    /**
     * {@return the number at an offset, in the machine's byte order; what was written before it, as by
     * {@link #setLongRelease}, is seen after this} For flags that a peer or another thread sets.
     *
     * @param offset in bytes, a multiple of 8
     * @throws IllegalArgumentException if it is not, and IndexOutOfBoundsException if the number is not all inside
     */
    public long getLongAcquire(long offset) { return (long) LONG.getAcquire(segment(), offset); }

    /**
     * Sets the number at an offset, in the machine's byte order, after all that this thread has written before.
     *
     * @param offset in bytes, a multiple of 8
     * @throws IllegalArgumentException if it is not, and IndexOutOfBoundsException if the number is not all inside
     */
    public void setLongRelease(long offset, long value) { LONG.setRelease(segment(), offset, value); }

    /** {@return where its bytes are, as it was when they were registered} It says how long they can last. */
    public MemoryKind kind() {
        return kind;
    }

    boolean hasKey(long key) { return isOpen() && remote != null && remote.key() == key; }

    /** {@return the operations that it may be used for} */
    public Set<Access> access() {
        return Access.setOf(accessBits);
    }

    /**
     * {@return the address and key that peers need; send it only to peers that may use the region}
     *
     * @throws IllegalStateException if the provider ties regions to endpoints, and this region's endpoint is not enabled yet
     * @throws UnsupportedOperationException if the provider has raw keys; use {@link #rawKey}
     */
    public RemoteRegion remote() {
        RemoteRegion remoteRegion = whole.remote;
        if (remoteRegion == null) { throw binding.notReachable(); }
        return remoteRegion;
    }

    /**
     * {@return the address and raw key that peers pass to {@link Domain#mapRawKey}; fi_mr_raw_attr} Needed only where the
     * provider's {@link MemoryRegionMode} has RAW.
     *
     * @throws UnsupportedOperationException if the provider has no raw keys
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
     * Tells the provider that the pages behind the region may have changed; fi_mr_refresh.
     *
     * @throws UnsupportedOperationException if the provider does not offer it
     */
    public void refresh() { refresh(segments()); }

    /** As {@link #refresh()}, for this range, in bytes. */
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
     * Makes the contents durable in their file; {@link MemorySegment#force}. Writes by peers must have arrived. Of persistent
     * memory, msync(2) does it: the JDK's way ends a process of JDK 25 that has not compiled it yet.
     *
     * @throws UnsupportedOperationException if the memory is not mapped from a file
     * @throws UncheckedIOException if the system cannot write it
     */
    public void force() { parts.forEach(part -> part.force(0, part.length)); }

    /** As {@link #force()}, for this range, in bytes. */
    public void force(long offset, long bytes) {
        if (memory != null && !memory.isMapped()) {
            throw new UnsupportedOperationException(this + " is not mapped from a file: map one with Domain.map");
        }
        MemorySegment range = segment().asSlice(offset, bytes);
        requireOpen();
        if (kind == MemoryKind.PERSISTENT) {
            int error = NativeMemory.sync(range.address(), bytes);
            if (error != 0) { throw new UncheckedIOException(new IOException("msync: errno " + error)); }
        } else {
            range.force(); // may take long: not under the monitor
        }
        requireOpen(); // a close meanwhile may have dropped the pages before they were written
    }

    private void requireOpen() {
        synchronized (domain) {
            assert LockOrder.taken(LockOrder.Rank.DOMAIN, domain);
            domain.checkThread();
            if (!isOpen()) { throw new IllegalStateException(toString()); }
        }
    }

    /** {@return the number of its operations in flight} */
    public int operationsInFlight() {
        domain.checkThread();
        return domain.queues.inFlight(this);
    }

    /** {@return whether it accepts operations} */
    public boolean isOpen() { return state == State.OPEN; }

    /**
     * Refuses new operations, and deregisters the memory when none is in flight; fi_close. Returns at once. If it
     * throws FabricException, because libfabric could not deregister the memory, the region is closed all the same, and
     * memory allocated here is not freed.
     */
    @Override
    public void close() {
        if (whole != this) {
            whole.close();
            return;
        }
        domain.checkThread();
        synchronized (domain) {
            assert LockOrder.taken(LockOrder.Rank.DOMAIN, domain);
            if (!isOpen()) { return; }
            become(State.CLOSING);
            domain.regions.deferFinish(this);
            domain.regions.finishIdle(this);
            checkClosed();
        }
    }

    private void checkClosed() { Status.check(closeStatus, "fi_close(memory region)", handle.provider()); }

    /** Moves it on, and its parts; the only way. */
    private void become(State next) {
        state = next;
        rights = 0;
        if (hasSeveralSegments()) { parts.forEach(part -> part.become(next)); }
    }

    /** Deregisters the region before its endpoint closes, even with operations in flight. Again does nothing. */
    void leaveEndpoint() {
        if (isOpen()) {
            become(State.CLOSING);
            domain.regions.deferFinish(this);
        }
        if (state == State.CLOSING && FidOps.fi_close(handle) == 0) { // if not, finish() tries again after the endpoint
            become(State.DEREGISTERED);
        }
    }

    /**
     * Closes the region and waits until it is deregistered. Another thread must poll the queues meanwhile.
     *
     * @param deadline the longest wait
     * @throws FabricTimeoutException if operations are still in flight then; the region is deregistered after them
     */
    public void close(Duration deadline) {
        close();
        if (!Waiting.YIELD.tryUntil(this::isFinished, deadline)) {
            throw new FabricTimeoutException("closing " + this, deadline,
                    "Operations on it are still in flight: poll their completion queue, or close their endpoint.");
        }
        checkClosed();
    }

    /** Of a device's memory the driver is asked each time: who transfers memory that was freed ends the process. */
    boolean isMemoryAlive() {
        return scope == null
                || scope.isAlive() && (kind != MemoryKind.DEVICE || DeviceDrivers.hasMemory(deviceInterface, address));
    }

    private boolean isFinished() {
        synchronized (domain) {
            return state == State.CLOSED;
        }
    }

    /** Called under the domain's monitor once nothing is in flight. Returns the result of fi_close. */
    int finish() {
        boolean isRegistered = state != State.DEREGISTERED;
        become(State.CLOSED);
        domain.forget(this);
        domain.regions.forget(this);
        Object recording = RECORDER.deregistering();
        closeStatus = isRegistered ? deregister() : 0;
        RECORDER.regionChanged(recording, handle.provider(), length(), access());
        if (counter != null) { counter.unbind(this); }
        if (arena != null && closeStatus == 0) { // memory that may still be registered must not be freed
            domain.regions.quarantine.free(memory, arena, accessBits);
        }
        return closeStatus;
    }

    private int deregister() {
        return counter == null
                ? domain.regions.quarantine.deregister(handle, memory == null ? 0 : memory.address(), accessBits)
                : FidOps.fi_close(handle); // now, since its counter may be closed next
    }

    @Override
    public String toString() {
        return "MemoryRegion of " + length() + " bytes"
                + (isOpen() ? "" : state == State.CLOSED ? " (closed)" : " (closing, operations in flight)");
    }
}
