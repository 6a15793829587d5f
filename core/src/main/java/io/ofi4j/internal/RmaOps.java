package io.ofi4j.internal;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.ofi4j.bindings.fi_ops_rma;
import io.ofi4j.bindings.fid_ep;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/**
 * {@code struct fi_ops_rma} of one endpoint. The function pointers are read once, which is right only after fi_enable:
 * some providers replace the table during it.
 */
public final class RmaOps {
    private static final FunctionDescriptor TRANSFER = FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG,
            JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG);
    private static final FunctionDescriptor INJECT = FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG,
            JAVA_LONG, JAVA_LONG, JAVA_LONG);
    private static final MethodHandle SHORT_TRANSFER = Downcalls.critical(TRANSFER);
    private static final MethodHandle LONG_TRANSFER = Downcalls.plain(TRANSFER);
    private static final MethodHandle INJECT_WRITE = Downcalls.critical(INJECT);

    /** A provider may copy the data inside the call. Past this many bytes it would hold up a safepoint. */
    private static final long CRITICAL_LIMIT = 64 * 1024;
    private static final long OPS = fid_ep.rma$offset();

    private final long endpoint;
    private final MemorySegment read;
    private final MemorySegment write;
    private final MemorySegment injectWrite;

    /** @throws UnsupportedOperationException if the provider lacks one of these calls */
    public RmaOps(Handle endpoint) {
        this.endpoint = endpoint.address();
        this.read = endpoint.require(OPS, fi_ops_rma.read$offset(), "fi_read");
        this.write = endpoint.require(OPS, fi_ops_rma.write$offset(), "fi_write");
        this.injectWrite = endpoint.require(OPS, fi_ops_rma.inject$offset(), "fi_inject_write");
    }

    public long fi_write(long buffer, long length, long descriptor, long peer, long address, long key, long context) {
        return transfer(write, buffer, length, descriptor, peer, address, key, context);
    }

    public long fi_read(long buffer, long length, long descriptor, long peer, long address, long key, long context) {
        return transfer(read, buffer, length, descriptor, peer, address, key, context);
    }

    public long fi_inject_write(long buffer, long length, long peer, long address, long key) {
        try {
            return (long) INJECT_WRITE.invokeExact(injectWrite, endpoint, buffer, length, peer, address, key);
        } catch (Throwable t) {
            throw Downcalls.unexpected(t);
        }
    }

    private long transfer(MemorySegment function, long buffer, long length, long descriptor, long peer, long address,
            long key, long context) {
        try {
            if (length <= CRITICAL_LIMIT) {
                return (long) SHORT_TRANSFER.invokeExact(function, endpoint, buffer, length, descriptor, peer, address,
                        key, context);
            }
            return (long) LONG_TRANSFER.invokeExact(function, endpoint, buffer, length, descriptor, peer, address, key,
                    context);
        } catch (Throwable t) {
            throw Downcalls.unexpected(t);
        }
    }
}
