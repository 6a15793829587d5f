package io.ofi4j.durable;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * A message between a saver and the service of the memory's owner. It has, with all numbers big-endian, the letters
 * {@code OFIS}, the format and the kind of the message, and seven numbers of 8 bytes. In a greeting, the sender's
 * address follows.
 *
 * @param bytes the memory of the message
 */
record SaveMessage(MemorySegment bytes) {
    /** The number of bytes of the longest message. */
    static final int ROOM = 512;
    /** The number of bytes of a message that is not a greeting. */
    static final int LENGTH = 64;

    /** A writer introduces itself with its address. */
    static final int GREETING = 1;
    /** The answer to a greeting: status, the writer's number, and the secret that its requests must have. */
    static final int WELCOME = 2;
    /** A request to save bytes, which have arrived, with the level. */
    static final int REQUEST = 3;
    /** The answer to a request: status and the level reached. */
    static final int ANSWER = 4;
    /** A writer leaves. */
    static final int LEAVE = 5;
    /**
     * A request to save received messages: all regions that the owner has named for receives. Key and address have no
     * meaning.
     */
    static final int REQUEST_RECEIVED = 6;
    /** As {@link #REQUEST_RECEIVED}, for providers whose messages reach their receives only in polls of the owner. */
    static final int REQUEST_POLLED = 7;

    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final int MAGIC = 0x4f464953;
    private static final int FORMAT = 1 << 16;
    private static final int FIELDS = 8;

    /** The numbers, in this order. */
    enum Field {
        /** A number that the writer chooses, with the level in the lowest byte. The answer repeats it. */
        ID,
        /** The writer's number. */
        WRITER,
        /** The secret of this writer; in a greeting, the length of the address. */
        SECRET,
        /** In an answer or a welcome, the error number, or 0 for success. */
        STATUS,
        /** The region's key; in an answer, the level reached. */
        KEY,
        /** The address of the first byte, as peers use it. */
        ADDRESS,
        /** The number of bytes. */
        LENGTH
    }

    /** Begins a message of this kind, with all numbers 0. */
    SaveMessage begin(int kind) {
        bytes.asSlice(0, LENGTH).fill((byte) 0);
        bytes.set(INT, 0, MAGIC);
        bytes.set(INT, Integer.BYTES, FORMAT | kind);
        return this;
    }

    /** The kind of a message of this length in bytes; 0 if it is not one of ours. */
    int kind(long length) {
        if (length < LENGTH || bytes.get(INT, 0) != MAGIC) { return 0; }
        int kind = bytes.get(INT, Integer.BYTES) ^ FORMAT;
        return kind >= GREETING && kind <= REQUEST_POLLED ? kind : 0;
    }

    SaveMessage put(Field field, long value) {
        bytes.set(LONG, at(field), value);
        return this;
    }

    long get(Field field) { return bytes.get(LONG, at(field)); }

    private static long at(Field field) { return FIELDS + (long) field.ordinal() * Long.BYTES; }

    /** Appends an address. Returns the length of the message. */
    int address(byte[] encoded) {
        put(Field.SECRET, encoded.length);
        MemorySegment.copy(encoded, 0, bytes, ValueLayout.JAVA_BYTE, LENGTH, encoded.length);
        return LENGTH + encoded.length;
    }

    /** The address in a greeting of this length in bytes. */
    byte[] address(long length) {
        return get(Field.SECRET) == length - LENGTH
                ? bytes.asSlice(LENGTH, length - LENGTH).toArray(ValueLayout.JAVA_BYTE)
                : new byte[0];
    }
}
