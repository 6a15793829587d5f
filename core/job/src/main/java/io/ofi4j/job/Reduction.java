package io.ofi4j.job;

import io.ofi4j.info.AtomicOperation;
import io.ofi4j.info.Datatype;
import java.lang.foreign.MemorySegment;

/**
 * What a reduction of {@link JobCollectives} does with the elements of two ranks. {@link #of} makes those of the atomic
 * operations; a lambda makes any other:
 *
 * <pre>{@code
 * Reduction longest = Reduction.of(Long.BYTES, (into, from) -> ...);
 * }</pre>
 *
 * <p>It must be associative and commutative, for ranks are combined in any order and grouping. So sums of
 * floating-point numbers may differ in their last bits from those of another number of ranks; all ranks get the same
 * bits.
 *
 * @param elementSize the number of bytes of an element, which is never divided
 * @param combination what combines elements
 */
public record Reduction(int elementSize, Combination combination) {
    /** Combines elements of two ranks. Called on the thread that calls the collective operation. */
    @FunctionalInterface
    public interface Combination {
        /**
         * Puts the results for some elements into {@code into}; both have the same number of bytes, a multiple of the
         * element's size.
         *
         * @param into elements, replaced by the results
         * @param from elements of other ranks, not to be changed
         */
        void combine(MemorySegment into, MemorySegment from);
    }

    /** Checks that elements have a size, and that there is a combination. */
    public Reduction {
        if (elementSize < 1) {
            throw new IllegalArgumentException("an element has at least a byte, not " + elementSize);
        }
        if (combination == null) { throw new NullPointerException("combination"); }
    }

    /** {@return a reduction that is written in Java} */
    public static Reduction of(int elementSize, Combination combination) {
        return new Reduction(elementSize, combination);
    }

    /**
     * {@return the reduction that an atomic operation is}
     *
     * @param operation one from {@link AtomicOperation#MIN} to {@link AtomicOperation#BXOR}
     * @param datatype an integer of 8 to 64 bits, {@link Datatype#FLOAT}, {@link Datatype#DOUBLE} or
     *         {@link Datatype#FLOAT_COMPLEX}
     * @throws UnsupportedOperationException if it is another, or the datatype does not have it: bits of numbers that
     *         are no integers, the smaller one of complex numbers
     */
    public static Reduction of(AtomicOperation operation, Datatype datatype) {
        return new Reduction(datatype.size(), Reductions.of(operation, datatype));
    }
}
