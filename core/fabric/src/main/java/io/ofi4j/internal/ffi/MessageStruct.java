package io.ofi4j.internal.ffi;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.ofi4j.bindings.fi_msg;
import io.ofi4j.bindings.fi_msg_tagged;
import io.ofi4j.bindings.iovec;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * A {@code struct fi_msg} or {@code fi_msg_tagged} with its vectors, whose fields are changed in place. libfabric keeps
 * no reference to it.
 */
public final class MessageStruct {
    private static final long IOV = iovec.sizeof();
    private static final long TAG = fi_msg_tagged.tag$offset();
    private static final long IGNORE = fi_msg_tagged.ignore$offset();
    private static final long COUNT = fi_msg.iov_count$offset();
    private static final long PEER = fi_msg.addr$offset();

    final MemorySegment message;
    final MemorySegment segments;
    final MemorySegment descriptors;
    final boolean tagged;
    /** The bytes of all segments. */
    long length;

    /** Where the two structs differ. */
    private final long context;
    private final long data;

    public MessageStruct(boolean tagged, int limit) {
        Arena arena = Arena.ofAuto();
        this.tagged = tagged;
        this.message = fi_msg_tagged.allocate(arena); // the longer one, which begins as the other
        this.segments = iovec.allocateArray(limit, arena);
        this.descriptors = arena.allocate(JAVA_LONG, limit);
        this.context = tagged ? fi_msg_tagged.context$offset() : fi_msg.context$offset();
        this.data = tagged ? fi_msg_tagged.data$offset() : fi_msg.data$offset();
        fi_msg_tagged.msg_iov(message, segments);
        fi_msg_tagged.desc(message, descriptors);
    }

    public void segment(int index, long address, long bytes, long descriptor) {
        segments.set(JAVA_LONG, index * IOV + iovec.iov_base$offset(), address);
        segments.set(JAVA_LONG, index * IOV + iovec.iov_len$offset(), bytes);
        descriptors.setAtIndex(JAVA_LONG, index, descriptor);
    }

    public long bytes(int index) { return segments.get(JAVA_LONG, index * IOV + iovec.iov_len$offset()); }

    /** The bytes are the sum of all segments. */
    public void count(int count, long bytes) {
        message.set(JAVA_LONG, COUNT, count);
        length = bytes;
    }

    public void peer(long fabricAddress) { message.set(JAVA_LONG, PEER, fabricAddress); }

    /** Of a tagged message only, as is the next. */
    public void tag(long tag, long ignore) {
        message.set(JAVA_LONG, TAG, tag);
        message.set(JAVA_LONG, IGNORE, ignore);
    }

    public void data(long value) { message.set(JAVA_LONG, data, value); }

    public void context(long value) { message.set(JAVA_LONG, context, value); }

    long count() { return message.get(JAVA_LONG, COUNT); }

    long peer() { return message.get(JAVA_LONG, PEER); }

    long tag() { return message.get(JAVA_LONG, TAG); }

    long ignore() { return message.get(JAVA_LONG, IGNORE); }
}
