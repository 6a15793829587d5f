package io.ofi4j.internal.ffi;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;

/** A pointer to an open libfabric object (a {@code struct fid_*}), and its provider for messages. */
@SuppressWarnings("restricted")
public record Handle(MemorySegment pointer, String provider) {
    public long address() { return pointer.address(); }

    /**
     * FI_CHECK_OP: the function in the ops table whose pointer is at one offset in the object's struct, at the other offset in the
     * table; or null if the provider has no such table or entry.
     */
    public MemorySegment find(long tableOffset, long entryOffset) {
        MemorySegment table = pointer.reinterpret(tableOffset + ADDRESS.byteSize()).get(ADDRESS, tableOffset);
        if (table.address() == 0) { return null; }
        long size = table.reinterpret(JAVA_LONG.byteSize()).get(JAVA_LONG, 0); // every table begins with its size
        if (size < entryOffset + ADDRESS.byteSize()) { return null; }
        MemorySegment function = table.reinterpret(size).get(ADDRESS, entryOffset);
        return function.address() == 0 ? null : function;
    }

    /** As {@link #find}, but throws UnsupportedOperationException if there is none. */
    public MemorySegment require(long tableOffset, long entryOffset, String call) {
        MemorySegment function = find(tableOffset, entryOffset);
        if (function == null) {
            throw new UnsupportedOperationException(
                    call + " is not offered by the provider " + provider + " on this object");
        }
        return function;
    }
}
