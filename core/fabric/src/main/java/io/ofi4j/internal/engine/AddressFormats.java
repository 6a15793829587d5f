package io.ofi4j.internal.engine;

import io.ofi4j.info.AddressFormat;
import io.ofi4j.info.EndpointAddress;
import io.ofi4j.info.FabricHints;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.internal.ffi.Attributes;
import io.ofi4j.internal.ffi.Hints;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Optional;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Checks addresses before a provider gets them. Where a call passes no length, it reads as many bytes as an address of
 * its own format has; elsewhere it copies as many as there are, whatever room it has.
 */
public final class AddressFormats {
    private static final int SOCKADDR_IN_LENGTH = 16;
    private static final int SOCKADDR_IN6_LENGTH = 28;
    /** Also what providers have room for where they take an address of any family. */
    private static final int SOCKADDR_IB_LENGTH = 48;
    private static final short AF_INET = 2;
    private static final short AF_INET6 = 10;
    private static final int PORT_OFFSET = 2;
    private static final int IPV4_OFFSET = 4;
    private static final int IPV4_LENGTH = 4;
    private static final int IPV6_OFFSET = 8;
    private static final int IPV6_LENGTH = 16;
    /** The bits of the first byte of an IPv4 address that tell whether it is a multicast address. */
    private static final int IPV4_MULTICAST_MASK = 0xf0;
    private static final int IPV4_MULTICAST = 0xe0;
    private static final int IPV6_MULTICAST = 0xff;

    /** Refuses an address that does not have the format of the provider. */
    public static void require(FabricInfo info, EndpointAddress address) {
        require(info, address, false);
    }

    /**
     * As {@link #require(FabricInfo, EndpointAddress)}, for calls that pass no length. Some providers, such as lnx,
     * have longer addresses than their infos say: one that says that it has the format of the info may be longer.
     */
    public static void requireForVector(FabricInfo info, EndpointAddress address) { require(info, address, true); }

    private static void require(FabricInfo info, EndpointAddress address, boolean mayBeLonger) {
        mismatch(info, address, mayBeLonger).ifPresent(what -> {
            throw new IllegalArgumentException("addresses of provider " + info.provider() + " have " + what
                    + ": does the peer use the same provider and address family?");
        });
    }

    /**
     * Refuses hints with an address that is not as long as its format. Where they ask for no format, any provider may
     * get the address.
     */
    public static void require(FabricHints hints) {
        AddressFormat asked = Hints.addressFormat(hints);
        Stream.of(hints.sourceAddress(), hints.destinationAddress()).flatMap(Optional::stream).forEach(address -> {
            byte[] bytes = address.toBytes();
            if (bytes.length != lengthInHints(asked, bytes)) {
                throw new IllegalArgumentException(bytes.length + " bytes are no address of the format " + asked
                        + ", which the hints ask for: pass the whole address, with its format");
            }
        });
    }

    private static int lengthInHints(AddressFormat asked, byte[] bytes) {
        if (asked == AddressFormat.SOCKADDR_IB) { return SOCKADDR_IB_LENGTH; }
        boolean isAnyFamily = asked == AddressFormat.SOCKADDR || !isKnown(asked);
        return isAnyFamily && family(bytes) != AF_INET && family(bytes) != AF_INET6
                ? Math.min(bytes.length, SOCKADDR_IB_LENGTH)
                : lengthOf(isAnyFamily ? AddressFormat.SOCKADDR : asked, bytes);
    }

    /** Refuses an address of IP that is not the address of a multicast group. It has the format of the provider. */
    public static void requireMulticast(EndpointAddress address) {
        byte[] bytes = address.toBytes();
        boolean isIpv4 = bytes.length >= SOCKADDR_IN_LENGTH && family(bytes) == AF_INET;
        boolean isIpv6 = bytes.length >= SOCKADDR_IN6_LENGTH && family(bytes) == AF_INET6;
        if (isIpv4 && (bytes[IPV4_OFFSET] & IPV4_MULTICAST_MASK) != IPV4_MULTICAST
                || isIpv6 && Byte.toUnsignedInt(bytes[IPV6_OFFSET]) != IPV6_MULTICAST) {
            throw new IllegalArgumentException(address + " is not the address of a multicast group: those are "
                    + (isIpv4 ? "224.0.0.0 to 239.255.255.255" : "ff00:: and above"));
        }
    }

    /** What the addresses of the provider have, for an exception; empty if this address has it, too. */
    private static Optional<String> mismatch(FabricInfo info, EndpointAddress address, boolean mayBeLonger) {
        AddressFormat format = info.addressFormat();
        if (address.format() != format && isKnown(address.format()) && isKnown(format)) {
            return Optional.of("the format " + info.addressFormatName() + ", not "
                    + Attributes.addressFormatName(address.format().value()));
        }
        byte[] bytes = address.toBytes();
        int length = lengthOf(format, bytes);
        boolean isLonger = mayBeLonger && bytes.length > length && address.format() == format;
        if (bytes.length != length && !isLonger) { return Optional.of(length + " bytes, not " + bytes.length); }
        // Where a vector is empty, some providers take the length of all later addresses from this one's family.
        if (isInternet(format) && family(bytes) != (length == SOCKADDR_IN_LENGTH ? AF_INET : AF_INET6)) {
            return Optional.of("the format " + info.addressFormatName() + ", and " + address + " is not");
        }
        return Optional.empty();
    }

    private static boolean isKnown(AddressFormat format) {
        return format != AddressFormat.UNSPECIFIED && format != AddressFormat.OTHER;
    }

    private static int lengthOf(AddressFormat format, byte[] bytes) {
        return switch (format) {
            case SOCKADDR_IN -> SOCKADDR_IN_LENGTH;
            case SOCKADDR_IN6 -> SOCKADDR_IN6_LENGTH;
            case SOCKADDR -> family(bytes) == AF_INET6 ? SOCKADDR_IN6_LENGTH : SOCKADDR_IN_LENGTH;
            default -> bytes.length;
        };
    }

    private static boolean isInternet(AddressFormat format) {
        return format == AddressFormat.SOCKADDR || format == AddressFormat.SOCKADDR_IN
                || format == AddressFormat.SOCKADDR_IN6;
    }

    private static short family(byte[] bytes) {
        return bytes.length < Short.BYTES ? 0 : ByteBuffer.wrap(bytes).order(ByteOrder.nativeOrder()).getShort(0);
    }

    /**
     * Whether an address has the provider's format and can be inserted together with others in one call. An address in
     * text form cannot: the lengths of texts differ, and if shm refuses one, it also removes the one before it. An
     * address that cannot be reached (a wildcard, or port 0) cannot either: rxm inserts the addresses after it only in
     * part, and a later lookup of them ends the JVM.
     */
    public static boolean isSafeAmongOthers(FabricInfo info, EndpointAddress address) {
        if (info.addressFormat() == AddressFormat.STR || mismatch(info, address, false).isPresent()) { return false; }
        if (!isInternet(info.addressFormat())) { return true; }
        byte[] bytes = address.toBytes();
        boolean hasPort = (bytes[PORT_OFFSET] | bytes[PORT_OFFSET + 1]) != 0;
        IntStream host = bytes.length == SOCKADDR_IN_LENGTH
                ? IntStream.range(IPV4_OFFSET, IPV4_OFFSET + IPV4_LENGTH)
                : IntStream.range(IPV6_OFFSET, IPV6_OFFSET + IPV6_LENGTH);
        return hasPort && host.anyMatch(i -> bytes[i] != 0);
    }
}
