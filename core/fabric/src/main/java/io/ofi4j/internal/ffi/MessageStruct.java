package io.ofi4j.internal.ffi;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.ofi4j.bindings.fi_msg;
import io.ofi4j.bindings.fi_msg_tagged;
import java.lang.foreign.MemorySegment;

/** A {@code struct fi_msg} or {@code fi_msg_tagged} with its vectors. */
public final class MessageStruct extends PreparedStruct {
    private static final long TAG = fi_msg_tagged.tag$offset();
    private static final long IGNORE = fi_msg_tagged.ignore$offset();
    private static final long COUNT = fi_msg.iov_count$offset();

    public final SegmentVector local;

    final MemorySegment segments;
    final MemorySegment descriptors;
    final boolean tagged;
    /** The bytes of all segments. */
    long length;

    public MessageStruct(boolean tagged, int limit) {
        super(fi_msg_tagged.layout(), fi_msg.addr$offset(), // the longer one, which begins as the other
                tagged ? fi_msg_tagged.data$offset() : fi_msg.data$offset(),
                tagged ? fi_msg_tagged.context$offset() : fi_msg.context$offset());
        this.tagged = tagged;
        this.local = SegmentVector.local(arena, limit);
        this.segments = local.segments;
        this.descriptors = local.descriptors;
        fi_msg_tagged.msg_iov(message, segments);
        fi_msg_tagged.desc(message, descriptors);
    }

    /** The bytes are the sum of all segments. */
    public void count(int count, long bytes) {
        message.set(JAVA_LONG, COUNT, count);
        length = bytes;
    }

    /** Of a tagged message only, as is the next. */
    public void tag(long tag, long ignore) {
        message.set(JAVA_LONG, TAG, tag);
        message.set(JAVA_LONG, IGNORE, ignore);
    }

    long count() { return message.get(JAVA_LONG, COUNT); }

    long tag() { return message.get(JAVA_LONG, TAG); }

    long ignore() { return message.get(JAVA_LONG, IGNORE); }
}
