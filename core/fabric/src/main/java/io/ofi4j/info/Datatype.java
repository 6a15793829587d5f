package io.ofi4j.info;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * The type of an element that an atomic operation works on; {@code enum fi_datatype}, fi_atomic(3). Elements have the
 * byte order of the machine. {@code Atomics.valid} says which types a provider takes for an operation.
 */
public enum Datatype {
    /** A signed integer of 8 bits: {@code byte}. */
    INT8(1),
    /** An unsigned integer of 8 bits. */
    UINT8(1),
    /** A signed integer of 16 bits: {@code short}. */
    INT16(2),
    /** An unsigned integer of 16 bits: {@code char}. */
    UINT16(2),
    /** A signed integer of 32 bits: {@code int}. */
    INT32(4),
    /** An unsigned integer of 32 bits. */
    UINT32(4),
    /** A signed integer of 64 bits: {@code long}. */
    INT64(8),
    /** An unsigned integer of 64 bits. */
    UINT64(8),
    /** A number of IEEE 754 with 32 bits: {@code float}. */
    FLOAT(4),
    /** A number of IEEE 754 with 64 bits: {@code double}. */
    DOUBLE(8),
    /** Two {@link #FLOAT}s: the real part, then the imaginary one. */
    FLOAT_COMPLEX(8),
    /** Two {@link #DOUBLE}s: the real part, then the imaginary one. */
    DOUBLE_COMPLEX(16),
    /** The {@code long double} of C. */
    LONG_DOUBLE(16),
    /** Two {@link #LONG_DOUBLE}s: the real part, then the imaginary one. */
    LONG_DOUBLE_COMPLEX(32),
    /** A signed integer of 128 bits. */
    INT128(16),
    /** An unsigned integer of 128 bits. */
    UINT128(16),
    /** A number of IEEE 754 with 16 bits (libfabric 2.0 and newer). */
    FLOAT16(2),
    /** A number of 16 bits with the exponent of a {@link #FLOAT} (libfabric 2.0 and newer). */
    BFLOAT16(2);

    private final int size;

    Datatype(int size) { this.size = size; }

    /** {@return the number of bytes of an element; targets must be at a multiple of it} */
    public int size() {
        return size;
    }

    /** {@return libfabric's number for it} */
    public int value() { return ordinal(); }

    /**
     * Puts a number into memory as an element of this type. An integer type stores the number exactly, another type the
     * nearest number that it has. {@link #UINT64} takes every {@code long}: a negative one stands for the unsigned
     * number with the same bits.
     *
     * @param memory the memory
     * @param offset the start of the element, in bytes
     * @param number the number
     * @return the offset
     * @throws IllegalArgumentException if the number does not fit into this integer type, or the elements are complex
     *         or have more than 64 bits
     * @throws IndexOutOfBoundsException if the element is not all inside the segment
     * @throws IllegalStateException if the memory was freed
     */
    public long put(MemorySegment memory, long offset, long number) {
        int unused = Long.SIZE - size * Byte.SIZE;
        switch (this) {
            case FLOAT, DOUBLE -> {
                return put(memory, offset, (double) number);
            }
            case INT8, INT16, INT32, INT64 -> {
                if (number << unused >> unused != number) { throw noPlace(number); }
            }
            case UINT8, UINT16, UINT32, UINT64 -> {
                if (number << unused >>> unused != number) { throw noPlace(number); }
            }
            default -> throw noPlace(number);
        }
        switch (size) {
            case Byte.BYTES -> memory.set(ValueLayout.JAVA_BYTE, offset, (byte) number);
            case Short.BYTES -> memory.set(ValueLayout.JAVA_SHORT_UNALIGNED, offset, (short) number);
            case Integer.BYTES -> memory.set(ValueLayout.JAVA_INT_UNALIGNED, offset, (int) number);
            default -> memory.set(ValueLayout.JAVA_LONG_UNALIGNED, offset, number);
        }
        return offset;
    }

    /**
     * As {@link #put(MemorySegment, long, long)}, for {@link #FLOAT} and {@link #DOUBLE} only.
     *
     * @throws IllegalArgumentException if this is another type
     */
    public long put(MemorySegment memory, long offset, double number) {
        switch (this) {
            case FLOAT -> memory.set(ValueLayout.JAVA_FLOAT_UNALIGNED, offset, (float) number);
            case DOUBLE -> memory.set(ValueLayout.JAVA_DOUBLE_UNALIGNED, offset, number);
            default -> throw noPlace(number);
        }
        return offset;
    }

    private IllegalArgumentException noPlace(Object number) {
        return new IllegalArgumentException(
                this + " has no element " + number + ": choose another type, or put its bytes into a region");
    }
}
