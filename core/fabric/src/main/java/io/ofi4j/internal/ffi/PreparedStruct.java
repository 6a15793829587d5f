package io.ofi4j.internal.ffi;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.ofi4j.internal.os.NativeWords;
import java.lang.foreign.Arena;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;

/** The struct of a prepared operation, whose fields are changed in place. libfabric keeps no reference to it. */
public abstract sealed class PreparedStruct permits PreparedRmaStruct, PreparedMessageStruct, PreparedAtomicStruct {
    final Arena arena = Arena.ofAuto();
    final MemorySegment struct;
    /** The address of the struct, which lives as long as this object: who passes it on keeps this object reachable. */
    final long address;
    /** The address of the peer in its vector, as the struct has it. */
    long peer;
    private final long peerOffset;
    private final long dataOffset;
    private final long contextOffset;

    /** Takes the layout of the struct, and the offsets of the three fields that are set for each post. */
    PreparedStruct(MemoryLayout layout, long peer, long data, long context) {
        this.struct = OwnedStruct.allocate(arena, layout);
        this.address = struct.address();
        this.contextOffset = context;
        this.peerOffset = peer;
        this.dataOffset = data;
    }

    public final void peer(long fabricAddress) {
        struct.set(JAVA_LONG, peerOffset, fabricAddress);
        peer = fabricAddress;
    }

    /** Sets the context of the next post. */
    public final void context(long value) {
        NativeWords.set(address, contextOffset, value);
        Reference.reachabilityFence(this);
    }

    /** Sets the data of the peer's completion. */
    public final void data(long value) {
        struct.set(JAVA_LONG, dataOffset, value);
    }
}
