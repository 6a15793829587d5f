package io.ofi4j.internal.ffi;

import static io.ofi4j.internal.os.Downcalls.call;
import static io.ofi4j.internal.ffi.InlineFunction.*;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.ofi4j.internal.os.Downcalls;
import io.ofi4j.bindings.fi_ops_atomic;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;

/**
 * {@code struct fi_ops_atomic} of one endpoint. Made after fi_enable, during which some providers replace the table.
 * datatype is an {@code enum fi_datatype}, operation an {@code enum fi_op}.
 */
public final class AtomicOps {
    private final Handle handle;
    private final long endpoint;
    /** No operation is long: the provider's limit is some kilobytes. */
    private final boolean critical;
    /** The pointers in the provider's table of functions, read once. */
    private final MemorySegment write;
    private final MemorySegment writev;
    private final MemorySegment writemsg;
    private final MemorySegment inject;
    private final MemorySegment readwrite;
    private final MemorySegment readwritev;
    private final MemorySegment readwritemsg;
    private final MemorySegment compwrite;
    private final MemorySegment compwritev;
    private final MemorySegment compwritemsg;

    public AtomicOps(Handle endpoint, boolean critical) {
        this.handle = endpoint;
        this.endpoint = endpoint.address();
        this.critical = critical;
        this.write = fi_atomic.of(endpoint);
        this.writev = fi_atomicv.of(endpoint);
        this.writemsg = fi_atomicmsg.of(endpoint);
        this.inject = fi_inject_atomic.of(endpoint);
        this.readwrite = fi_fetch_atomic.of(endpoint);
        this.readwritev = fi_fetch_atomicv.of(endpoint);
        this.readwritemsg = fi_fetch_atomicmsg.of(endpoint);
        this.compwrite = fi_compare_atomic.of(endpoint);
        this.compwritev = fi_compare_atomicv.of(endpoint);
        this.compwritemsg = fi_compare_atomicmsg.of(endpoint);
    }

    /** The largest number of elements of one operation, or 0 if the provider does not have it. */
    public long fi_atomicvalid(int datatype, int operation) {
        return valid(fi_atomicvalid, datatype, operation);
    }

    /** As {@link #fi_atomicvalid}. */
    public long fi_fetch_atomicvalid(int datatype, int operation) {
        return valid(fi_fetch_atomicvalid, datatype, operation);
    }

    /** As {@link #fi_atomicvalid}. */
    public long fi_compare_atomicvalid(int datatype, int operation) {
        return valid(fi_compare_atomicvalid, datatype, operation);
    }

    private long valid(InlineFunction call, int datatype, int operation) {
        MemorySegment function = call.find(handle);
        if (function == null || !FabricCalls.isDatatype(datatype)) { return 0; }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment count = arena.allocate(JAVA_LONG);
            int status = Downcalls.callForInt(function, handle.pointer(), datatype, operation, count);
            return status == 0 ? count.get(JAVA_LONG, 0) : 0;
        }
    }

    public long fi_atomic(long buffer, long count, long descriptor, long peer, long address, long key, int datatype,
            int operation, long context) {
        return call(critical, write, endpoint, buffer, count, descriptor, peer, address, key, datatype, operation,
                context);
    }

    public long fi_inject_atomic(long buffer, long count, long peer, long address, long key, int datatype,
            int operation) {
        return call(critical, inject, endpoint, buffer, count, peer, address, key, datatype, operation);
    }

    public long fi_fetch_atomic(long buffer, long count, long descriptor, long result, long resultDescriptor, long peer,
            long address, long key, int datatype, int operation, long context) {
        return call(critical, readwrite, endpoint, buffer, count, descriptor, result, resultDescriptor, peer, address,
                key, datatype, operation, context);
    }

    public long fi_compare_atomic(long buffer, long count, long descriptor, long compare, long compareDescriptor,
            long result, long resultDescriptor, long peer, long address, long key, int datatype, int operation,
            long context) {
        return call(critical, compwrite, endpoint, buffer, count, descriptor, compare, compareDescriptor, result,
                resultDescriptor, peer, address, key, datatype, operation, context);
    }

    /** Uses the operand, the peer and the only remote segment of the operation, as do the other vectored calls. */
    public long fi_atomicv(PreparedAtomicStruct prepared, int operation, long context) {
        SegmentVector operand = prepared.operand;
        try {
            return call(false, writev, endpoint, operand.segmentsAddress, operand.descriptorsAddress, operand.count,
                    prepared.peer, prepared.remote.firstAddress, prepared.remote.firstDescriptor, prepared.datatype,
                    operation, context);
        } finally {
            Reference.reachabilityFence(prepared);
        }
    }

    public long fi_fetch_atomicv(PreparedAtomicStruct prepared, int operation, long context) {
        SegmentVector operand = prepared.operand;
        SegmentVector result = prepared.result;
        try {
            return call(false, readwritev, endpoint, operand.segmentsAddress, operand.descriptorsAddress, operand.count,
                    result.segmentsAddress, result.descriptorsAddress, result.count, prepared.peer,
                    prepared.remote.firstAddress, prepared.remote.firstDescriptor, prepared.datatype, operation,
                    context);
        } finally {
            Reference.reachabilityFence(prepared);
        }
    }

    public long fi_compare_atomicv(PreparedAtomicStruct prepared, int operation, long context) {
        SegmentVector operand = prepared.operand;
        SegmentVector compare = prepared.compare;
        SegmentVector result = prepared.result;
        try {
            return call(false, compwritev, endpoint, operand.segmentsAddress, operand.descriptorsAddress, operand.count,
                    compare.segmentsAddress, compare.descriptorsAddress, compare.count, result.segmentsAddress,
                    result.descriptorsAddress, result.count, prepared.peer, prepared.remote.firstAddress,
                    prepared.remote.firstDescriptor, prepared.datatype, operation, context);
        } finally {
            Reference.reachabilityFence(prepared);
        }
    }

    public long fi_atomicmsg(PreparedAtomicStruct prepared, long flags) {
        try {
            return call(critical, writemsg, endpoint, prepared.address, flags);
        } finally {
            Reference.reachabilityFence(prepared);
        }
    }

    public long fi_fetch_atomicmsg(PreparedAtomicStruct prepared, long flags) {
        SegmentVector result = prepared.result;
        try {
            return call(false, readwritemsg, endpoint, prepared.address, result.segmentsAddress,
                    result.descriptorsAddress, result.count, flags);
        } finally {
            Reference.reachabilityFence(prepared);
        }
    }

    public long fi_compare_atomicmsg(PreparedAtomicStruct prepared, long flags) {
        SegmentVector compare = prepared.compare;
        SegmentVector result = prepared.result;
        try {
            return call(false, compwritemsg, endpoint, prepared.address, compare.segmentsAddress,
                    compare.descriptorsAddress, compare.count, result.segmentsAddress, result.descriptorsAddress,
                    result.count, flags);
        } finally {
            Reference.reachabilityFence(prepared);
        }
    }
}
