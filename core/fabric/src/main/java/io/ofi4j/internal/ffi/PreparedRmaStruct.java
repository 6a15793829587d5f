package io.ofi4j.internal.ffi;

import io.ofi4j.bindings.fi_msg_rma;

/** A {@code struct fi_msg_rma} with its vectors. */
public final class PreparedRmaStruct extends PreparedStruct {
    public final SegmentVector local;
    public final SegmentVector remote;

    /** The number of local segments. */
    long localCount;
    /** The bytes of all local segments. */
    long length;

    public PreparedRmaStruct(int localLimit, int remoteLimit) {
        super(fi_msg_rma.layout(), fi_msg_rma.addr$offset(), fi_msg_rma.data$offset(), fi_msg_rma.context$offset());
        this.local = SegmentVector.local(arena, localLimit);
        this.remote = SegmentVector.remote(arena, remoteLimit);
        fi_msg_rma.msg_iov(struct, local.segments);
        fi_msg_rma.desc(struct, local.descriptors);
        fi_msg_rma.rma_iov(struct, remote.segments);
    }

    /** Sets the number of local segments, and the sum of their bytes. */
    public void localCount(int count, long bytes) {
        fi_msg_rma.iov_count(struct, count);
        localCount = count;
        length = bytes;
    }

    public void remoteCount(int count) { fi_msg_rma.rma_iov_count(struct, count); }
}
