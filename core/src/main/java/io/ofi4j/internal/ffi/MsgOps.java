package io.ofi4j.internal.ffi;

import io.ofi4j.bindings.fi_ops_msg;
import io.ofi4j.bindings.fid_ep;
import java.lang.foreign.MemorySegment;

/** {@code struct fi_ops_msg} of one endpoint. The function pointers are read once, after fi_enable. */
public final class MsgOps {
    private static final long OPS = fid_ep.msg$offset();

    private final long endpoint;
    private final long recvmsg;
    private final boolean critical;

    public MsgOps(Handle endpoint, boolean critical) {
        this.endpoint = endpoint.address();
        this.recvmsg = endpoint.require(OPS, fi_ops_msg.recvmsg$offset(), "fi_recvmsg").address();
        this.critical = critical;
    }

    public long fi_recvmsg(MemorySegment message, long flags) {
        return RmaOps.message(critical, recvmsg, endpoint, message.address(), flags);
    }
}
