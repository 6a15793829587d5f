package io.ofi4j.command.perf;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Random contents of slots, the same wherever they are made from the same seed. */
final class Pattern {
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED
            .withOrder(java.nio.ByteOrder.LITTLE_ENDIAN);
    private static final byte GUARD = (byte) 0xa5;
    private static final long GOLDEN = 0x9e3779b97f4a7c15L;

    private Pattern() {}

    /** Sets every byte of the layout to the guards' value. */
    static void clear(MemorySegment memory, Layout layout) {
        memory.asSlice(0, layout.length()).fill(GUARD);
    }

    /** Fills the slots with random bytes, and what is between them with guard bytes. */
    static void fill(MemorySegment memory, Layout layout, long seed) {
        clear(memory, layout);
        for (int slot = 0; slot < layout.slots(); slot++) {
            fill(memory.asSlice(layout.offset(slot), layout.size()), seed + slot);
        }
    }

    private static void fill(MemorySegment bytes, long seed) {
        long size = bytes.byteSize();
        long whole = size & -Long.BYTES;
        for (long at = 0; at < whole; at += Long.BYTES) {
            bytes.set(LONG, at, random(seed, at));
        }
        for (long at = whole; at < size; at++) {
            bytes.set(ValueLayout.JAVA_BYTE, at, byteOf(seed, at));
        }
    }

    /** {@return how many slots do not hold their bytes, or have a damaged guard beside them} */
    static int damaged(MemorySegment memory, Layout layout, long seed) {
        int damaged = 0;
        for (int slot = 0; slot < layout.slots(); slot++) {
            long offset = layout.offset(slot);
            long end = offset + layout.size();
            boolean intact = isFilled(memory.asSlice(offset, layout.size()), seed + slot)
                    && isGuard(memory, offset - Layout.GUARD, offset) && isGuard(memory, end, layout.offset(slot + 1));
            damaged += intact ? 0 : 1;
        }
        return damaged;
    }

    private static boolean isFilled(MemorySegment bytes, long seed) {
        long size = bytes.byteSize();
        long whole = size & -Long.BYTES;
        for (long at = 0; at < whole; at += Long.BYTES) {
            if (bytes.get(LONG, at) != random(seed, at)) { return false; }
        }
        for (long at = whole; at < size; at++) {
            if (bytes.get(ValueLayout.JAVA_BYTE, at) != byteOf(seed, at)) { return false; }
        }
        return true;
    }

    private static boolean isGuard(MemorySegment memory, long from, long to) {
        for (long at = from; at < to; at++) {
            if (memory.get(ValueLayout.JAVA_BYTE, at) != GUARD) { return false; }
        }
        return true;
    }

    /** Never the guards' value, so that a byte that has not arrived is seen. */
    private static byte byteOf(long seed, long at) {
        byte random = (byte) random(seed, at);
        return random == GUARD ? (byte) ~GUARD : random;
    }

    private static long random(long seed, long at) {
        long z = seed * GOLDEN + at;
        z = (z ^ z >>> 30) * 0xbf58476d1ce4e5b9L;
        z = (z ^ z >>> 27) * 0x94d049bb133111ebL;
        return z ^ z >>> 31;
    }
}
