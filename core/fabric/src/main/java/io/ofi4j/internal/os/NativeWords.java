package io.ofi4j.internal.os;

import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import java.lang.foreign.MemorySegment;

/**
 * Numbers at native addresses. An access through a segment of a shared arena checks class, bounds, alignment and
 * liveness each time; here the caller ensures them.
 */
@SuppressWarnings("restricted")
public final class NativeWords {
    private static final MemorySegment EVERYTHING = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);
    /** Larger than any address. It lets the compiler drop the bounds check. */
    private static final long ADDRESSES = Long.MAX_VALUE >>> 1;

    public static long get(long address, long offset) {
        return EVERYTHING.get(JAVA_LONG_UNALIGNED, (address & ADDRESSES) + offset);
    }

    public static void set(long address, long offset, long value) {
        EVERYTHING.set(JAVA_LONG_UNALIGNED, (address & ADDRESSES) + offset, value);
    }

    public static int getInt(long address, long offset) {
        return EVERYTHING.get(JAVA_INT_UNALIGNED, (address & ADDRESSES) + offset);
    }

    public static void setInt(long address, long offset, int value) {
        EVERYTHING.set(JAVA_INT_UNALIGNED, (address & ADDRESSES) + offset, value);
    }
}
