package io.ofi4j.verbs;

import io.ofi4j.internal.engine.OpenChildren;
import io.ofi4j.internal.engine.StackRoom;
import io.ofi4j.verbs.internal.ObjectCalls;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import java.util.Set;

/**
 * Off-heap memory that a device reads and writes; {@code struct ibv_mr}, ibv_reg_mr(3). Made by
 * {@link ProtectionDomain#allocate} and {@link ProtectionDomain#register}. Any thread may use it.
 *
 * <p>Keep registered memory until its region is closed. New posts throw once it was freed, but the device still writes
 * what was posted before, and what peers write with the key: into memory that somebody else has got by then.
 */
public final class VerbsMemoryRegion implements AutoCloseable {
    final ProtectionDomain domain;
    final ObjectCalls.Region nativeRegion;
    /** The address of offset 0 for the device, for local operations too. */
    final long base;
    final long length;
    final int access;
    final OpenChildren windows = new OpenChildren();

    private final MemorySegment memory;
    private volatile boolean closed;

    VerbsMemoryRegion(ProtectionDomain domain, ObjectCalls.Region nativeRegion, MemorySegment memory, long base,
            int access) {
        this.domain = domain;
        this.nativeRegion = nativeRegion;
        this.memory = memory;
        this.base = base;
        this.length = memory.byteSize();
        this.access = access;
    }

    /** {@return the memory} */
    public MemorySegment segment() { return memory; }

    /** {@return the number of bytes} */
    public long length() { return length; }

    /** {@return the rights} */
    public Set<VerbsAccess> access() { return VerbsAccess.setOf(access); }

    /**
     * {@return the memory of this region, as peers need it} It gives access to the whole region. Bind a
     * {@link MemoryWindow} to give access to a range, or to revoke it.
     *
     * @throws IllegalStateException if the region is closed
     */
    public RemoteMemory remote() {
        requireOpen();
        return new RemoteMemory(base, length, nativeRegion.remoteKey(), access, false);
    }

    private void requireOpen() { if (closed) { throw new IllegalStateException(this + " is closed"); } }

    /** Checks an operation before the device gets the address. */
    void require(ProtectionDomain ofQueuePair, long offset, long count, int right) {
        if (domain != ofQueuePair) {
            throw new IllegalArgumentException(this + " is of another protection domain than the queue pair");
        }
        requireOpen();
        if (!memory.scope().isAlive()) {
            throw new IllegalStateException("the memory of " + this + " was freed: close the region first");
        }
        Objects.checkFromIndexSize(offset, count, length);
        if ((access & right) != right) {
            throw new IllegalArgumentException(
                    this + " lacks " + VerbsAccess.names(right & ~access) + ": it has " + VerbsAccess.names(access));
        }
    }

    /**
     * Deregisters the memory; ibv_dereg_mr(3). Its key becomes invalid for peers. If that fails, the region stays open,
     * and the device may still use its memory.
     *
     * @throws IllegalStateException if operations in flight use it or a window is bound to it; it stays open then
     */
    @Override
    public void close() {
        StackRoom.require();
        synchronized (this) {
            if (closed) { return; }
            windows.requireNone(this);
            closed = true; // from here on no post accepts it
            boolean isClosed = false;
            try {
                requireUnused();
                ObjectCalls.ibv_dereg_mr(nativeRegion.pointer());
                isClosed = true;
            } finally {
                closed = isClosed;
            }
            domain.children.remove(this); // which keeps its memory while the device may use it
        }
    }

    private void requireUnused() {
        if (domain.isInFlight(this)) {
            throw new IllegalStateException("operations in flight use " + this
                    + ": poll their completions (those without SIGNALED end with the next SIGNALED one),"
                    + " or close the queue pair, before it");
        }
        windows.requireNone(this); // once more: a bind that had passed its checks may have been posted since
    }

    @Override
    public String toString() { return "VerbsMemoryRegion of " + length + " bytes"; }
}
