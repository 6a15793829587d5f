package io.ofi4j;

import io.ofi4j.internal.FabricConstants;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** What an address must look like to be one of a provider's. */
final class AddressFormat {
    private static final int SOCKADDR_IN_LENGTH = 16;
    private static final int SOCKADDR_IN6_LENGTH = 28;
    private static final int AF_INET = 2;
    private static final int AF_INET6 = 10;

    private AddressFormat() {
    }

    /** @throws IllegalArgumentException if an address is none of the provider's */
    static void require(FabricInfo info, byte[] address) {
        switch (info.addressFormat()) {
            case FabricConstants.FI_SOCKADDR_IN -> require(info, address, SOCKADDR_IN_LENGTH, AF_INET);
            case FabricConstants.FI_SOCKADDR_IN6 -> require(info, address, SOCKADDR_IN6_LENGTH, AF_INET6);
            default -> {
                // only its provider knows
            }
        }
    }

    private static void require(FabricInfo info, byte[] address, int length, int family) {
        if (address.length != length || ByteBuffer.wrap(address).order(ByteOrder.nativeOrder()).getShort() != family) {
            throw new IllegalArgumentException("addresses of provider " + info.provider() + " have " + length
                    + " bytes and family " + family + ", not " + address.length
                    + " bytes or another family: does the peer use the same provider and address family?");
        }
    }
}
