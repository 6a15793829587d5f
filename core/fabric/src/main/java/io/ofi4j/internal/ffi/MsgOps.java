package io.ofi4j.internal.ffi;

import static io.ofi4j.internal.os.Downcalls.call;
import static io.ofi4j.internal.os.Downcalls.invoke;
import static io.ofi4j.internal.ffi.InlineFunction.*;

import io.ofi4j.internal.os.Downcalls;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.ref.Reference;

/** {@code struct fi_ops_msg} of one endpoint. Made after fi_enable, during which some providers replace the table. */
public final class MsgOps {
    /** fi_recv and fi_send of the first endpoint. */
    private static final FirstFunctions FIRST = new FirstFunctions();

    private final long endpoint;
    /** Up to these lengths calls are critical. */
    private final long sendLimit;
    private final long receiveLimit;
    /** The pointers in the provider's table of functions, read once. */
    private final MemorySegment recv;
    private final MemorySegment recvv;
    private final MemorySegment recvmsg;
    private final MemorySegment send;
    private final MemorySegment sendv;
    private final MemorySegment sendmsg;
    private final MemorySegment inject;
    private final MemorySegment senddata;
    private final MemorySegment injectdata;
    private final boolean isLikeFirst;

    public MsgOps(Handle endpoint, boolean criticalSends, boolean criticalReceives) {
        this.endpoint = endpoint.address();
        this.sendLimit = criticalSends ? Downcalls.CRITICAL_LIMIT : -1;
        this.receiveLimit = criticalReceives ? Downcalls.CRITICAL_LIMIT : -1;
        this.recv = fi_recv.of(endpoint);
        this.recvv = fi_recvv.of(endpoint);
        this.recvmsg = fi_recvmsg.of(endpoint);
        this.send = fi_send.of(endpoint);
        this.sendv = fi_sendv.of(endpoint);
        this.sendmsg = fi_sendmsg.of(endpoint);
        this.inject = fi_inject.of(endpoint);
        this.senddata = fi_senddata.of(endpoint);
        this.injectdata = fi_injectdata.of(endpoint);
        this.isLikeFirst = (criticalSends || criticalReceives) && FIRST.are(recv, send);
        if (isLikeFirst) { FirstFunctions.made(FirstReceive.FUNCTION, FirstSend.FUNCTION); }
    }

    private static final class FirstReceive {
        static final MethodHandle FUNCTION = FIRST.handle(0, 6);
    }

    private static final class FirstSend {
        static final MethodHandle FUNCTION = FIRST.handle(1, 6);
    }

    public long fi_recv(long buffer, long length, long descriptor, long source, long context) {
        return isLikeFirst && length <= receiveLimit
                ? invoke(FirstReceive.FUNCTION, endpoint, buffer, length, descriptor, source, context)
                : call(length <= receiveLimit, recv, endpoint, buffer, length, descriptor, source, context);
    }

    public long fi_send(long buffer, long length, long descriptor, long peer, long context) {
        return isLikeFirst && length <= sendLimit
                ? invoke(FirstSend.FUNCTION, endpoint, buffer, length, descriptor, peer, context)
                : call(length <= sendLimit, send, endpoint, buffer, length, descriptor, peer, context);
    }

    public long fi_inject(long buffer, long length, long peer) {
        return call(length <= sendLimit, inject, endpoint, buffer, length, peer);
    }

    public long fi_senddata(long buffer, long length, long descriptor, long data, long peer, long context) {
        return call(length <= sendLimit, senddata, endpoint, buffer, length, descriptor, data, peer, context);
    }

    public long fi_injectdata(long buffer, long length, long data, long peer) {
        return call(length <= sendLimit, injectdata, endpoint, buffer, length, data, peer);
    }

    public long fi_recvv(PreparedMessageStruct prepared, long context) {
        return vector(receiveLimit, recvv, prepared, context);
    }

    public long fi_sendv(PreparedMessageStruct prepared, long context) {
        return vector(sendLimit, sendv, prepared, context);
    }

    public long fi_recvmsg(PreparedMessageStruct prepared, long flags) {
        return struct(receiveLimit, recvmsg, prepared, flags);
    }

    public long fi_sendmsg(PreparedMessageStruct prepared, long flags) {
        return struct(sendLimit, sendmsg, prepared, flags);
    }

    /** As {@link #fi_recvmsg(PreparedMessageStruct, long)}, of a receive without a buffer. */
    long fi_recvmsg(MemorySegment struct, long flags) {
        return call(receiveLimit >= 0, recvmsg, endpoint, struct.address(), flags);
    }

    private long vector(long limit, MemorySegment function, PreparedMessageStruct prepared, long context) {
        try {
            return call(prepared.length <= limit, function, endpoint, prepared.local.segmentsAddress,
                    prepared.local.descriptorsAddress, prepared.count, prepared.peer, context);
        } finally {
            Reference.reachabilityFence(prepared);
        }
    }

    private long struct(long limit, MemorySegment function, PreparedMessageStruct prepared, long flags) {
        try {
            return call(prepared.length <= limit, function, endpoint, prepared.address, flags);
        } finally {
            Reference.reachabilityFence(prepared);
        }
    }
}
