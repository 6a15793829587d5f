package io.ofi4j.verbs;

import io.ofi4j.verbs.internal.QueuePairCalls;
import io.ofi4j.verbs.internal.Rollback;
import java.lang.foreign.MemorySegment;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;

/** Opens a queue pair. It is a child of its completion queues before the native call, so that they stay open. */
final class QueuePairOpening {
    private final ProtectionDomain domain;
    private final QueuePairAttributes attributes;
    private final VerbsCompletionQueue sendQueue;
    private final VerbsCompletionQueue receiveQueue;

    QueuePairOpening(ProtectionDomain domain, QueuePairAttributes attributes) {
        this.domain = domain;
        this.attributes = attributes;
        this.sendQueue = attributes.sendQueue();
        this.receiveQueue = attributes.receiveQueue();
        requireQueues();
    }

    private void requireQueues() {
        if (sendQueue.context != domain.context || receiveQueue.context != domain.context) {
            throw new IllegalArgumentException("a completion queue is of another device context than " + domain);
        }
        int max = domain.context.attributes().maximumWorkRequests();
        if (Math.max(attributes.sends(), attributes.receives()) > max) {
            throw new IllegalArgumentException("a queue pair of " + domain.context.name() + " has at most " + max
                    + " operations in flight in each direction, not "
                    + Math.max(attributes.sends(), attributes.receives()));
        }
    }

    /** Opens one that is connected out of band. */
    QueuePair openOutOfBand() {
        OutOfBandConnection outOfBand = new OutOfBandConnection(domain.context, attributes,
                OutOfBandConnection.sequence());
        return open(() -> outOfBand.create(domain), QueuePairCalls::ibv_destroy_qp,
                pointer -> new QueuePair(domain, attributes, pointer, outOfBand, QueuePairCalls::ibv_destroy_qp, null));
    }

    /** {@return a queue pair that rdma_cm connects, and that is destroyed under a lock of its connection} */
    QueuePair openForConnection(Supplier<MemorySegment> create, Consumer<MemorySegment> destroy, Object lock) {
        return open(create, destroy, pointer -> new QueuePair(domain, attributes, pointer, null, destroy, lock));
    }

    private QueuePair open(Supplier<MemorySegment> create, Consumer<MemorySegment> destroy,
            Function<MemorySegment, QueuePair> wrap) {
        QueuePair made;
        reserve();
        try {
            try {
                made = wrapped(create.get(), destroy, wrap);
            } catch (Throwable t) {
                sendQueue.release(attributes.sends());
                receiveQueue.release(attributes.receives());
                throw t;
            }
            register(made);
            return made;
        } finally {
            sendQueue.children.remove(this);
            receiveQueue.children.remove(this);
        }
    }

    private void reserve() {
        sendQueue.reserve(this, attributes.sends());
        try {
            receiveQueue.reserve(this, attributes.receives());
        } catch (Throwable t) {
            sendQueue.release(attributes.sends());
            sendQueue.children.remove(this);
            throw t;
        }
    }

    private static QueuePair wrapped(MemorySegment pointer, Consumer<MemorySegment> destroy,
            Function<MemorySegment, QueuePair> wrap) {
        return Rollback.ifFails(() -> destroy.accept(pointer), () -> wrap.apply(pointer));
    }

    private static void register(QueuePair made) {
        Rollback.ifFails(made::close, () -> {
            made.register();
            return made;
        });
    }

    @Override
    public String toString() { return "a queue pair that is being opened"; }
}
