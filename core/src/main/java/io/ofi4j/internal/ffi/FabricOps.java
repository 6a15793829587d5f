package io.ofi4j.internal.ffi;

import static java.lang.foreign.ValueLayout.ADDRESS;

import io.ofi4j.internal.os.SignalGuard;
import io.ofi4j.bindings.fi_eq_attr;
import io.ofi4j.bindings.fi_ops_fabric;
import io.ofi4j.bindings.fid_fabric;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** {@code struct fi_ops_fabric}: what a fabric opens. */
public final class FabricOps {
    private FabricOps() {
    }

    public static Opened fi_domain(Handle fabric, InfoHandle info) {
        MemorySegment function = fabric.require(fid_fabric.ops$offset(), fi_ops_fabric.domain$offset(), "fi_domain");
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment out = arena.allocate(ADDRESS);
            int status = SignalGuard.call(() -> fi_ops_fabric.domain.invoke(function, fabric.pointer(), info.pointer(),
                    out, MemorySegment.NULL));
            return Opened.of(status, out, fabric.provider());
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

    /**
     * Opens an event queue.
     *
     * @param size how many events it shall hold; 0 leaves it to the provider
     * @param flags FI_WRITE where the application writes events, too
     * @param waitObject an {@code enum fi_wait_obj}
     */
    public static Opened fi_eq_open(Handle fabric, long size, long flags, int waitObject) {
        MemorySegment function = fabric.require(fid_fabric.ops$offset(), fi_ops_fabric.eq_open$offset(), "fi_eq_open");
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment attributes = fi_eq_attr.allocate(arena);
            fi_eq_attr.size(attributes, size);
            fi_eq_attr.flags(attributes, flags);
            fi_eq_attr.wait_obj(attributes, waitObject);
            MemorySegment out = arena.allocate(ADDRESS);
            int status = fi_ops_fabric.eq_open.invoke(function, fabric.pointer(), attributes, out, MemorySegment.NULL);
            return Opened.of(status, out, fabric.provider());
        }
    }

    public static Opened fi_passive_ep(Handle fabric, InfoHandle info) {
        MemorySegment function = fabric.require(fid_fabric.ops$offset(), fi_ops_fabric.passive_ep$offset(),
                "fi_passive_ep");
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment out = arena.allocate(ADDRESS);
            int status = fi_ops_fabric.passive_ep.invoke(function, fabric.pointer(), info.pointer(), out,
                    MemorySegment.NULL);
            return Opened.of(status, out, fabric.provider());
        }
    }
}
