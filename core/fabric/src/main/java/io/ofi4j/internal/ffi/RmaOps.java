package io.ofi4j.internal.ffi;

import io.ofi4j.internal.os.LibC;
import io.ofi4j.bindings.fi_ops_rma;
import io.ofi4j.bindings.fid_ep;
import java.lang.invoke.MethodHandle;
import java.lang.ref.Reference;

/** {@code struct fi_ops_rma} of one endpoint. Made after fi_enable, during which some providers replace the table. */
public final class RmaOps {
    private static final MethodHandle SHORT_TRANSFER = Downcalls.critical(Downcalls.longs(8));
    private static final MethodHandle LONG_TRANSFER = Downcalls.plain(Downcalls.longs(8));
    private static final MethodHandle SHORT_INJECT_WRITE = Downcalls.critical(Downcalls.longs(6));
    private static final MethodHandle LONG_INJECT_WRITE = Downcalls.plain(Downcalls.longs(6));
    private static final MethodHandle SHORT_INJECT_WRITEDATA = Downcalls.critical(Downcalls.longs(7));
    private static final MethodHandle LONG_INJECT_WRITEDATA = Downcalls.plain(Downcalls.longs(7));
    private static final MethodHandle SHORT_WRITEDATA = Downcalls.critical(Downcalls.longs(9));
    private static final MethodHandle LONG_WRITEDATA = Downcalls.plain(Downcalls.longs(9));
    private static final MethodHandle SHORT_MESSAGE = Downcalls.critical(Downcalls.longs(3));
    private static final MethodHandle LONG_MESSAGE = Downcalls.plain(Downcalls.longs(3));

    /** A provider may copy the data inside the call. A larger copy would delay safepoints. */
    private static final long CRITICAL_LIMIT = 64 * 1024;
    private static final long OPS = fid_ep.rma$offset();

    private final long endpoint;
    /** Up to this length calls are critical. */
    private final long criticalLimit;
    /** The addresses of the functions. */
    private final long read;
    private final long write;
    private final long injectWrite;
    private final long readv;
    private final long writev;
    private final long readmsg;
    private final long writemsg;
    private final long writedata;
    private final long injectWritedata;

    public RmaOps(Handle endpoint, boolean critical) {
        this.endpoint = endpoint.address();
        this.criticalLimit = critical ? CRITICAL_LIMIT : -1;
        this.read = endpoint.require(OPS, fi_ops_rma.read$offset(), "fi_read").address();
        this.write = endpoint.require(OPS, fi_ops_rma.write$offset(), "fi_write").address();
        this.injectWrite = endpoint.require(OPS, fi_ops_rma.inject$offset(), "fi_inject_write").address();
        this.readv = endpoint.require(OPS, fi_ops_rma.readv$offset(), "fi_readv").address();
        this.writev = endpoint.require(OPS, fi_ops_rma.writev$offset(), "fi_writev").address();
        this.readmsg = endpoint.require(OPS, fi_ops_rma.readmsg$offset(), "fi_readmsg").address();
        this.writemsg = endpoint.require(OPS, fi_ops_rma.writemsg$offset(), "fi_writemsg").address();
        this.writedata = endpoint.require(OPS, fi_ops_rma.writedata$offset(), "fi_writedata").address();
        this.injectWritedata = endpoint.require(OPS, fi_ops_rma.injectdata$offset(), "fi_inject_writedata").address();
    }

    public long fi_write(long buffer, long length, long descriptor, long peer, long address, long key, long context) {
        return transfer(length <= criticalLimit, write, buffer, length, descriptor, peer, address, key, context);
    }

    public long fi_read(long buffer, long length, long descriptor, long peer, long address, long key, long context) {
        return transfer(length <= criticalLimit, read, buffer, length, descriptor, peer, address, key, context);
    }

    public long fi_inject_write(long buffer, long length, long peer, long address, long key) {
        try {
            return length <= criticalLimit
                    ? (long) SHORT_INJECT_WRITE.invokeExact(injectWrite, endpoint, buffer, length, peer, address, key)
                    : (long) LONG_INJECT_WRITE.invokeExact(injectWrite, endpoint, buffer, length, peer, address, key);
        } catch (Throwable t) {
            throw LibC.unexpected(t);
        }
    }

    public long fi_inject_writedata(long buffer, long length, long data, long peer, long address, long key) {
        try {
            return length <= criticalLimit
                    ? (long) SHORT_INJECT_WRITEDATA.invokeExact(injectWritedata, endpoint, buffer, length, data, peer,
                            address, key)
                    : (long) LONG_INJECT_WRITEDATA.invokeExact(injectWritedata, endpoint, buffer, length, data, peer,
                            address, key);
        } catch (Throwable t) {
            throw LibC.unexpected(t);
        }
    }

    public long fi_writedata(long buffer, long length, long descriptor, long data, long peer, long address, long key,
            long context) {
        try {
            return length <= criticalLimit
                    ? (long) SHORT_WRITEDATA.invokeExact(writedata, endpoint, buffer, length, descriptor, data, peer,
                            address, key, context)
                    : (long) LONG_WRITEDATA.invokeExact(writedata, endpoint, buffer, length, descriptor, data, peer,
                            address, key, context);
        } catch (Throwable t) {
            throw LibC.unexpected(t);
        }
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
            return transfer(message.length <= criticalLimit, function, message.locals.address(),
                    message.descriptors.address(), message.localCount(), message.peer(), message.remoteAddress(),
                    message.remoteKey(), context);
        } finally {
            Reference.reachabilityFence(message);
        }
    }

    private long message(long function, RmaMessageStruct message, long flags) {
        try {
            return message(message.length <= criticalLimit, function, endpoint, message.message.address(), flags);
        } finally {
            Reference.reachabilityFence(message);
        }
    }

    /** Every call that takes a struct: an endpoint's address, that of the struct, and flags. */
    static long message(boolean critical, long function, long endpoint, long message, long flags) {
        try {
            return critical
                    ? (long) SHORT_MESSAGE.invokeExact(function, endpoint, message, flags)
                    : (long) LONG_MESSAGE.invokeExact(function, endpoint, message, flags);
        } catch (Throwable t) {
            throw LibC.unexpected(t);
        }
    }

    /** The calls with a buffer, its length and descriptor, or a vector, its descriptors and their number. */
    private long transfer(boolean critical, long function, long local, long second, long third, long peer, long address,
            long key, long context) {
        try {
            return critical
                    ? (long) SHORT_TRANSFER.invokeExact(function, endpoint, local, second, third, peer, address, key,
                            context)
                    : (long) LONG_TRANSFER.invokeExact(function, endpoint, local, second, third, peer, address, key,
                            context);
        } catch (Throwable t) {
            throw LibC.unexpected(t);
        }
    }
}
