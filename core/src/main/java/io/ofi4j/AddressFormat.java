package io.ofi4j;

import io.ofi4j.internal.FabricConstants;

/** What an address must look like to be one of a provider's. */
final class AddressFormat {
    private static final int SOCKADDR_IN_LENGTH = 16;
    private static final int SOCKADDR_IN6_LENGTH = 28;

    private AddressFormat() {
    }

    /** @throws IllegalArgumentException if an address of that length is none of the provider's */
    static void require(FabricInfo info, int length) {
        int expected = switch (info.addressFormat()) {
            case FabricConstants.FI_SOCKADDR_IN -> SOCKADDR_IN_LENGTH;
            case FabricConstants.FI_SOCKADDR_IN6 -> SOCKADDR_IN6_LENGTH;
            default -> length;
        };
        if (length != expected) {
            throw new IllegalArgumentException("addresses of provider " + info.provider() + " have " + expected
                    + " bytes, not " + length + ": does the peer use the same provider and address family?");
        }
    }
}
