package io.ofi4j.info;

/** The kinds of collective operations; {@code enum fi_collective_op} of fi_collective(3). */
public enum Collective {
    /** Every member waits until all have come. */
    BARRIER,
    /** The root's elements go to all. */
    BROADCAST,
    /** Each member sends other elements to each. */
    ALLTOALL,
    /** All get the reduction of everybody's elements. */
    ALLREDUCE,
    /** All get everybody's elements. */
    ALLGATHER,
    /** Each member gets its part of the reduction. */
    REDUCE_SCATTER,
    /** The root gets the reduction. */
    REDUCE,
    /** Each member gets its part of the root's elements. */
    SCATTER,
    /** The root gets everybody's elements. */
    GATHER;

    /** {@return libfabric's number for it} */
    public int value() { return ordinal(); }
}
