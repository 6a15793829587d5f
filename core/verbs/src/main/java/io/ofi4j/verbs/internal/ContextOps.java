package io.ofi4j.verbs.internal;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.ofi4j.bindings.verbs.ibv_context;
import io.ofi4j.bindings.verbs.ibv_context_ops;
import io.ofi4j.internal.os.Functions;
import io.ofi4j.internal.os.LibC;
import io.ofi4j.internal.os.NativeWords;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/**
 * {@code struct ibv_context_ops} of one device: what verbs.h calls inline. The functions are read once, and a call of
 * the data path allocates nothing. Posts and polls are plain calls: a driver may go into the kernel for them.
 */
public final class ContextOps {
    private static final MethodHandle POST = Functions
            .handle(FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle POLL_CQ = Functions
            .handle(FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_INT, JAVA_LONG));
    private static final MethodHandle REQ_NOTIFY_CQ = Functions
            .byAddress(FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_INT));
    private static final MethodHandle ALLOC_MW = ErrnoCalls.inTable(ibv_context_ops.alloc_mw.descriptor());
    private static final MethodHandle DEALLOC_MW = ErrnoCalls.inTable(ibv_context_ops.dealloc_mw.descriptor());

    private final MemorySegment postSend;
    private final MemorySegment postReceive;
    private final MemorySegment pollQueue;
    private final long requestNotification;
    private final MemorySegment bindWindow;
    private final long allocateWindow;
    private final long deallocateWindow;

    public ContextOps(MemorySegment context) {
        long ops = context.address() + ibv_context.ops$offset();
        this.postSend = MemorySegment.ofAddress(NativeWords.get(ops, ibv_context_ops.post_send$offset()));
        this.postReceive = MemorySegment.ofAddress(NativeWords.get(ops, ibv_context_ops.post_recv$offset()));
        this.pollQueue = MemorySegment.ofAddress(NativeWords.get(ops, ibv_context_ops.poll_cq$offset()));
        this.requestNotification = NativeWords.get(ops, ibv_context_ops.req_notify_cq$offset());
        this.bindWindow = MemorySegment.ofAddress(NativeWords.get(ops, ibv_context_ops.bind_mw$offset()));
        this.allocateWindow = NativeWords.get(ops, ibv_context_ops.alloc_mw$offset());
        this.deallocateWindow = NativeWords.get(ops, ibv_context_ops.dealloc_mw$offset());
    }

    /** The error number, or 0; ibv_post_send(3). */
    public int ibv_post_send(long queuePair, long request, long bad) {
        return post(postSend, queuePair, request, bad);
    }

    /** The error number, or 0; ibv_post_recv(3). */
    public int ibv_post_recv(long queuePair, long request, long bad) {
        return post(postReceive, queuePair, request, bad);
    }

    /** The error number, or 0; ibv_bind_mw(3) of a {@code struct ibv_mw_bind}. */
    public int ibv_bind_mw(long queuePair, long window, long request) {
        return post(bindWindow, queuePair, window, request);
    }

    private static int post(MemorySegment function, long first, long second, long third) {
        try {
            return (int) POST.invokeExact(function, first, second, third);
        } catch (Throwable t) {
            throw LibC.unexpected(t);
        }
    }

    /** The number of completions, or an error below 0; ibv_poll_cq(3). */
    public int ibv_poll_cq(long queue, int entries, long completions) {
        return poll(pollQueue, queue, entries, completions);
    }

    private static int poll(MemorySegment function, long queue, int entries, long completions) {
        try {
            return (int) POLL_CQ.invokeExact(function, queue, entries, completions);
        } catch (Throwable t) {
            throw LibC.unexpected(t);
        }
    }

    /** ibv_req_notify_cq(3). */
    public void ibv_req_notify_cq(long queue, boolean solicitedOnly) {
        notify(requestNotification, queue, solicitedOnly);
    }

    private static void notify(long function, long queue, boolean solicitedOnly) {
        ErrnoCalls.check("ibv_req_notify_cq",
                state -> (int) REQ_NOTIFY_CQ.invokeExact(function, queue, solicitedOnly ? 1 : 0));
    }

    /**
     * Links the calls of the data path, with a function that takes no arguments and returns 0. Where a first use came
     * with too little stack, it would fail.
     */
    static void prepare() {
        MemorySegment function = LibC.function("sched_yield");
        post(function, 0, 0, 0);
        poll(function, 0, 0, 0);
        notify(function.address(), 0, false);
    }

    /** ibv_alloc_mw(3): a {@code struct ibv_mw}. */
    public MemorySegment ibv_alloc_mw(MemorySegment domain, int type) {
        if (allocateWindow == 0) {
            throw new UnsupportedOperationException("ibv_alloc_mw is not offered by this device's driver");
        }
        return ErrnoCalls.pointer("ibv_alloc_mw",
                state -> (MemorySegment) ALLOC_MW.invokeExact(allocateWindow, state, domain, type));
    }

    public void ibv_dealloc_mw(MemorySegment window) {
        ErrnoCalls.check("ibv_dealloc_mw", state -> (int) DEALLOC_MW.invokeExact(deallocateWindow, state, window));
    }
}
