package io.ofi4j.verbs;

import io.ofi4j.internal.engine.OpenChildren;
import io.ofi4j.internal.engine.StackRoom;
import io.ofi4j.internal.os.Machine;
import io.ofi4j.verbs.internal.ObjectCalls;
import io.ofi4j.verbs.internal.Rollback;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * A protection domain: its regions, windows and queue pairs can be used with each other; {@code struct ibv_pd},
 * ibv_alloc_pd(3). Any thread may call any method. Methods throw {@link IllegalStateException} once it is closed, and
 * {@link io.ofi4j.errors.FabricException} if the library reports an error.
 */
public final class ProtectionDomain implements AutoCloseable {

    final DeviceContext context;
    final MemorySegment pointer;
    final OpenChildren children = OpenChildren.owned();
    final List<QueuePair> queuePairs = new CopyOnWriteArrayList<>();
    /** The open windows. */
    final List<MemoryWindow> windows = new CopyOnWriteArrayList<>();

    private volatile boolean closed;

    ProtectionDomain(DeviceContext context) {
        this.context = context;
        this.pointer = ObjectCalls.ibv_alloc_pd(context.pointer);
    }

    /** {@return the device} */
    public DeviceContext context() { return context; }

    /**
     * Allocates zeroed, page-aligned memory and registers it; ibv_reg_mr(3). The garbage collector frees it
     * when the region is closed and nothing refers to it.
     *
     * @param length the number of bytes, at least 1
     * @param rights the rights of the region, and how it is registered
     * @throws IllegalArgumentException if the length is below 1, or the rights contradict each other
     * @throws UnsupportedOperationException if the device has no {@link VerbsAccess#ON_DEMAND} memory, or has iWARP and
     *         the region is {@link VerbsAccess#ZERO_BASED}
     */
    public VerbsMemoryRegion allocate(long length, VerbsAccess... rights) {
        if (length < 1) { throw new IllegalArgumentException("a region has at least 1 byte, not " + length); }
        requireOpen();
        int access = checked(rights);
        return register(Arena.ofAuto().allocate(length, Machine.PAGE), access);
    }

    /**
     * Registers memory of the caller; ibv_reg_mr(3), with {@link VerbsAccess#ZERO_BASED} ibv_reg_mr_iova(3). It may be
     * the memory of an {@code io.ofi4j.MemoryRegion}: both libraries may use it at the same time.
     *
     * @param memory off-heap memory, at least 1 byte; keep it until the region is closed
     * @throws IllegalArgumentException if the memory is on the heap, empty, or freed, if a zero-based region does not
     *         begin at a page, or the rights contradict each other
     * @throws UnsupportedOperationException if the device has no {@link VerbsAccess#ON_DEMAND} memory, or has iWARP and
     *         the region is {@link VerbsAccess#ZERO_BASED}
     */
    public VerbsMemoryRegion register(MemorySegment memory, VerbsAccess... rights) {
        requireOpen();
        if (!memory.isNative()) {
            throw new IllegalArgumentException(
                    "the garbage collector moves memory on the heap: register off-heap memory");
        }
        if (memory.byteSize() == 0 || !memory.scope().isAlive()) {
            throw new IllegalArgumentException("this memory is empty or freed");
        }
        if (memory.isReadOnly() && (checked(rights) & VerbsAccess.LOCAL_WRITE.bit()) != 0) {
            throw new IllegalArgumentException("this segment is read-only, and LOCAL_WRITE would write to it");
        }
        return register(memory, checked(rights));
    }

    private VerbsMemoryRegion register(MemorySegment memory, int access) {
        boolean zeroBased = (access & VerbsAccess.ZERO_BASED.bit()) != 0;
        // a driver of iWARP accepts the flag and ignores it
        if (zeroBased) { context.requireNotIwarp("zero-based regions"); }
        if (zeroBased && memory.address() % Machine.PAGE != 0) {
            throw new IllegalArgumentException(
                    "memory of a zero-based region begins at a page, at a multiple of " + Machine.PAGE);
        }
        long base = zeroBased ? 0 : memory.address();
        StackRoom.require();
        synchronized (this) { // as in close()
            requireOpen();
            ObjectCalls.Region region = ObjectCalls.ibv_reg_mr_iova(pointer, memory, base,
                    access & ~VerbsAccess.ZERO_BASED.bit());
            return children.adopt(Rollback.ifFails(() -> ObjectCalls.ibv_dereg_mr(region.pointer()),
                    () -> new VerbsMemoryRegion(this, region, memory, base, access)));
        }
    }

    private int checked(VerbsAccess... rights) {
        int access = VerbsAccess.bits(rights);
        if ((access & VerbsAccess.REMOTE_CHANGES) != 0 && (access & VerbsAccess.LOCAL_WRITE.bit()) == 0) {
            throw new IllegalArgumentException(
                    VerbsAccess.names(access & VerbsAccess.REMOTE_CHANGES) + " needs LOCAL_WRITE too");
        }
        if ((access & VerbsAccess.ON_DEMAND.bit()) != 0 && context.attributes().onDemand().isEmpty()) {
            throw new UnsupportedOperationException(
                    "on-demand paging is not offered by the device " + context.name() + ": leave ON_DEMAND out");
        }
        return access;
    }

    /**
     * Opens a queue pair that is connected out of band: both sides exchange their {@link QueuePair#address} and call
     * {@link QueuePair#connect}; ibv_create_qp(3). {@link VerbsConnection#openQueuePair} opens one that rdma_cm
     * connects.
     *
     * @param attributes the attributes of the queue pair
     * @throws UnsupportedOperationException if the device has iWARP, which rdma_cm must connect, or the attributes ask
     *         for blocked loopback or XRC and the device has none
     * @throws IllegalArgumentException if a queue is of another device or has too few entries left, or the device takes
     *         fewer operations
     */
    public synchronized QueuePair openQueuePair(QueuePairAttributes attributes) {
        StackRoom.require();
        requireOpen();
        return new QueuePairOpening(this, attributes).openOutOfBand();
    }

    /**
     * Opens a window, which is not bound yet; ibv_alloc_mw(3).
     *
     * @throws UnsupportedOperationException if the device has no windows of this type
     */
    public synchronized MemoryWindow openWindow(MemoryWindow.Type type) {
        StackRoom.require();
        requireOpen();
        context.require(
                type == MemoryWindow.Type.ONE ? DeviceCapability.MEM_WINDOW : DeviceCapability.MEM_WINDOW_TYPE_2B,
                "a memory window of type " + type);
        MemoryWindow made = children.adopt(new MemoryWindow(this, type));
        return Rollback.ifFails(made::close, () -> {
            windows.add(made);
            return made;
        });
    }

    void requireOpen() { if (closed) { throw new IllegalStateException(this + " is closed"); } }

    boolean isInFlight(VerbsMemoryRegion region) {
        return queuePairs.stream().anyMatch(queuePair -> queuePair.isInFlight(region));
    }

    /**
     * Closes the domain; ibv_dealloc_pd(3). If objects opened by it are open, it throws {@link IllegalStateException},
     * which names them.
     */
    @Override
    public void close() {
        StackRoom.require();
        synchronized (this) {
            if (closed) { return; }
            children.requireNone(this);
            closed = true;
            try {
                ObjectCalls.ibv_dealloc_pd(pointer);
            } finally {
                context.children.remove(this); // last, so that the device stays open until here
            }
        }
    }

    @Override
    public String toString() { return "ProtectionDomain of " + context.name(); }
}
