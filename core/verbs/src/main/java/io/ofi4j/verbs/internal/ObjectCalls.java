package io.ofi4j.verbs.internal;

import static io.ofi4j.bindings.verbs.verbs_h.*;
import static java.lang.foreign.ValueLayout.ADDRESS;

import io.ofi4j.bindings.verbs.ibv_comp_channel;
import io.ofi4j.bindings.verbs.ibv_mr;
import io.ofi4j.internal.os.Errno;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/** The functions that libibverbs exports for domains, regions, completion queues and channels, as in verbs.h. */
public final class ObjectCalls {
    private static final MethodHandle ALLOC_PD = ErrnoCalls.exported(ibv_alloc_pd$address(), ibv_alloc_pd$descriptor());
    private static final MethodHandle DEALLOC_PD = ErrnoCalls.exported(ibv_dealloc_pd$address(),
            ibv_dealloc_pd$descriptor());
    private static final MethodHandle REG_MR = ErrnoCalls.exported(ibv_reg_mr_iova2$address(),
            ibv_reg_mr_iova2$descriptor());
    private static final MethodHandle DEREG_MR = ErrnoCalls.exported(ibv_dereg_mr$address(), ibv_dereg_mr$descriptor());
    private static final MethodHandle CREATE_CQ = ErrnoCalls.exported(ibv_create_cq$address(),
            ibv_create_cq$descriptor());
    private static final MethodHandle DESTROY_CQ = ErrnoCalls.exported(ibv_destroy_cq$address(),
            ibv_destroy_cq$descriptor());
    private static final MethodHandle CREATE_CHANNEL = ErrnoCalls.exported(ibv_create_comp_channel$address(),
            ibv_create_comp_channel$descriptor());
    private static final MethodHandle DESTROY_CHANNEL = ErrnoCalls.exported(ibv_destroy_comp_channel$address(),
            ibv_destroy_comp_channel$descriptor());
    private static final MethodHandle GET_CQ_EVENT = ErrnoCalls.exported(ibv_get_cq_event$address(),
            ibv_get_cq_event$descriptor());

    private ObjectCalls() {}

    /** A registered region: its struct, and the keys. */
    public record Region(MemorySegment pointer, int localKey, int remoteKey) {}

    public static MemorySegment ibv_alloc_pd(MemorySegment context) {
        return ErrnoCalls.pointer("ibv_alloc_pd", state -> (MemorySegment) ALLOC_PD.invokeExact(state, context));
    }

    public static void ibv_dealloc_pd(MemorySegment domain) {
        ErrnoCalls.check("ibv_dealloc_pd", state -> (int) DEALLOC_PD.invokeExact(state, domain));
    }

    /** ibv_reg_mr_iova(3): peers find the first byte at this address. */
    public static Region ibv_reg_mr_iova(MemorySegment domain, MemorySegment memory, long base, int access) {
        MemorySegment region = ErrnoCalls.pointer("ibv_reg_mr_iova",
                state -> (MemorySegment) REG_MR.invokeExact(state, domain, memory, memory.byteSize(), base, access));
        MemorySegment struct = ibv_mr.reinterpret(region, Arena.global(), null);
        return new Region(struct, ibv_mr.lkey(struct), ibv_mr.rkey(struct));
    }

    public static void ibv_dereg_mr(MemorySegment region) {
        ErrnoCalls.check("ibv_dereg_mr", state -> (int) DEREG_MR.invokeExact(state, region));
    }

    /** ibv_create_cq(3); the channel may be NULL. */
    public static MemorySegment ibv_create_cq(MemorySegment context, int entries, MemorySegment channel) {
        return ErrnoCalls.pointer("ibv_create_cq", state -> (MemorySegment) CREATE_CQ.invokeExact(state, context,
                entries, MemorySegment.NULL, channel, 0));
    }

    public static void ibv_destroy_cq(MemorySegment queue) {
        ErrnoCalls.check("ibv_destroy_cq", state -> (int) DESTROY_CQ.invokeExact(state, queue));
    }

    public static MemorySegment ibv_create_comp_channel(MemorySegment context) {
        return ErrnoCalls.pointer("ibv_create_comp_channel",
                state -> (MemorySegment) CREATE_CHANNEL.invokeExact(state, context));
    }

    /** The file descriptor of a channel. */
    public static int descriptor(MemorySegment channel) {
        return ibv_comp_channel.fd(ibv_comp_channel.reinterpret(channel, Arena.global(), null));
    }

    public static void ibv_destroy_comp_channel(MemorySegment channel) {
        ErrnoCalls.check("ibv_destroy_comp_channel", state -> (int) DESTROY_CHANNEL.invokeExact(state, channel));
    }

    /** ibv_get_cq_event(3) and ibv_ack_cq_events(3): the queue of an event, or 0 if there is none. */
    public static long ibv_get_cq_event(MemorySegment channel) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment queue = arena.allocate(ADDRESS);
            MemorySegment context = arena.allocate(ADDRESS);
            int errno = ErrnoCalls.status(state -> (int) GET_CQ_EVENT.invokeExact(state, channel, queue, context));
            if (errno == Errno.EAGAIN || errno == Errno.EINTR) { return 0; }
            if (errno != 0) { throw ErrnoCalls.failure("ibv_get_cq_event", errno); }
            ibv_ack_cq_events(queue.get(ADDRESS, 0), 1);
            return queue.get(ADDRESS, 0).address();
        }
    }
}
