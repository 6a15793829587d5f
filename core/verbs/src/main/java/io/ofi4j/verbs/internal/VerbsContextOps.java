package io.ofi4j.verbs.internal;

import static io.ofi4j.bindings.verbs.verbs_h.*;

import io.ofi4j.bindings.verbs.ibv_context;
import io.ofi4j.bindings.verbs.ibv_device_attr_ex;
import io.ofi4j.bindings.verbs.ibv_port_attr;
import io.ofi4j.bindings.verbs.ibv_qp_init_attr_ex;
import io.ofi4j.bindings.verbs.ibv_xrcd_init_attr;
import io.ofi4j.bindings.verbs.verbs_context;
import io.ofi4j.internal.os.Errno;
import io.ofi4j.internal.os.Machine;
import io.ofi4j.internal.os.NativeWords;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/**
 * {@code struct verbs_context} of one device: the extended verbs, which verbs.h calls inline. The struct lies before
 * its {@code ibv_context} and grows at its beginning, so that its size shows whether it has a function.
 */
public final class VerbsContextOps {
    private static final MethodHandle QUERY_DEVICE_EX = ErrnoCalls.inTable(verbs_context.query_device_ex.descriptor());
    private static final MethodHandle QUERY_PORT = ErrnoCalls.inTable(verbs_context.query_port.descriptor());
    private static final MethodHandle OPEN_XRCD = ErrnoCalls.inTable(verbs_context.open_xrcd.descriptor());
    private static final MethodHandle CLOSE_XRCD = ErrnoCalls.inTable(verbs_context.close_xrcd.descriptor());
    private static final MethodHandle CREATE_QP_EX = ErrnoCalls.inTable(verbs_context.create_qp_ex.descriptor());
    private static final int O_CREAT = 0100;
    /** The bindings have x86-64's offsets. A mutex, which is longer on aarch64, stands before these. */
    private static final long ABI_COMPAT = ibv_context.mutex$offset() + Machine.PTHREAD_MUTEX;
    private static final long LENGTH = verbs_context.context$offset() + ABI_COMPAT + Long.BYTES;

    private final MemorySegment context;
    /** The address of the struct, or 0 if the driver has none. */
    private final long extended;

    public VerbsContextOps(MemorySegment context) {
        this.context = context;
        boolean has = NativeWords.get(context.address(), ABI_COMPAT) == -1;
        this.extended = has ? context.address() - verbs_context.context$offset() : 0;
    }

    /** The address of a function, or 0. */
    private long find(long offset) {
        if (extended == 0) { return 0; }
        long size = NativeWords.get(extended, verbs_context.sz$offset());
        return size < LENGTH - offset ? 0 : NativeWords.get(extended, offset);
    }

    private long require(long offset, String call) {
        long function = find(offset);
        if (function == 0) {
            throw new UnsupportedOperationException(call + " is not offered by this device's driver");
        }
        return function;
    }

    /**
     * ibv_query_device_ex(3), or as in verbs.h ibv_query_device(3) where that is all there is: a
     * {@code struct ibv_device_attr_ex}.
     */
    public MemorySegment ibv_query_device_ex(Arena arena) {
        MemorySegment attributes = ibv_device_attr_ex.allocate(arena);
        long function = find(verbs_context.query_device_ex$offset());
        int errno = function == 0
                ? Errno.EOPNOTSUPP
                : ErrnoCalls.status(state -> (int) QUERY_DEVICE_EX.invokeExact(function, state, context,
                        MemorySegment.NULL, attributes, ibv_device_attr_ex.sizeof()));
        if (errno == Errno.EOPNOTSUPP || errno == Errno.ENOSYS) {
            attributes.fill((byte) 0);
            ErrnoCalls.check("ibv_query_device",
                    state -> ibv_query_device(context, ibv_device_attr_ex.orig_attr(attributes)));
        } else if (errno != 0) { throw ErrnoCalls.failure("ibv_query_device_ex", errno); }
        return attributes;
    }

    /** ibv_query_port(3): a {@code struct ibv_port_attr}. */
    public MemorySegment ibv_query_port(Arena arena, int port) {
        MemorySegment attributes = ibv_port_attr.allocate(arena);
        long function = find(verbs_context.query_port$offset());
        ErrnoCalls.check("ibv_query_port",
                state -> function == 0
                        ? io.ofi4j.bindings.verbs.verbs_h.ibv_query_port(context, (byte) port, attributes)
                        : (int) QUERY_PORT.invokeExact(function, state, context, (byte) port, attributes,
                                ibv_port_attr.sizeof()));
        return attributes;
    }

    /** ibv_open_xrcd(3), of this process alone. */
    public MemorySegment ibv_open_xrcd() {
        long function = require(verbs_context.open_xrcd$offset(), "ibv_open_xrcd");
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment attributes = ibv_xrcd_init_attr.allocate(arena);
            ibv_xrcd_init_attr.comp_mask(attributes, IBV_XRCD_INIT_ATTR_FD() | IBV_XRCD_INIT_ATTR_OFLAGS());
            ibv_xrcd_init_attr.fd(attributes, -1);
            ibv_xrcd_init_attr.oflags(attributes, O_CREAT);
            return ErrnoCalls.pointer("ibv_open_xrcd",
                    state -> (MemorySegment) OPEN_XRCD.invokeExact(function, state, context, attributes));
        }
    }

    public void ibv_close_xrcd(MemorySegment domain) {
        long function = require(verbs_context.close_xrcd$offset(), "ibv_close_xrcd");
        ErrnoCalls.check("ibv_close_xrcd", state -> (int) CLOSE_XRCD.invokeExact(function, state, domain));
    }

    /** ibv_create_qp_ex(3), of a {@code struct ibv_qp_init_attr_ex}. */
    MemorySegment ibv_create_qp_ex(MemorySegment attributes) {
        long function = require(verbs_context.create_qp_ex$offset(), "ibv_create_qp_ex");
        assert attributes.byteSize() == ibv_qp_init_attr_ex.sizeof();
        return ErrnoCalls.pointer("ibv_create_qp_ex",
                state -> (MemorySegment) CREATE_QP_EX.invokeExact(function, state, context, attributes));
    }
}
