package io.ofi4j.info;

/**
 * What an atomic operation does to each element of its target; {@code enum fi_op}, fi_atomic(3). Logical operations
 * take every element but 0 as true, and give 1 or 0.
 */
public enum AtomicOperation {
    /** The smaller one of target and operand. */
    MIN,
    /** The larger one of target and operand. */
    MAX,
    /** Target plus operand. */
    SUM,
    /** Target times operand. */
    PROD,
    /** Logical or. */
    LOR,
    /** Logical and. */
    LAND,
    /** Bitwise or. */
    BOR,
    /** Bitwise and. */
    BAND,
    /** Logical exclusive or. */
    LXOR,
    /** Bitwise exclusive or. */
    BXOR,
    /** The target, unchanged: an atomic read. */
    ATOMIC_READ,
    /** The operand: an atomic write. */
    ATOMIC_WRITE,
    /** The operand, if the comparand equals the target. */
    CSWAP,
    /** The operand, if the comparand does not equal the target. */
    CSWAP_NE,
    /** The operand, if the comparand is less than the target or equal. */
    CSWAP_LE,
    /** The operand, if the comparand is less than the target. */
    CSWAP_LT,
    /** The operand, if the comparand is greater than the target or equal. */
    CSWAP_GE,
    /** The operand, if the comparand is greater than the target. */
    CSWAP_GT,
    /** The operand's bits where the comparand has a 1, the target's elsewhere. */
    MSWAP,
    /** Target minus operand (libfabric 2.0 and newer). */
    DIFF;

    /** {@return libfabric's number for it} */
    public int value() { return ordinal(); }
}
