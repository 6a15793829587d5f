package io.ofi4j.internal.ffi;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.ofi4j.bindings.fabric_h;
import io.ofi4j.bindings.fi_ops_ep;
import io.ofi4j.bindings.fid_ep;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** {@code struct fi_ops_ep}: options of active and passive endpoints, which begin alike. */
public final class EpOps {
    private static final long OPS = fid_ep.ops$offset();

    /** FI_OPT_CM_DATA_SIZE: the bytes that may go with a connection call, 0 if the provider does not say. */
    public static int connectionDataSize(Handle endpoint) {
        MemorySegment function = Ops.find(endpoint.pointer(), OPS, fi_ops_ep.getopt$offset());
        if (function == null) { return 0; }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment value = arena.allocate(JAVA_LONG);
            MemorySegment length = arena.allocateFrom(JAVA_LONG, JAVA_LONG.byteSize());
            int status = fi_ops_ep.getopt.invoke(function, endpoint.pointer(), fabric_h.FI_OPT_ENDPOINT(),
                    fabric_h.FI_OPT_CM_DATA_SIZE(), value, length);
            return status == 0 ? Math.clamp(value.get(JAVA_LONG, 0), 0, Short.MAX_VALUE) : 0;
        }
    }
}
