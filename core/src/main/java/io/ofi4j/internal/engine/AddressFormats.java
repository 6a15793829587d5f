package io.ofi4j.internal.engine;

import io.ofi4j.info.EndpointAddress;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.internal.ffi.Attributes;
import io.ofi4j.internal.ffi.FabricConstants;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** Checks addresses before a provider gets them: it reads as many bytes as an address of its own format has. */
public final class AddressFormats {
    private static final int SOCKADDR_IN_LENGTH = 16;
    private static final int SOCKADDR_IN6_LENGTH = 28;
    private static final short AF_INET = 2;
    private static final short AF_INET6 = 10;
    private static final int PORT_OFFSET = 2;
    private static final int IPV4_OFFSET = 4;
    private static final int IPV6_OFFSET = 8;
    private static final int IPV6_LENGTH = 16;

    /** Refuses an address that does not have the format of the provider. */
    public static void require(FabricInfo info, EndpointAddress address) {
        int format = info.addressFormat();
        if (address.format() != 0 && address.format() != format) {
            throw new IllegalArgumentException("addresses of provider " + info.provider() + " have the format "
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
                    "addresses of provider " + info.provider() + " have the format " + info.addressFormatName()
                            + ", and " + address + " is not: does the peer use the same provider and address family?");
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
        return format >= FabricConstants.FI_SOCKADDR && format <= FabricConstants.FI_SOCKADDR_IN6;
    }

    private static short family(byte[] bytes) {
        return ByteBuffer.wrap(bytes).order(ByteOrder.nativeOrder()).getShort(0);
    }

    /**
     * Whether an address may go to a provider in one call with others. Text may not: lengths differ, and shm takes back the
     * address before the one that it refuses. An address that cannot be reached (a wildcard, port 0) may not: rxm half knows the
     * addresses behind it, and ends the JVM when it looks them up.
     */
    public static boolean isSafeAmongOthers(FabricInfo info, EndpointAddress address) {
        if (info.addressFormat() == FabricConstants.FI_ADDR_STR) { return false; }
        if (!isInternet(info.addressFormat())) { return true; }
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
