package io.ofi4j.job;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_DOUBLE_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import io.ofi4j.info.AtomicOperation;
import io.ofi4j.info.Datatype;
import io.ofi4j.job.Reduction.Combination;
import java.lang.foreign.MemorySegment;
import java.util.function.DoubleBinaryOperator;
import java.util.function.LongBinaryOperator;

/** The atomic operations that are reductions, in Java. Sums, the most frequent ones, have loops of their own. */
final class Reductions {
    private Reductions() {}

    static Combination of(AtomicOperation operation, Datatype datatype) {
        return switch (datatype) {
            case INT8, INT16, INT32, INT64, UINT8, UINT16, UINT32, UINT64 -> integers(operation, datatype);
            case FLOAT ->
                operation == AtomicOperation.SUM ? Reductions::sumFloats : floats(floating(operation, datatype));
            case DOUBLE ->
                operation == AtomicOperation.SUM ? Reductions::sumDoubles : doubles(floating(operation, datatype));
            case FLOAT_COMPLEX -> complex(operation);
            default -> throw unsupported(operation, datatype);
        };
    }

    private static UnsupportedOperationException unsupported(AtomicOperation operation, Datatype datatype) {
        return new UnsupportedOperationException("there is no reduction " + operation + " of " + datatype
                + ": write it in Java, with Reduction.of(elementSize, combination)");
    }

    private static long truth(boolean value) { return value ? 1 : 0; }

    private static Combination integers(AtomicOperation operation, Datatype datatype) {
        boolean unsigned = datatype.name().startsWith("U");
        int size = datatype.size();
        if (operation == AtomicOperation.SUM && size == Long.BYTES) { return Reductions::sumLongs; }
        LongBinaryOperator operator = switch (operation) {
            case MIN -> unsigned ? (a, b) -> Long.compareUnsigned(a, b) <= 0 ? a : b : Math::min;
            case MAX -> unsigned ? (a, b) -> Long.compareUnsigned(a, b) >= 0 ? a : b : Math::max;
            case SUM -> Long::sum;
            case PROD -> (a, b) -> a * b;
            case LOR -> (a, b) -> truth(a != 0 || b != 0);
            case LAND -> (a, b) -> truth(a != 0 && b != 0);
            case LXOR -> (a, b) -> truth(a != 0 ^ b != 0);
            case BOR -> (a, b) -> a | b;
            case BAND -> (a, b) -> a & b;
            case BXOR -> (a, b) -> a ^ b;
            default -> throw unsupported(operation, datatype);
        };
        return (into, from) -> {
            for (long at = 0; at < into.byteSize(); at += size) {
                put(into, at, size, operator.applyAsLong(get(into, at, size, unsigned), get(from, at, size, unsigned)));
            }
        };
    }

    private static long get(MemorySegment memory, long at, int size, boolean unsigned) {
        long value = switch (size) {
            case Byte.BYTES -> memory.get(JAVA_BYTE, at);
            case Short.BYTES -> memory.get(JAVA_SHORT_UNALIGNED, at);
            case Integer.BYTES -> memory.get(JAVA_INT_UNALIGNED, at);
            default -> memory.get(JAVA_LONG_UNALIGNED, at);
        };
        return unsigned ? value & -1L >>> Long.SIZE - size * Byte.SIZE : value;
    }

    private static void put(MemorySegment memory, long at, int size, long value) {
        switch (size) {
            case Byte.BYTES -> memory.set(JAVA_BYTE, at, (byte) value);
            case Short.BYTES -> memory.set(JAVA_SHORT_UNALIGNED, at, (short) value);
            case Integer.BYTES -> memory.set(JAVA_INT_UNALIGNED, at, (int) value);
            default -> memory.set(JAVA_LONG_UNALIGNED, at, value);
        }
    }

    private static void sumLongs(MemorySegment into, MemorySegment from) {
        for (long at = 0; at < into.byteSize(); at += Long.BYTES) {
            into.set(JAVA_LONG_UNALIGNED, at, into.get(JAVA_LONG_UNALIGNED, at) + from.get(JAVA_LONG_UNALIGNED, at));
        }
    }

    private static void sumFloats(MemorySegment into, MemorySegment from) {
        for (long at = 0; at < into.byteSize(); at += Float.BYTES) {
            into.set(JAVA_FLOAT_UNALIGNED, at, into.get(JAVA_FLOAT_UNALIGNED, at) + from.get(JAVA_FLOAT_UNALIGNED, at));
        }
    }

    private static void sumDoubles(MemorySegment into, MemorySegment from) {
        for (long at = 0; at < into.byteSize(); at += Double.BYTES) {
            into.set(JAVA_DOUBLE_UNALIGNED, at,
                    into.get(JAVA_DOUBLE_UNALIGNED, at) + from.get(JAVA_DOUBLE_UNALIGNED, at));
        }
    }

    private static DoubleBinaryOperator floating(AtomicOperation operation, Datatype datatype) {
        return switch (operation) {
            case MIN -> (a, b) -> b < a ? b : a;
            case MAX -> (a, b) -> b > a ? b : a;
            case SUM -> Double::sum;
            case PROD -> (a, b) -> a * b;
            case LOR -> (a, b) -> truth(a != 0 || b != 0);
            case LAND -> (a, b) -> truth(a != 0 && b != 0);
            case LXOR -> (a, b) -> truth(a != 0 ^ b != 0);
            default -> throw unsupported(operation, datatype);
        };
    }

    private static Combination doubles(DoubleBinaryOperator operator) {
        return (into, from) -> {
            for (long at = 0; at < into.byteSize(); at += Double.BYTES) {
                into.set(JAVA_DOUBLE_UNALIGNED, at, operator.applyAsDouble(into.get(JAVA_DOUBLE_UNALIGNED, at),
                        from.get(JAVA_DOUBLE_UNALIGNED, at)));
            }
        };
    }

    /**
     * Computes with doubles: a sum or product of two floats that is rounded to a double and then to a float equals that
     * of floats.
     */
    private static Combination floats(DoubleBinaryOperator operator) {
        return (into, from) -> {
            for (long at = 0; at < into.byteSize(); at += Float.BYTES) {
                into.set(JAVA_FLOAT_UNALIGNED, at, (float) operator.applyAsDouble(into.get(JAVA_FLOAT_UNALIGNED, at),
                        from.get(JAVA_FLOAT_UNALIGNED, at)));
            }
        };
    }

    private static Combination complex(AtomicOperation operation) {
        return switch (operation) {
            case SUM -> Reductions::sumFloats;
            case PROD -> (into, from) -> {
                for (long at = 0; at < into.byteSize(); at += 2 * Float.BYTES) {
                    multiply(into, from, at);
                }
            };
            case LOR, LAND, LXOR -> logical(integers(operation, Datatype.INT64));
            default -> throw unsupported(operation, Datatype.FLOAT_COMPLEX);
        };
    }

    private static void multiply(MemorySegment into, MemorySegment from, long at) {
        float real = into.get(JAVA_FLOAT_UNALIGNED, at);
        float imaginary = into.get(JAVA_FLOAT_UNALIGNED, at + Float.BYTES);
        float otherReal = from.get(JAVA_FLOAT_UNALIGNED, at);
        float otherImaginary = from.get(JAVA_FLOAT_UNALIGNED, at + Float.BYTES);
        into.set(JAVA_FLOAT_UNALIGNED, at, real * otherReal - imaginary * otherImaginary);
        into.set(JAVA_FLOAT_UNALIGNED, at + Float.BYTES, real * otherImaginary + imaginary * otherReal);
    }

    /** Takes each complex number as true or false, and stores 1 or 0. */
    private static Combination logical(Combination ofTruth) {
        return (into, from) -> {
            MemorySegment pair = MemorySegment.ofArray(new long[2]);
            for (long at = 0; at < into.byteSize(); at += 2 * Float.BYTES) {
                pair.set(JAVA_LONG_UNALIGNED, 0, truth(isTrue(into, at)));
                pair.set(JAVA_LONG_UNALIGNED, Long.BYTES, truth(isTrue(from, at)));
                ofTruth.combine(pair.asSlice(0, Long.BYTES), pair.asSlice(Long.BYTES));
                into.set(JAVA_FLOAT_UNALIGNED, at, pair.get(JAVA_LONG_UNALIGNED, 0));
                into.set(JAVA_FLOAT_UNALIGNED, at + Float.BYTES, 0);
            }
        };
    }

    private static boolean isTrue(MemorySegment complex, long at) {
        return complex.get(JAVA_FLOAT_UNALIGNED, at) != 0 || complex.get(JAVA_FLOAT_UNALIGNED, at + Float.BYTES) != 0;
    }
}
