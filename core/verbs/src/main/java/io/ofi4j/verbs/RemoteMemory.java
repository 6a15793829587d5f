package io.ofi4j.verbs;

import java.nio.ByteBuffer;
import java.util.Objects;
import java.util.Set;
import java.util.zip.CRC32C;

/**
 * Memory of a peer: the target of writes, reads and atomic operations. {@link VerbsMemoryRegion#remote} and
 * {@link MemoryWindow#remote} make it on the owner's side, {@link #encode} and {@link #decode} convert it to and from
 * bytes. The key grants access: send it only to peers that may use the memory. Any thread may use it.
 *
 * <p>The encoding has 32 bytes, big-endian: the letters {@code OFIV}; the format's version, 1, in 2 bytes; the access
 * flags in 2 bytes; address and length in 8 bytes each; the key in 4; the CRC-32C of all that.
 */
public final class RemoteMemory {
    /** The number of bytes of {@link #encode}'s result. */
    public static final int ENCODED_LENGTH = 32;

    private static final int MAGIC = 0x4f464956; // OFIV
    private static final short FORMAT = 1;
    private static final int REVOCABLE = 1 << 15;

    private final long address;
    private final long length;
    private final int key;
    private final int access;
    private final boolean revocable;
    private volatile boolean invalidated;

    RemoteMemory(long address, long length, int key, int access, boolean revocable) {
        this.address = address;
        this.length = length;
        this.key = key;
        this.access = access & VerbsAccess.REMOTE;
        this.revocable = revocable;
    }

    /** {@return the address of offset 0, as operations of peers use it} */
    public long address() { return address; }

    /** {@return the number of bytes} */
    public long length() { return length; }

    /** {@return the key, which is a secret} */
    public int key() { return key; }

    /** {@return the rights of peers} */
    public Set<VerbsAccess> access() { return VerbsAccess.setOf(access); }

    /** {@return whether it is a window of type 2, which {@link QueuePair#trySendInvalidate} takes} */
    public boolean isRevocable() {
        return revocable;
    }

    /** {@return whether this object was passed to {@link QueuePair#trySendInvalidate}; then it cannot be used} */
    public boolean isInvalidated() {
        return invalidated;
    }

    void invalidated() { invalidated = true; }

    /** @throws IllegalStateException if the key was invalidated */
    void requireValid() {
        if (invalidated) {
            throw new IllegalStateException(
                    "the key of this memory was invalidated by a send: ask its owner for another");
        }
    }

    /** {@return the address of a range, after checks} */
    long require(long offset, long count, int right) {
        requireValid();
        Objects.checkFromIndexSize(offset, count, length);
        if ((access & right) == 0) {
            throw new IllegalArgumentException("the peer's memory does not give the right " + VerbsAccess.names(right)
                    + ", only: " + VerbsAccess.names(access));
        }
        return address + offset;
    }

    /** {@return the memory as {@value #ENCODED_LENGTH} bytes} */
    public byte[] encode() {
        ByteBuffer buffer = ByteBuffer.allocate(ENCODED_LENGTH).putInt(MAGIC).putShort(FORMAT)
                .putShort((short) (access | (revocable ? REVOCABLE : 0))).putLong(address).putLong(length).putInt(key);
        return buffer.putInt(checksum(buffer.array())).array();
    }

    /**
     * {@return the memory that {@link #encode} encoded}
     *
     * @throws IllegalArgumentException if the bytes are damaged, or come from another version
     */
    public static RemoteMemory decode(byte[] bytes) {
        if (bytes.length != ENCODED_LENGTH) {
            throw new IllegalArgumentException("encoded memory has " + ENCODED_LENGTH + " bytes, not " + bytes.length);
        }
        ByteBuffer buffer = ByteBuffer.wrap(bytes);
        if (buffer.getInt() != MAGIC) { throw new IllegalArgumentException("these bytes are not encoded memory"); }
        short format = buffer.getShort();
        if (format != FORMAT) {
            throw new IllegalArgumentException("the memory is encoded in format " + format + "; this release reads "
                    + FORMAT + ": run the same release on both sides");
        }
        int access = Short.toUnsignedInt(buffer.getShort());
        RemoteMemory memory = new RemoteMemory(buffer.getLong(), buffer.getLong(), buffer.getInt(), access,
                (access & REVOCABLE) != 0);
        if (buffer.getInt() != checksum(bytes) || memory.length < 0) {
            throw new IllegalArgumentException("the encoded memory is damaged: its checksum does not match");
        }
        return memory;
    }

    private static int checksum(byte[] bytes) {
        CRC32C crc = new CRC32C();
        crc.update(bytes, 0, ENCODED_LENGTH - Integer.BYTES);
        return (int) crc.getValue();
    }

    /** {@return a description without the key, which is a secret} */
    @Override
    public String toString() {
        return "RemoteMemory[length=" + length + ", access=" + access() + (invalidated ? ", invalidated" : "") + "]";
    }
}
