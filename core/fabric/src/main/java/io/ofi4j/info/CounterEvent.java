package io.ofi4j.info;

/** An event that a counter bound to an endpoint counts; the flags of fi_ep_bind for counters, fi_endpoint(3). */
public enum CounterEvent {
    /** Messages sent. */
    SEND(11),
    /** Messages received. */
    RECEIVE(10),
    /** Completed reads of this endpoint. */
    READ(8),
    /**
     * Completed writes of this endpoint. Injects are included, unless the provider does not count them over
     * connections.
     */
    WRITE(9),
    /** Peers' reads; needs {@link Capability#RMA_EVENT}. */
    REMOTE_READ(12),
    /** Peers' writes; needs {@link Capability#RMA_EVENT}. */
    REMOTE_WRITE(13);

    private final long bit;

    CounterEvent(int shift) { this.bit = 1L << shift; }

    /** {@return libfabric's bit for this event} */
    public long bit() { return bit; }

    /** {@return whether it counts operations of peers} */
    public boolean isRemote() {
        return this == REMOTE_READ || this == REMOTE_WRITE;
    }
}
