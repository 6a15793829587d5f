package io.ofi4j.model;

import io.ofi4j.MemoryRegion;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;

/**
 * What the model knows of a region's bytes: which values each may have, as bits, since writes that overlap may land in
 * any order. A source is filled with one value, so that what was written tells who wrote it. Values are from 0 to 63.
 */
final class ModelMemory {
    static final int VALUES = 64;
    /** One program in so many moves much at once: what providers cut into segments, or fetch from the sender. */
    private static final int WITH_MUCH = 12;
    private static final int LITTLE = 5000;
    private static final int MUCH = 150_000;
    private static final int GUARD = 64;
    private static final byte GUARD_BYTE = 0x7e;

    private final MemorySegment bytes;
    /** The bytes with a margin on both sides that nothing may change; null where the memory is the region's own. */
    private final MemorySegment whole;
    private final long[] allowed;

    private ModelMemory(MemorySegment whole, MemorySegment bytes, int value) {
        this.whole = whole;
        this.bytes = bytes;
        this.allowed = new long[(int) bytes.byteSize()];
        bytes.fill((byte) value);
        Arrays.fill(allowed, 1L << value);
    }

    /** How many bytes a region of the program with this seed has at most. */
    static int longest(long seed) {
        return seed % WITH_MUCH == 0 ? MUCH : LITTLE;
    }

    /** Memory of the test's, with a margin. */
    static ModelMemory ofCaller(Arena arena, int length, int value) {
        MemorySegment whole = arena.allocate(length + 2L * GUARD, 64).fill(GUARD_BYTE);
        return new ModelMemory(whole, whole.asSlice(GUARD, length), value);
    }

    static ModelMemory ofRegion(MemoryRegion region, int value) {
        return new ModelMemory(null, region.segment(), value);
    }

    MemorySegment segment() { return bytes; }

    int value(long at) { return bytes.get(ValueLayout.JAVA_BYTE, at); }

    /** From now on these bytes may have more values; whether that is news. */
    synchronized boolean allow(long offset, long length, long values) {
        boolean news = false;
        for (int at = (int) offset; at < offset + length; at++) {
            news |= (allowed[at] | values) != allowed[at];
            allowed[at] |= values;
        }
        return news;
    }

    /** All the values that some of these bytes may have. */
    synchronized long allowed(long offset, long length) {
        long values = 0;
        for (int at = (int) offset; at < offset + length; at++) {
            values |= allowed[at];
        }
        return values;
    }

    /** Every byte has a value that it may have, and the margin is whole. */
    synchronized void check(Object what) {
        for (int at = 0; at < allowed.length; at++) {
            int value = value(at);
            if (value < 0 || value >= VALUES || (allowed[at] & 1L << value) == 0) {
                throw new AssertionError("byte " + at + " of " + what + " has become " + value
                        + ", which nobody wrote there; allowed are the bits " + Long.toHexString(allowed[at]));
            }
        }
        if (whole != null) {
            checkMargin(what, whole.asSlice(0, GUARD));
            checkMargin(what, whole.asSlice(GUARD + bytes.byteSize()));
        }
    }

    private static void checkMargin(Object what, MemorySegment margin) {
        for (long at = 0; at < margin.byteSize(); at++) {
            if (margin.get(ValueLayout.JAVA_BYTE, at) != GUARD_BYTE) {
                throw new AssertionError("a byte outside " + what + " was changed");
            }
        }
    }
}
