package io.ofi4j.internal.ffi;

import java.lang.foreign.MemorySegment;

/** A pointer to an open libfabric object (a {@code struct fid_*}), and its provider for messages. */
public record Handle(MemorySegment pointer, String provider) {
    public long address() { return pointer.address(); }
}
