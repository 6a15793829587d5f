package io.ofi4j.info;

import java.util.stream.Stream;

/**
 * How an address vector numbers its peers; {@code enum fi_av_type}, fi_av(3). libfabric 2.x numbers a map like a table.
 */
public enum AddressVectorType {
    /** The provider's preference. */
    UNSPECIFIED(0),
    /** The provider chooses a number, which may contain the address. */
    MAP(1),
    /** Peers are numbered from 0 in the order of insertion. */
    TABLE(2),
    /** A type that this release does not know. */
    OTHER(-1);

    private final int value;

    AddressVectorType(int value) { this.value = value; }

    /** {@return libfabric's number for it} */
    public int value() { return value; }

    /** {@return the type with this number, or {@link #OTHER}} */
    public static AddressVectorType of(int value) {
        return Stream.of(values()).filter(type -> type.value == value).findFirst().orElse(OTHER);
    }
}
