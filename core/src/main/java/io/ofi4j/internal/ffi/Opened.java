package io.ofi4j.internal.ffi;

import java.lang.foreign.MemorySegment;

/**
 * What a call that opens something returned: its status, and the object where the status is 0.
 *
 * @param status 0, or an error number negated
 * @param handle the object, or null
 */
public record Opened(int status, Handle handle) {
    public static Opened of(int status, MemorySegment cell, String provider) {
        return new Opened(status,
                status == 0 ? new Handle(cell.get(java.lang.foreign.ValueLayout.ADDRESS, 0), provider) : null);
    }
}
