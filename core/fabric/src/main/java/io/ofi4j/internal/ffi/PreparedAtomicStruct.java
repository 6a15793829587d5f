package io.ofi4j.internal.ffi;

import io.ofi4j.bindings.fi_msg_atomic;

/** A {@code struct fi_msg_atomic} with its vectors, and those of results and comparands. */
public final class PreparedAtomicStruct extends PreparedStruct {
    /** The struct's vector: what is combined with the target. */
    public final SegmentVector operand;
    public final SegmentVector compare;
    public final SegmentVector result;
    public final SegmentVector remote;

    final int datatype;

    /** datatype is an {@code enum fi_datatype}. */
    public PreparedAtomicStruct(int localLimit, int remoteLimit, int datatype) {
        super(fi_msg_atomic.layout(), fi_msg_atomic.addr$offset(), fi_msg_atomic.data$offset(),
                fi_msg_atomic.context$offset());
        this.operand = SegmentVector.local(arena, localLimit);
        this.compare = SegmentVector.local(arena, localLimit);
        this.result = SegmentVector.local(arena, localLimit);
        this.remote = SegmentVector.remote(arena, remoteLimit);
        this.datatype = datatype;
        fi_msg_atomic.msg_iov(struct, operand.segments);
        fi_msg_atomic.desc(struct, operand.descriptors);
        fi_msg_atomic.rma_iov(struct, remote.segments);
        fi_msg_atomic.datatype(struct, datatype);
    }

    /** operation is an {@code enum fi_op}. */
    public void prepare(int operation, long next) {
        fi_msg_atomic.iov_count(struct, operand.count);
        fi_msg_atomic.rma_iov_count(struct, remote.count);
        fi_msg_atomic.op(struct, operation);
        context(next);
    }
}
