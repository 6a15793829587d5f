package io.ofi4j.internal.ffi;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.ofi4j.bindings.fi_msg_rma;
import io.ofi4j.bindings.fi_rma_iov;
import io.ofi4j.bindings.iovec;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * A {@code struct fi_msg_rma} with its vectors, whose fields are changed in place. libfabric keeps no reference to it.
 */
public final class RmaMessageStruct {
    private static final long CONTEXT = fi_msg_rma.context$offset();
    private static final long IOV = iovec.sizeof();
    private static final long RMA_IOV = fi_rma_iov.sizeof();

    final MemorySegment message;
    final MemorySegment locals;
    final MemorySegment descriptors;
    final MemorySegment remotes;
    /** The bytes of all local segments. */
    long length;

    public RmaMessageStruct(int localLimit, int remoteLimit) {
        Arena arena = Arena.ofAuto();
        this.message = fi_msg_rma.allocate(arena);
        this.locals = iovec.allocateArray(localLimit, arena);
        this.descriptors = arena.allocate(JAVA_LONG, localLimit);
        this.remotes = fi_rma_iov.allocateArray(remoteLimit, arena);
        fi_msg_rma.msg_iov(message, locals);
        fi_msg_rma.desc(message, descriptors);
        fi_msg_rma.rma_iov(message, remotes);
    }

    public void local(int index, long address, long bytes, long descriptor) {
        locals.set(JAVA_LONG, index * IOV + iovec.iov_base$offset(), address);
        locals.set(JAVA_LONG, index * IOV + iovec.iov_len$offset(), bytes);
        descriptors.setAtIndex(JAVA_LONG, index, descriptor);
    }

    public long localBytes(int index) { return locals.get(JAVA_LONG, index * IOV + iovec.iov_len$offset()); }

    public long remoteBytes(int index) { return remotes.get(JAVA_LONG, index * RMA_IOV + fi_rma_iov.len$offset()); }

    /** The bytes are the sum of all segments. */
    public void localCount(int count, long bytes) {
        fi_msg_rma.iov_count(message, count);
        length = bytes;
    }

    public void remote(int index, long address, long bytes, long key) {
        remotes.set(JAVA_LONG, index * RMA_IOV + fi_rma_iov.addr$offset(), address);
        remotes.set(JAVA_LONG, index * RMA_IOV + fi_rma_iov.len$offset(), bytes);
        remotes.set(JAVA_LONG, index * RMA_IOV + fi_rma_iov.key$offset(), key);
    }

    public void remoteCount(int count) { fi_msg_rma.rma_iov_count(message, count); }

    public void peer(long fabricAddress) { fi_msg_rma.addr(message, fabricAddress); }

    public void data(long data) { fi_msg_rma.data(message, data); }

    public void context(long context) { message.set(JAVA_LONG, CONTEXT, context); }

    long localCount() { return fi_msg_rma.iov_count(message); }

    long peer() { return fi_msg_rma.addr(message); }

    public long remoteAddress() { return remotes.get(JAVA_LONG, fi_rma_iov.addr$offset()); }

    long remoteKey() { return remotes.get(JAVA_LONG, fi_rma_iov.key$offset()); }
}
