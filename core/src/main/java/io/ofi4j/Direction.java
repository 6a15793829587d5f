package io.ofi4j;

/** Whose completions a queue takes when it is bound to an endpoint; the flags of fi_ep_bind, fi_endpoint(3). */
public enum Direction {
    /** Those of operations that the endpoint starts. */
    TRANSMIT(1L << 11),
    /** Those of what comes in: receives, and peers' writes with data. */
    RECEIVE(1L << 10);

    private final long bit;

    Direction(long bit) {
        this.bit = bit;
    }

    long bit() {
        return bit;
    }
}
