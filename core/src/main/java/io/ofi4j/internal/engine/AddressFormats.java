package io.ofi4j.internal.engine;

import io.ofi4j.info.EndpointAddress;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.internal.ffi.Attributes;
import io.ofi4j.internal.ffi.FabricConstants;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** The kinds of address: what is not of a provider's kind must not reach it, for it reads as many bytes as it expects. */
public final class AddressFormats {
    private static final int SOCKADDR_IN_LENGTH = 16;
    private static final int SOCKADDR_IN6_LENGTH = 28;
    private static final short AF_INET = 2;
    private static final short AF_INET6 = 10;
    private static final int PORT_OFFSET = 2;
    private static final int IPV4_OFFSET = 4;
    private static final int IPV6_OFFSET = 8;
    private static final int IPV6_LENGTH = 16;

    private AddressFormats() {
    }

    /** @throws IllegalArgumentException if an address is none of that provider's */
    public static void require(FabricInfo info, EndpointAddress address) {
        int format = info.addressFormat();
        if (address.format() != 0 && address.format() != format) {
            throw new IllegalArgumentException("addresses of provider " + info.provider() + " are of kind "
                    + info.addressFormatName() + ", not " + Attributes.addressFormatName(address.format())
                    + ": does the peer use the same provider and address family?");
        }
        byte[] bytes = address.toBytes();
        int length = lengthOf(format, bytes);
        if (bytes.length != length) {
            throw new IllegalArgumentException("addresses of provider " + info.provider() + " have " + length
                    + " bytes, not " + bytes.length + ": does the peer use the same provider and address family?");
        }
        if (isInternet(format) && family(bytes) != (length == SOCKADDR_IN_LENGTH ? AF_INET : AF_INET6)) {
            throw new IllegalArgumentException(
                    "addresses of provider " + info.provider() + " are of kind " + info.addressFormatName() + ", and "
                            + address + " is not: does the peer use the same provider and address family?");
        }
    }

    private static int lengthOf(int format, byte[] bytes) {
        return switch (format) {
            case FabricConstants.FI_SOCKADDR_IN -> SOCKADDR_IN_LENGTH;
            case FabricConstants.FI_SOCKADDR_IN6 -> SOCKADDR_IN6_LENGTH;
            case FabricConstants.FI_SOCKADDR ->
                bytes.length >= Short.BYTES && family(bytes) == AF_INET6 ? SOCKADDR_IN6_LENGTH : SOCKADDR_IN_LENGTH;
            default -> bytes.length;
        };
    }

    private static boolean isInternet(int format) {
        return format == FabricConstants.FI_SOCKADDR_IN || format == FabricConstants.FI_SOCKADDR_IN6
                || format == FabricConstants.FI_SOCKADDR;
    }

    private static short family(byte[] bytes) {
        return ByteBuffer.wrap(bytes).order(ByteOrder.nativeOrder()).getShort(0);
    }

    /**
     * Whether an address may be told to a provider together with others. Not text, whose lengths differ: shm takes back the
     * address before the one that it refuses. Not what cannot be reached, a wildcard or port 0: after such a one, rxm knows
     * those behind it only by halves, and ends the JVM when it looks for the rest.
     */
    public static boolean isSafeAmongOthers(FabricInfo info, EndpointAddress address) {
        if (info.addressFormat() == FabricConstants.FI_ADDR_STR) {
            return false;
        }
        if (!isInternet(info.addressFormat())) {
            return true;
        }
        byte[] bytes = address.toBytes();
        boolean hasPort = (bytes[PORT_OFFSET] | bytes[PORT_OFFSET + 1]) != 0;
        boolean isIpv4 = bytes.length == SOCKADDR_IN_LENGTH;
        int start = isIpv4 ? IPV4_OFFSET : IPV6_OFFSET;
        int end = isIpv4 ? SOCKADDR_IN_LENGTH / 2 : IPV6_OFFSET + IPV6_LENGTH;
        int any = 0;
        for (int i = start; i < end; i++) {
            any |= bytes[i];
        }
        return hasPort && any != 0;
    }
}
