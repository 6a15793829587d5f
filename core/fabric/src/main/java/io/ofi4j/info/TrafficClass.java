package io.ofi4j.info;

/** What the network should prefer, a hint that providers may ignore; the FI_TC_* values of fi_domain(3). */
public enum TrafficClass {
    /** The provider's preference. */
    UNSPECIFIED(0),
    /** No preference. */
    BEST_EFFORT(0x200),
    /** Low latency. */
    LOW_LATENCY(0x201),
    /** Reserved bandwidth. */
    DEDICATED_ACCESS(0x202),
    /** Throughput. */
    BULK_DATA(0x203),
    /** Only bandwidth that other traffic leaves unused. */
    SCAVENGER(0x204),
    /** Control messages of the network itself. */
    NETWORK_CTRL(0x205);

    private final int value;

    TrafficClass(int value) { this.value = value; }

    /** {@return libfabric's number for it} */
    public int value() { return value; }
}
