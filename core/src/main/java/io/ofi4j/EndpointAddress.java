package io.ofi4j;

import java.util.Arrays;
import java.util.HexFormat;

/**
 * The address of an endpoint, as bytes that only its provider understands; fi_getname, fi_cm(3). A value: send it to peers
 * by any means, and let them insert it into their {@link AddressVector}.
 */
public final class EndpointAddress {
    /** No provider's addresses are longer. */
    static final int MAXIMUM_LENGTH = 512;

    private final byte[] bytes;

    private EndpointAddress(byte[] bytes) {
        this.bytes = bytes;
    }

    /**
     * {@return the address with these bytes}
     *
     * @param bytes what {@link #toBytes} gave where the endpoint is; copied
     * @throws IllegalArgumentException if there are none, or more than 512
     */
    public static EndpointAddress of(byte[] bytes) {
        if (bytes.length == 0 || bytes.length > MAXIMUM_LENGTH) {
            throw new IllegalArgumentException(
                    "an endpoint's address has 1 to " + MAXIMUM_LENGTH + " bytes, not " + bytes.length);
        }
        return new EndpointAddress(bytes.clone());
    }

    /** {@return a copy of the bytes} */
    public byte[] toBytes() {
        return bytes.clone();
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof EndpointAddress that && Arrays.equals(bytes, that.bytes);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(bytes);
    }

    @Override
    public String toString() {
        return HexFormat.of().formatHex(bytes);
    }
}
