package io.ofi4j.verbs.internal;

import io.ofi4j.bindings.verbs.ibv_mw;
import io.ofi4j.bindings.verbs.ibv_mw_bind;
import io.ofi4j.bindings.verbs.ibv_mw_bind_info;
import io.ofi4j.bindings.verbs.ibv_recv_wr;
import io.ofi4j.bindings.verbs.ibv_send_wr;
import io.ofi4j.bindings.verbs.ibv_sge;
import io.ofi4j.internal.os.NativeWords;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;

/**
 * The structs of one queue of a queue pair: {@code ibv_send_wr} or {@code ibv_recv_wr} with one segment, which are
 * filled in place and posted again and again. Not thread-safe.
 */
public final class WorkRequest {
    private static final int RDMA_ADDRESS = (int) (ibv_send_wr.wr$offset() + ibv_send_wr.wr.rdma.remote_addr$offset());
    private static final int RDMA_KEY = (int) (ibv_send_wr.wr$offset() + ibv_send_wr.wr.rdma.rkey$offset());
    private static final int ATOMIC_ADDRESS = (int) (ibv_send_wr.wr$offset()
            + ibv_send_wr.wr.atomic.remote_addr$offset());
    private static final int ATOMIC_FIRST = (int) (ibv_send_wr.wr$offset()
            + ibv_send_wr.wr.atomic.compare_add$offset());
    private static final int ATOMIC_SWAP = (int) (ibv_send_wr.wr$offset() + ibv_send_wr.wr.atomic.swap$offset());
    private static final int ATOMIC_KEY = (int) (ibv_send_wr.wr$offset() + ibv_send_wr.wr.atomic.rkey$offset());
    private static final int BIND_WINDOW = (int) (ibv_send_wr.bind_mw$offset() + ibv_send_wr.bind_mw.mw$offset());
    private static final int BIND_KEY = (int) (ibv_send_wr.bind_mw$offset() + ibv_send_wr.bind_mw.rkey$offset());
    private static final int BIND_INFO = (int) (ibv_send_wr.bind_mw$offset() + ibv_send_wr.bind_mw.bind_info$offset());
    private static final int ALIGNMENT = 64;

    private final MemorySegment memory;
    private final ContextOps ops;
    private final long queuePair;
    private final boolean sends;
    private final long segment;
    private final long request;
    private final long bad;
    private final MemorySegment staging;

    /** Of the send queue, with so many bytes for inline data, or of the receive queue. */
    public WorkRequest(ContextOps ops, MemorySegment queuePair, boolean sends, int inline) {
        long size = Math.max(ibv_send_wr.sizeof(), Math.max(ibv_recv_wr.sizeof(), ibv_mw_bind.sizeof()));
        this.memory = Arena.ofAuto().allocate(3 * ALIGNMENT + size + inline, ALIGNMENT);
        this.ops = ops;
        this.queuePair = queuePair.address();
        this.sends = sends;
        this.segment = memory.address();
        this.bad = segment + ibv_sge.sizeof();
        this.request = segment + ALIGNMENT;
        this.staging = memory.asSlice(memory.byteSize() - inline, inline);
        NativeWords.set(request, sends ? ibv_send_wr.sg_list$offset() : ibv_recv_wr.sg_list$offset(), segment);
    }

    /** Where inline data is copied to. */
    public MemorySegment staging() { return staging; }

    public void local(long address, int length, int key) {
        NativeWords.set(segment, ibv_sge.addr$offset(), address);
        NativeWords.setInt(segment, ibv_sge.length$offset(), length);
        NativeWords.setInt(segment, ibv_sge.lkey$offset(), key);
    }

    public void remote(long address, int key) {
        NativeWords.set(request, RDMA_ADDRESS, address);
        NativeWords.setInt(request, RDMA_KEY, key);
    }

    public void atomic(long address, int key, long first, long swap) {
        NativeWords.set(request, ATOMIC_ADDRESS, address);
        NativeWords.set(request, ATOMIC_FIRST, first);
        NativeWords.set(request, ATOMIC_SWAP, swap);
        NativeWords.setInt(request, ATOMIC_KEY, key);
    }

    /** ibv_post_send(3): the error number, or 0. The word is the immediate, in network order, or a key. */
    public int send(long id, int opcode, int flags, int segments, int word) {
        NativeWords.set(request, ibv_send_wr.wr_id$offset(), id);
        NativeWords.setInt(request, ibv_send_wr.num_sge$offset(), segments);
        NativeWords.setInt(request, ibv_send_wr.opcode$offset(), opcode);
        NativeWords.setInt(request, ibv_send_wr.send_flags$offset(), flags);
        NativeWords.setInt(request, ibv_send_wr.imm_data$offset(), word);
        return post();
    }

    /** ibv_post_recv(3): the error number, or 0. */
    public int receive(long id, int segments) {
        NativeWords.set(request, ibv_recv_wr.wr_id$offset(), id);
        NativeWords.setInt(request, ibv_recv_wr.num_sge$offset(), segments);
        return post();
    }

    private int post() {
        try {
            return sends ? ops.ibv_post_send(queuePair, request, bad) : ops.ibv_post_recv(queuePair, request, bad);
        } finally {
            Reference.reachabilityFence(memory);
        }
    }

    /**
     * What a window is bound to.
     *
     * @param region a {@code struct ibv_mr}
     * @param address as the region's peers see it
     */
    public record Binding(MemorySegment region, long address, long length, int access) {}

    /**
     * Binds a window of type 2 by a work request; its key is the caller's, who must keep it in the window afterwards.
     */
    public void window(MemorySegment window, int key, Binding binding) {
        NativeWords.set(request, BIND_WINDOW, window.address());
        NativeWords.setInt(request, BIND_KEY, key);
        describe(request + BIND_INFO, binding);
    }

    private static void describe(long info, Binding binding) {
        NativeWords.set(info, ibv_mw_bind_info.mr$offset(), binding.region.address());
        NativeWords.set(info, ibv_mw_bind_info.addr$offset(), binding.address);
        NativeWords.set(info, ibv_mw_bind_info.length$offset(), binding.length);
        NativeWords.setInt(info, ibv_mw_bind_info.mw_access_flags$offset(), binding.access);
    }

    /** ibv_bind_mw(3) of a window of type 1, whose key the driver changes: the error number, or 0. */
    public int bind(long id, int flags, MemorySegment window, Binding binding) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment bind = ibv_mw_bind.allocate(arena);
            ibv_mw_bind.wr_id(bind, id);
            ibv_mw_bind.send_flags(bind, flags);
            describe(bind.address() + ibv_mw_bind.bind_info$offset(), binding);
            return ops.ibv_bind_mw(queuePair, window.address(), bind.address());
        }
    }

    /** The key of a window. */
    public static int key(MemorySegment window) {
        return NativeWords.getInt(window.address(), ibv_mw.rkey$offset());
    }

    public static void key(MemorySegment window, int key) {
        NativeWords.setInt(window.address(), ibv_mw.rkey$offset(), key);
    }
}
