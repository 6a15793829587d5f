package io.ofi4j;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Objects;
import java.util.Set;
import java.util.zip.CRC32C;

/**
 * What peers need to reach a region where keys are longer than 64 bits, or must be set up by who uses them (FI_MR_RAW of
 * fi_mr(3)). A value: {@link MemoryRegion#rawKey} makes it where the memory is, {@link #encode} turns it into bytes to be
 * sent, {@link #decode} reads them, {@link Domain#mapRawKey} turns it into a region that operations can be aimed at. It lets
 * a peer in: give it to nobody else.
 *
 * <p>The encoding is big-endian: the letters {@code OFIR}; the format's version, 2, in 2 bytes; the access flags of fi_mr(3),
 * shifted right by 8, in 2 bytes; base and length in 8 bytes each; the key's size in 2 bytes; the key; the CRC-32C of all that.
 */
public final class RawKey {
    /** How many bytes a key has at most. */
    public static final int MAXIMUM_KEY_LENGTH = Short.MAX_VALUE;

    private static final int HEAD = Integer.BYTES + 2 * Short.BYTES + 2 * Long.BYTES + Short.BYTES;

    private final long base;
    private final long length;
    private final long accessBits;
    private final byte[] key;

    RawKey(long base, long length, long accessBits, byte[] key) {
        new RemoteRegion(base, length, 0, accessBits); // which checks them
        this.base = base;
        this.length = length;
        this.accessBits = accessBits;
        this.key = key.clone();
    }

    /** {@return what offset 0 is addressed as} */
    public long base() {
        return base;
    }

    /** {@return how many bytes the region has} */
    public long length() {
        return length;
    }

    /** {@return what it may be used for} */
    public Set<Access> access() {
        return Access.setOf(accessBits);
    }

    /** {@return the provider's key} */
    public byte[] key() {
        return key.clone();
    }

    /** The region behind it, once a provider has turned the key into one of 64 bits. */
    RemoteRegion withKey(long mapped) {
        return new RemoteRegion(base, length, mapped, accessBits);
    }

    /** {@return it as bytes} */
    public byte[] encode() {
        ByteBuffer buffer = ByteBuffer.allocate(HEAD + key.length + Integer.BYTES);
        buffer.putInt(RemoteRegion.MAGIC).putShort(RemoteRegion.RAW_FORMAT)
                .putShort((short) (accessBits >>> RemoteRegion.ACCESS_SHIFT)).putLong(base).putLong(length)
                .putShort((short) key.length).put(key);
        buffer.putInt(checksum(buffer.array()));
        return buffer.array();
    }

    /**
     * {@return the raw key that was encoded}
     *
     * @param bytes what {@link #encode} gave
     * @throws IllegalArgumentException if they are not that, from another version, or damaged
     */
    public static RawKey decode(byte[] bytes) {
        if (bytes.length < HEAD + Integer.BYTES) {
            throw new IllegalArgumentException(
                    "an encoded raw key has at least " + (HEAD + Integer.BYTES) + " bytes, not " + bytes.length);
        }
        ByteBuffer buffer = ByteBuffer.wrap(bytes);
        if (buffer.getInt() != RemoteRegion.MAGIC) {
            throw new IllegalArgumentException("these bytes are not an encoded raw key");
        }
        short format = buffer.getShort();
        if (format != RemoteRegion.RAW_FORMAT) {
            throw new IllegalArgumentException("these bytes are in format " + format + ", a raw key is in format "
                    + RemoteRegion.RAW_FORMAT + ": is it a RemoteRegion, or another release's?");
        }
        if (buffer.getInt(bytes.length - Integer.BYTES) != checksum(bytes)) {
            throw new IllegalArgumentException("the encoded raw key is damaged: its checksum does not match");
        }
        long access = (buffer.getShort() & 0xffffL) << RemoteRegion.ACCESS_SHIFT;
        long base = buffer.getLong();
        long length = buffer.getLong();
        if (buffer.getShort() != bytes.length - HEAD - Integer.BYTES) {
            throw new IllegalArgumentException("the encoded raw key has another size than it says");
        }
        return new RawKey(base, length, access, Arrays.copyOfRange(bytes, HEAD, bytes.length - Integer.BYTES));
    }

    private static int checksum(byte[] bytes) {
        CRC32C crc = new CRC32C();
        crc.update(bytes, 0, bytes.length - Integer.BYTES);
        return (int) crc.getValue();
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof RawKey that && base == that.base && length == that.length
                && accessBits == that.accessBits && Arrays.equals(key, that.key);
    }

    @Override
    public int hashCode() {
        return Objects.hash(base, length, accessBits, Arrays.hashCode(key));
    }

    /** Without the key, which is a secret. */
    @Override
    public String toString() {
        return "RawKey[length=" + length + ", access=" + access() + "]";
    }
}
