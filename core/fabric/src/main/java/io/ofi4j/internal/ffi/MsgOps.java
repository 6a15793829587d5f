package io.ofi4j.internal.ffi;

import static io.ofi4j.internal.ffi.Downcalls.call;
import static io.ofi4j.internal.ffi.InlineFunction.*;

import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;

/** {@code struct fi_ops_msg} of one endpoint. Made after fi_enable, during which some providers replace the table. */
public final class MsgOps {
    private final long endpoint;
    /** Up to these lengths calls are critical. */
    private final long sendLimit;
    private final long receiveLimit;
    /** The addresses of the functions. */
    private final long recv;
    private final long recvv;
    private final long recvmsg;
    private final long send;
    private final long sendv;
    private final long sendmsg;
    private final long inject;
    private final long senddata;
    private final long injectdata;

    public MsgOps(Handle endpoint, boolean criticalSends, boolean criticalReceives) {
        this.endpoint = endpoint.address();
        this.sendLimit = criticalSends ? Downcalls.CRITICAL_LIMIT : -1;
        this.receiveLimit = criticalReceives ? Downcalls.CRITICAL_LIMIT : -1;
        this.recv = fi_recv.addressOf(endpoint);
        this.recvv = fi_recvv.addressOf(endpoint);
        this.recvmsg = fi_recvmsg.addressOf(endpoint);
        this.send = fi_send.addressOf(endpoint);
        this.sendv = fi_sendv.addressOf(endpoint);
        this.sendmsg = fi_sendmsg.addressOf(endpoint);
        this.inject = fi_inject.addressOf(endpoint);
        this.senddata = fi_senddata.addressOf(endpoint);
        this.injectdata = fi_injectdata.addressOf(endpoint);
    }

    public long fi_recv(long buffer, long length, long descriptor, long source, long context) {
        return call(length <= receiveLimit, recv, endpoint, buffer, length, descriptor, source, context);
    }

    public long fi_send(long buffer, long length, long descriptor, long peer, long context) {
        return call(length <= sendLimit, send, endpoint, buffer, length, descriptor, peer, context);
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

    public long fi_recvv(MessageStruct message, long context) { return vector(receiveLimit, recvv, message, context); }

    public long fi_sendv(MessageStruct message, long context) { return vector(sendLimit, sendv, message, context); }

    public long fi_recvmsg(MessageStruct message, long flags) { return message(receiveLimit, recvmsg, message, flags); }

    public long fi_sendmsg(MessageStruct message, long flags) { return message(sendLimit, sendmsg, message, flags); }

    /** Of a message without a buffer. */
    long fi_recvmsg(MemorySegment message, long flags) {
        return call(receiveLimit >= 0, recvmsg, endpoint, message.address(), flags);
    }

    private long vector(long limit, long function, MessageStruct message, long context) {
        try {
            return call(message.length <= limit, function, endpoint, message.segments.address(),
                    message.descriptors.address(), message.count(), message.peer(), context);
        } finally {
            Reference.reachabilityFence(message);
        }
    }

    private long message(long limit, long function, MessageStruct message, long flags) {
        try {
            return call(message.length <= limit, function, endpoint, message.address, flags);
        } finally {
            Reference.reachabilityFence(message);
        }
    }
}
