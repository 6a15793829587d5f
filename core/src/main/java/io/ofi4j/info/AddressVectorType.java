package io.ofi4j.info;

/**
 * How an address vector numbers its peers; {@code enum fi_av_type}, fi_av(3). Asked for with
 * {@link AttributeHints#addressVectorType} and {@link AddressVectorAttributes#type(AddressVectorType)}. With libfabric 2.x a map
 * is numbered like a table.
 */
public enum AddressVectorType {
    /** Whatever the provider prefers. */
    UNSPECIFIED(0),
    /** The provider chooses a number, which may have the address in it. */
    MAP(1),
    /** Peers are numbered from 0 in the order of their insertion. */
    TABLE(2),
    /** A type that this release does not know. */
    OTHER(-1);

    private final int value;

    AddressVectorType(int value) {
        this.value = value;
    }

    /** {@return libfabric's number for it} */
    public int value() {
        return value;
    }

    /**
     * {@return the type with that number, or {@link #OTHER}}
     *
     * @param value libfabric's number
     */
    public static AddressVectorType of(int value) {
        for (AddressVectorType type : values()) {
            if (type.value == value) {
                return type;
            }
        }
        return OTHER;
    }
}
