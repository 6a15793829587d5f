package io.ofi4j.internal.ffi;

import static io.ofi4j.internal.ffi.InlineFunction.*;
import static java.lang.foreign.ValueLayout.ADDRESS;

import io.ofi4j.internal.os.Downcalls;
import io.ofi4j.internal.os.SignalGuard;
import io.ofi4j.bindings.fi_eq_attr;
import io.ofi4j.bindings.fi_ops_fabric;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** {@code struct fi_ops_fabric}: opens the objects of a fabric. */
public final class FabricOps {
    public static OpenResult fi_domain(Handle fabric, InfoHandle info) {
        return OpenResult.of(fabric.provider(), (arena, out) -> SignalGuard.call(() -> Downcalls
                .callForInt(fi_domain.of(fabric), fabric.pointer(), info.pointer(), out, MemorySegment.NULL)));
    }

    /** 0 if a thread may block on the wait descriptor of the object. */
    public static int fi_trywait(Handle fabric, Handle object) {
        try (Arena arena = Arena.ofConfined()) {
            return Downcalls.callForInt(fi_trywait.of(fabric), fabric.pointer(),
                    arena.allocateFrom(ADDRESS, object.pointer()), 1);
        }
    }

    /**
     * Size 0 leaves it to the provider, flags have FI_WRITE if the application writes events, waitObject is an
     * {@code enum fi_wait_obj}.
     */
    public static OpenResult fi_eq_open(Handle fabric, long size, long flags, int waitObject) {
        return OpenResult.of(fabric.provider(), (arena, out) -> {
            MemorySegment attributes = OwnedStruct.allocate(arena, fi_eq_attr.layout());
            fi_eq_attr.size(attributes, size);
            fi_eq_attr.flags(attributes, flags);
            fi_eq_attr.wait_obj(attributes, waitObject);
            return Downcalls.callForInt(fi_eq_open.of(fabric), fabric.pointer(), attributes, out, MemorySegment.NULL);
        });
    }

    public static OpenResult fi_passive_ep(Handle fabric, InfoHandle info) {
        return OpenResult.of(fabric.provider(), (arena, out) -> Downcalls.callForInt(fi_passive_ep.of(fabric),
                fabric.pointer(), info.pointer(), out, MemorySegment.NULL));
    }
}
