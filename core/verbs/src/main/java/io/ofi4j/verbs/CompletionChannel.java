package io.ofi4j.verbs;

import io.ofi4j.internal.engine.Interrupts;
import io.ofi4j.internal.engine.OpenChildren;
import io.ofi4j.internal.engine.StackRoom;
import io.ofi4j.internal.os.Descriptors;
import io.ofi4j.verbs.internal.ObjectCalls;
import io.ofi4j.verbs.internal.Rollback;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A channel on which a thread waits for completions of several completion queues; {@code struct ibv_comp_channel},
 * ibv_create_comp_channel(3). Any thread may call any method. Except for accessors, methods throw
 * {@link IllegalStateException} once it is closed.
 *
 * <pre>{@code
 * queue.requestNotification(false);
 * if (queue.poll(handler, 16) == 0) { channel.await(Duration.ofSeconds(1)); }
 * }</pre>
 */
public final class CompletionChannel implements AutoCloseable {
    final MemorySegment pointer;

    private final DeviceContext context;
    private final int descriptor;
    private final OpenChildren children = new OpenChildren();
    private final Map<Long, VerbsCompletionQueue> queues = new ConcurrentHashMap<>();
    private volatile boolean closed;

    CompletionChannel(DeviceContext context) {
        this.context = context;
        this.pointer = ObjectCalls.ibv_create_comp_channel(context.pointer);
        this.descriptor = ObjectCalls.descriptor(pointer);
        Rollback.ifFails(() -> ObjectCalls.ibv_destroy_comp_channel(pointer), () -> {
            Descriptors.nonBlocking(descriptor);
            return this;
        });
    }

    /** Adds a queue that was just opened; closes it if that fails. */
    void adopt(VerbsCompletionQueue queue) {
        children.adopt(queue);
        Rollback.ifFails(queue::close, () -> queues.put(queue.pointer.address(), queue));
    }

    void remove(VerbsCompletionQueue queue) {
        queues.remove(queue.pointer.address(), queue); // a new queue may have its address already
        children.remove(queue);
    }

    DeviceContext context() { return context; }

    /** {@return the file descriptor, which is readable when there is an event; poll(2)} The channel owns it. */
    public int waitDescriptor() {
        return descriptor;
    }

    /**
     * Waits for an event, and takes it; ibv_get_cq_event(3), ibv_ack_cq_events(3). Each
     * {@link VerbsCompletionQueue#requestNotification} gives at most one event. Operations that come back because their
     * queue pair was closed give none.
     *
     * @param deadline the longest wait
     * @return the queue that has completions, or nothing after the deadline
     * @throws io.ofi4j.errors.FabricException if the thread is interrupted, with errno {@code EINTR} (4); its interrupt
     *         status stays set
     */
    public Optional<VerbsCompletionQueue> await(Duration deadline) {
        StackRoom.require(); // an event that is taken, and not acknowledged, would keep its queue from closing
        long start = System.nanoTime();
        for (int turn = 0;; turn++) {
            VerbsCompletionQueue queue = queues.get(nextEvent());
            if (queue != null) { return Optional.of(queue); } // else no event, or of a queue that was closed
            Interrupts.check("ibv_get_cq_event");
            long left = CmEventWait.left(start, deadline);
            if (left <= 0) { return Optional.empty(); }
            CmEventWait.block(descriptor, turn, left);
        }
    }

    private synchronized long nextEvent() {
        requireOpen();
        return ObjectCalls.ibv_get_cq_event(pointer);
    }

    void requireOpen() { if (closed) { throw new IllegalStateException(this + " is closed"); } }

    /**
     * Closes the channel; ibv_destroy_comp_channel(3). If queues use it, it throws {@link IllegalStateException}, which
     * names them.
     */
    @Override
    public synchronized void close() {
        StackRoom.require();
        if (closed) { return; }
        children.requireNone(this);
        closed = true;
        try {
            ObjectCalls.ibv_destroy_comp_channel(pointer);
        } finally {
            context.children.remove(this);
        }
    }

    @Override
    public String toString() { return "CompletionChannel of " + context.name(); }
}
