package io.ofi4j.internal.ffi;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;

/** FI_CHECK_OP: reads an entry of an ops table that a provider may lack. */
@SuppressWarnings("restricted")
public final class Ops {
    /**
     * The function in an object's struct, at the offset of the table's pointer and the offset of the entry in the table; or null
     * if the provider has no such table or entry.
     */
    public static MemorySegment find(MemorySegment fid, long tableOffset, long entryOffset) {
        MemorySegment table = fid.reinterpret(tableOffset + ADDRESS.byteSize()).get(ADDRESS, tableOffset);
        if (table.address() == 0) { return null; }
        long size = table.reinterpret(JAVA_LONG.byteSize()).get(JAVA_LONG, 0); // every table begins with its size
        if (size < entryOffset + ADDRESS.byteSize()) { return null; }
        MemorySegment function = table.reinterpret(size).get(ADDRESS, entryOffset);
        return function.address() == 0 ? null : function;
    }
}
