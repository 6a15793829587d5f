package io.ofi4j.internal.ffi;

import static java.lang.foreign.MemoryLayout.PathElement.groupElement;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.ofi4j.bindings.fabric_h;
import io.ofi4j.bindings.fi_deferred_work;
import io.ofi4j.bindings.fi_op_atomic;
import io.ofi4j.bindings.fi_op_cntr;
import io.ofi4j.bindings.fi_op_compare_atomic;
import io.ofi4j.bindings.fi_op_fetch_atomic;
import io.ofi4j.bindings.fi_op_msg;
import io.ofi4j.bindings.fi_op_rma;
import io.ofi4j.bindings.fi_op_tagged;
import java.lang.foreign.Arena;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.foreign.MemorySegment;
import java.util.stream.Stream;

/**
 * A {@code struct fi_deferred_work} with a copy of the operation that it starts. libfabric refers to it until the work
 * is done: whoever queues it keeps this object until then.
 */
public final class DeferredWorkStruct {
    private final Arena arena = Arena.ofAuto();
    private final MemorySegment work = OwnedStruct.allocate(arena, fi_deferred_work.layout());
    private final boolean isMessage;
    private final MemoryLayout layout;
    private final MemorySegment operation;

    private DeferredWorkStruct(int type, MemoryLayout layout, boolean isMessage) {
        this.isMessage = isMessage;
        this.layout = layout;
        this.operation = OwnedStruct.allocate(arena, layout);
        fi_deferred_work.op_type(work, type);
        fi_deferred_work.op.msg(fi_deferred_work.op(work), operation); // a union of pointers
    }

    /**
     * An operation of an endpoint, with a copy of its struct. The arrays that the struct points to are not copied.
     */
    private DeferredWorkStruct(int type, MemoryLayout layout, boolean isMessage, Handle endpoint, long flags,
            MemorySegment struct) {
        this(type, layout, isMessage);
        long bytes = layout.select(groupElement("msg")).byteSize();
        MemorySegment.copy(struct, 0, operation, at("msg"), bytes);
        put(endpoint.pointer().address(), "ep");
        put(flags, "flags");
        put(work.address(), "msg", "context");
    }

    private long at(String... path) {
        return layout.byteOffset(Stream.of(path).map(PathElement::groupElement).toArray(PathElement[]::new));
    }

    private DeferredWorkStruct put(long value, String... path) {
        operation.set(JAVA_LONG, at(path), value);
        return this;
    }

    /** Copies what a field points to. */
    private DeferredWorkStruct copy(MemorySegment array, String... path) {
        return put(arena.allocate(array.byteSize(), Long.BYTES).copyFrom(array).address(), path);
    }

    /** A send or a receive, with a tag if the struct has one. */
    public static DeferredWorkStruct of(boolean isReceive, Handle endpoint, PreparedMessageStruct prepared,
            long flags) {
        DeferredWorkStruct made = prepared.tagged
                ? new DeferredWorkStruct(isReceive ? fabric_h.FI_OP_TRECV() : fabric_h.FI_OP_TSEND(),
                        fi_op_tagged.layout(), true, endpoint, flags, prepared.struct)
                : new DeferredWorkStruct(isReceive ? fabric_h.FI_OP_RECV() : fabric_h.FI_OP_SEND(), fi_op_msg.layout(),
                        true, endpoint, flags, prepared.struct);
        return made.copy(prepared.local.segments, "msg", "msg_iov").copy(prepared.local.descriptors, "msg", "desc");
    }

    /** A write or a read. */
    public static DeferredWorkStruct of(boolean isRead, Handle endpoint, PreparedRmaStruct prepared, long flags) {
        return new DeferredWorkStruct(isRead ? fabric_h.FI_OP_READ() : fabric_h.FI_OP_WRITE(), fi_op_rma.layout(),
                false, endpoint, flags, prepared.struct).copy(prepared.local.segments, "msg", "msg_iov")
                .copy(prepared.local.descriptors, "msg", "desc").copy(prepared.remote.segments, "msg", "rma_iov");
    }

    /** An atomic operation that {@link PreparedAtomicStruct#prepare} has prepared, and that returns no values. */
    public static DeferredWorkStruct execute(Handle endpoint, PreparedAtomicStruct prepared, long flags) {
        return atomic(fabric_h.FI_OP_ATOMIC(), fi_op_atomic.layout(), endpoint, prepared, flags);
    }

    /** As {@link #execute}, but returns the previous values. */
    public static DeferredWorkStruct fetch(Handle endpoint, PreparedAtomicStruct prepared, long flags) {
        return atomic(fabric_h.FI_OP_FETCH_ATOMIC(), fi_op_fetch_atomic.layout(), endpoint, prepared, flags)
                .vector(prepared.result, "fetch");
    }

    /** As {@link #fetch}, with comparands. */
    public static DeferredWorkStruct compare(Handle endpoint, PreparedAtomicStruct prepared, long flags) {
        return atomic(fabric_h.FI_OP_COMPARE_ATOMIC(), fi_op_compare_atomic.layout(), endpoint, prepared, flags)
                .vector(prepared.result, "fetch").vector(prepared.compare, "compare");
    }

    private static DeferredWorkStruct atomic(int type, MemoryLayout layout, Handle endpoint,
            PreparedAtomicStruct prepared, long flags) {
        return new DeferredWorkStruct(type, layout, false, endpoint, flags, prepared.struct)
                .copy(prepared.operand.segments, "msg", "msg_iov").copy(prepared.operand.descriptors, "msg", "desc")
                .copy(prepared.remote.segments, "msg", "rma_iov");
    }

    private DeferredWorkStruct vector(SegmentVector vector, String name) {
        return copy(vector.segments, name, "msg_iov").copy(vector.descriptors, name, "desc").put(vector.count, name,
                "iov_count");
    }

    /** An operation that sets a counter or adds to it. */
    public static DeferredWorkStruct count(boolean sets, Handle counter, long value) {
        return new DeferredWorkStruct(sets ? fabric_h.FI_OP_CNTR_SET() : fabric_h.FI_OP_CNTR_ADD(), fi_op_cntr.layout(),
                false).put(counter.pointer().address(), "cntr").put(value, "value");
    }

    /**
     * Sets when the operation starts, and the counter that it adds one to when it has ended; null for {@link #count}.
     */
    public DeferredWorkStruct when(Handle triggering, long threshold, Handle completion) {
        fi_deferred_work.triggering_cntr(work, triggering.pointer());
        fi_deferred_work.threshold(work, threshold);
        fi_deferred_work.completion_cntr(work, completion == null ? MemorySegment.NULL : completion.pointer());
        return this;
    }

    /** Whether it is a send or a receive. */
    public boolean isMessage() { return isMessage; }

    /** FI_QUEUE_WORK. */
    public int queue(Handle domain) {
        return FidOps.control(domain, fabric_h.FI_QUEUE_WORK(), work, "fi_control(FI_QUEUE_WORK)");
    }

    /** FI_CANCEL_WORK. */
    public int cancel(Handle domain) {
        return FidOps.control(domain, fabric_h.FI_CANCEL_WORK(), work, "fi_control(FI_CANCEL_WORK)");
    }

    /** The context of the operation's completions. */
    public long context() { return work.address(); }
}
