package io.ofi4j.internal.ffi;

import java.lang.foreign.MemorySegment;

/** A pointer to an open libfabric object (a {@code struct fid_*}), and its provider for messages. */
public record Handle(MemorySegment pointer, String provider) {
    public long address() { return pointer.address(); }

    /** As {@link Ops#find}, but throws UnsupportedOperationException if there is none. */
    public MemorySegment require(long tableOffset, long entryOffset, String call) {
        MemorySegment function = Ops.find(pointer, tableOffset, entryOffset);
        if (function == null) {
            throw new UnsupportedOperationException(
                    call + " is not offered by the provider " + provider + " on this object");
        }
        return function;
    }
}
