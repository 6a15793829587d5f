package io.ofi4j.internal.ffi;

import static io.ofi4j.internal.ffi.InlineFunction.*;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import io.ofi4j.internal.os.Downcalls;
import io.ofi4j.internal.os.Errno;
import io.ofi4j.internal.os.SignalGuard;
import io.ofi4j.bindings.fabric_h;
import io.ofi4j.bindings.fi_ops;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** {@code struct fi_ops}, which every object has: every {@code struct fid_*} begins with its {@code struct fid}. */
public final class FidOps {
    /** Some providers write a mutex and a condition variable instead of a descriptor. */
    private static final long ROOM = 256;

    public static int fi_close(Handle object) {
        return (int) Downcalls.call(false, fi_close.of(object), object.address());
    }

    /** fi_ep_bind, fi_mr_bind and the like are one entry. */
    public static int fi_bind(Handle object, Handle other, long flags) {
        return Downcalls.callForInt(bind.of(object), object.pointer(), other.pointer(), flags);
    }

    public static int fi_enable(Handle object) {
        return SignalGuard.call(() -> control(object, fabric_h.FI_ENABLE(), MemorySegment.NULL, "fi_enable"));
    }

    /** fi_control of a command that must be offered. */
    public static int control(Handle object, int command, MemorySegment argument, String call) {
        return Downcalls.callForInt(fi_control.of(object, call), object.pointer(), command, argument);
    }

    /** The status, and the first number of the result. */
    public record Control(int status, int value) {}

    /** A command that returns a number, such as FI_GETWAIT. */
    public static Control fi_control(Handle object, int command) {
        MemorySegment function = fi_control.find(object);
        if (function == null) { return new Control(-Errno.ENOSYS, 0); }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment room = arena.allocate(ROOM, Long.BYTES); // zeroed: a struct fi_wait_pollfd without room
            return new Control(Downcalls.callForInt(function, object.pointer(), command, room), room.get(JAVA_INT, 0));
        }
    }

    /** A command that takes a number, such as FI_BACKLOG. */
    public static int fi_control(Handle object, int command, int value) {
        MemorySegment function = fi_control.find(object);
        if (function == null) { return -Errno.ENOSYS; }
        try (Arena arena = Arena.ofConfined()) {
            return Downcalls.callForInt(function, object.pointer(), command, arena.allocateFrom(JAVA_INT, value));
        }
    }
}
