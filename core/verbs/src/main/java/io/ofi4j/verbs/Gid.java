package io.ofi4j.verbs;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.HexFormat;

/**
 * An address of a port; ibv_query_gid(3).
 *
 * @param index its index in the port's table
 * @param hex its 16 bytes, as 32 hexadecimal digits
 * @param type the kernel's name of its type, such as {@code RoCE v2}; empty if the kernel does not say
 */
public record Gid(int index, String hex, String type) {
    private static final int DIGITS = 32;

    /** Checks that there are 16 bytes. */
    public Gid {
        if (hex.length() != DIGITS) { throw new IllegalArgumentException("a GID has 16 bytes, not '" + hex + "'"); }
        HexFormat.of().parseHex(hex);
    }

    /** {@return its 16 bytes} */
    public byte[] bytes() { return HexFormat.of().parseHex(hex); }

    /** {@return the GID as an IP address: an IPv4 address if it stands for one, otherwise IPv6} */
    public InetAddress address() {
        try {
            return InetAddress.getByAddress(bytes());
        } catch (UnknownHostException e) {
            throw new AssertionError(e); // it has 16 bytes
        }
    }
}
