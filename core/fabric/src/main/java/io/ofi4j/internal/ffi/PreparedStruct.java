package io.ofi4j.internal.ffi;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;

/** The struct of a prepared operation, whose fields are changed in place. libfabric keeps no reference to it. */
public abstract sealed class PreparedStruct permits RmaMessageStruct, MessageStruct, AtomicMessageStruct {
    final Arena arena = Arena.ofAuto();
    final MemorySegment message;
    private final long peer;
    private final long data;

    /** The offsets are those of two fields of the struct. */
    PreparedStruct(MemoryLayout layout, long peer, long data) {
        this.message = OwnedStruct.allocate(arena, layout);
        this.peer = peer;
        this.data = data;
    }

    public final void peer(long fabricAddress) { message.set(JAVA_LONG, peer, fabricAddress); }

    final long peer() { return message.get(JAVA_LONG, peer); }

    /** Sets the data of the peer's completion. */
    public final void data(long value) {
        message.set(JAVA_LONG, data, value);
    }
}
