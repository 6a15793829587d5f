package io.ofi4j.info;

import java.util.List;
import java.util.OptionalInt;

/**
 * What the network should prefer, a hint that providers may ignore: a label of libfabric, or a code point of
 * Differentiated Services (DSCP); the FI_TC_* values of fi_domain(3). Equal classes are equal values. It is not an
 * enum, because there are 64 code points.
 */
public final class TrafficClass {
    private static final int FI_TC_DSCP = 0x100;
    private static final int FI_TC_LABEL = 0x200;
    private static final int MAX_CODE_POINT = 63;

    /** The provider's preference. */
    public static final TrafficClass UNSPECIFIED = new TrafficClass(0);
    /** No preference. */
    public static final TrafficClass BEST_EFFORT = new TrafficClass(FI_TC_LABEL);
    /** Low latency. */
    public static final TrafficClass LOW_LATENCY = new TrafficClass(FI_TC_LABEL + 1);
    /** Reserved bandwidth. */
    public static final TrafficClass DEDICATED_ACCESS = new TrafficClass(FI_TC_LABEL + 2);
    /** Throughput. */
    public static final TrafficClass BULK_DATA = new TrafficClass(FI_TC_LABEL + 3);
    /** Only bandwidth that other traffic leaves unused. */
    public static final TrafficClass SCAVENGER = new TrafficClass(FI_TC_LABEL + 4);
    /** Control messages of the network itself. */
    public static final TrafficClass NETWORK_CTRL = new TrafficClass(FI_TC_LABEL + 5);

    /** In the order of their numbers. */
    private static final List<String> LABELS = List.of("BEST_EFFORT", "LOW_LATENCY", "DEDICATED_ACCESS", "BULK_DATA",
            "SCAVENGER", "NETWORK_CTRL");

    private final int value;

    private TrafficClass(int value) { this.value = value; }

    /**
     * {@return the class of a code point of Differentiated Services; fi_tc_dscp_set}
     *
     * @param codePoint 0 to 63, as in RFC 2474
     * @throws IllegalArgumentException if it is out of range
     */
    public static TrafficClass ofCodePoint(int codePoint) {
        if (codePoint < 0 || codePoint > MAX_CODE_POINT) {
            throw new IllegalArgumentException(
                    "a code point of Differentiated Services is 0 to " + MAX_CODE_POINT + ", not " + codePoint);
        }
        return new TrafficClass(FI_TC_DSCP | codePoint);
    }

    /** {@return the class with this number of libfabric, which may be one that this release does not know} */
    public static TrafficClass of(int value) {
        return new TrafficClass(value);
    }

    /** {@return libfabric's number for it} */
    public int value() { return value; }

    /** {@return the code point of Differentiated Services; empty if it has none; fi_tc_dscp_get} */
    public OptionalInt codePoint() {
        return (value & FI_TC_DSCP) == 0 ? OptionalInt.empty() : OptionalInt.of(value & 0xff);
    }

    @Override
    public boolean equals(Object other) { return other instanceof TrafficClass its && its.value == value; }

    @Override
    public int hashCode() { return value; }

    /** {@return the label, the code point as in {@code DSCP 46}, or the number} */
    @Override
    public String toString() {
        if (value == 0) { return "UNSPECIFIED"; }
        int label = value - FI_TC_LABEL;
        if (label >= 0 && label < LABELS.size()) { return LABELS.get(label); }
        return codePoint().isPresent() ? "DSCP " + codePoint().getAsInt() : "0x" + Integer.toHexString(value);
    }
}
