package io.ofi4j.internal.os;

import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import java.lang.foreign.MemorySegment;

/**
 * Numbers at native addresses. Through a segment of a shared arena, an access checks class, bounds, alignment and liveness each
 * time; here what the address is, and whether the memory lives, is the caller's to check.
 */
@SuppressWarnings("restricted")
public final class NativeWords {
    /** The address space. */
    private static final MemorySegment EVERYTHING = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);
    /** Larger than any address. With it the compiler sees that an access is inside the address space, and leaves out the check. */
    private static final long ADDRESSES = Long.MAX_VALUE >>> 1;

    private NativeWords() {
    }

    /** {@return what stands there} */
    public static long get(long address, long offset) {
        return EVERYTHING.get(JAVA_LONG_UNALIGNED, (address & ADDRESSES) + offset);
    }

    /** Puts something there. */
    public static void set(long address, long offset, long value) {
        EVERYTHING.set(JAVA_LONG_UNALIGNED, (address & ADDRESSES) + offset, value);
    }
}
