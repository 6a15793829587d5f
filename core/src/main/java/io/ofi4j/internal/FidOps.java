package io.ofi4j.internal;

import io.ofi4j.bindings.fabric_h;
import io.ofi4j.bindings.fi_ops;
import io.ofi4j.bindings.fid;
import java.lang.foreign.MemorySegment;

/** {@code struct fi_ops}: what every object has. Every {@code struct fid_*} begins with its {@code struct fid}. */
public final class FidOps {
    private static final long OPS = fid.ops$offset();

    private FidOps() {
    }

    public static int fi_close(Handle object) {
        return fi_ops.close.invoke(object.require(OPS, fi_ops.close$offset(), "fi_close"), object.pointer());
    }

    /** fi_ep_bind, fi_mr_bind and their kin are one entry. */
    public static int fi_bind(Handle object, Handle other, long flags) {
        MemorySegment function = object.require(OPS, fi_ops.bind$offset(), "bind");
        return fi_ops.bind.invoke(function, object.pointer(), other.pointer(), flags);
    }

    public static int fi_enable(Handle object) {
        MemorySegment function = object.require(OPS, fi_ops.control$offset(), "fi_enable");
        return SignalGuard.call(
                () -> fi_ops.control.invoke(function, object.pointer(), fabric_h.FI_ENABLE(), MemorySegment.NULL));
    }

    /** An FI_* command of an object, whose argument is a struct or a number. */
    static int control(Handle object, int command, MemorySegment argument, String call) {
        MemorySegment function = object.require(OPS, fi_ops.control$offset(), call);
        return fi_ops.control.invoke(function, object.pointer(), command, argument);
    }
}
