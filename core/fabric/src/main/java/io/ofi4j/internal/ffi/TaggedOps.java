package io.ofi4j.internal.ffi;

import io.ofi4j.bindings.fi_ops_tagged;
import io.ofi4j.bindings.fid_ep;
import java.lang.ref.Reference;

/** {@code struct fi_ops_tagged} of one endpoint. Made after fi_enable, during which some providers replace the table. */
public final class TaggedOps {
    private static final long OPS = fid_ep.tagged$offset();

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

    public TaggedOps(Handle endpoint, boolean criticalSends, boolean criticalReceives) {
        this.endpoint = endpoint.address();
        this.sendLimit = criticalSends ? Posts.CRITICAL_LIMIT : -1;
        this.receiveLimit = criticalReceives ? Posts.CRITICAL_LIMIT : -1;
        this.recv = endpoint.require(OPS, fi_ops_tagged.recv$offset(), "fi_trecv").address();
        this.recvv = endpoint.require(OPS, fi_ops_tagged.recvv$offset(), "fi_trecvv").address();
        this.recvmsg = endpoint.require(OPS, fi_ops_tagged.recvmsg$offset(), "fi_trecvmsg").address();
        this.send = endpoint.require(OPS, fi_ops_tagged.send$offset(), "fi_tsend").address();
        this.sendv = endpoint.require(OPS, fi_ops_tagged.sendv$offset(), "fi_tsendv").address();
        this.sendmsg = endpoint.require(OPS, fi_ops_tagged.sendmsg$offset(), "fi_tsendmsg").address();
        this.inject = endpoint.require(OPS, fi_ops_tagged.inject$offset(), "fi_tinject").address();
        this.senddata = endpoint.require(OPS, fi_ops_tagged.senddata$offset(), "fi_tsenddata").address();
        this.injectdata = endpoint.require(OPS, fi_ops_tagged.injectdata$offset(), "fi_tinjectdata").address();
    }

    public long fi_trecv(long buffer, long length, long descriptor, long source, long tag, long ignore, long context) {
        return Posts.call(length <= receiveLimit, recv, endpoint, buffer, length, descriptor, source, tag, ignore,
                context);
    }

    public long fi_tsend(long buffer, long length, long descriptor, long peer, long tag, long context) {
        return Posts.call(length <= sendLimit, send, endpoint, buffer, length, descriptor, peer, tag, context);
    }

    public long fi_tinject(long buffer, long length, long peer, long tag) {
        return Posts.call(length <= sendLimit, inject, endpoint, buffer, length, peer, tag);
    }

    public long fi_tsenddata(long buffer, long length, long descriptor, long data, long peer, long tag, long context) {
        return Posts.call(length <= sendLimit, senddata, endpoint, buffer, length, descriptor, data, peer, tag,
                context);
    }

    public long fi_tinjectdata(long buffer, long length, long data, long peer, long tag) {
        return Posts.call(length <= sendLimit, injectdata, endpoint, buffer, length, data, peer, tag);
    }

    public long fi_trecvv(MessageStruct message, long context) {
        try {
            return Posts.call(message.length <= receiveLimit, recvv, endpoint, message.segments.address(),
                    message.descriptors.address(), message.count(), message.peer(), message.tag(), message.ignore(),
                    context);
        } finally {
            Reference.reachabilityFence(message);
        }
    }

    public long fi_tsendv(MessageStruct message, long context) {
        try {
            return Posts.call(message.length <= sendLimit, sendv, endpoint, message.segments.address(),
                    message.descriptors.address(), message.count(), message.peer(), message.tag(), context);
        } finally {
            Reference.reachabilityFence(message);
        }
    }

    public long fi_trecvmsg(MessageStruct message, long flags) {
        return message(receiveLimit, recvmsg, message, flags);
    }

    public long fi_tsendmsg(MessageStruct message, long flags) { return message(sendLimit, sendmsg, message, flags); }

    private long message(long limit, long function, MessageStruct message, long flags) {
        try {
            return RmaOps.message(message.length <= limit, function, endpoint, message.message.address(), flags);
        } finally {
            Reference.reachabilityFence(message);
        }
    }
}
