package io.ofi4j.job;

import io.ofi4j.info.AtomicOperation;
import io.ofi4j.info.Datatype;
import java.lang.foreign.MemorySegment;

/**
 * How a reduction of {@link JobCollectives} combines the elements of two ranks. {@link #of(AtomicOperation, Datatype)}
 * makes the reductions of atomic operations, and a lambda makes any other:
 *
 * <pre>{@code
 * Reduction longest = Reduction.of(Long.BYTES, (into, from) -> ...);
 * }</pre>
 *
 * <p>It must be associative and commutative, because ranks are combined in any order and grouping. Sums of
 * floating-point numbers may therefore differ in their last bits when the number of ranks changes; all ranks get the
 * same bits.
 *
 * @param elementSize the number of bytes of an element; no element is split
 * @param combination combines elements
 */
public record Reduction(int elementSize, Combination combination) {
    /** Combines elements of two ranks. Called on the thread that calls the collective operation. */
    @FunctionalInterface
    public interface Combination {
        /**
         * Combines some elements. Both segments have the same number of bytes, a multiple of the element's size.
         *
         * @param into elements, to be replaced by the results
         * @param from elements of other ranks, not to be changed
         */
        void combine(MemorySegment into, MemorySegment from);
    }

    /** Checks that elements have at least one byte, and that there is a combination. */
    public Reduction {
        if (elementSize < 1) {
            throw new IllegalArgumentException("an element has at least a byte, not " + elementSize);
        }
        if (combination == null) { throw new NullPointerException("combination"); }
    }

    /** {@return a reduction that is written in Java; the arguments are the components} */
    public static Reduction of(int elementSize, Combination combination) {
        return new Reduction(elementSize, combination);
    }

    /**
     * {@return the reduction of an atomic operation}
     *
     * @param operation one of {@link AtomicOperation#MIN} to {@link AtomicOperation#BXOR}
     * @param datatype an integer of 8 to 64 bits, {@link Datatype#FLOAT}, {@link Datatype#DOUBLE} or
     *         {@link Datatype#FLOAT_COMPLEX}
     * @throws UnsupportedOperationException if it is another operation or datatype, or the datatype does not have the
     *         operation: bitwise operations need integers, and complex numbers have no minimum
     */
    public static Reduction of(AtomicOperation operation, Datatype datatype) {
        return new Reduction(datatype.size(), Reductions.of(operation, datatype));
    }
}
