package io.ofi4j.internal.ffi;

import io.ofi4j.bindings.fi_ops_msg;
import io.ofi4j.bindings.fid_ep;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;

/** {@code struct fi_ops_msg} of one endpoint. Made after fi_enable, during which some providers replace the table. */
public final class MsgOps {
    private static final long OPS = fid_ep.msg$offset();

    private final long endpoint;
    /** Up to these lengths calls are critical. */
    private final long sendLimit;
    private final long receiveLimit;
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
        this.sendLimit = criticalSends ? Posts.CRITICAL_LIMIT : -1;
        this.receiveLimit = criticalReceives ? Posts.CRITICAL_LIMIT : -1;
        this.recv = endpoint.require(OPS, fi_ops_msg.recv$offset(), "fi_recv").address();
        this.recvv = endpoint.require(OPS, fi_ops_msg.recvv$offset(), "fi_recvv").address();
        this.recvmsg = endpoint.require(OPS, fi_ops_msg.recvmsg$offset(), "fi_recvmsg").address();
        this.send = endpoint.require(OPS, fi_ops_msg.send$offset(), "fi_send").address();
        this.sendv = endpoint.require(OPS, fi_ops_msg.sendv$offset(), "fi_sendv").address();
        this.sendmsg = endpoint.require(OPS, fi_ops_msg.sendmsg$offset(), "fi_sendmsg").address();
        this.inject = endpoint.require(OPS, fi_ops_msg.inject$offset(), "fi_inject").address();
        this.senddata = endpoint.require(OPS, fi_ops_msg.senddata$offset(), "fi_senddata").address();
        this.injectdata = endpoint.require(OPS, fi_ops_msg.injectdata$offset(), "fi_injectdata").address();
    }

    public long fi_recv(long buffer, long length, long descriptor, long source, long context) {
        return Posts.call(length <= receiveLimit, recv, endpoint, buffer, length, descriptor, source, context);
    }

    public long fi_send(long buffer, long length, long descriptor, long peer, long context) {
        return Posts.call(length <= sendLimit, send, endpoint, buffer, length, descriptor, peer, context);
    }

    public long fi_inject(long buffer, long length, long peer) {
        return Posts.call(length <= sendLimit, inject, endpoint, buffer, length, peer);
    }

    public long fi_senddata(long buffer, long length, long descriptor, long data, long peer, long context) {
        return Posts.call(length <= sendLimit, senddata, endpoint, buffer, length, descriptor, data, peer, context);
    }

    public long fi_injectdata(long buffer, long length, long data, long peer) {
        return Posts.call(length <= sendLimit, injectdata, endpoint, buffer, length, data, peer);
    }

    public long fi_recvv(MessageStruct message, long context) { return vector(receiveLimit, recvv, message, context); }

    public long fi_sendv(MessageStruct message, long context) { return vector(sendLimit, sendv, message, context); }

    public long fi_recvmsg(MessageStruct message, long flags) { return message(receiveLimit, recvmsg, message, flags); }

    public long fi_sendmsg(MessageStruct message, long flags) { return message(sendLimit, sendmsg, message, flags); }

    /** Of a message without a buffer. */
    long fi_recvmsg(MemorySegment message, long flags) {
        return RmaOps.message(receiveLimit >= 0, recvmsg, endpoint, message.address(), flags);
    }

    private long vector(long limit, long function, MessageStruct message, long context) {
        try {
            return Posts.call(message.length <= limit, function, endpoint, message.segments.address(),
                    message.descriptors.address(), message.count(), message.peer(), context);
        } finally {
            Reference.reachabilityFence(message);
        }
    }

    private long message(long limit, long function, MessageStruct message, long flags) {
        try {
            return RmaOps.message(message.length <= limit, function, endpoint, message.message.address(), flags);
        } finally {
            Reference.reachabilityFence(message);
        }
    }
}
