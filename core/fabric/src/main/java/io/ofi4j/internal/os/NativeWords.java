package io.ofi4j.internal.os;

import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;

/**
 * Numbers at native addresses. An access through a segment of a shared arena checks class, bounds, alignment and
 * liveness each time; here the caller ensures them.
 *
 * <p>An access of the JDK is some eight calls deep, and the last of them is a real call where the compiler has reached
 * its depth of inlining, 15. These handles are two calls shorter than the methods of a segment.
 */
@SuppressWarnings("restricted")
public final class NativeWords {
    private static final MemorySegment ALL_MEMORY = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);
    private static final VarHandle LONG = JAVA_LONG_UNALIGNED.varHandle().withInvokeExactBehavior();
    private static final VarHandle INT = JAVA_INT_UNALIGNED.varHandle().withInvokeExactBehavior();
    /** Larger than any address. It lets the compiler drop the bounds check. */
    private static final long ADDRESS_MASK = Long.MAX_VALUE >>> 1;

    public static long get(long address, long offset) {
        return (long) LONG.get(ALL_MEMORY, (address & ADDRESS_MASK) + offset);
    }

    public static void set(long address, long offset, long value) {
        LONG.set(ALL_MEMORY, (address & ADDRESS_MASK) + offset, value);
    }

    public static int getInt(long address, long offset) {
        return (int) INT.get(ALL_MEMORY, (address & ADDRESS_MASK) + offset);
    }

    public static void setInt(long address, long offset, int value) {
        INT.set(ALL_MEMORY, (address & ADDRESS_MASK) + offset, value);
    }
}
