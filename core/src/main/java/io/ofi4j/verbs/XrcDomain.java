package io.ofi4j.verbs;

import java.lang.foreign.MemorySegment;

/**
 * A domain of the extended reliable connected transport; {@code struct ibv_xrcd}. Any thread may use it.
 */
public final class XrcDomain implements AutoCloseable {
    private final DeviceContext context;
    private final MemorySegment pointer;
    private boolean closed;

    XrcDomain(DeviceContext context) {
        this.context = context;
        this.pointer = context.extended.ibv_open_xrcd();
        context.children.add(this);
    }

    /** Closes the domain; ibv_close_xrcd(3). */
    @Override
    public synchronized void close() {
        if (closed) { return; }
        closed = true;
        context.children.remove(this);
        context.extended.ibv_close_xrcd(pointer);
    }

    @Override
    public String toString() { return "XrcDomain of " + context.name(); }
}
