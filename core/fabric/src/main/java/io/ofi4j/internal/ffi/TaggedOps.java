package io.ofi4j.internal.ffi;

import static io.ofi4j.internal.os.Downcalls.call;
import static io.ofi4j.internal.os.Downcalls.invoke;
import static io.ofi4j.internal.ffi.InlineFunction.*;

import io.ofi4j.internal.os.Downcalls;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.ref.Reference;

/**
 * {@code struct fi_ops_tagged} of one endpoint. Made after fi_enable, during which some providers replace the table.
 */
public final class TaggedOps {
    /** fi_trecv and fi_tsend of the first endpoint. */
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

    public TaggedOps(Handle endpoint, boolean criticalSends, boolean criticalReceives) {
        this.endpoint = endpoint.address();
        this.sendLimit = criticalSends ? Downcalls.CRITICAL_LIMIT : -1;
        this.receiveLimit = criticalReceives ? Downcalls.CRITICAL_LIMIT : -1;
        this.recv = fi_trecv.of(endpoint);
        this.recvv = fi_trecvv.of(endpoint);
        this.recvmsg = fi_trecvmsg.of(endpoint);
        this.send = fi_tsend.of(endpoint);
        this.sendv = fi_tsendv.of(endpoint);
        this.sendmsg = fi_tsendmsg.of(endpoint);
        this.inject = fi_tinject.of(endpoint);
        this.senddata = fi_tsenddata.of(endpoint);
        this.injectdata = fi_tinjectdata.of(endpoint);
        this.isLikeFirst = (criticalSends || criticalReceives) && FIRST.are(recv, send);
        if (isLikeFirst) { FirstFunctions.made(FirstReceive.FUNCTION, FirstSend.FUNCTION); }
    }

    private static final class FirstReceive {
        static final MethodHandle FUNCTION = FIRST.handle(0, 8);
    }

    private static final class FirstSend {
        static final MethodHandle FUNCTION = FIRST.handle(1, 7);
    }

    public long fi_trecv(long buffer, long length, long descriptor, long source, long tag, long ignore, long context) {
        return isLikeFirst && length <= receiveLimit
                ? invoke(FirstReceive.FUNCTION, endpoint, buffer, length, descriptor, source, tag, ignore, context)
                : call(length <= receiveLimit, recv, endpoint, buffer, length, descriptor, source, tag, ignore,
                        context);
    }

    public long fi_tsend(long buffer, long length, long descriptor, long peer, long tag, long context) {
        return isLikeFirst && length <= sendLimit
                ? invoke(FirstSend.FUNCTION, endpoint, buffer, length, descriptor, peer, tag, context)
                : call(length <= sendLimit, send, endpoint, buffer, length, descriptor, peer, tag, context);
    }

    public long fi_tinject(long buffer, long length, long peer, long tag) {
        return call(length <= sendLimit, inject, endpoint, buffer, length, peer, tag);
    }

    public long fi_tsenddata(long buffer, long length, long descriptor, long data, long peer, long tag, long context) {
        return call(length <= sendLimit, senddata, endpoint, buffer, length, descriptor, data, peer, tag, context);
    }

    public long fi_tinjectdata(long buffer, long length, long data, long peer, long tag) {
        return call(length <= sendLimit, injectdata, endpoint, buffer, length, data, peer, tag);
    }

    public long fi_trecvv(PreparedMessageStruct prepared, long context) {
        try {
            return call(prepared.length <= receiveLimit, recvv, endpoint, prepared.local.segmentsAddress,
                    prepared.local.descriptorsAddress, prepared.count, prepared.peer, prepared.tag, prepared.ignore,
                    context);
        } finally {
            Reference.reachabilityFence(prepared);
        }
    }

    public long fi_tsendv(PreparedMessageStruct prepared, long context) {
        try {
            return call(prepared.length <= sendLimit, sendv, endpoint, prepared.local.segmentsAddress,
                    prepared.local.descriptorsAddress, prepared.count, prepared.peer, prepared.tag, context);
        } finally {
            Reference.reachabilityFence(prepared);
        }
    }

    public long fi_trecvmsg(PreparedMessageStruct prepared, long flags) {
        return struct(receiveLimit, recvmsg, prepared, flags);
    }

    public long fi_tsendmsg(PreparedMessageStruct prepared, long flags) {
        return struct(sendLimit, sendmsg, prepared, flags);
    }

    private long struct(long limit, MemorySegment function, PreparedMessageStruct prepared, long flags) {
        try {
            return call(prepared.length <= limit, function, endpoint, prepared.address, flags);
        } finally {
            Reference.reachabilityFence(prepared);
        }
    }
}
