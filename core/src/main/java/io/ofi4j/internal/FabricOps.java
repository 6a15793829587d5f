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
}
