package io.ofi4j.verbs.internal;

import static io.ofi4j.bindings.verbs.verbs_h.*;

import io.ofi4j.bindings.verbs.ibv_device_attr;
import io.ofi4j.bindings.verbs.ibv_device_attr_ex;
import io.ofi4j.bindings.verbs.ibv_odp_caps;
import io.ofi4j.bindings.verbs.ibv_port_attr;
import io.ofi4j.internal.os.Errno;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/** Reads the attributes of devices and ports as plain numbers. */
public final class AttributeCodec {
    private static final MethodHandle QUERY_GID = ErrnoCalls.exported(ibv_query_gid$address(),
            ibv_query_gid$descriptor());
    private static final int GID = 16;

    private AttributeCodec() {}

    /** {@code struct ibv_device_attr_ex}: what {@code io.ofi4j.verbs.DeviceAttributes} is made of. */
    public record DeviceNumbers(String firmware, long guid, int vendor, int part, int hardware, long capabilities,
            int atomics, long region, int regions, int windows, int queuePairs, int workRequests, int segments,
            int queues, int entries, int domains, int readsAsTarget, int readsAsInitiator, int ports, long onDemand,
            int onDemandOperations) {}

    /** {@code struct ibv_port_attr}. */
    public record PortNumbers(int state, int activeMtu, int lid, int gids, int linkLayer, int message) {}

    public static DeviceNumbers device(VerbsContextOps ops) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment all = ops.ibv_query_device_ex(arena);
            MemorySegment one = ibv_device_attr_ex.orig_attr(all);
            MemorySegment onDemand = ibv_device_attr_ex.odp_caps(all);
            long capabilities = ibv_device_attr_ex.device_cap_flags_ex(all)
                    | Integer.toUnsignedLong(ibv_device_attr.device_cap_flags(one));
            return new DeviceNumbers(ibv_device_attr.fw_ver(one).getString(0),
                    Long.reverseBytes(ibv_device_attr.node_guid(one)), ibv_device_attr.vendor_id(one),
                    ibv_device_attr.vendor_part_id(one), ibv_device_attr.hw_ver(one), capabilities,
                    ibv_device_attr.atomic_cap(one), ibv_device_attr.max_mr_size(one), ibv_device_attr.max_mr(one),
                    ibv_device_attr.max_mw(one), ibv_device_attr.max_qp(one), ibv_device_attr.max_qp_wr(one),
                    ibv_device_attr.max_sge(one), ibv_device_attr.max_cq(one), ibv_device_attr.max_cqe(one),
                    ibv_device_attr.max_pd(one), ibv_device_attr.max_qp_rd_atom(one),
                    ibv_device_attr.max_qp_init_rd_atom(one), Byte.toUnsignedInt(ibv_device_attr.phys_port_cnt(one)),
                    ibv_odp_caps.general_caps(onDemand),
                    ibv_odp_caps.per_transport_caps.rc_odp_caps(ibv_odp_caps.per_transport_caps(onDemand)));
        }
    }

    public static PortNumbers port(VerbsContextOps ops, int number) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment port = ops.ibv_query_port(arena, number);
            return new PortNumbers(ibv_port_attr.state(port), ibv_port_attr.active_mtu(port),
                    Short.toUnsignedInt(ibv_port_attr.lid(port)), ibv_port_attr.gid_tbl_len(port),
                    ibv_port_attr.link_layer(port), ibv_port_attr.max_msg_sz(port));
        }
    }

    /** ibv_query_gid(3): 16 bytes; zeros where the port has none, as over iWARP. */
    public static byte[] gid(MemorySegment context, int port, int index) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment gid = arena.allocate(GID, Long.BYTES);
            int errno = ErrnoCalls
                    .status(state -> (int) QUERY_GID.invokeExact(state, context, (byte) port, index, gid));
            if (errno != 0 && errno != Errno.EOPNOTSUPP) { throw ErrnoCalls.failure("ibv_query_gid", errno); }
            return gid.toArray(ValueLayout.JAVA_BYTE);
        }
    }
}
