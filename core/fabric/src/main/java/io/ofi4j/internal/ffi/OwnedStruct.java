package io.ofi4j.internal.ffi;

import java.lang.foreign.Arena;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;

/**
 * Memory for structs that the caller owns, and that libfabric reads or fills in. A newer libfabric may have more fields
 * than the bindings: it finds zeros there, and may write to them.
 */
final class OwnedStruct {
    /** The number of bytes behind the struct; no struct has grown by as many in one release. */
    private static final long ROOM = 128;

    private OwnedStruct() {}

    /** Allocates a zeroed struct with zeroed bytes behind it. */
    static MemorySegment allocate(Arena arena, MemoryLayout layout) {
        return arena.allocate(layout.byteSize() + ROOM, layout.byteAlignment());
    }
}
