package io.ofi4j.conformance;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Bytes that are different for each number, and at each place. */
public final class Pattern {
    private static final int FACTOR = 31;

    private Pattern() {}

    /** Fills memory with the bytes of a number. */
    public static void fill(MemorySegment memory, long number) {
        for (long i = 0; i < memory.byteSize(); i++) {
            memory.set(ValueLayout.JAVA_BYTE, i, at(number, i));
        }
    }

    /** {@return the first bytes of a number, on the heap} */
    public static MemorySegment of(long number, long length) {
        MemorySegment memory = MemorySegment.ofArray(new byte[(int) length]);
        fill(memory, number);
        return memory;
    }

    /** {@return the first place where memory has other bytes than those of a number; -1 if there is none} */
    public static long mismatch(MemorySegment memory, long number) {
        for (long i = 0; i < memory.byteSize(); i++) {
            if (memory.get(ValueLayout.JAVA_BYTE, i) != at(number, i)) { return i; }
        }
        return -1;
    }

    /** {@return the byte of a number at a place} */
    public static byte at(long number, long place) {
        long mixed = (number + 1) * FACTOR + place * (FACTOR + 2) + (place >> Byte.SIZE);
        return (byte) (mixed ^ mixed >> Byte.SIZE);
    }
}
