package io.ofi4j.internal.ffi;

import static io.ofi4j.internal.ffi.Downcalls.call;
import static io.ofi4j.internal.ffi.InlineFunction.*;

import java.lang.ref.Reference;

/** {@code struct fi_ops_rma} of one endpoint. Made after fi_enable, during which some providers replace the table. */
public final class RmaOps {
    private final long endpoint;
    /** Up to this length calls are critical. */
    private final long limit;
    /** The addresses of the functions. */
    private final long read;
    private final long readv;
    private final long readmsg;
    private final long write;
    private final long writev;
    private final long writemsg;
    private final long inject;
    private final long writedata;
    private final long injectdata;

    public RmaOps(Handle endpoint, boolean critical) {
        this.endpoint = endpoint.address();
        this.limit = critical ? Downcalls.CRITICAL_LIMIT : -1;
        this.read = fi_read.addressOf(endpoint);
        this.readv = fi_readv.addressOf(endpoint);
        this.readmsg = fi_readmsg.addressOf(endpoint);
        this.write = fi_write.addressOf(endpoint);
        this.writev = fi_writev.addressOf(endpoint);
        this.writemsg = fi_writemsg.addressOf(endpoint);
        this.inject = fi_inject_write.addressOf(endpoint);
        this.writedata = fi_writedata.addressOf(endpoint);
        this.injectdata = fi_inject_writedata.addressOf(endpoint);
    }

    public long fi_read(long buffer, long length, long descriptor, long peer, long address, long key, long context) {
        return call(length <= limit, read, endpoint, buffer, length, descriptor, peer, address, key, context);
    }

    public long fi_write(long buffer, long length, long descriptor, long peer, long address, long key, long context) {
        return call(length <= limit, write, endpoint, buffer, length, descriptor, peer, address, key, context);
    }

    public long fi_inject_write(long buffer, long length, long peer, long address, long key) {
        return call(length <= limit, inject, endpoint, buffer, length, peer, address, key);
    }

    public long fi_writedata(long buffer, long length, long descriptor, long data, long peer, long address, long key,
            long context) {
        return call(length <= limit, writedata, endpoint, buffer, length, descriptor, data, peer, address, key,
                context);
    }

    public long fi_inject_writedata(long buffer, long length, long data, long peer, long address, long key) {
        return call(length <= limit, injectdata, endpoint, buffer, length, data, peer, address, key);
    }

    /** Uses the local segments, the peer and the only remote segment of the message. */
    public long fi_writev(RmaMessageStruct message, long context) {
        return vector(writev, message, context);
    }

    /** As {@link #fi_writev}. */
    public long fi_readv(RmaMessageStruct message, long context) {
        return vector(readv, message, context);
    }

    public long fi_writemsg(RmaMessageStruct message, long flags) { return message(writemsg, message, flags); }

    public long fi_readmsg(RmaMessageStruct message, long flags) { return message(readmsg, message, flags); }

    private long vector(long function, RmaMessageStruct message, long context) {
        try {
            return call(message.length <= limit, function, endpoint, message.locals.address(),
                    message.descriptors.address(), message.localCount(), message.peer(), message.remoteAddress(),
                    message.remoteKey(), context);
        } finally {
            Reference.reachabilityFence(message);
        }
    }

    private long message(long function, RmaMessageStruct message, long flags) {
        try {
            return call(message.length <= limit, function, endpoint, message.address, flags);
        } finally {
            Reference.reachabilityFence(message);
        }
    }
}
