package io.ofi4j.internal.ffi;

import java.lang.foreign.Arena;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;

/**
 * Memory of a struct that libfabric reads or fills in and the caller owns. A newer libfabric may have further fields
 * behind those of the bindings: there it finds zeros, and may write.
 */
final class OwnedStruct {
    /** More than a struct has grown by from one version to the next. */
    private static final long ROOM = 128;

    private OwnedStruct() {}

    /** Zeroed, with zeroed room behind it. */
    static MemorySegment allocate(Arena arena, MemoryLayout layout) {
        return arena.allocate(layout.byteSize() + ROOM, layout.byteAlignment());
    }
}
