package io.ofi4j.conformance.rules;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Bytes that are different for each number, and at each place. */
final class Pattern {
    private static final int FACTOR = 31;

    private Pattern() {}

    static void fill(MemorySegment memory, long number) {
        for (long i = 0; i < memory.byteSize(); i++) {
            memory.set(ValueLayout.JAVA_BYTE, i, at(number, i));
        }
    }

    static MemorySegment of(long number, long length) {
        MemorySegment memory = MemorySegment.ofArray(new byte[(int) length]);
        fill(memory, number);
        return memory;
    }

    private static byte at(long number, long place) {
        long mixed = (number + 1) * FACTOR + place * (FACTOR + 2) + (place >> Byte.SIZE);
        return (byte) (mixed ^ mixed >> Byte.SIZE);
    }
}
