package io.ofi4j.info;

import java.util.OptionalInt;

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

    private static final int FI_TC_DSCP = 0x100;
    private static final int MAX_CODE_POINT = 63;

    private final int value;

    TrafficClass(int value) { this.value = value; }

    /** {@return libfabric's number for it} */
    public int value() { return value; }

    /**
     * {@return libfabric's number for the traffic class of a code point of Differentiated Services (DSCP);
     * fi_tc_dscp_set}
     *
     * @param codePoint 0 to 63, as in RFC 2474
     * @throws IllegalArgumentException if it is out of range
     */
    public static int ofCodePoint(int codePoint) {
        if (codePoint < 0 || codePoint > MAX_CODE_POINT) {
            throw new IllegalArgumentException(
                    "a code point of Differentiated Services is 0 to " + MAX_CODE_POINT + ", not " + codePoint);
        }
        return codePoint | FI_TC_DSCP;
    }

    /**
     * {@return the code point of Differentiated Services (DSCP) of a traffic class; empty if it has none;
     * fi_tc_dscp_get}
     *
     * @param value libfabric's number for the class, such as {@link DomainAttributes#trafficClass}
     */
    public static OptionalInt codePoint(int value) {
        return (value & FI_TC_DSCP) == 0 ? OptionalInt.empty() : OptionalInt.of(value & 0xff);
    }
}
