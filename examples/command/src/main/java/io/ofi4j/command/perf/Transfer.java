package io.ofi4j.command.perf;

/** Operations of one kind and size. */
interface Transfer {
    /** {@return whether there was room} */
    boolean tryPost(int slot, long token);

    /** Waits until the peer has answered what it answers. */
    default void settle(Pump pump) {
        // nothing is answered
    }
}
