package io.ofi4j.internal.ffi;

import static io.ofi4j.internal.os.Downcalls.call;
import static io.ofi4j.internal.os.Downcalls.invoke;
import static io.ofi4j.internal.ffi.InlineFunction.*;

import io.ofi4j.internal.os.Downcalls;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.ref.Reference;

/** {@code struct fi_ops_rma} of one endpoint. Made after fi_enable, during which some providers replace the table. */
public final class RmaOps {
    /** fi_read, fi_write and fi_inject_write of the first endpoint. */
    private static final FirstFunctions FIRST = new FirstFunctions();

    private final long endpoint;
    /** Up to this length calls are critical. */
    private final long limit;
    /** The pointers in the provider's table of functions, read once. */
    private final MemorySegment read;
    private final MemorySegment readv;
    private final MemorySegment readmsg;
    private final MemorySegment write;
    private final MemorySegment writev;
    private final MemorySegment writemsg;
    private final MemorySegment inject;
    private final MemorySegment writedata;
    private final MemorySegment injectdata;
    private final boolean isLikeFirst;

    public RmaOps(Handle endpoint, boolean critical) {
        this.endpoint = endpoint.address();
        this.limit = critical ? Downcalls.CRITICAL_LIMIT : -1;
        this.read = fi_read.of(endpoint);
        this.readv = fi_readv.of(endpoint);
        this.readmsg = fi_readmsg.of(endpoint);
        this.write = fi_write.of(endpoint);
        this.writev = fi_writev.of(endpoint);
        this.writemsg = fi_writemsg.of(endpoint);
        this.inject = fi_inject_write.of(endpoint);
        this.writedata = fi_writedata.of(endpoint);
        this.injectdata = fi_inject_writedata.of(endpoint);
        this.isLikeFirst = critical && FIRST.are(read, write, inject);
        if (isLikeFirst) { FirstFunctions.made(FirstRead.FUNCTION, FirstWrite.FUNCTION, FirstInject.FUNCTION); }
    }

    private static final class FirstRead {
        static final MethodHandle FUNCTION = FIRST.handle(0, 8);
    }

    private static final class FirstWrite {
        static final MethodHandle FUNCTION = FIRST.handle(1, 8);
    }

    private static final class FirstInject {
        static final MethodHandle FUNCTION = FIRST.handle(2, 6);
    }

    public long fi_read(long buffer, long length, long descriptor, long peer, long address, long key, long context) {
        return isLikeFirst && length <= limit
                ? invoke(FirstRead.FUNCTION, endpoint, buffer, length, descriptor, peer, address, key, context)
                : call(length <= limit, read, endpoint, buffer, length, descriptor, peer, address, key, context);
    }

    public long fi_write(long buffer, long length, long descriptor, long peer, long address, long key, long context) {
        return isLikeFirst && length <= limit
                ? invoke(FirstWrite.FUNCTION, endpoint, buffer, length, descriptor, peer, address, key, context)
                : call(length <= limit, write, endpoint, buffer, length, descriptor, peer, address, key, context);
    }

    public long fi_inject_write(long buffer, long length, long peer, long address, long key) {
        return isLikeFirst && length <= limit
                ? invoke(FirstInject.FUNCTION, endpoint, buffer, length, peer, address, key)
                : call(length <= limit, inject, endpoint, buffer, length, peer, address, key);
    }

    public long fi_writedata(long buffer, long length, long descriptor, long data, long peer, long address, long key,
            long context) {
        return call(length <= limit, writedata, endpoint, buffer, length, descriptor, data, peer, address, key,
                context);
    }

    public long fi_inject_writedata(long buffer, long length, long data, long peer, long address, long key) {
        return call(length <= limit, injectdata, endpoint, buffer, length, data, peer, address, key);
    }

    /** Uses the local segments, the peer and the only remote segment of the operation. */
    public long fi_writev(PreparedRmaStruct prepared, long context) {
        return vector(writev, prepared, context);
    }

    /** As {@link #fi_writev}. */
    public long fi_readv(PreparedRmaStruct prepared, long context) {
        return vector(readv, prepared, context);
    }

    public long fi_writemsg(PreparedRmaStruct prepared, long flags) { return struct(writemsg, prepared, flags); }

    public long fi_readmsg(PreparedRmaStruct prepared, long flags) { return struct(readmsg, prepared, flags); }

    private long vector(MemorySegment function, PreparedRmaStruct prepared, long context) {
        try {
            return call(prepared.length <= limit, function, endpoint, prepared.local.segmentsAddress,
                    prepared.local.descriptorsAddress, prepared.localCount, prepared.peer, prepared.remote.firstAddress,
                    prepared.remote.firstDescriptor, context);
        } finally {
            Reference.reachabilityFence(prepared);
        }
    }

    private long struct(MemorySegment function, PreparedRmaStruct prepared, long flags) {
        try {
            return call(prepared.length <= limit, function, endpoint, prepared.address, flags);
        } finally {
            Reference.reachabilityFence(prepared);
        }
    }
}
