package io.ofi4j.internal.ffi;

import java.lang.foreign.MemorySegment;

/**
 * A pointer to an open libfabric object (a {@code struct fid_*}).
 *
 * @param pointer what the opening call returned
 * @param provider who made it, for messages
 */
public record Handle(MemorySegment pointer, String provider) {
    /** The pointer as a number, for the data path. */
    public long address() {
        return pointer.address();
    }

    /** Reads the function behind a call; see {@link Ops#require}. */
    public MemorySegment require(long tableOffset, long entryOffset, String call) {
        MemorySegment function = Ops.find(pointer, tableOffset, entryOffset);
        if (function == null) {
            throw new UnsupportedOperationException(
                    call + " is not offered by the provider " + provider + " on this object");
        }
        return function;
    }
}
