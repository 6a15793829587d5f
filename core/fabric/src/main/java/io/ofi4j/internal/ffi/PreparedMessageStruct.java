package io.ofi4j.internal.ffi;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.ofi4j.bindings.fi_msg;
import io.ofi4j.bindings.fi_msg_tagged;

/** A {@code struct fi_msg} or {@code fi_msg_tagged} with its vectors. */
public final class PreparedMessageStruct extends PreparedStruct {
    private static final long TAG = fi_msg_tagged.tag$offset();
    private static final long IGNORE = fi_msg_tagged.ignore$offset();
    private static final long COUNT = fi_msg.iov_count$offset();

    public final SegmentVector local;

    final boolean tagged;
    /** The number of segments, the tag and its ignored bits, as the struct has them. */
    long count;
    long tag;
    long ignore;
    /** The bytes of all segments. */
    long length;

    public PreparedMessageStruct(boolean tagged, int limit) {
        super(fi_msg_tagged.layout(), fi_msg.addr$offset(), // the longer one, which begins as the other
                tagged ? fi_msg_tagged.data$offset() : fi_msg.data$offset(),
                tagged ? fi_msg_tagged.context$offset() : fi_msg.context$offset());
        this.tagged = tagged;
        this.local = SegmentVector.local(arena, limit);
        fi_msg_tagged.msg_iov(struct, local.segments);
        fi_msg_tagged.desc(struct, local.descriptors);
    }

    /** Sets the number of segments, and the sum of their bytes. */
    public void count(int number, long bytes) {
        struct.set(JAVA_LONG, COUNT, number);
        count = number;
        length = bytes;
    }

    /** Sets the tag and the bits of it that a receive ignores; only a {@code fi_msg_tagged} has them. */
    public void tag(long newTag, long newIgnore) {
        struct.set(JAVA_LONG, TAG, newTag);
        struct.set(JAVA_LONG, IGNORE, newIgnore);
        tag = newTag;
        ignore = newIgnore;
    }
}
