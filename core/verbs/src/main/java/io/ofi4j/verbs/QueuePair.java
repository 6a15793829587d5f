package io.ofi4j.verbs;

import static io.ofi4j.verbs.WorkFlags.SIGNALED;

import io.ofi4j.internal.engine.OpenChildren;
import io.ofi4j.internal.engine.StackRoom;
import io.ofi4j.verbs.internal.Opcodes;
import io.ofi4j.verbs.internal.QueuePairCalls;
import io.ofi4j.verbs.internal.WorkRequest;
import java.lang.foreign.MemorySegment;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * One end of a reliable connection, with a queue for operations and one for receives; {@code struct ibv_qp}. Any thread
 * may call any method. Posting allocates nothing, except for windows.
 *
 * <p>The {@code try} methods post an operation and return false if there is no room: then poll the completion queue and
 * try again. Do not use the local bytes of an operation before its completion, except with {@link WorkFlags#INLINE}.
 * The {@code long} token comes back with the completion. Offsets and lengths are in bytes.
 *
 * <p><b>Errors.</b> The {@code try} methods throw {@link IllegalStateException} if the queue pair is not connected, or
 * an object is closed; {@link IndexOutOfBoundsException} if a range is not inside its region or the peer's memory;
 * {@link IllegalArgumentException} if a right is missing, an object is of another protection domain, or the operation
 * does not take the flags or the length. All of that is checked before the device is reached. They throw
 * {@link io.ofi4j.errors.FabricException} if the library reports an error, which ends the queue pair as {@link #fail}
 * does.
 *
 * <p>A failed operation puts the queue pair into the error state: all operations after it come back as
 * {@link WorkStatus#FLUSHED}. Close it then: over iWARP, operations that are posted after the error or the end of the
 * connection come back only when it is closed.
 */
public final class QueuePair implements AutoCloseable {
    final ProtectionDomain domain;
    final MemorySegment pointer;
    /** The windows that are bound on it, or are being bound or invalidated. */
    final OpenChildren windows = new OpenChildren();

    private final QueuePairAttributes attributes;
    private final OutOfBandConnection outOfBand;
    private final Consumer<MemorySegment> destroy;
    /** The lock under which it is destroyed: calls of rdma_cm use the queue pair too. */
    private final Object lock;
    private final WorkQueue sendQueue;
    private final WorkQueue receiveQueue;
    private final SendWork work;
    private final WindowWork windowWork;
    private final int number;
    private volatile boolean connected;
    private volatile boolean failed;
    private volatile boolean closed;

    /**
     * @param lock the lock under which it is destroyed, or null for one of its own
     */
    QueuePair(ProtectionDomain domain, QueuePairAttributes attributes, MemorySegment pointer,
            OutOfBandConnection outOfBand, Consumer<MemorySegment> destroy, Object lock) {
        this.domain = domain;
        this.attributes = attributes;
        this.pointer = pointer;
        this.outOfBand = outOfBand;
        this.destroy = destroy;
        this.lock = lock == null ? this : lock;
        this.number = QueuePairCalls.number(pointer);
        this.sendQueue = new WorkQueue(this, attributes.sendQueue(), attributes.sends(),
                new WorkRequest(domain.context.ops, pointer, true, attributes.inline()));
        this.receiveQueue = new WorkQueue(this, attributes.receiveQueue(), attributes.receives(),
                new WorkRequest(domain.context.ops, pointer, false, 0));
        this.work = new SendWork(this, sendQueue, attributes.inline());
        this.windowWork = new WindowWork(this, sendQueue);
    }

    /** Makes it known to completions and closes. */
    void register() {
        sendQueue.completionQueue.add(sendQueue);
        receiveQueue.completionQueue.add(receiveQueue);
        sendQueue.completionQueue.children.add(this);
        receiveQueue.completionQueue.children.add(this);
        domain.queuePairs.add(this);
        domain.children.add(this);
    }

    private void unregister() {
        try {
            sendQueue.completionQueue.remove(sendQueue);
        } finally {
            try {
                receiveQueue.completionQueue.remove(receiveQueue);
            } finally {
                sendQueue.completionQueue.children.remove(this);
                receiveQueue.completionQueue.children.remove(this);
                domain.queuePairs.remove(this);
                domain.children.remove(this);
            }
        }
    }

    /** {@return its number on the device} */
    public int number() { return number; }

    /** {@return the attributes that it was opened with} */
    public QueuePairAttributes attributes() {
        return attributes;
    }

    /**
     * {@return whether operations can be posted: it is connected, none has failed, and the peer is not known to have
     * disconnected} {@link VerbsConnection#isDisconnected} finds out.
     */
    public boolean isConnected() { return connected && !failed && !closed; }

    /**
     * {@return its address, for the peer's {@link #connect}}
     *
     * @throws IllegalStateException if rdma_cm connects it
     */
    public QueuePairAddress address() { return requireOutOfBand().address(number); }

    /**
     * Connects it to a queue pair of a peer, which must do the same; ibv_modify_qp(3) to RTR and RTS. Close it if the
     * library reports an error: it may be connected halfway.
     *
     * @throws IllegalStateException if it is connected, closed, or rdma_cm connects it
     */
    public void connect(QueuePairAddress peer) {
        OutOfBandConnection outOfBand = requireOutOfBand();
        StackRoom.require();
        synchronized (this) {
            if (closed || connected) {
                throw new IllegalStateException(this + " is " + (closed ? "closed" : "connected already"));
            }
            outOfBand.connect(pointer, peer);
            connected = true;
        }
    }

    private OutOfBandConnection requireOutOfBand() {
        return Optional.ofNullable(outOfBand)
                .orElseThrow(() -> new IllegalStateException(this + " is connected by rdma_cm, not out of band"));
    }

    void connected() { connected = true; }

    void failed() { failed = true; }

    /** Records that the peer has invalidated a key. */
    void invalidated(int key) {
        for (MemoryWindow window : domain.windows) {
            if (window.invalidated(key)) { return; }
        }
    }

    /**
     * Posts a receive for a message of the peer; ibv_post_recv(3). It also works before the queue pair is connected.
     *
     * @return false if there is no room
     */
    public boolean tryReceive(VerbsMemoryRegion region, long offset, int length, long token) {
        WorkQueue workQueue = receiveQueue;
        workQueue.completionQueue.guard.enter();
        try {
            requireOpen();
            requireMessages();
            region.require(domain, offset, length, VerbsAccess.LOCAL_WRITE.bit());
            workQueue.request.local(region.base + offset, length, region.nativeRegion.localKey());
            // iWARP needs one
            return workQueue.receive(length == 0 && !domain.context.isIwarp() ? 0 : 1, region, token);
        } finally {
            workQueue.completionQueue.guard.exit();
        }
    }

    /**
     * Sends a message to a receive of the peer; {@code IBV_WR_SEND}, ibv_post_send(3).
     *
     * @param flags {@link WorkFlags}
     * @return false if there is no room
     */
    public boolean trySend(VerbsMemoryRegion region, long offset, int length, int flags, long token) {
        return work.message(Opcodes.SEND, region, offset, length, 0, flags, token);
    }

    /** As {@link #trySend}, with a number of 4 bytes for the peer's completion; {@code IBV_WR_SEND_WITH_IMM}. */
    public boolean trySendImmediate(VerbsMemoryRegion region, long offset, int length, int immediate, int flags,
            long token) {
        domain.context.requireNotIwarp("immediate data");
        return work.message(Opcodes.SEND_WITH_IMMEDIATE, region, offset, length, Integer.reverseBytes(immediate), flags,
                token);
    }

    /**
     * As {@link #trySend}, and invalidates a window of the peer; {@code IBV_WR_SEND_WITH_INV}. From then on the key of
     * the window is invalid, and this object cannot be used.
     *
     * @param window memory that is a window of type 2
     * @throws IllegalArgumentException if the memory is not a window of type 2
     * @throws UnsupportedOperationException if the device does not have this operation
     */
    public boolean trySendInvalidate(VerbsMemoryRegion region, long offset, int length, RemoteMemory window, int flags,
            long token) {
        domain.context.require(DeviceCapability.MEM_MGT_EXTENSIONS, "send with invalidate");
        synchronized (window) {
            window.requireValid();
            if (!window.isRevocable()) {
                throw new IllegalArgumentException(
                        window + " is not a window of type 2: only its owner can invalidate it");
            }
            boolean posted = work.message(Opcodes.SEND_WITH_INVALIDATE, region, offset, length, window.key(), flags,
                    token);
            if (posted) { window.invalidated(); }
            return posted;
        }
    }

    /**
     * Writes to the peer's memory; {@code IBV_WR_RDMA_WRITE}, ibv_post_send(3).
     *
     * @param flags {@link WorkFlags}
     * @return false if there is no room
     */
    public boolean tryWrite(VerbsMemoryRegion region, long offset, int length, RemoteMemory target, long targetOffset,
            int flags, long token) {
        return work.write(Opcodes.WRITE, region, offset, length, target, targetOffset, 0, flags, token);
    }

    /**
     * As {@link #tryWrite}, and uses a receive of the peer, whose completion has the number;
     * {@code IBV_WR_RDMA_WRITE_WITH_IMM}.
     */
    public boolean tryWriteImmediate(VerbsMemoryRegion region, long offset, int length, RemoteMemory target,
            long targetOffset, int immediate, int flags, long token) {
        domain.context.requireNotIwarp("immediate data");
        return work.write(Opcodes.WRITE_WITH_IMMEDIATE, region, offset, length, target, targetOffset,
                Integer.reverseBytes(immediate), flags, token);
    }

    /**
     * Reads the peer's memory; {@code IBV_WR_RDMA_READ}, ibv_post_send(3).
     *
     * @param flags {@link WorkFlags}, not {@link WorkFlags#INLINE}, and over iWARP not {@link WorkFlags#FENCED}
     * @return false if there is no room
     */
    public boolean tryRead(VerbsMemoryRegion region, long offset, int length, RemoteMemory source, long sourceOffset,
            int flags, long token) {
        return work.read(region, offset, length, source, sourceOffset, flags, token);
    }

    /**
     * Adds a number to 8 bytes of the peer's memory, and fetches the previous value;
     * {@code IBV_WR_ATOMIC_FETCH_AND_ADD}, ibv_post_send(3). The numbers have the byte order of the peer's processor.
     *
     * @param flags {@link WorkFlags}, not {@link WorkFlags#INLINE}
     * @return false if there is no room
     */
    public boolean tryFetchAdd(VerbsMemoryRegion result, long offset, RemoteMemory target, long targetOffset, long add,
            int flags, long token) {
        return work.atomic(Opcodes.FETCH_ADD, WorkKind.FETCH_ADD, result, offset, target, targetOffset, add, 0, flags,
                token);
    }

    /**
     * As {@link #tryFetchAdd}, but replaces the number if it equals the expected one;
     * {@code IBV_WR_ATOMIC_CMP_AND_SWP}.
     */
    public boolean tryCompareSwap(VerbsMemoryRegion result, long offset, RemoteMemory target, long targetOffset,
            long expected, long desired, int flags, long token) {
        return work.atomic(Opcodes.COMPARE_SWAP, WorkKind.COMPARE_SWAP, result, offset, target, targetOffset, expected,
                desired, flags, token);
    }

    /**
     * Binds a window to a range of a region; for type 1 ibv_bind_mw(3), for type 2 {@code IBV_WR_BIND_MW}. Its
     * completion is always reported. {@link MemoryWindow#remote} can be sent to the peer at once, by a send that is
     * posted after the bind.
     *
     * @param flags {@link WorkFlags#FENCED} or 0
     * @param rights the remote rights of the window; those that change memory need a region with
     *         {@link VerbsAccess#LOCAL_WRITE}
     * @return false if there is no room
     * @throws IllegalStateException if the window is not free; the message names its state
     */
    public boolean tryBind(MemoryWindow window, VerbsMemoryRegion region, long offset, long length, int flags,
            long token, VerbsAccess... rights) {
        sendQueue.completionQueue.guard.enter();
        try {
            requireReady(flags, WorkFlags.FENCED | SIGNALED);
            return windowWork.bind(window, region, offset, length, flags | SIGNALED, token, VerbsAccess.bits(rights));
        } finally {
            sendQueue.completionQueue.guard.exit();
        }
    }

    /**
     * Invalidates a window: from the completion on its key is invalid; for type 2 {@code IBV_WR_LOCAL_INV}, for type 1
     * a bind of length 0. Its completion is always reported.
     *
     * @param flags {@link WorkFlags#FENCED} or 0
     * @return false if there is no room
     * @throws IllegalStateException if the window is not bound; the message names its state
     */
    public boolean tryInvalidate(MemoryWindow window, int flags, long token) {
        sendQueue.completionQueue.guard.enter();
        try {
            requireReady(flags, WorkFlags.FENCED | SIGNALED);
            return windowWork.invalidate(window, flags | SIGNALED, token);
        } finally {
            sendQueue.completionQueue.guard.exit();
        }
    }

    void requireReady(int flags, int allowed) {
        requireOpen();
        if (!connected) { throw new IllegalStateException(this + " is not connected"); }
        if ((flags & ~allowed) != 0) {
            throw new IllegalArgumentException(
                    "this operation does not take the flags 0x" + Integer.toHexString(flags & ~allowed));
        }
    }

    void requireMessages() {
        if (attributes.xrc()) {
            throw new UnsupportedOperationException(
                    "messages over XRC need a shared receive queue of the peer, which is not offered here");
        }
    }

    private void requireOpen() { if (closed) { throw new IllegalStateException(this + " is closed"); } }

    boolean isClosed() { return closed; }

    boolean isInFlight(Object subject) { return usesSubject(sendQueue, subject) || usesSubject(receiveQueue, subject); }

    private static boolean usesSubject(WorkQueue workQueue, Object subject) {
        workQueue.completionQueue.guard.enter();
        try {
            return workQueue.ring.usesSubject(subject);
        } finally {
            workQueue.completionQueue.guard.exit();
        }
    }

    /**
     * Ends the connection on this side; ibv_modify_qp(3) to ERR. All operations in flight come back, most of them as
     * {@link WorkStatus#FLUSHED}.
     *
     * @throws IllegalStateException if it is closed
     */
    public synchronized void fail() {
        requireOpen();
        failOpen();
    }

    /** As {@link #fail}, where no close can destroy it: under its monitor, or inside the guard of one of its queues. */
    void failOpen() {
        failed = true;
        QueuePairCalls.fail(pointer);
    }

    /**
     * Destroys the queue pair; ibv_destroy_qp(3). Operations in flight come back as {@link WorkStatus#FLUSHED} with the
     * next polls, without an event of a {@link CompletionChannel}. If windows are bound on it, for which the kernel
     * would wait, it throws {@link IllegalStateException}, which names them. It ends a call of its
     * {@link VerbsConnection} that connects or accepts.
     */
    @Override
    public void close() {
        StackRoom.require();
        synchronized (lock) {
            synchronized (this) { // so that fail() need not wait for rdma_cm
                if (closed) { return; }
                closed = true;
                boolean isUnused = false;
                try {
                    awaitPosts(sendQueue); // no bind can come after this
                    awaitPosts(receiveQueue);
                    windows.requireNone(this);
                    isUnused = true;
                } finally {
                    closed = isUnused;
                }
                destroy();
            }
        }
    }

    private void destroy() {
        try {
            destroy.accept(pointer);
        } finally {
            unregister();
        }
    }

    private static void awaitPosts(WorkQueue workQueue) {
        workQueue.completionQueue.guard.enter();
        workQueue.completionQueue.guard.exit();
    }

    @Override
    public String toString() { return "QueuePair " + number + " of " + domain.context.name(); }
}
