package io.ofi4j.internal.ffi;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.ofi4j.internal.os.NativeWords;
import java.lang.foreign.Arena;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;

/** The struct of a prepared operation, whose fields are changed in place. libfabric keeps no reference to it. */
public abstract sealed class PreparedStruct permits RmaMessageStruct, MessageStruct, AtomicMessageStruct {
    final Arena arena = Arena.ofAuto();
    final MemorySegment message;
    /** Of the struct, which lives as long as this object: whoever passes it on keeps this one reachable. */
    final long address;
    private final long peer;
    private final long data;
    private final long context;

    /** The offsets are those of three fields of the struct. */
    PreparedStruct(MemoryLayout layout, long peer, long data, long context) {
        this.message = OwnedStruct.allocate(arena, layout);
        this.address = message.address();
        this.context = context;
        this.peer = peer;
        this.data = data;
    }

    public final void peer(long fabricAddress) { message.set(JAVA_LONG, peer, fabricAddress); }

    final long peer() { return message.get(JAVA_LONG, peer); }

    /** Sets the context of the next post. */
    public final void context(long value) {
        NativeWords.set(address, context, value);
        Reference.reachabilityFence(this);
    }

    /** Sets the data of the peer's completion. */
    public final void data(long value) {
        message.set(JAVA_LONG, data, value);
    }
}
