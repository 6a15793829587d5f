package io.ofi4j.internal.ffi;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.ofi4j.bindings.fi_ioc;
import io.ofi4j.bindings.fi_msg_atomic;
import io.ofi4j.bindings.fi_rma_ioc;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * A {@code struct fi_msg_atomic} with its vectors, and those of results and comparands, whose fields are changed in
 * place. libfabric keeps no reference to it.
 */
public final class AtomicMessageStruct {
    /** The struct's vector: what is combined with the target. */
    public final Vector operand;
    public final Vector compare;
    public final Vector result;

    final MemorySegment message;
    final int datatype;
    final MemorySegment remotes;

    /** Local segments with their descriptors: an array of {@code struct fi_ioc}. */
    public static final class Vector {
        final MemorySegment segments;
        final MemorySegment descriptors;
        long count;

        private Vector(Arena arena, int limit) {
            this.segments = fi_ioc.allocateArray(limit, arena);
            this.descriptors = arena.allocate(JAVA_LONG, limit);
        }

        /** Sets a segment of so many elements, the last one from now on. */
        public void set(int index, long address, long elements, long descriptor) {
            long at = index * fi_ioc.sizeof();
            segments.set(JAVA_LONG, at + fi_ioc.addr$offset(), address);
            segments.set(JAVA_LONG, at + fi_ioc.count$offset(), elements);
            descriptors.setAtIndex(JAVA_LONG, index, descriptor);
            count = index + 1;
        }
    }

    /** datatype is an {@code enum fi_datatype}. */
    public AtomicMessageStruct(int localLimit, int remoteLimit, int datatype) {
        Arena arena = Arena.ofAuto();
        this.message = fi_msg_atomic.allocate(arena);
        this.operand = new Vector(arena, localLimit);
        this.compare = new Vector(arena, localLimit);
        this.result = new Vector(arena, localLimit);
        this.remotes = fi_rma_ioc.allocateArray(remoteLimit, arena);
        this.datatype = datatype;
        fi_msg_atomic.msg_iov(message, operand.segments);
        fi_msg_atomic.desc(message, operand.descriptors);
        fi_msg_atomic.rma_iov(message, remotes);
        fi_msg_atomic.datatype(message, datatype);
    }

    /** Sets a remote segment of so many elements, the last one from now on. */
    public void remote(int index, long address, long elements, long key) {
        long at = index * fi_rma_ioc.sizeof();
        remotes.set(JAVA_LONG, at + fi_rma_ioc.addr$offset(), address);
        remotes.set(JAVA_LONG, at + fi_rma_ioc.count$offset(), elements);
        remotes.set(JAVA_LONG, at + fi_rma_ioc.key$offset(), key);
        fi_msg_atomic.rma_iov_count(message, index + 1);
    }

    public void peer(long fabricAddress) { fi_msg_atomic.addr(message, fabricAddress); }

    public void data(long data) { fi_msg_atomic.data(message, data); }

    /** operation is an {@code enum fi_op}. */
    public void prepare(int operation, long context) {
        fi_msg_atomic.iov_count(message, operand.count);
        fi_msg_atomic.op(message, operation);
        message.set(JAVA_LONG, fi_msg_atomic.context$offset(), context);
    }

    long peer() { return fi_msg_atomic.addr(message); }

    long remoteAddress() { return remotes.get(JAVA_LONG, fi_rma_ioc.addr$offset()); }

    long remoteKey() { return remotes.get(JAVA_LONG, fi_rma_ioc.key$offset()); }
}
