package io.ofi4j.verbs;

import io.ofi4j.internal.engine.OpenChildren;
import io.ofi4j.internal.engine.StackRoom;
import java.lang.foreign.MemorySegment;

/**
 * A domain of the extended reliable connected transport; {@code struct ibv_xrcd}, ibv_open_xrcd(3). Peers reach the
 * memory of this process through its {@link XrcTarget}s. Any thread may call any method. Methods throw
 * {@link IllegalStateException} once it is closed, and {@link io.ofi4j.errors.FabricException} if the library reports
 * an error. No device with XRC has been tried.
 */
public final class XrcDomain implements AutoCloseable {
    final DeviceContext context;
    final MemorySegment pointer;
    final OpenChildren children = OpenChildren.owned();
    private boolean closed;

    XrcDomain(DeviceContext context) {
        this.context = context;
        this.pointer = context.extended.ibv_open_xrcd();
    }

    /**
     * Opens a target for one peer, whose queue pair has {@link QueuePairAttributes#xrc}; {@code IBV_QPT_XRC_RECV},
     * ibv_create_qp_ex(3). The caller closes it.
     *
     * @param attributes the attributes, of which port, address and number of reads are used
     * @throws IllegalArgumentException if the device has no such port, or the port has no such address
     */
    public synchronized XrcTarget openTarget(QueuePairAttributes attributes) {
        StackRoom.require();
        if (closed) { throw new IllegalStateException(this + " is closed"); }
        return children.adopt(new XrcTarget(this, attributes));
    }

    /**
     * Closes the domain; ibv_close_xrcd(3). If targets are open, it throws {@link IllegalStateException}, which names
     * them.
     */
    @Override
    public synchronized void close() {
        StackRoom.require();
        if (closed) { return; }
        children.requireNone(this);
        closed = true;
        try {
            context.extended.ibv_close_xrcd(pointer);
        } finally {
            context.children.remove(this);
        }
    }

    @Override
    public String toString() { return "XrcDomain of " + context.name(); }
}
