package io.ofi4j.info;

/**
 * The operations whose completions a queue takes when it is bound to an endpoint; the flags of fi_ep_bind,
 * fi_endpoint(3).
 */
public enum Direction {
    /** Operations that the endpoint starts. */
    TRANSMIT(1L << 11),
    /** Receives, and peers' writes with data. */
    RECEIVE(1L << 10);

    private final long bit;

    Direction(long bit) { this.bit = bit; }

    /** {@return the bit in libfabric's flags} */
    public long bit() { return bit; }
}
