package io.ofi4j.verbs;

import java.nio.ByteBuffer;
import java.util.HexFormat;

/**
 * The address of a queue pair, as a value that both sides exchange to connect out of band.
 *
 * @param number the queue pair's number
 * @param sequence the number of its first packet
 * @param lid the port's address in an InfiniBand subnet, or 0
 * @param mtu the largest number of bytes of a packet on its port
 * @param gid the port's address, as 32 hexadecimal digits
 */
public record QueuePairAddress(int number, int sequence, int lid, int mtu, String gid) {
    /** The number of bytes of {@link #encode}'s result. */
    public static final int ENCODED_LENGTH = 36;

    private static final int MAGIC = 0x4f465150; // OFQP
    private static final int GID = 16;
    private static final int MAX_NUMBER = (1 << 24) - 1;
    private static final int MAX_LID = (1 << 16) - 1;
    private static final int MIN_MTU = 256;
    private static final int MAX_MTU = 4096;

    /** Checks that the components are in range. */
    public QueuePairAddress {
        if (HexFormat.of().parseHex(gid).length != GID) {
            throw new IllegalArgumentException("a GID has 16 bytes, not '" + gid + "'");
        }
        requireRange("the number of a queue pair", number, MAX_NUMBER);
        requireRange("the number of a packet", sequence, MAX_NUMBER);
        requireRange("the address in a subnet", lid, MAX_LID);
        if (mtu < MIN_MTU || mtu > MAX_MTU || Integer.bitCount(mtu) != 1) {
            throw new IllegalArgumentException("a packet has 256, 512, 1024, 2048 or 4096 bytes, not " + mtu);
        }
    }

    private static void requireRange(String what, int value, int max) {
        if (value < 0 || value > max) {
            throw new IllegalArgumentException(what + " is 0 to " + max + ", not " + value);
        }
    }

    /** {@return the address as {@value #ENCODED_LENGTH} bytes} */
    public byte[] encode() {
        return ByteBuffer.allocate(ENCODED_LENGTH).putInt(MAGIC).putInt(number).putInt(sequence).putInt(lid).putInt(mtu)
                .put(HexFormat.of().parseHex(gid)).array();
    }

    /**
     * {@return the address that {@link #encode} encoded}
     *
     * @throws IllegalArgumentException if the bytes are not an encoded address
     */
    public static QueuePairAddress decode(byte[] bytes) {
        ByteBuffer buffer = ByteBuffer.wrap(bytes);
        if (bytes.length != ENCODED_LENGTH || buffer.getInt() != MAGIC) {
            throw new IllegalArgumentException("these bytes are not the address of a queue pair");
        }
        int number = buffer.getInt();
        int sequence = buffer.getInt();
        int lid = buffer.getInt();
        int mtu = buffer.getInt();
        byte[] gid = new byte[GID];
        buffer.get(gid);
        return new QueuePairAddress(number, sequence, lid, mtu, HexFormat.of().formatHex(gid));
    }
}
