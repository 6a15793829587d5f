package io.ofi4j.verbs;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.HexFormat;

/**
 * An address of a port; ibv_query_gid(3).
 *
 * @param index its place in the port's table
 * @param hex its 16 bytes, as 32 hexadecimal digits
 * @param type as the kernel names it, such as {@code RoCE v2}; empty if it does not say
 */
public record Gid(int index, String hex, String type) {
    private static final int DIGITS = 32;

    /** Checks that there are 16 bytes. */
    public Gid {
        if (hex.length() != DIGITS) { throw new IllegalArgumentException("a GID has 16 bytes, not '" + hex + "'"); }
        HexFormat.of().parseHex(hex);
    }

    /** {@return its bytes} */
    public byte[] bytes() { return HexFormat.of().parseHex(hex); }

    /** {@return it as an IP address: of IPv4 if it stands for one} */
    public InetAddress address() {
        try {
            return InetAddress.getByAddress(bytes());
        } catch (UnknownHostException e) {
            throw new AssertionError(e); // it has 16 bytes
        }
    }
}
