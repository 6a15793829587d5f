package io.ofi4j.internal.ffi;

import io.ofi4j.bindings.fi_context2;
import io.ofi4j.bindings.fi_msg;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Receives without a buffer, for a provider that needs one for each peer's write with data (FI_RX_CQ_DATA): as many as
 * the endpoint takes, each posted again when it has completed. Not thread-safe: the queue's guard serialises it.
 */
public final class DataReceivePool {
    private static final long SLOT_SIZE = fi_context2.sizeof();

    private final MsgOps ops;
    private final MemorySegment struct;
    private final long base;
    private final long length;

    /** Posts them on an endpoint that was just enabled. The memory must live until no provider can write to it. */
    public DataReceivePool(Arena memory, Handle endpoint, int count, boolean critical) {
        this.ops = new MsgOps(endpoint, critical, critical);
        this.struct = OwnedStruct.allocate(memory, fi_msg.layout());
        this.length = count * SLOT_SIZE;
        this.base = memory.allocate(length, SLOT_SIZE).address();
        for (long offset = 0; offset < length && post(base + offset); offset += SLOT_SIZE) {
            // until the endpoint takes no more
        }
    }

    /** Posts one, also again when it has completed. A connection that has ended refuses it, and needs none. */
    public boolean post(long context) {
        fi_msg.context(struct, MemorySegment.ofAddress(context));
        return ops.fi_recvmsg(struct, 0) == 0;
    }

    public boolean owns(long context) { return context >= base && context < base + length; }
}
