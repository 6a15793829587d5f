package io.ofi4j.internal;

import static java.lang.foreign.ValueLayout.ADDRESS;

import io.ofi4j.bindings.fi_ops_fabric;
import io.ofi4j.bindings.fid_fabric;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** {@code struct fi_ops_fabric}: what a fabric opens. */
public final class FabricOps {
    private FabricOps() {
    }

    public static Out fi_domain(Handle fabric, InfoHandle info) {
        MemorySegment function = fabric.require(fid_fabric.ops$offset(), fi_ops_fabric.domain$offset(), "fi_domain");
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment out = arena.allocate(ADDRESS);
            int status = SignalGuard.call(() -> fi_ops_fabric.domain.invoke(function, fabric.pointer(), info.pointer(),
                    out, MemorySegment.NULL));
            return Out.of(status, out, fabric.provider());
        }
    }

    /** fi_trywait of one object: 0 where a thread may block on its wait descriptor. */
    public static int fi_trywait(Handle fabric, Handle object) {
        MemorySegment function = fabric.require(fid_fabric.ops$offset(), fi_ops_fabric.trywait$offset(), "fi_trywait");
        try (Arena arena = Arena.ofConfined()) {
            return fi_ops_fabric.trywait.invoke(function, fabric.pointer(),
                    arena.allocateFrom(ADDRESS, object.pointer()), 1);
        }
    }
}
