package io.ofi4j;

import io.ofi4j.errors.FabricException;
import io.ofi4j.errors.FabricTimeoutException;
import io.ofi4j.info.Datatype;
import io.ofi4j.info.DeviceInterface;
import io.ofi4j.info.MemoryKind;
import io.ofi4j.info.MemoryRegionMode;
import io.ofi4j.info.ThreadingModel;
import io.ofi4j.internal.engine.StackRoom;
import io.ofi4j.internal.engine.WritebackErrors;
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
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;

/**
 * Registered off-heap memory that providers read and write; fi_mr(3). Made by {@link Domain#allocate},
 * {@link Domain#register(MemorySegment, Access...) Domain.register} and {@link Domain#map Domain.map}, which do what
 * the provider demands of a registration. Any thread may read and write the memory itself. Methods that make a C call
 * throw IllegalStateException once this is closed, WrongThreadException where the domain's {@link ThreadingModel} gives
 * it to another thread, and FabricException if libfabric reports an error.
 *
 * <p><b>Closing</b> with operations in flight is safe. New operations are refused at once. When the last operation has
 * completed, or its endpoint was closed, the memory is deregistered, and freed if ofi4j allocated it.
 *
 * <p><b>Quarantine.</b> A peer's operation may still run after that, because software providers check a region's key
 * only when a transfer begins; some still honour the key of a closed region. Memory that ofi4j allocated and peers may
 * use therefore keeps its addresses, without pages, in a quarantine: at most the latest 1 GiB and 4,096 regions of a
 * domain, until its last endpoint is closed. Keep memory that you allocated for as long.
 *
 * <p>If JDK code uses the memory while the region is closed, such as a channel that writes it, the memory is freed
 * later: with the next progress on a queue of the domain, or the next close of a region. Bytes of a file that are read
 * in that time may be zeros.
 */
public final class MemoryRegion implements AutoCloseable {
    /** The states of a region; {@link DomainRegions} takes it from one to the next. */
    enum State {
        /** It takes operations. */
        OPEN,
        /** It takes no operations, and waits for those in flight. Its memory is registered. */
        CLOSING,
        /** As CLOSING, but deregistered already, because its endpoint closes. */
        DEREGISTERED,
        /** Closed. */
        CLOSED
    }

    /** The length of a region of several segments: every range is out of bounds. */
    private static final long NOT_ADDRESSABLE = -1;
    private static final long LOOK_NANOS = 1_000_000;

    final Domain domain;
    /**
     * The scope of the caller's memory, which the caller may close; null for memory allocated here. Declared beside the
     * domain, so that what a post reads is in two cache lines.
     */
    private final MemorySegment.Scope scope;
    final int number;
    final long address;
    final long length;
    long descriptor;
    final long accessBits;
    final Registration.Binding binding;
    /** Written by the domain's thread or under its monitor, as are the fields below. */
    State state = State.OPEN;
    /**
     * Set by {@link #become}: {@link #accessBits} while open, then 0. Posting threads, inside a queue's guard,
     * therefore need one comparison to know that the region is open and has the right.
     */
    long rights;

    final Handle handle;
    final MemorySegment memory;
    /** The memory of one segment, as the system has mapped it: of a file, {@link #memory} is a view. */
    private final MemorySegment mapped;
    private final MemoryKind kind;
    private final DeviceInterface deviceInterface;
    /** Of memory that is freed with the region; otherwise null. */
    final Arena arena;
    private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();

    /** The region of several segments that this is a part of, or this. */
    private final MemoryRegion whole;
    private final List<MemoryRegion> parts;
    /** Counts writes by peers, or null. */
    final Counter counter;
    final Optional<WritebackErrors> writebackErrors;
    /** The result of fi_close. */
    int closeStatus;
    private volatile RemoteRegion remote;

    /**
     * @param arena of memory allocated here, or null
     * @param mapped the memory of each segment as the system has mapped it
     * @param kinds of the memory of each segment
     * @param writebackErrors of the file of each segment
     * @param whole the region of several segments that this is a part of, or null
     */
    MemoryRegion(Domain domain, Handle handle, MemoryRegionAttributes attributes, Arena arena,
            List<MemorySegment> mapped, List<MemoryKind> kinds, List<Optional<WritebackErrors>> writebackErrors,
            MemoryRegion whole) {
        List<MemorySegment> segments = attributes.segments();
        boolean severalSegments = segments.size() > 1;
        this.domain = domain;
        this.number = whole == null ? domain.regionNumbers.take() : whole.number;
        this.kind = Collections.min(kinds); // the whole survives what each of its parts does
        this.deviceInterface = attributes.deviceInterface();
        this.handle = handle;
        this.memory = severalSegments ? null : segments.getFirst();
        this.mapped = severalSegments ? null : mapped.getFirst();
        this.arena = arena;
        this.scope = arena == null && !severalSegments ? memory.scope() : null;
        this.address = severalSegments ? 0 : memory.address();
        this.length = severalSegments ? NOT_ADDRESSABLE : attributes.length();
        this.accessBits = attributes.accessBits();
        this.rights = accessBits;
        this.whole = whole == null ? this : whole;
        this.binding = new Registration.Binding(this, handle);
        this.counter = attributes.counter().orElse(null);
        this.writebackErrors = severalSegments ? Optional.empty() : writebackErrors.getFirst();
        this.parts = severalSegments
                ? IntStream.range(0, segments.size())
                        .mapToObj(i -> new MemoryRegion(domain, handle, attributes.part(segments.get(i)), null,
                                mapped.subList(i, i + 1), kinds.subList(i, i + 1), writebackErrors.subList(i, i + 1),
                                this))
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
     * {@return the memory} If ofi4j allocated or mapped it, access to the segment throws after the region is closed.
     * The segment of a mapped file is a view: use {@link #force()}, not {@link MemorySegment#force()}.
     *
     * @throws IllegalStateException if the region has several segments, or is a file's mapping that was closed
     * @throws UnsupportedOperationException if it is memory of a device
     */
    public MemorySegment segment() {
        if (memory == null) { throw severalSegments(); }
        if (kind == MemoryKind.DEVICE) {
            throw new UnsupportedOperationException(this + " is on a device: this process cannot read or write it");
        }
        if (state == State.CLOSED && arena != null && mapped.isMapped()) {
            throw new IllegalStateException(this + " is closed");
        }
        return memory;
    }

    /** Brings pages of a mapped file into memory. */
    void load() { if (mapped.isMapped()) { mapped.load(); } }

    /** {@return the segments of the memory} */
    public List<MemorySegment> segments() {
        return parts.stream().map(part -> part.memory).toList();
    }

    /**
     * {@return a region for each segment, for use in operations} A region of one segment is its own only part. Parts
     * share one descriptor, and closing one closes all. One operation cannot span two parts.
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
     * A range of bytes of a region, for operations that take it as one argument. Making one allocates: make it once,
     * and use it often.
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

        /** {@return the memory of these bytes, as {@link MemoryRegion#segment}} */
        public MemorySegment segment() {
            return region.segment().asSlice(offset, length);
        }

        /** {@return the number of elements of this type; an exception if the slice ends inside one} */
        long count(Datatype datatype) {
            if ((length & datatype.size() - 1) != 0) {
                throw new IllegalArgumentException("a slice of " + length + " bytes ends inside an element: " + datatype
                        + " has " + datatype.size());
            }
            return length / datatype.size();
        }
    }

    /**
     * {@return a range of bytes of this region}
     *
     * @param offset the start, in bytes
     * @param length the number of bytes
     * @throws IndexOutOfBoundsException if they are not all inside the region
     */
    public Slice slice(long offset, long length) { return new Slice(this, offset, length); }

    /**
     * {@return the memory as a buffer in the machine's byte order, as {@link #segment}}
     *
     * @throws IllegalStateException if the region has more bytes than a buffer can have, 2^31 - 1, or as
     *         {@link #segment}
     */
    public ByteBuffer asByteBuffer() {
        if (length() > Integer.MAX_VALUE) {
            throw new IllegalStateException(
                    this + " has more bytes than a ByteBuffer holds: use segment(), or slice it");
        }
        return segment().asByteBuffer().order(ByteOrder.nativeOrder());
    }

    /**
     * {@return the number at an offset, in the machine's byte order, read with acquire semantics} Bytes that were
     * written before the number, for example by {@link #setLongRelease}, are visible after this call. It is for flags
     * that a peer or another thread sets.
     *
     * @param offset in bytes, a multiple of 8
     * @throws IllegalArgumentException if the offset is not a multiple of 8
     * @throws IndexOutOfBoundsException if the 8 bytes are not all inside the region
     */
    public long getLongAcquire(long offset) { return (long) LONG.getAcquire(segment(), offset); }

    /**
     * Sets the number at an offset, in the machine's byte order, with release semantics: after everything that this
     * thread has written before.
     *
     * @param offset in bytes, a multiple of 8
     * @param value the number
     * @throws IllegalArgumentException if the offset is not a multiple of 8
     * @throws IndexOutOfBoundsException if the 8 bytes are not all inside the region
     */
    public void setLongRelease(long offset, long value) { LONG.setRelease(segment(), offset, value); }

    /** {@return where the bytes of this region were when they were registered} It says how long they can last. */
    public MemoryKind kind() {
        return kind;
    }

    /** {@return the domain in which it is registered} */
    public Domain domain() { return domain; }

    boolean hasKey(long key) { return isOpen() && remote != null && remote.key() == key; }

    /** {@return the operations that it may be used for} */
    public Set<Access> access() {
        return Access.setOf(accessBits);
    }

    /**
     * {@return the address and key that peers need; send it only to peers that may use the region}
     *
     * @throws IllegalStateException if the provider ties regions to endpoints, and this region's endpoint is not
     *         enabled yet
     * @throws UnsupportedOperationException if the provider has raw keys; use {@link #rawKey}
     */
    public RemoteRegion remote() {
        RemoteRegion remoteRegion = whole.remote;
        if (remoteRegion == null) { throw binding.notReachable(); }
        return remoteRegion;
    }

    /**
     * {@return the address and raw key that peers pass to {@link Domain#mapRawKey}; fi_mr_raw_attr} Needed only where
     * the provider's {@link MemoryRegionMode} has RAW.
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
     * Tells the provider that the pages of the region may have changed; fi_mr_refresh, fi_mr(3).
     *
     * @throws UnsupportedOperationException if the provider does not offer it
     */
    public void refresh() { refresh(segments()); }

    /**
     * As {@link #refresh()}, for a range.
     *
     * @param offset the start of the range, in bytes
     * @param bytes the number of bytes
     */
    public void refresh(long offset, long bytes) { refresh(List.of(segment().asSlice(offset, bytes))); }

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
     * Makes the contents durable in their file; {@link MemorySegment#force}, msync(2). Wait first until writes by peers
     * have arrived.
     *
     * <p>Linux tells an error of writing a file once, and not again when the call is repeated, although the bytes are
     * lost. Once a part of the file could not be written, by this call or in the background, this method therefore
     * throws for each region that was mapped from it before. Close all regions of the file, map it anew, and write
     * again all bytes since the last call that returned. If the file or its pages are still used elsewhere, the new
     * region throws, too: use another file.
     *
     * @throws UnsupportedOperationException if the memory is not mapped from a file, or privately
     * @throws UncheckedIOException if the system cannot write the file, or could not since the region was mapped
     */
    public void force() { parts.forEach(part -> part.force(0, part.length)); }

    /**
     * As {@link #force()}, for a range.
     *
     * @param offset the start of the range, in bytes
     * @param bytes the number of bytes
     */
    public void force(long offset, long bytes) {
        if (memory != null && (!mapped.isMapped() || kind == MemoryKind.ANONYMOUS)) {
            throw new UnsupportedOperationException(this + (mapped.isMapped()
                    ? " is a private mapping, whose changes never reach a file: use MapMode.READ_WRITE"
                    : " is not mapped from a file: map one with Domain.map"));
        }
        segment(); // throws where there is none that could be written
        MemorySegment range = mapped.asSlice(offset, bytes);
        requireOpen();
        try {
            write(range); // may take long, therefore not under the monitor
        } catch (UncheckedIOException e) {
            writebackErrors.ifPresent(WritebackErrors::noteFailure);
            throw e;
        }
        if (writebackErrors.filter(errors -> errors.isCutOff(offset, bytes)).isPresent()) {
            writebackErrors.ifPresent(WritebackErrors::noteFailure);
            throw new UncheckedIOException(new IOException("the file of " + this + " was made shorter, and bytes behind"
                    + " its end are lost: close all its regions, map the file anew, and write them again"));
        }
        if (writebackErrors.filter(WritebackErrors::haveOccurred).isPresent()) {
            throw new UncheckedIOException(new IOException("bytes of the file of " + this + " could not be written, and"
                    + " are lost: close all its regions, map the file anew, and write them again"));
        }
        requireOpen(); // a close meanwhile may have dropped pages before they were written
    }

    private void write(MemorySegment range) {
        if (range.byteSize() == 0) { return; }
        if (kind != MemoryKind.PERSISTENT) {
            range.force();
            return;
        }
        int error = NativeMemory.sync(range.address(), range.byteSize());
        if (error != 0) { throw new UncheckedIOException(new IOException("msync: errno " + error)); }
    }

    private void requireOpen() {
        synchronized (domain) {
            assert LockOrder.taken(LockOrder.Rank.DOMAIN, domain);
            domain.checkThread();
            if (!isOpen()) { throw new IllegalStateException(toString()); }
        }
    }

    /** {@return the number of operations in flight that use this region} */
    public int operationsInFlight() {
        domain.checkThread();
        return domain.queues.inFlight(this);
    }

    /** {@return whether it accepts operations} */
    public boolean isOpen() { return state == State.OPEN; }

    /**
     * Refuses new operations, and deregisters the memory when none is in flight; fi_close, fi_mr(3). It does not wait
     * for operations. Those that an endpoint's close has canceled count until the provider has closed the endpoint,
     * which over {@code shm} may be when its peers' address vectors are closed; the domain may be closed before, unless
     * the region has a counter. If it throws FabricException, because libfabric could not deregister the memory, the
     * region is closed nevertheless, and memory that ofi4j allocated is not freed.
     */
    @Override
    public void close() {
        StackRoom.require();
        if (whole != this) {
            whole.close();
            return;
        }
        domain.regions.close(this);
    }

    void checkClosed() { Status.check(closeStatus, "fi_close(memory region)", handle.provider()); }

    /** Changes the state of this region and its parts. Nothing else changes it. */
    void become(State next) {
        state = next;
        rights = 0;
        if (hasSeveralSegments()) { parts.forEach(part -> part.become(next)); }
    }

    /**
     * Closes the region and waits until it is deregistered. It does not poll: another thread must poll the queues of
     * the operations in flight.
     *
     * @param deadline the longest wait
     * @throws FabricTimeoutException if operations are still in flight at the deadline; the region is deregistered when
     *         they complete
     */
    public void close(Duration deadline) {
        close();
        long[] nextLook = {System.nanoTime()};
        if (!Waiting.YIELD.tryUntil(() -> isFinished(nextLook), deadline)) {
            throw new FabricTimeoutException("closing " + this, deadline,
                    domain.regions.holders(this) == 0
                            ? "Operations on it are still in flight: poll their completion queue, or close their"
                                    + " endpoint."
                            : "An endpoint that was closed with operations on it in flight is still used by its peers:"
                                    + " they must complete these, or close their address vectors.");
        }
        checkClosed();
    }

    /**
     * Whether the memory is still allocated. For device memory the driver is asked each time: a transfer of freed
     * memory ends the process.
     */
    boolean isMemoryAlive() {
        return scope == null
                || scope.isAlive() && (kind != MemoryKind.DEVICE || DeviceDrivers.hasMemory(deviceInterface, address));
    }

    private boolean isFinished(long[] nextLook) {
        synchronized (domain) {
            if (state == State.CLOSED) { return true; }
        }
        long now = System.nanoTime();
        if (now - nextLook[0] >= 0) { // seldom, for it stops polls: a handler that threw may have kept one from it
            nextLook[0] = now + LOOK_NANOS;
            domain.regions.finishIdle();
        }
        return false;
    }

    @Override
    public String toString() {
        return "MemoryRegion of " + length() + " bytes"
                + (isOpen() ? "" : state == State.CLOSED ? " (closed)" : " (closing, operations in flight)");
    }
}
