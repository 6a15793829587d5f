package io.ofi4j.info;

/** What the network shall prefer, a hint that providers may ignore; the FI_TC_* values of fi_domain(3). */
public enum TrafficClass {
    /** Whatever the provider prefers. */
    UNSPECIFIED(0),
    /** Nothing in particular. */
    BEST_EFFORT(0x200),
    /** Short delays. */
    LOW_LATENCY(0x201),
    /** Bandwidth that nobody else uses. */
    DEDICATED_ACCESS(0x202),
    /** Throughput. */
    BULK_DATA(0x203),
    /** What is left by others. */
    SCAVENGER(0x204),
    /** The network's own control messages. */
    NETWORK_CTRL(0x205);

    private final int value;

    TrafficClass(int value) {
        this.value = value;
    }

    /** {@return libfabric's number for it} */
    public int value() {
        return value;
    }
}
