package io.ofi4j.verbs.internal;

import static io.ofi4j.bindings.verbs.verbs_h.*;

import io.ofi4j.bindings.verbs.ibv_ah_attr;
import io.ofi4j.bindings.verbs.ibv_global_route;
import io.ofi4j.bindings.verbs.ibv_qp;
import io.ofi4j.bindings.verbs.ibv_qp_attr;
import io.ofi4j.bindings.verbs.ibv_qp_cap;
import io.ofi4j.bindings.verbs.ibv_qp_init_attr;
import io.ofi4j.bindings.verbs.ibv_qp_init_attr_ex;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/** Reliable connected queue pairs: ibv_create_qp(3), ibv_modify_qp(3), ibv_destroy_qp(3). */
public final class QueuePairCalls {
    private static final MethodHandle CREATE = ErrnoCalls.exported(ibv_create_qp$address(), ibv_create_qp$descriptor());
    private static final MethodHandle MODIFY = ErrnoCalls.exported(ibv_modify_qp$address(), ibv_modify_qp$descriptor());
    private static final MethodHandle DESTROY = ErrnoCalls.exported(ibv_destroy_qp$address(),
            ibv_destroy_qp$descriptor());
    private static final int HOPS = 64;

    private QueuePairCalls() {}

    /** What a queue pair is made of. */
    public record Sizes(MemorySegment sendQueue, MemorySegment receiveQueue, int sends, int receives, int inline) {}

    /** The path of a connection that is made out of band, and its attributes. */
    public record Path(int port, int gidIndex, boolean isGlobal, byte[] gid, int lid, int number, int sendSequence,
            int receiveSequence, int mtu, int readsAsTarget, int readsAsInitiator, int timeout, int retries,
            int receiverRetries, int receiverTimer) {}

    public static MemorySegment ibv_create_qp(MemorySegment domain, Sizes sizes) {
        return create(domain, IBV_QPT_RC(), sizes);
    }

    private static MemorySegment create(MemorySegment domain, int type, Sizes sizes) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment attributes = attributes(arena, sizes);
            ibv_qp_init_attr.qp_type(attributes, type);
            return ErrnoCalls.pointer("ibv_create_qp",
                    state -> (MemorySegment) CREATE.invokeExact(state, domain, attributes));
        }
    }

    /** A {@code struct ibv_qp_init_attr}. */
    static MemorySegment attributes(Arena arena, Sizes sizes) {
        MemorySegment attributes = ibv_qp_init_attr.allocate(arena);
        ibv_qp_init_attr.send_cq(attributes, sizes.sendQueue);
        ibv_qp_init_attr.recv_cq(attributes, sizes.receiveQueue);
        ibv_qp_init_attr.qp_type(attributes, IBV_QPT_RC());
        capacities(ibv_qp_init_attr.cap(attributes), sizes);
        return attributes;
    }

    private static void capacities(MemorySegment capacities, Sizes sizes) {
        ibv_qp_cap.max_send_wr(capacities, sizes.sends);
        ibv_qp_cap.max_recv_wr(capacities, sizes.receives);
        ibv_qp_cap.max_send_sge(capacities, 1);
        ibv_qp_cap.max_recv_sge(capacities, 1);
        ibv_qp_cap.max_inline_data(capacities, sizes.inline);
    }

    /** As {@link #ibv_create_qp}, whose own multicasts do not come back to it. */
    public static MemorySegment createBlockingLoopback(VerbsContextOps ops, MemorySegment domain, Sizes sizes) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment attributes = ibv_qp_init_attr_ex.allocate(arena);
            ibv_qp_init_attr_ex.send_cq(attributes, sizes.sendQueue);
            ibv_qp_init_attr_ex.recv_cq(attributes, sizes.receiveQueue);
            ibv_qp_init_attr_ex.qp_type(attributes, IBV_QPT_RC());
            capacities(ibv_qp_init_attr_ex.cap(attributes), sizes);
            ibv_qp_init_attr_ex.comp_mask(attributes, IBV_QP_INIT_ATTR_PD() | IBV_QP_INIT_ATTR_CREATE_FLAGS());
            ibv_qp_init_attr_ex.pd(attributes, domain);
            ibv_qp_init_attr_ex.create_flags(attributes, IBV_QP_CREATE_BLOCK_SELF_MCAST_LB());
            return ops.ibv_create_qp_ex(attributes);
        }
    }

    /**
     * The end of XRC that posts operations; it has no receive queue. With a domain alone, verbs.h calls ibv_create_qp
     * for ibv_create_qp_ex.
     */
    public static MemorySegment createXrcSender(MemorySegment domain, Sizes sizes) {
        return create(domain, IBV_QPT_XRC_SEND(),
                new Sizes(sizes.sendQueue, MemorySegment.NULL, sizes.sends, 0, sizes.inline));
    }

    /** The end of XRC whose domain's memory is reached; it has no queues. */
    public static MemorySegment createXrcTarget(VerbsContextOps ops, MemorySegment xrcDomain) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment attributes = ibv_qp_init_attr_ex.allocate(arena);
            ibv_qp_init_attr_ex.qp_type(attributes, IBV_QPT_XRC_RECV());
            ibv_qp_init_attr_ex.comp_mask(attributes, IBV_QP_INIT_ATTR_XRCD());
            ibv_qp_init_attr_ex.xrcd(attributes, xrcDomain);
            return ops.ibv_create_qp_ex(attributes);
        }
    }

    public static int number(MemorySegment queuePair) {
        return ibv_qp.qp_num(ibv_qp.reinterpret(queuePair, Arena.global(), null));
    }

    /** To INIT: receives can be posted. */
    public static void initialize(MemorySegment queuePair, int port, int access) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment attributes = ibv_qp_attr.allocate(arena);
            ibv_qp_attr.qp_state(attributes, IBV_QPS_INIT());
            ibv_qp_attr.port_num(attributes, (byte) port);
            ibv_qp_attr.qp_access_flags(attributes, access);
            modify(queuePair, attributes, IBV_QP_STATE() | IBV_QP_PKEY_INDEX() | IBV_QP_PORT() | IBV_QP_ACCESS_FLAGS());
        }
    }

    /** To RTR: what the peer sends arrives. The sending end of XRC answers nothing. */
    public static void readyToReceive(MemorySegment queuePair, Path path, boolean answers) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment attributes = ibv_qp_attr.allocate(arena);
            ibv_qp_attr.qp_state(attributes, IBV_QPS_RTR());
            ibv_qp_attr.path_mtu(attributes, path.mtu);
            ibv_qp_attr.dest_qp_num(attributes, path.number);
            ibv_qp_attr.rq_psn(attributes, path.receiveSequence);
            ibv_qp_attr.max_dest_rd_atomic(attributes, (byte) path.readsAsTarget);
            ibv_qp_attr.min_rnr_timer(attributes, (byte) path.receiverTimer);
            route(ibv_qp_attr.ah_attr(attributes), path);
            modify(queuePair, attributes, IBV_QP_STATE() | IBV_QP_AV() | IBV_QP_PATH_MTU() | IBV_QP_DEST_QPN()
                    | IBV_QP_RQ_PSN() | (answers ? IBV_QP_MAX_DEST_RD_ATOMIC() | IBV_QP_MIN_RNR_TIMER() : 0));
        }
    }

    private static void route(MemorySegment address, Path path) {
        ibv_ah_attr.dlid(address, (short) path.lid);
        ibv_ah_attr.port_num(address, (byte) path.port);
        ibv_ah_attr.is_global(address, (byte) (path.isGlobal ? 1 : 0));
        MemorySegment route = ibv_ah_attr.grh(address);
        MemorySegment.copy(MemorySegment.ofArray(path.gid), 0, ibv_global_route.dgid(route), 0, path.gid.length);
        ibv_global_route.sgid_index(route, (byte) path.gidIndex);
        ibv_global_route.hop_limit(route, (byte) HOPS);
    }

    /** To RTS: this side can send. */
    public static void readyToSend(MemorySegment queuePair, Path path) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment attributes = ibv_qp_attr.allocate(arena);
            ibv_qp_attr.qp_state(attributes, IBV_QPS_RTS());
            ibv_qp_attr.timeout(attributes, (byte) path.timeout);
            ibv_qp_attr.retry_cnt(attributes, (byte) path.retries);
            ibv_qp_attr.rnr_retry(attributes, (byte) path.receiverRetries);
            ibv_qp_attr.sq_psn(attributes, path.sendSequence);
            ibv_qp_attr.max_rd_atomic(attributes, (byte) path.readsAsInitiator);
            modify(queuePair, attributes, IBV_QP_STATE() | IBV_QP_TIMEOUT() | IBV_QP_RETRY_CNT() | IBV_QP_RNR_RETRY()
                    | IBV_QP_SQ_PSN() | IBV_QP_MAX_QP_RD_ATOMIC());
        }
    }

    /** To ERR: everything in flight is flushed. */
    public static void fail(MemorySegment queuePair) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment attributes = ibv_qp_attr.allocate(arena);
            ibv_qp_attr.qp_state(attributes, IBV_QPS_ERR());
            modify(queuePair, attributes, IBV_QP_STATE());
        }
    }

    private static void modify(MemorySegment queuePair, MemorySegment attributes, int mask) {
        ErrnoCalls.check("ibv_modify_qp", state -> (int) MODIFY.invokeExact(state, queuePair, attributes, mask));
    }

    public static void ibv_destroy_qp(MemorySegment queuePair) {
        ErrnoCalls.check("ibv_destroy_qp", state -> (int) DESTROY.invokeExact(state, queuePair));
    }
}
