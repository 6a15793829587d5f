package io.ofi4j.info;

import java.util.stream.Stream;

/** The kind of communication that an endpoint offers; {@code enum fi_ep_type}, fi_endpoint(3). */
public enum EndpointType {
    /** Any type; for hints only. */
    UNSPECIFIED(0),
    /** Connected, reliable, ordered. */
    MSG(1),
    /** Unconnected, unreliable datagrams. */
    DGRAM(2),
    /** Unconnected, reliable: one endpoint reaches every peer of its address vector. */
    RDM(3),
    /** A type that this release does not know. */
    OTHER(-1);

    private final int value;

    EndpointType(int value) { this.value = value; }

    /** {@return libfabric's number for it} */
    public int value() { return value; }

    /** {@return the type with this number, or {@link #OTHER}} */
    public static EndpointType of(int value) {
        return Stream.of(values()).filter(type -> type.value == value).findFirst().orElse(OTHER);
    }
}
