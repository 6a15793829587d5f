package io.ofi4j.info;

/** The kinds of collective operations; {@code enum fi_collective_op} of fi_collective(3). */
public enum Collective {
    /** Every member waits until all members have started the operation. */
    BARRIER,
    /** Every member gets the root's elements. */
    BROADCAST,
    /** Each member sends different elements to each member. */
    ALLTOALL,
    /** Every member gets the reduction of the elements of all members. */
    ALLREDUCE,
    /** Every member gets the elements of all members. */
    ALLGATHER,
    /** Each member gets its part of the reduction. */
    REDUCE_SCATTER,
    /** The root gets the reduction. */
    REDUCE,
    /** Each member gets its part of the root's elements. */
    SCATTER,
    /** The root gets the elements of all members. */
    GATHER;

    /** {@return libfabric's number for it} */
    public int value() { return ordinal(); }
}
