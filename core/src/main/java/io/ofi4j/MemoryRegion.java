package io.ofi4j;

import io.ofi4j.internal.Errno;
import io.ofi4j.internal.FidOps;
import io.ofi4j.internal.Handle;
import io.ofi4j.internal.MrOps;
import io.ofi4j.internal.Out;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Set;

/**
 * Registered off-heap memory, which providers read and write; fi_mr(3). Made by {@link Domain#allocate} or
 * {@link Domain#register}. Which demands the provider makes of registrations does not matter to the caller. Threads: as the
 * domain's {@link ThreadingModel} says, but for the memory itself, which any thread may touch.
 *
 * <p><b>Closing</b> with operations in flight is safe: from then on new ones are refused, and the memory is deregistered
 * and, if it was allocated here, freed when the last one has completed or its endpoint was closed.
 */
public final class MemoryRegion implements AutoCloseable {
    static final int OPEN = 0;
    private static final int CLOSING = 1;
    private static final int CLOSED = 2;

    private static final long PAGE = 4096;
    private static final int KEY_TRIES = 8;
    private static final SecureRandom RANDOM = new SecureRandom();

    final Domain domain;
    final int number;
    final long address;
    final long length;
    final long descriptor;
    final long accessBits;
    /** Written by the domain's thread or under its monitor, as is what follows. */
    int state = OPEN;
    /** The rights of {@link #accessBits} while it is open, then none; read by posting threads inside a queue's guard. */
    long rights;

    private final Handle handle;
    private final MemorySegment memory;
    /** Of the caller's memory, whose arena the caller may close; null where the memory is this region's own. */
    private final MemorySegment.Scope scope;
    private final Arena arena;
    private final RemoteRegion remote;

    private MemoryRegion(Domain domain, Handle handle, MemorySegment memory, Arena arena, long accessBits, int number) {
        this.domain = domain;
        this.number = number;
        this.handle = handle;
        this.memory = memory;
        this.arena = arena;
        this.scope = arena == null ? memory.scope() : null;
        this.address = memory.address();
        this.length = memory.byteSize();
        this.accessBits = accessBits;
        this.rights = accessBits;
        this.descriptor = MrOps.fi_mr_desc(handle);
        boolean virtual = domain.info().domain().memoryRegionMode().contains(MemoryRegionMode.VIRT_ADDR);
        this.remote = new RemoteRegion(virtual ? address : 0, length, MrOps.fi_mr_key(handle),
                accessBits & Access.REMOTE);
    }

    static MemoryRegion allocate(Domain domain, long length, Access[] access, int number) {
        if (length < 1) {
            throw new IllegalArgumentException("a memory region has at least 1 byte, not " + length);
        }
        long bits = requireRights(access);
        Arena arena = Arena.ofShared();
        try {
            return open(domain, arena.allocate(length, PAGE), arena, bits, number);
        } catch (Throwable t) {
            arena.close();
            throw t;
        }
    }

    static MemoryRegion register(Domain domain, MemorySegment memory, Access[] access, int number) {
        long bits = requireRights(access);
        if (!memory.isNative()) {
            throw new IllegalArgumentException(
                    "memory on the heap cannot be registered, the garbage collector moves it:"
                            + " allocate it with Domain.allocate or from an Arena");
        }
        if (memory.byteSize() == 0) {
            throw new IllegalArgumentException("a memory region has at least 1 byte, not 0");
        }
        long reading = Access.WRITE.bit() | Access.SEND.bit() | Access.REMOTE_READ.bit();
        if (memory.isReadOnly() && (bits & ~reading) != 0) {
            throw new IllegalArgumentException(
                    "read-only memory can be registered for WRITE, SEND and REMOTE_READ only, not " + Set.of(access));
        }
        if (!memory.scope().isAlive()) {
            throw new IllegalStateException("the arena of this memory is closed");
        }
        return open(domain, memory, null, bits, number);
    }

    private static long requireRights(Access[] access) {
        if (access.length == 0) {
            throw new IllegalArgumentException("say what the region may be used for, such as Access.WRITE");
        }
        return Access.bitsOf(access);
    }

    private static MemoryRegion open(Domain domain, MemorySegment memory, Arena arena, long bits, int number) {
        Out out = null;
        for (int tried = 0; tried < KEY_TRIES; tried++) {
            out = MrOps.fi_mr_reg(domain.handle(), memory, bits, randomKey(domain.info().domain().keySize()));
            if (out.status() != -Errno.ENOKEY) { // a random key was taken already
                break;
            }
        }
        FabricException.check(out.status(), "fi_mr_reg", domain.info().provider());
        return new MemoryRegion(domain, out.handle(), memory, arena, bits, number);
    }

    /** Not sequential, since a key is what lets a peer in; ignored where the provider chooses. */
    private static long randomKey(long keySize) {
        long key = RANDOM.nextLong();
        return keySize >= Long.BYTES ? key >>> 1 : key & (1L << keySize * Byte.SIZE) - 1;
    }

    /** {@return the memory; it throws on use after the region was closed, if it was allocated here} */
    public MemorySegment segment() {
        return memory;
    }

    /** {@return how many bytes it has} */
    public long length() {
        return length;
    }

    /** {@return what it may be used for} */
    public Set<Access> access() {
        return Access.setOf(accessBits);
    }

    /** {@return what peers need to reach it: to be sent to those that may} */
    public RemoteRegion remote() {
        return remote;
    }

    /** {@return how many operations on it are in flight} */
    public int operationsInFlight() {
        domain.checkThread();
        return domain.inFlight(this);
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
        domain.checkThread();
        synchronized (domain) {
            if (state != OPEN) {
                return;
            }
            state = CLOSING;
            rights = 0;
            domain.finishWhenIdle(this);
        }
    }

    /**
     * Closes the region and waits until it is deregistered. Somebody else must poll the queues meanwhile.
     *
     * @param deadline how long at most
     * @throws FabricTimeoutException if operations are still in flight then; the region is deregistered after them
     */
    public void close(Duration deadline) {
        close();
        if (!Waiting.YIELD.tryUntil(this::isFinished, deadline)) {
            throw new FabricTimeoutException("closing " + this, deadline,
                    "Operations on it are still in flight: " + "poll their completion queue, or close their endpoint.");
        }
    }

    boolean isMemoryAlive() {
        return scope == null || scope.isAlive();
    }

    private boolean isFinished() {
        synchronized (domain) {
            return state == CLOSED;
        }
    }

    /** Called under the domain's monitor once nothing is in flight. */
    void finish() {
        state = CLOSED;
        domain.forget(this);
        int status = FidOps.fi_close(handle);
        if (arena != null && status == 0) { // memory that may still be registered is better lost than freed
            arena.close();
        }
        FabricException.check(status, "fi_close(memory region)", domain.info().provider());
    }

    @Override
    public String toString() {
        return "MemoryRegion of " + length + " bytes"
                + (state == OPEN ? "" : state == CLOSING ? " (closing, operations in flight)" : " (closed)");
    }
}
