package io.ofi4j.internal;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.ofi4j.bindings.fi_ops_cm;
import io.ofi4j.bindings.fid_ep;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** {@code struct fi_ops_cm}: names and connections. */
public final class CmOps {
    private static final int ROOM = 1024;

    private CmOps() {
    }

    /** What fi_getname gave: its status, and the address where the status is 0. */
    public record Name(int status, byte[] address) {
    }

    public static Name fi_getname(Handle endpoint) {
        MemorySegment function = endpoint.require(fid_ep.cm$offset(), fi_ops_cm.getname$offset(), "fi_getname");
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment name = arena.allocate(ROOM, Long.BYTES);
            MemorySegment length = arena.allocateFrom(JAVA_LONG, ROOM);
            int status = fi_ops_cm.getname.invoke(function, endpoint.pointer(), name, length);
            byte[] address = status != 0
                    ? null
                    : name.asSlice(0, Math.min(ROOM, length.get(JAVA_LONG, 0))).toArray(JAVA_BYTE);
            return new Name(status, address);
        }
    }
}
