package io.ofi4j.internal.ffi;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.ofi4j.bindings.fi_ops_atomic;
import io.ofi4j.bindings.fid_ep;
import io.ofi4j.internal.os.LibC;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.ref.Reference;

/**
 * {@code struct fi_ops_atomic} of one endpoint. Made after fi_enable, during which some providers replace the table. datatype is an
 * {@code enum fi_datatype}, operation an {@code enum fi_op}.
 */
public final class AtomicOps {
    private static final FunctionDescriptor WRITE = numbers(7).appendArgumentLayouts(JAVA_LONG);
    private static final FunctionDescriptor FETCH = numbers(9).appendArgumentLayouts(JAVA_LONG);
    private static final FunctionDescriptor COMPARE = numbers(11).appendArgumentLayouts(JAVA_LONG);
    private static final MethodHandle SHORT_WRITE = Downcalls.critical(WRITE);
    private static final MethodHandle LONG_WRITE = Downcalls.plain(WRITE);
    private static final MethodHandle SHORT_INJECT = Downcalls.critical(numbers(6));
    private static final MethodHandle LONG_INJECT = Downcalls.plain(numbers(6));
    private static final MethodHandle SHORT_FETCH = Downcalls.critical(FETCH);
    private static final MethodHandle LONG_FETCH = Downcalls.plain(FETCH);
    private static final MethodHandle SHORT_COMPARE = Downcalls.critical(COMPARE);
    private static final MethodHandle LONG_COMPARE = Downcalls.plain(COMPARE);
    private static final MethodHandle FETCH_VECTOR = Downcalls.plain(numbers(10).appendArgumentLayouts(JAVA_LONG));
    private static final MethodHandle FETCH_MESSAGE = Downcalls.plain(Downcalls.longs(6));
    private static final MethodHandle COMPARE_VECTOR = Downcalls.plain(numbers(13).appendArgumentLayouts(JAVA_LONG));
    private static final MethodHandle COMPARE_MESSAGE = Downcalls.plain(Downcalls.longs(9));
    private static final MethodHandle VALID = Downcalls
            .plain(FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_LONG));
    private static final long OPS = fid_ep.atomic$offset();

    private final Handle handle;
    private final long endpoint;
    /** No operation is long: the provider's limit is some kilobytes. */
    private final boolean critical;
    /** The addresses of the functions. */
    private final long write;
    private final long writev;
    private final long writemsg;
    private final long inject;
    private final long readwrite;
    private final long readwritev;
    private final long readwritemsg;
    private final long compwrite;
    private final long compwritev;
    private final long compwritemsg;

    public AtomicOps(Handle endpoint, boolean critical) {
        this.handle = endpoint;
        this.endpoint = endpoint.address();
        this.critical = critical;
        this.write = require(fi_ops_atomic.write$offset(), "fi_atomic");
        this.writev = require(fi_ops_atomic.writev$offset(), "fi_atomicv");
        this.writemsg = require(fi_ops_atomic.writemsg$offset(), "fi_atomicmsg");
        this.inject = require(fi_ops_atomic.inject$offset(), "fi_inject_atomic");
        this.readwrite = require(fi_ops_atomic.readwrite$offset(), "fi_fetch_atomic");
        this.readwritev = require(fi_ops_atomic.readwritev$offset(), "fi_fetch_atomicv");
        this.readwritemsg = require(fi_ops_atomic.readwritemsg$offset(), "fi_fetch_atomicmsg");
        this.compwrite = require(fi_ops_atomic.compwrite$offset(), "fi_compare_atomic");
        this.compwritev = require(fi_ops_atomic.compwritev$offset(), "fi_compare_atomicv");
        this.compwritemsg = require(fi_ops_atomic.compwritemsg$offset(), "fi_compare_atomicmsg");
    }

    /** That many pointers and integers, a datatype and an operation. */
    private static FunctionDescriptor numbers(int longs) {
        return Downcalls.longs(longs).appendArgumentLayouts(JAVA_INT, JAVA_INT);
    }

    private long require(long entry, String call) { return handle.require(OPS, entry, call).address(); }

    /** The largest number of elements of one operation, or 0 if the provider does not have it. */
    public long fi_atomicvalid(int datatype, int operation) {
        return valid(fi_ops_atomic.writevalid$offset(), "fi_atomicvalid", datatype, operation);
    }

    /** As {@link #fi_atomicvalid}. */
    public long fi_fetch_atomicvalid(int datatype, int operation) {
        return valid(fi_ops_atomic.readwritevalid$offset(), "fi_fetch_atomicvalid", datatype, operation);
    }

    /** As {@link #fi_atomicvalid}. */
    public long fi_compare_atomicvalid(int datatype, int operation) {
        return valid(fi_ops_atomic.compwritevalid$offset(), "fi_compare_atomicvalid", datatype, operation);
    }

    private long valid(long entry, String call, int datatype, int operation) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment count = arena.allocate(JAVA_LONG);
            int status = (int) VALID.invokeExact(require(entry, call), endpoint, datatype, operation, count.address());
            return status == 0 ? count.get(JAVA_LONG, 0) : 0;
        } catch (UnsupportedOperationException e) {
            return 0;
        } catch (Throwable t) {
            throw LibC.unexpected(t);
        }
    }

    public long fi_atomic(long buffer, long count, long descriptor, long peer, long address, long key, int datatype,
            int operation, long context) {
        return write(critical, write, buffer, count, descriptor, peer, address, key, datatype, operation, context);
    }

    /** The first call has a buffer, its count and descriptor, the second a vector, its descriptors and their number. */
    private long write(boolean isShort, long function, long local, long second, long third, long peer, long address,
            long key, int datatype, int operation, long context) {
        try {
            return isShort
                    ? (long) SHORT_WRITE.invokeExact(function, endpoint, local, second, third, peer, address, key,
                            datatype, operation, context)
                    : (long) LONG_WRITE.invokeExact(function, endpoint, local, second, third, peer, address, key,
                            datatype, operation, context);
        } catch (Throwable t) {
            throw LibC.unexpected(t);
        }
    }

    public long fi_inject_atomic(long buffer, long count, long peer, long address, long key, int datatype,
            int operation) {
        try {
            return critical
                    ? (long) SHORT_INJECT.invokeExact(inject, endpoint, buffer, count, peer, address, key, datatype,
                            operation)
                    : (long) LONG_INJECT.invokeExact(inject, endpoint, buffer, count, peer, address, key, datatype,
                            operation);
        } catch (Throwable t) {
            throw LibC.unexpected(t);
        }
    }

    public long fi_fetch_atomic(long buffer, long count, long descriptor, long result, long resultDescriptor, long peer,
            long address, long key, int datatype, int operation, long context) {
        try {
            return critical
                    ? (long) SHORT_FETCH.invokeExact(readwrite, endpoint, buffer, count, descriptor, result,
                            resultDescriptor, peer, address, key, datatype, operation, context)
                    : (long) LONG_FETCH.invokeExact(readwrite, endpoint, buffer, count, descriptor, result,
                            resultDescriptor, peer, address, key, datatype, operation, context);
        } catch (Throwable t) {
            throw LibC.unexpected(t);
        }
    }

    public long fi_compare_atomic(long buffer, long count, long descriptor, long compare, long compareDescriptor,
            long result, long resultDescriptor, long peer, long address, long key, int datatype, int operation,
            long context) {
        try {
            return critical
                    ? (long) SHORT_COMPARE.invokeExact(compwrite, endpoint, buffer, count, descriptor, compare,
                            compareDescriptor, result, resultDescriptor, peer, address, key, datatype, operation,
                            context)
                    : (long) LONG_COMPARE.invokeExact(compwrite, endpoint, buffer, count, descriptor, compare,
                            compareDescriptor, result, resultDescriptor, peer, address, key, datatype, operation,
                            context);
        } catch (Throwable t) {
            throw LibC.unexpected(t);
        }
    }

    /** Uses the operand, the peer and the only remote segment of the message, as do the other vectored calls. */
    public long fi_atomicv(AtomicMessageStruct message, int operation, long context) {
        SegmentVector operand = message.operand;
        try {
            return write(false, writev, operand.segments.address(), operand.descriptors.address(), operand.count,
                    message.peer(), message.remoteAddress(), message.remoteKey(), message.datatype, operation, context);
        } finally {
            Reference.reachabilityFence(message);
        }
    }

    public long fi_fetch_atomicv(AtomicMessageStruct message, int operation, long context) {
        SegmentVector operand = message.operand;
        SegmentVector result = message.result;
        try {
            return (long) FETCH_VECTOR.invokeExact(readwritev, endpoint, operand.segments.address(),
                    operand.descriptors.address(), operand.count, result.segments.address(),
                    result.descriptors.address(), result.count, message.peer(), message.remoteAddress(),
                    message.remoteKey(), message.datatype, operation, context);
        } catch (Throwable t) {
            throw LibC.unexpected(t);
        } finally {
            Reference.reachabilityFence(message);
        }
    }

    public long fi_compare_atomicv(AtomicMessageStruct message, int operation, long context) {
        SegmentVector operand = message.operand;
        SegmentVector compare = message.compare;
        SegmentVector result = message.result;
        try {
            return (long) COMPARE_VECTOR.invokeExact(compwritev, endpoint, operand.segments.address(),
                    operand.descriptors.address(), operand.count, compare.segments.address(),
                    compare.descriptors.address(), compare.count, result.segments.address(),
                    result.descriptors.address(), result.count, message.peer(), message.remoteAddress(),
                    message.remoteKey(), message.datatype, operation, context);
        } catch (Throwable t) {
            throw LibC.unexpected(t);
        } finally {
            Reference.reachabilityFence(message);
        }
    }

    public long fi_atomicmsg(AtomicMessageStruct message, long flags) {
        try {
            return RmaOps.message(critical, writemsg, endpoint, message.message.address(), flags);
        } finally {
            Reference.reachabilityFence(message);
        }
    }

    public long fi_fetch_atomicmsg(AtomicMessageStruct message, long flags) {
        SegmentVector result = message.result;
        try {
            return (long) FETCH_MESSAGE.invokeExact(readwritemsg, endpoint, message.message.address(),
                    result.segments.address(), result.descriptors.address(), result.count, flags);
        } catch (Throwable t) {
            throw LibC.unexpected(t);
        } finally {
            Reference.reachabilityFence(message);
        }
    }

    public long fi_compare_atomicmsg(AtomicMessageStruct message, long flags) {
        SegmentVector compare = message.compare;
        SegmentVector result = message.result;
        try {
            return (long) COMPARE_MESSAGE.invokeExact(compwritemsg, endpoint, message.message.address(),
                    compare.segments.address(), compare.descriptors.address(), compare.count, result.segments.address(),
                    result.descriptors.address(), result.count, flags);
        } catch (Throwable t) {
            throw LibC.unexpected(t);
        } finally {
            Reference.reachabilityFence(message);
        }
    }
}
