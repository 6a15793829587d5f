package io.ofi4j.verbs;

import io.ofi4j.FabricException;
import io.ofi4j.internal.engine.OpenChildren;
import io.ofi4j.internal.engine.ThreadGuard;
import io.ofi4j.internal.os.Errno;
import io.ofi4j.verbs.internal.ObjectCalls;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.Objects;

/**
 * Reports which operations have completed; {@code struct ibv_cq}, ibv_create_cq(3). Any thread may call any method; if
 * threads share a queue, each completion goes to one of them. Except for accessors, methods throw
 * {@link IllegalStateException} once it is closed, and {@link FabricException} if the library reports an error.
 *
 * <p>It cannot overflow: each queue of a queue pair reserves as many entries as it can have operations in flight, and a
 * queue pair that needs more entries than are left is refused.
 */
public final class VerbsCompletionQueue implements AutoCloseable {
    /**
     * The flag that Soft-RoCE sets for an invalidation: the kernel's number instead of that of user space. Connections
     * do not use it otherwise.
     */
    private static final int KERNEL_INVALIDATED = 1 << 2;

    final DeviceContext context;
    final MemorySegment pointer;
    final ThreadGuard guard = ThreadGuard.exclusive();
    final OpenChildren children = new OpenChildren();

    private final CompletionChannel channel;
    private final int size;
    private final Deque<CompletionBatch.Kept> kept = new ArrayDeque<>();
    private CompletionBatch[] batches = {new CompletionBatch()};
    private WorkSide[] sides = new WorkSide[2];
    private int reserved;
    private volatile boolean closed;

    VerbsCompletionQueue(DeviceContext context, int size, CompletionChannel channel) {
        this.context = context;
        this.size = size;
        this.channel = channel;
        this.pointer = ObjectCalls.ibv_create_cq(context.pointer, size,
                channel == null ? MemorySegment.NULL : channel.pointer);
        context.children.add(this);
        if (channel != null) { channel.add(this); }
    }

    /** {@return the number of entries} */
    public int size() { return size; }

    /**
     * Reads available completions and passes them to the handler; ibv_poll_cq(3). It never waits. If the handler
     * throws, the remaining completions stay for the next poll.
     *
     * @param handler receives the completions
     * @param limit the maximum number of completions, at least 1; one call returns no more than 64
     * @return the number of completions passed to the handler, 0 if none was available
     * @throws IllegalArgumentException if the limit is below 1
     */
    public int poll(WorkHandler handler, int limit) {
        Objects.requireNonNull(handler, "handler"); // before a completion is taken from the queue
        if (limit < 1) { throw new IllegalArgumentException("poll takes a limit of at least 1, not " + limit); }
        CompletionBatch batch;
        guard.enter();
        try {
            requireOpen();
            batch = freeBatch();
            fill(batch, Math.min(limit, CompletionBatch.SIZE));
            if (batch.count() == 0) {
                batch.busy.setRelease(false);
                return 0;
            }
        } finally {
            guard.exit();
        }
        return handOut(batch, handler);
    }

    private int handOut(CompletionBatch batch, WorkHandler handler) {
        int count = batch.count();
        try {
            batch.handOut(handler);
        } finally {
            if (!batch.isHandedOut()) { keepRest(batch); }
            batch.busy.setRelease(false);
        }
        return count;
    }

    private void keepRest(CompletionBatch batch) {
        guard.enter();
        try {
            Deque<CompletionBatch.Kept> rest = batch.rest();
            while (!rest.isEmpty()) {
                kept.addFirst(rest.removeLast());
            }
        } finally {
            guard.exit();
        }
    }

    private CompletionBatch freeBatch() {
        for (CompletionBatch batch : batches) {
            if (!batch.busy.getAcquire()) { return taken(batch); }
        }
        batches = Arrays.copyOf(batches, batches.length + 1); // a handler or another thread polls at the same time
        batches[batches.length - 1] = new CompletionBatch();
        return taken(batches[batches.length - 1]);
    }

    private static CompletionBatch taken(CompletionBatch batch) {
        batch.busy.setPlain(true);
        batch.clear();
        return batch;
    }

    private void fill(CompletionBatch batch, int limit) {
        batch.addKept(kept, limit);
        int found = 1;
        while (batch.count() < limit && found > 0) { // completions of closed queue pairs are dropped
            found = read(batch, limit - batch.count());
        }
    }

    private int read(CompletionBatch batch, int limit) {
        int found = batch.native_.poll(context.ops, pointer.address(), limit);
        if (found < 0) {
            throw new FabricException(
                    "ibv_poll_cq failed on " + this + ": the queue is broken. Close it and its queue pairs.",
                    "ibv_poll_cq", Errno.EIO);
        }
        for (int i = 0; i < found; i++) {
            take(batch, i);
        }
        return found == limit ? found : 0;
    }

    private void take(CompletionBatch batch, int index) {
        long id = batch.native_.id(index);
        int position = (int) id;
        WorkSide side = sides[WorkSide.numberOf(id)];
        if (side == null || !side.ring.holds(position)) { return; } // its queue pair was closed
        int kind = side.ring.kind(position);
        long token = side.ring.token(position);
        Object subject = side.ring.subject(position);
        side.ring.complete(position);
        WorkStatus status = WorkStatus.of(batch.native_.status(index));
        WorkKind what = WorkKind.of(kind & ~WorkSide.SILENT);
        if (subject instanceof MemoryWindow window) { window.completed(what, status == WorkStatus.SUCCESS); }
        if (status != WorkStatus.SUCCESS) {
            side.queuePair.failed();
            batch.add(new WorkError(token, what, status, batch.native_.vendorError(index), side.queuePair.number()));
        } else if (what == WorkKind.RECEIVE) {
            received(batch, index, side, token);
        } else if ((kind & WorkSide.SILENT) == 0) { batch.add(token, kind, batch.native_.length(index), 0, 0); }
    }

    private static void received(CompletionBatch batch, int index, WorkSide side, long token) {
        int flags = batch.native_.flags(index);
        int word = batch.native_.word(index);
        int length = batch.native_.length(index);
        if ((flags & WorkHandler.IMMEDIATE) != 0) {
            boolean written = (batch.native_.opcode(index) & 1) != 0; // IBV_WC_RECV_RDMA_WITH_IMM follows IBV_WC_RECV
            batch.add(token, (written ? WorkKind.RECEIVE_OF_WRITE : WorkKind.RECEIVE).ordinal(), length,
                    WorkHandler.IMMEDIATE, Integer.reverseBytes(word));
        } else if ((flags & (WorkHandler.INVALIDATED | KERNEL_INVALIDATED)) != 0) {
            side.queuePair.invalidated(word);
            batch.add(token, WorkKind.RECEIVE.ordinal(), length, WorkHandler.INVALIDATED, word);
        } else {
            batch.add(token, WorkKind.RECEIVE.ordinal(), length, 0, 0);
        }
    }

    /**
     * Requests an event on the channel for the next completion; ibv_req_notify_cq(3). Poll once more after this call: a
     * completion may have come before it.
     *
     * @param solicitedOnly whether only failures, and receives of messages with {@link WorkFlags#SOLICITED}, give an
     *         event
     * @throws IllegalStateException if it has no channel
     */
    public void requestNotification(boolean solicitedOnly) {
        if (channel == null) {
            throw new IllegalStateException(this + " has no channel: name one to openCompletionQueue");
        }
        guard.enter();
        try {
            requireOpen();
            context.ops.ibv_req_notify_cq(pointer.address(), solicitedOnly);
        } finally {
            guard.exit();
        }
    }

    /** Reserves entries, and keeps the queue open while the queue pair is its child. */
    void reserve(QueuePairOpening child, int entries) {
        guard.enter();
        try {
            requireOpen();
            if (entries > size - reserved) {
                throw new IllegalArgumentException(this + " has " + (size - reserved) + " of " + size
                        + " entries left, and the queue pair needs " + entries + " more: open a larger one");
            }
            children.add(child);
            reserved += entries;
        } finally {
            guard.exit();
        }
    }

    void release(int entries) {
        guard.enter();
        try {
            reserved -= entries;
        } finally {
            guard.exit();
        }
    }

    /** Gives a number to a side whose entries are reserved. */
    void add(WorkSide side) {
        guard.enter();
        try {
            addNumbered(side);
        } finally {
            guard.exit();
        }
    }

    private void addNumbered(WorkSide side) {
        int number = 0;
        while (number < sides.length && sides[number] != null) {
            number++;
        }
        if (number == sides.length) { sides = Arrays.copyOf(sides, number * 2); }
        sides[number] = side;
        side.numbered(number);
    }

    /**
     * Ends the operations in flight on a side of a queue pair that is destroyed: completions that have come are
     * buffered, the other operations are flushed. Its entries become free.
     */
    void remove(WorkSide side) {
        guard.enter();
        try {
            reserved -= side.ring.capacity();
            if (Arrays.stream(sides).noneMatch(side::equals)) { return; }
            keepAll();
            WorkRing ring = side.ring;
            for (int left = ring.inFlight(); left > 0; left--) {
                int position = ring.oldest();
                WorkKind kind = WorkKind.of(ring.kind(position) & ~WorkSide.SILENT);
                if (ring.subject(position) instanceof MemoryWindow window) { window.completed(kind, false); }
                WorkError error = new WorkError(ring.token(position), kind, WorkStatus.FLUSHED, 0,
                        side.queuePair.number());
                kept.add(new CompletionBatch.Kept(error.token(), 0, 0, 0, 0, error));
                ring.complete(position);
            }
            sides = Arrays.stream(sides).map(one -> one == side ? null : one).toArray(WorkSide[]::new);
        } finally {
            guard.exit();
        }
    }

    private void keepAll() {
        CompletionBatch batch = freeBatch();
        try {
            int found;
            do {
                batch.clear();
                found = read(batch, CompletionBatch.SIZE);
                kept.addAll(batch.rest());
            } while (found > 0);
        } finally {
            batch.busy.setRelease(false);
        }
    }

    private void requireOpen() { if (closed) { throw new IllegalStateException(this + " is closed"); } }

    /**
     * Closes the queue; ibv_destroy_cq(3). If queue pairs use it, it throws {@link IllegalStateException}, which names
     * them.
     */
    @Override
    public void close() {
        guard.enter();
        try {
            if (closed) { return; }
            children.requireNone(this);
            closed = true;
        } finally {
            guard.exit();
        }
        try {
            ObjectCalls.ibv_destroy_cq(pointer);
        } finally { // its channel and its device stay open until here
            if (channel != null) { channel.remove(this); }
            context.children.remove(this);
        }
    }

    @Override
    public String toString() { return "VerbsCompletionQueue of " + context.name(); }
}
