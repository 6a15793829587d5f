package io.ofi4j.internal;

import static java.lang.foreign.ValueLayout.ADDRESS;

import io.ofi4j.bindings.fi_ops_mr;
import io.ofi4j.bindings.fid_domain;
import io.ofi4j.bindings.fid_mr;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** {@code struct fi_ops_mr}, and what is read off a {@code struct fid_mr}. */
public final class MrOps {
    private MrOps() {
    }

    public static Out fi_mr_reg(Handle domain, MemorySegment memory, long access, long requestedKey) {
        MemorySegment function = domain.require(fid_domain.mr$offset(), fi_ops_mr.reg$offset(), "fi_mr_reg");
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment out = arena.allocate(ADDRESS);
            int status = fi_ops_mr.reg.invoke(function, domain.pointer(), memory, memory.byteSize(), access, 0,
                    requestedKey, 0, out, MemorySegment.NULL);
            return Out.of(status, out, domain.provider());
        }
    }

    /** fi_mr_desc: the local descriptor, opaque. */
    public static long fi_mr_desc(Handle region) {
        return fid_mr.mem_desc(Downcalls.struct(region.pointer(), fid_mr.sizeof())).address();
    }

    public static long fi_mr_key(Handle region) {
        return fid_mr.key(Downcalls.struct(region.pointer(), fid_mr.sizeof()));
    }
}
