package io.ofi4j.internal.ffi;

import io.ofi4j.bindings.fabric_h;
import io.ofi4j.bindings.fi_deferred_work;
import io.ofi4j.bindings.fi_msg;
import io.ofi4j.bindings.fi_msg_atomic;
import io.ofi4j.bindings.fi_msg_compare;
import io.ofi4j.bindings.fi_msg_fetch;
import io.ofi4j.bindings.fi_msg_rma;
import io.ofi4j.bindings.fi_msg_tagged;
import io.ofi4j.bindings.fi_op_atomic;
import io.ofi4j.bindings.fi_op_cntr;
import io.ofi4j.bindings.fi_op_compare_atomic;
import io.ofi4j.bindings.fi_op_fetch_atomic;
import io.ofi4j.bindings.fi_op_msg;
import io.ofi4j.bindings.fi_op_rma;
import io.ofi4j.bindings.fi_op_tagged;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * A {@code struct fi_deferred_work} with a copy of the operation that it starts. libfabric refers to it until the work
 * is done: whoever queues it keeps this object until then.
 */
public final class DeferredWorkStruct {
    private final Arena arena = Arena.ofAuto();
    private final MemorySegment work = fi_deferred_work.allocate(arena);

    private DeferredWorkStruct(int type) { fi_deferred_work.op_type(work, type); }

    /** A send or a receive, with a tag if the message has one. */
    public static DeferredWorkStruct of(boolean receives, Handle endpoint, MessageStruct message, long flags) {
        return message.tagged ? tagged(receives, endpoint, message, flags) : plain(receives, endpoint, message, flags);
    }

    private static DeferredWorkStruct plain(boolean receives, Handle endpoint, MessageStruct message, long flags) {
        DeferredWorkStruct made = new DeferredWorkStruct(receives ? fabric_h.FI_OP_RECV() : fabric_h.FI_OP_SEND());
        MemorySegment operation = fi_op_msg.allocate(made.arena);
        MemorySegment copy = fi_op_msg.msg(operation);
        copy.copyFrom(message.message.asSlice(0, fi_msg.sizeof()));
        fi_msg.msg_iov(copy, made.copy(message.segments));
        fi_msg.desc(copy, made.copy(message.descriptors));
        fi_msg.context(copy, made.work);
        fi_op_msg.ep(operation, endpoint.pointer());
        fi_op_msg.flags(operation, flags);
        return made.doing(operation);
    }

    private static DeferredWorkStruct tagged(boolean receives, Handle endpoint, MessageStruct message, long flags) {
        DeferredWorkStruct made = new DeferredWorkStruct(receives ? fabric_h.FI_OP_TRECV() : fabric_h.FI_OP_TSEND());
        MemorySegment operation = fi_op_tagged.allocate(made.arena);
        MemorySegment copy = fi_op_tagged.msg(operation);
        copy.copyFrom(message.message);
        fi_msg_tagged.msg_iov(copy, made.copy(message.segments));
        fi_msg_tagged.desc(copy, made.copy(message.descriptors));
        fi_msg_tagged.context(copy, made.work);
        fi_op_tagged.ep(operation, endpoint.pointer());
        fi_op_tagged.flags(operation, flags);
        return made.doing(operation);
    }

    /** A write or a read. */
    public static DeferredWorkStruct of(boolean reads, Handle endpoint, RmaMessageStruct message, long flags) {
        DeferredWorkStruct made = new DeferredWorkStruct(reads ? fabric_h.FI_OP_READ() : fabric_h.FI_OP_WRITE());
        MemorySegment operation = fi_op_rma.allocate(made.arena);
        MemorySegment copy = fi_op_rma.msg(operation);
        copy.copyFrom(message.message);
        fi_msg_rma.msg_iov(copy, made.copy(message.locals));
        fi_msg_rma.desc(copy, made.copy(message.descriptors));
        fi_msg_rma.rma_iov(copy, made.copy(message.remotes));
        fi_msg_rma.context(copy, made.work);
        fi_op_rma.ep(operation, endpoint.pointer());
        fi_op_rma.flags(operation, flags);
        return made.doing(operation);
    }

    /** An atomic operation on what {@link AtomicMessageStruct#prepare} has prepared, that brings nothing. */
    public static DeferredWorkStruct execute(Handle endpoint, AtomicMessageStruct message, long flags) {
        DeferredWorkStruct made = new DeferredWorkStruct(fabric_h.FI_OP_ATOMIC());
        MemorySegment operation = fi_op_atomic.allocate(made.arena);
        made.copy(message, fi_op_atomic.msg(operation));
        fi_op_atomic.ep(operation, endpoint.pointer());
        fi_op_atomic.flags(operation, flags);
        return made.doing(operation);
    }

    /** As {@link #execute}, but brings the previous values. */
    public static DeferredWorkStruct fetch(Handle endpoint, AtomicMessageStruct message, long flags) {
        DeferredWorkStruct made = new DeferredWorkStruct(fabric_h.FI_OP_FETCH_ATOMIC());
        MemorySegment operation = fi_op_fetch_atomic.allocate(made.arena);
        made.copy(message, fi_op_fetch_atomic.msg(operation));
        made.copyResults(message.result, fi_op_fetch_atomic.fetch(operation));
        fi_op_fetch_atomic.ep(operation, endpoint.pointer());
        fi_op_fetch_atomic.flags(operation, flags);
        return made.doing(operation);
    }

    /** As {@link #fetch}, with comparands. */
    public static DeferredWorkStruct compare(Handle endpoint, AtomicMessageStruct message, long flags) {
        DeferredWorkStruct made = new DeferredWorkStruct(fabric_h.FI_OP_COMPARE_ATOMIC());
        MemorySegment operation = fi_op_compare_atomic.allocate(made.arena);
        made.copy(message, fi_op_compare_atomic.msg(operation));
        made.copyResults(message.result, fi_op_compare_atomic.fetch(operation));
        MemorySegment compare = fi_op_compare_atomic.compare(operation);
        fi_msg_compare.msg_iov(compare, made.copy(message.compare.segments));
        fi_msg_compare.desc(compare, made.copy(message.compare.descriptors));
        fi_msg_compare.iov_count(compare, message.compare.count);
        fi_op_compare_atomic.ep(operation, endpoint.pointer());
        fi_op_compare_atomic.flags(operation, flags);
        return made.doing(operation);
    }

    /** Sets a counter, or adds to it. */
    public static DeferredWorkStruct count(boolean sets, Handle counter, long value) {
        DeferredWorkStruct made = new DeferredWorkStruct(sets ? fabric_h.FI_OP_CNTR_SET() : fabric_h.FI_OP_CNTR_ADD());
        MemorySegment operation = fi_op_cntr.allocate(made.arena);
        fi_op_cntr.cntr(operation, counter.pointer());
        fi_op_cntr.value(operation, value);
        return made.doing(operation);
    }

    private void copy(AtomicMessageStruct message, MemorySegment copy) {
        copy.copyFrom(message.message);
        fi_msg_atomic.msg_iov(copy, copy(message.operand.segments));
        fi_msg_atomic.desc(copy, copy(message.operand.descriptors));
        fi_msg_atomic.rma_iov(copy, copy(message.remotes));
        fi_msg_atomic.context(copy, work);
    }

    private void copyResults(SegmentVector result, MemorySegment fetch) {
        fi_msg_fetch.msg_iov(fetch, copy(result.segments));
        fi_msg_fetch.desc(fetch, copy(result.descriptors));
        fi_msg_fetch.iov_count(fetch, result.count);
    }

    private MemorySegment copy(MemorySegment array) {
        return arena.allocate(array.byteSize(), Long.BYTES).copyFrom(array);
    }

    private DeferredWorkStruct doing(MemorySegment operation) {
        fi_deferred_work.op.msg(fi_deferred_work.op(work), operation); // a union of pointers
        return this;
    }

    /** When it starts, and the counter that it adds one to when it is done, or null as for {@link #count}. */
    public DeferredWorkStruct when(Handle triggering, long threshold, Handle completion) {
        fi_deferred_work.triggering_cntr(work, triggering.pointer());
        fi_deferred_work.threshold(work, threshold);
        fi_deferred_work.completion_cntr(work, completion == null ? MemorySegment.NULL : completion.pointer());
        return this;
    }

    /** FI_QUEUE_WORK. */
    public int queue(Handle domain) {
        return FidOps.control(domain, fabric_h.FI_QUEUE_WORK(), work, "fi_control(FI_QUEUE_WORK)");
    }

    /** FI_CANCEL_WORK. */
    public int cancel(Handle domain) {
        return FidOps.control(domain, fabric_h.FI_CANCEL_WORK(), work, "fi_control(FI_CANCEL_WORK)");
    }

    /** Of its completions. */
    public long context() { return work.address(); }
}
