package io.ofi4j;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Objects;
import java.util.Set;

/**
 * The address and key of a region whose key is longer than 64 bits or must be mapped by its user (FI_MR_RAW, fi_mr(3)).
 * It is a value: {@link MemoryRegion#rawKey} makes it on the owner's side, {@link #encode} and {@link #decode} convert
 * it to and from bytes, and {@link Domain#mapRawKey} turns it into a target of operations. The key grants access: send
 * it only to peers that may use the region.
 *
 * <p>The encoding is big-endian: the letters {@code OFIR}; the format's version, 2, in 2 bytes; the access flags of
 * fi_mr(3), shifted right by 8, in 2 bytes; base and length in 8 bytes each; the key's size in 2 bytes; the key; the
 * CRC-32C of all that.
 */
public final class RawKey {
    /** The largest size of a key, in bytes. */
    public static final int MAXIMUM_KEY_LENGTH = Short.MAX_VALUE;

    private static final int HEAD = Integer.BYTES + 2 * Short.BYTES + 2 * Long.BYTES + Short.BYTES;

    /** The region, without the key. */
    private final RemoteRegion region;
    private final byte[] key;

    RawKey(long base, long length, long accessBits, byte[] key) {
        this.region = new RemoteRegion(base, length, 0, accessBits);
        this.key = key.clone();
    }

    /** {@return the address of offset 0} */
    public long base() { return region.base(); }

    /** {@return the number of bytes of the region} */
    public long length() { return region.length(); }

    /** {@return the rights that the key grants} */
    public Set<Access> access() { return region.access(); }

    /** {@return the provider's key} */
    public byte[] key() { return key.clone(); }

    /** {@return the region, with the 64-bit key that the provider mapped this key to} */
    RemoteRegion withKey(long mapped) {
        return new RemoteRegion(region.base(), region.length(), mapped, region.accessBits());
    }

    /** {@return the encoded key} */
    public byte[] encode() {
        return RemoteRegion.sealed(region.beginEncoding(HEAD + key.length + Integer.BYTES, RemoteRegion.RAW_FORMAT)
                .putShort((short) key.length).put(key));
    }

    /**
     * {@return the raw key that {@link #encode} encoded}
     *
     * @throws IllegalArgumentException if the bytes are damaged, or come from another version
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
                    + RemoteRegion.RAW_FORMAT + ": are they a RemoteRegion, or from another release?");
        }
        if (buffer.getInt(bytes.length - Integer.BYTES) != RemoteRegion.checksum(bytes)) {
            throw new IllegalArgumentException("the encoded raw key is damaged: its checksum does not match");
        }
        long access = RemoteRegion.accessIn(buffer);
        long base = buffer.getLong();
        long length = buffer.getLong();
        if (buffer.getShort() != bytes.length - HEAD - Integer.BYTES) {
            throw new IllegalArgumentException("the encoded raw key is damaged: its length does not match");
        }
        return new RawKey(base, length, access, Arrays.copyOfRange(bytes, HEAD, bytes.length - Integer.BYTES));
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof RawKey that && region.equals(that.region) && Arrays.equals(key, that.key);
    }

    @Override
    public int hashCode() { return Objects.hash(region, Arrays.hashCode(key)); }

    /** {@return a description without the key, which is a secret} */
    @Override
    public String toString() { return "RawKey[length=" + length() + ", access=" + access() + "]"; }
}
