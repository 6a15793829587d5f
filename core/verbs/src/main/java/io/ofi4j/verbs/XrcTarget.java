package io.ofi4j.verbs;

import io.ofi4j.internal.engine.StackRoom;
import io.ofi4j.verbs.internal.QueuePairCalls;
import java.lang.foreign.MemorySegment;

/**
 * The target side of an XRC connection: writes, reads and atomic operations of a peer reach memory through it, and it
 * posts nothing itself; {@code struct ibv_qp} of type {@code IBV_QPT_XRC_RECV}. Any thread may call any method.
 */
public final class XrcTarget implements AutoCloseable {
    private final XrcDomain domain;
    private final OutOfBandConnection outOfBand;
    private final MemorySegment pointer;
    private final int number;
    private boolean connected;
    private boolean closed;

    XrcTarget(XrcDomain domain, QueuePairAttributes attributes) {
        this.domain = domain;
        this.outOfBand = new OutOfBandConnection(domain.context, attributes, OutOfBandConnection.sequence());
        this.pointer = outOfBand
                .initialized(() -> QueuePairCalls.createXrcTarget(domain.context.extended, domain.pointer));
        this.number = QueuePairCalls.number(pointer);
    }

    /** {@return its address, for the peer's {@link QueuePair#connect}} */
    public QueuePairAddress address() {
        return outOfBand.address(number);
    }

    /**
     * Connects it to the peer's queue pair; ibv_modify_qp(3) to RTR.
     *
     * @throws IllegalStateException if it is connected or closed
     */
    public synchronized void connect(QueuePairAddress peer) {
        StackRoom.require();
        if (closed || connected) {
            throw new IllegalStateException(this + " is " + (closed ? "closed" : "connected already"));
        }
        outOfBand.answer(pointer, peer);
        connected = true;
    }

    /** Destroys the target; ibv_destroy_qp(3). */
    @Override
    public synchronized void close() {
        StackRoom.require();
        if (closed) { return; }
        closed = true;
        try {
            QueuePairCalls.ibv_destroy_qp(pointer);
        } finally {
            domain.children.remove(this);
        }
    }

    @Override
    public String toString() { return "XrcTarget " + number + " of " + domain.context.name(); }
}
