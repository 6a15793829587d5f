package io.ofi4j.verbs;

import io.ofi4j.errors.FabricException;
import io.ofi4j.internal.engine.OpenChildren;
import io.ofi4j.internal.engine.StackRoom;
import io.ofi4j.internal.engine.ThreadGuard;
import io.ofi4j.internal.os.Errno;
import io.ofi4j.verbs.internal.ObjectCalls;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Deque;
import java.util.LinkedList;
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
    /** Completions that wait for a poll. Linked: an OutOfMemoryError leaves it as it was. */
    private final Deque<CompletionBatch.BufferedCompletion> buffered = new LinkedList<>();
    private CompletionBatch[] batches = {new CompletionBatch()};
    private WorkQueue[] workQueues = new WorkQueue[2];
    private int reserved;
    /** Whether a batch may be {@link CompletionBatch#BROKEN_OFF}; set after that, by any thread that polls. */
    private volatile boolean hasBrokenOff;
    private volatile boolean closed;

    VerbsCompletionQueue(DeviceContext context, int size, CompletionChannel channel) {
        this.context = context;
        this.size = size;
        this.channel = channel;
        this.pointer = ObjectCalls.ibv_create_cq(context.pointer, size,
                channel == null ? MemorySegment.NULL : channel.pointer);
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
        CompletionBatch batch = null;
        try {
            guard.enter();
            try {
                requireOpen();
                batch = takeBatch();
                fetch(batch, Math.min(limit, CompletionBatch.SIZE));
            } catch (Throwable t) { // inside the guard: no other thread may fetch later completions before
                if (batch != null) {
                    batch.state = CompletionBatch.BROKEN_OFF;
                    hasBrokenOff = true;
                    batch = null; // another thread may take it from here on
                }
                throw t;
            } finally {
                guard.exit();
            }
            int count = batch.wanted;
            batch.handOut(handler);
            batch.markIdle();
            return count;
        } catch (Throwable t) { // its stores need no stack
            if (batch != null) {
                batch.state = CompletionBatch.BROKEN_OFF;
                hasBrokenOff = true;
            }
            throw t;
        }
    }

    /** An idle batch, which is busy then: a handler or another thread may poll at the same time. */
    private CompletionBatch takeBatch() {
        if (hasBrokenOff) { recover(); }
        for (CompletionBatch batch : batches) {
            if (batch.state == CompletionBatch.IDLE) { return markBusy(batch); }
        }
        CompletionBatch added = new CompletionBatch(); // first: an error of the virtual machine must leave no gap
        CompletionBatch[] more = Arrays.copyOf(batches, batches.length + 1);
        more[batches.length] = added;
        batches = more;
        return markBusy(added);
    }

    private static CompletionBatch markBusy(CompletionBatch batch) {
        batch.markBusy();
        return batch;
    }

    /** Buffers what is left in batches whose use an exception broke off. */
    private void recover() {
        StackRoom.require();
        hasBrokenOff = false; // first: another thread may be about to set it
        try {
            for (CompletionBatch batch : batches) {
                if (batch.state == CompletionBatch.BROKEN_OFF) { bufferRest(batch); }
            }
        } catch (Throwable t) {
            hasBrokenOff = true;
            throw t;
        }
    }

    /** Buffers what was not handed out, before later completions. Goes on where it broke off. */
    private void bufferRest(CompletionBatch batch) {
        resolve(batch);
        while (batch.wanted > batch.handedOut) {
            buffered.addFirst(batch.get(batch.wanted - 1));
            batch.wanted--;
        }
        batch.markIdle();
    }

    /** Fetches completions, buffered ones first, until there are so many or no more. */
    private void fetch(CompletionBatch batch, int limit) {
        while (batch.wanted < limit && !buffered.isEmpty()) {
            batch.put(buffered.getFirst());
            buffered.removeFirst();
            batch.wanted++; // no call before this: the completion is in one place only
        }
        boolean mayBeMore = true;
        while (batch.wanted < limit && mayBeMore) { // completions of closed queue pairs are dropped
            mayBeMore = fetchFromDevice(batch, limit - batch.wanted);
        }
    }

    /** Fetches and resolves completions; whether there may be more. */
    private boolean fetchFromDevice(CompletionBatch batch, int limit) {
        int found = batch.completions.poll(context.ops, pointer.address(), limit);
        if (found < 0) {
            if (batch.wanted > 0) { return false; } // these come first
            throw new FabricException(
                    "ibv_poll_cq failed on " + this + ": the queue is broken. Close it and its queue pairs.",
                    "ibv_poll_cq", Errno.EIO);
        }
        batch.fetched = found;
        resolve(batch);
        return found == limit;
    }

    /** Ends the operations of fetched completions. Goes on where it broke off. */
    private void resolve(CompletionBatch batch) {
        while (batch.resolved < batch.fetched) {
            resolve(batch, batch.resolved);
        }
        batch.fetched = 0;
        batch.resolved = 0;
    }

    private void resolve(CompletionBatch batch, int index) {
        long id = batch.completions.id(index);
        int position = (int) id;
        WorkQueue workQueue = workQueues[WorkQueue.numberOf(id)];
        if (workQueue == null || !workQueue.ring.holds(position)) { // its queue pair was closed
            batch.resolved = index + 1;
            return;
        }
        int kind = workQueue.ring.kind(position);
        long token = workQueue.ring.token(position);
        WorkStatus status = WorkStatus.of(batch.completions.status(index));
        WorkKind workKind = WorkKind.of(kind & ~WorkQueue.SILENT);
        boolean isWanted = status != WorkStatus.SUCCESS || (kind & WorkQueue.SILENT) == 0;
        if (status != WorkStatus.SUCCESS) {
            batch.put(new WorkError(token, workKind, status, batch.completions.vendorError(index),
                    workQueue.queuePair.number()));
            workQueue.queuePair.failed();
        } else if (workKind == WorkKind.RECEIVE) {
            received(batch, index, workQueue, token);
        } else {
            batch.put(token, kind, batch.completions.length(index), 0, 0);
        }
        if (workQueue.ring.subject(position) instanceof MemoryWindow window) {
            StackRoom.require(); // its state changes once
            window.completed(workQueue.queuePair, position, workKind, status == WorkStatus.SUCCESS);
        }
        workQueue.ring.complete(position);
        batch.wanted += isWanted ? 1 : 0; // from the return of the call to the end are no calls
        batch.resolved = index + 1;
    }

    private static void received(CompletionBatch batch, int index, WorkQueue workQueue, long token) {
        int flags = batch.completions.flags(index);
        int word = batch.completions.word(index);
        int length = batch.completions.length(index);
        if ((flags & WorkHandler.IMMEDIATE) != 0) {
            // IBV_WC_RECV_RDMA_WITH_IMM follows IBV_WC_RECV
            boolean written = (batch.completions.opcode(index) & 1) != 0;
            batch.put(token, (written ? WorkKind.RECEIVE_OF_WRITE : WorkKind.RECEIVE).ordinal(), length,
                    WorkHandler.IMMEDIATE, Integer.reverseBytes(word));
        } else if ((flags & (WorkHandler.INVALIDATED | KERNEL_INVALIDATED)) != 0) {
            StackRoom.require(); // the window's state changes once
            workQueue.queuePair.invalidated(word);
            batch.put(token, WorkKind.RECEIVE.ordinal(), length, WorkHandler.INVALIDATED, word);
        } else {
            batch.put(token, WorkKind.RECEIVE.ordinal(), length, 0, 0);
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
            throw new IllegalStateException(this + " has no channel: pass one to openCompletionQueue");
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
    void add(WorkQueue workQueue) {
        guard.enter();
        try {
            addNumbered(workQueue);
        } finally {
            guard.exit();
        }
    }

    private void addNumbered(WorkQueue workQueue) {
        if (hasBrokenOff) { recover(); } // completions of the last queue pair with this number may be left
        int number = 0;
        while (number < workQueues.length && workQueues[number] != null) {
            number++;
        }
        if (number == workQueues.length) { workQueues = Arrays.copyOf(workQueues, number * 2); }
        workQueues[number] = workQueue;
        workQueue.assignNumber(number);
    }

    /**
     * Ends what is in flight on a work queue of a queue pair that is destroyed: completions that have come are
     * buffered, the rest is flushed. Its entries are free again.
     */
    void remove(WorkQueue workQueue) {
        guard.enter();
        try {
            reserved -= workQueue.ring.capacity();
            int number = Arrays.asList(workQueues).indexOf(workQueue);
            if (number < 0) { return; }
            try {
                bufferAll();
            } finally { // also where the device has failed
                try {
                    flush(workQueue);
                } finally {
                    workQueues[number] = null;
                }
            }
        } finally {
            guard.exit();
        }
    }

    private void flush(WorkQueue workQueue) {
        WorkRing ring = workQueue.ring;
        for (int left = ring.inFlight(); left > 0; left--) {
            int position = ring.oldest();
            WorkKind kind = WorkKind.of(ring.kind(position) & ~WorkQueue.SILENT);
            if (ring.subject(position) instanceof MemoryWindow window) {
                window.completed(workQueue.queuePair, position, kind, false);
            }
            WorkError error = new WorkError(ring.token(position), kind, WorkStatus.FLUSHED, 0,
                    workQueue.queuePair.number());
            buffered.add(new CompletionBatch.BufferedCompletion(error.token(), 0, 0, 0, 0, error));
            ring.complete(position);
        }
    }

    private void bufferAll() {
        CompletionBatch batch = takeBatch();
        try {
            boolean mayBeMore;
            do {
                mayBeMore = fetchFromDevice(batch, CompletionBatch.SIZE);
                while (batch.handedOut < batch.wanted) {
                    buffered.addLast(batch.get(batch.handedOut));
                    batch.handedOut++;
                }
                batch.wanted = 0;
                batch.handedOut = 0;
            } while (mayBeMore);
            batch.markIdle();
        } catch (Throwable t) {
            batch.state = CompletionBatch.BROKEN_OFF;
            hasBrokenOff = true;
            throw t;
        }
    }

    private void requireOpen() { if (closed) { throw new IllegalStateException(this + " is closed"); } }

    /**
     * Closes the queue; ibv_destroy_cq(3). If queue pairs use it, it throws {@link IllegalStateException}, which names
     * them.
     */
    @Override
    public void close() {
        StackRoom.require();
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
