package io.ofi4j;

import io.ofi4j.info.MemoryKind;
import java.nio.ByteBuffer;
import java.util.Objects;
import java.util.Set;
import java.util.zip.CRC32C;

/**
 * A memory region of a peer: the target of reads and writes. It is a value: {@link MemoryRegion#remote} makes it on the
 * owner's side, {@link #encode} and {@link #decode} convert it to and from bytes. The key grants access: send it only
 * to peers that may use the region.
 *
 * <p>The encoding has 40 bytes, big-endian: the letters {@code OFIR}; the format's version, 1, in 2 bytes; the access
 * flags of fi_mr(3), shifted right by 8, in 2 bytes; base, length and key in 8 bytes each; the number of the kind of
 * memory in 4 bytes; the CRC-32C of all that. Version 2 is the format of a {@link RawKey}.
 *
 * @param base the address of offset 0: a virtual address of the peer, or 0, as the provider demands
 * @param length the number of bytes
 * @param key the provider's or the peer's key
 * @param accessBits the rights that the key grants, as flags of fi_mr(3)
 * @param kind where the bytes are, which says how long they can last
 */
public record RemoteRegion(long base, long length, long key, long accessBits, MemoryKind kind) {
    /** The number of bytes of {@link #encode}'s result. */
    public static final int ENCODED_LENGTH = 40;

    static final int MAGIC = 0x4f464952; // OFIR
    static final short RAW_FORMAT = 2;
    private static final int ACCESS_SHIFT = 8;
    private static final short FORMAT = 1;
    private static final MemoryKind[] KINDS = MemoryKind.values();

    /** Checks that the base and the length are not negative, and that all flags are access flags. */
    public RemoteRegion {
        if (length < 0) { throw new IllegalArgumentException("a region cannot have " + length + " bytes"); }
        if (base < 0) { // the sum of base and length could overflow in a check of the provider, and end its process
            throw new IllegalArgumentException(
                    "a region cannot begin at 0x" + Long.toHexString(base) + ": no process has such addresses");
        }
        if ((accessBits & ~Access.ALL) != 0) {
            throw new IllegalArgumentException("not access flags: 0x" + Long.toHexString(accessBits));
        }
        Objects.requireNonNull(kind, "kind");
    }

    /** A region in memory that ends with its process, or of an unknown kind. */
    public RemoteRegion(long base, long length, long key, long accessBits) {
        this(base, length, key, accessBits, MemoryKind.ANONYMOUS);
    }

    /** {@return the rights that the key grants} */
    public Set<Access> access() { return Access.setOf(accessBits); }

    /**
     * {@return a range of bytes of this region, as a region}
     *
     * @param from the start, in bytes
     * @param count the number of bytes
     * @throws IndexOutOfBoundsException if they are not all inside this region
     */
    public RemoteRegion slice(long from, long count) {
        Objects.checkFromIndexSize(from, count, length);
        return new RemoteRegion(base + from, count, key, accessBits, kind);
    }

    /** {@return the region as {@value #ENCODED_LENGTH} bytes} */
    public byte[] encode() {
        return sealed(beginEncoding(ENCODED_LENGTH, FORMAT).putLong(key).putInt(kind.ordinal()));
    }

    /** {@return a buffer of that many bytes, filled with the fields that both formats begin with} */
    ByteBuffer beginEncoding(int bytes, short format) {
        return ByteBuffer.allocate(bytes).putInt(MAGIC).putShort(format).putShort((short) (accessBits >>> ACCESS_SHIFT))
                .putLong(base).putLong(length);
    }

    static byte[] sealed(ByteBuffer buffer) { return buffer.putInt(checksum(buffer.array())).array(); }

    static long accessIn(ByteBuffer buffer) { return (buffer.getShort() & 0xffffL) << ACCESS_SHIFT; }

    /**
     * {@return the region that {@link #encode} encoded}
     *
     * @throws IllegalArgumentException if the bytes are damaged, or come from another version
     */
    public static RemoteRegion decode(byte[] bytes) {
        ByteBuffer buffer = ByteBuffer.wrap(bytes);
        if (bytes.length > Long.BYTES && buffer.getInt(0) == MAGIC && buffer.getShort(Integer.BYTES) == RAW_FORMAT) {
            throw new IllegalArgumentException(
                    "the region has a raw key: decode it with RawKey.decode, and map it with Domain.mapRawKey");
        }
        if (bytes.length != ENCODED_LENGTH) {
            throw new IllegalArgumentException(
                    "an encoded region has " + ENCODED_LENGTH + " bytes, not " + bytes.length);
        }
        if (buffer.getInt() != MAGIC) { throw new IllegalArgumentException("these bytes are not an encoded region"); }
        short format = buffer.getShort();
        if (format != FORMAT) {
            throw new IllegalArgumentException("the region is encoded in format " + format + "; this release reads "
                    + FORMAT + ": run the same release on both sides");
        }
        long access = accessIn(buffer);
        long base = buffer.getLong();
        long length = buffer.getLong();
        long key = buffer.getLong();
        int kind = buffer.getInt();
        if (buffer.getInt() != checksum(bytes)) {
            throw new IllegalArgumentException("the encoded region is damaged: its checksum does not match");
        }
        if (kind < 0 || kind >= KINDS.length) {
            throw new IllegalArgumentException("the region is of a kind of memory that this release does not know, "
                    + kind + ": run the same release on both sides");
        }
        return new RemoteRegion(base, length, key, access, KINDS[kind]);
    }

    /** {@return the checksum of all but the last four bytes} */
    static int checksum(byte[] bytes) {
        CRC32C crc = new CRC32C();
        crc.update(bytes, 0, bytes.length - Integer.BYTES);
        return (int) crc.getValue();
    }

    /** {@return a description without the key, which is a secret} */
    @Override
    public String toString() {
        return "RemoteRegion[length=" + length + ", access=" + access() + ", kind=" + kind + "]";
    }
}
