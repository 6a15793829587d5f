package io.ofi4j.info;

import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Objects;
import java.util.zip.CRC32C;

/**
 * The address of an endpoint, as bytes that only its provider interprets; fi_getname, fi_cm(3). It is an immutable
 * value: send the result of {@link #encode} to peers by any means, and let them insert the result of {@link #decode}
 * into their {@link io.ofi4j.AddressVector}. Two addresses are equal if their bytes are.
 *
 * <p>The encoding is big-endian: the letters {@code OFIA}; the version of the encoding, 1, in 2 bytes; the length of
 * the address in 2 bytes; the {@linkplain AddressFormat#value number} of its format in 4 bytes; the address; the
 * CRC-32C of all that in 4 bytes.
 */
public final class EndpointAddress {
    /** What the encoding can say. */
    private static final int MAXIMUM_LENGTH = 65_535;

    private static final int SOCKADDR_IN_LENGTH = 16;
    private static final int SOCKADDR_IN6_LENGTH = 28;
    private static final int PORT_END = 4;
    private static final int FLOW_END = 8;
    private static final int IPV4_LENGTH = 4;
    private static final int IPV6_LENGTH = 16;
    private static final short AF_INET = 2;
    private static final short AF_INET6 = 10;
    private static final int MAGIC = 0x4f464941; // OFIA
    private static final short ENCODING = 1;
    private static final int HEADER_LENGTH = 12;
    private static final int LONGEST_TEXT = 256;
    private static final int BEGINNING = 32;

    private final byte[] bytes;
    private final AddressFormat format;

    private EndpointAddress(byte[] bytes, AddressFormat format) {
        this.bytes = bytes;
        this.format = format;
    }

    /** As {@link #of(byte[], AddressFormat)}, with the format {@link AddressFormat#UNSPECIFIED}. */
    public static EndpointAddress of(byte[] bytes) {
        return of(bytes, AddressFormat.UNSPECIFIED);
    }

    /**
     * {@return the address with these bytes}
     *
     * @param bytes 1 to 65,535 bytes, the result of {@link #toBytes} on the endpoint's side; copied
     * @param format the result of {@link #format} there
     */
    public static EndpointAddress of(byte[] bytes, AddressFormat format) {
        if (bytes.length == 0 || bytes.length > MAXIMUM_LENGTH) {
            throw new IllegalArgumentException(
                    "an endpoint's address has 1 to " + MAXIMUM_LENGTH + " bytes, not " + bytes.length);
        }
        return new EndpointAddress(bytes.clone(), Objects.requireNonNull(format, "format"));
    }

    /**
     * {@return the address of an endpoint of a network provider}
     *
     * @param address a resolved address; port 0 lets the system choose one
     */
    public static EndpointAddress of(InetSocketAddress address) {
        if (address.isUnresolved()) {
            throw new IllegalArgumentException(address + " is not resolved: is the name known?");
        }
        byte[] host = address.getAddress().getAddress();
        boolean isIpv4 = address.getAddress() instanceof Inet4Address;
        ByteBuffer buffer = ByteBuffer.allocate(isIpv4 ? SOCKADDR_IN_LENGTH : SOCKADDR_IN6_LENGTH)
                .order(ByteOrder.nativeOrder()).putShort(isIpv4 ? AF_INET : AF_INET6).order(ByteOrder.BIG_ENDIAN)
                .putShort((short) address.getPort());
        if (isIpv4) {
            buffer.put(host);
        } else {
            buffer.putInt(0).put(host).order(ByteOrder.nativeOrder())
                    .putInt(((Inet6Address) address.getAddress()).getScopeId());
        }
        return of(buffer.array(), isIpv4 ? AddressFormat.SOCKADDR_IN : AddressFormat.SOCKADDR_IN6);
    }

    /** {@return a copy of the bytes} */
    public byte[] toBytes() { return bytes.clone(); }

    /** {@return the format of the address, as {@link FabricInfo#addressFormat}} */
    public AddressFormat format() {
        return format;
    }

    /** {@return the address in the encoding that {@link #decode} reads} */
    public byte[] encode() {
        ByteBuffer buffer = ByteBuffer.allocate(HEADER_LENGTH + bytes.length + Integer.BYTES);
        buffer.putInt(MAGIC).putShort(ENCODING).putShort((short) bytes.length).putInt(format.value()).put(bytes);
        buffer.putInt(checksum(buffer.array()));
        return buffer.array();
    }

    /**
     * {@return the address that {@link #encode} encoded}
     *
     * @throws IllegalArgumentException if the bytes are damaged, or come from another version
     */
    public static EndpointAddress decode(byte[] encoded) {
        ByteBuffer buffer = ByteBuffer.wrap(encoded).order(ByteOrder.BIG_ENDIAN);
        if (encoded.length < HEADER_LENGTH + 1 + Integer.BYTES || buffer.getInt() != MAGIC) {
            throw new IllegalArgumentException("these bytes are not an encoded address");
        }
        short encoding = buffer.getShort();
        if (encoding != ENCODING) {
            throw new IllegalArgumentException("the address is encoded in format " + encoding + "; this release reads "
                    + ENCODING + ": run the same release on both sides");
        }
        int length = Short.toUnsignedInt(buffer.getShort());
        if (length != encoded.length - HEADER_LENGTH - Integer.BYTES) {
            throw new IllegalArgumentException("the encoded address is damaged: its length does not match");
        }
        AddressFormat format = AddressFormat.of(buffer.getInt());
        byte[] bytes = new byte[length];
        buffer.get(bytes);
        if (buffer.getInt() != checksum(encoded)) {
            throw new IllegalArgumentException("the encoded address is damaged: its checksum does not match");
        }
        return of(bytes, format);
    }

    private static int checksum(byte[] encoded) {
        CRC32C crc = new CRC32C();
        crc.update(encoded, 0, encoded.length - Integer.BYTES);
        return (int) crc.getValue();
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof EndpointAddress that && Arrays.equals(bytes, that.bytes);
    }

    @Override
    public int hashCode() { return Arrays.hashCode(bytes); }

    /**
     * {@return host and port, or the name, if the bytes have a known format; otherwise the bytes as hexadecimal digits}
     * Of more than 256 bytes it is the beginning and the number.
     */
    @Override
    public String toString() {
        ByteBuffer buffer = ByteBuffer.wrap(bytes).order(ByteOrder.nativeOrder());
        int family = bytes.length < SOCKADDR_IN_LENGTH ? 0 : buffer.getShort();
        int port = bytes.length < SOCKADDR_IN_LENGTH
                ? 0
                : Short.toUnsignedInt(buffer.order(ByteOrder.BIG_ENDIAN).getShort());
        if (family == AF_INET && bytes.length == SOCKADDR_IN_LENGTH) {
            return host(PORT_END, IPV4_LENGTH) + ":" + port;
        }
        if (family == AF_INET6 && bytes.length == SOCKADDR_IN6_LENGTH) {
            return "[" + host(FLOW_END, IPV6_LENGTH) + "]:" + port;
        }
        if (bytes.length > LONGEST_TEXT) { // it stands in sentences
            return HexFormat.of().formatHex(bytes, 0, BEGINNING) + "... (" + bytes.length + " bytes)";
        }
        String text = new String(bytes, StandardCharsets.ISO_8859_1).replaceFirst("\0+$", "");
        return text.matches("fi_[a-z]+://[!-~]*") ? text : HexFormat.of().formatHex(bytes);
    }

    private String host(int from, int length) {
        try {
            return InetAddress.getByAddress(Arrays.copyOfRange(bytes, from, from + length)).getHostAddress();
        } catch (UnknownHostException e) {
            throw new AssertionError(e); // it has the length of an address
        }
    }
}
