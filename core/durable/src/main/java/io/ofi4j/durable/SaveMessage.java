package io.ofi4j.durable;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * A message between a saver and the service of the memory's owner. All numbers are big-endian: the letters
 * {@code OFIS}, the format and the kind of message, and seven numbers of 8 bytes. A greeting has the sender's address
 * behind them.
 *
 * @param bytes where it lies
 */
record SaveMessage(MemorySegment bytes) {
    /** The room for the longest. */
    static final int ROOM = 512;
    /** The number of bytes of all but a greeting. */
    static final int LENGTH = 64;

    /** A writer's address: who are you? */
    static final int GREETING = 1;
    /** The answer: status, the writer's number, and the secret that its requests have. */
    static final int WELCOME = 2;
    /** The bytes that are to be saved, and the level. They have arrived. */
    static final int REQUEST = 3;
    /** The answer to any request: status and the level reached. */
    static final int ANSWER = 4;
    /** A writer leaves. */
    static final int LEAVE = 5;
    /** A request for what receives have taken: of all regions for receives, so that neither key nor address count. */
    static final int REQUEST_RECEIVED = 6;
    /** As that, where the owner's polls may have to bring messages to their receives first. */
    static final int REQUEST_POLLED = 7;

    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final int MAGIC = 0x4f464953;
    private static final int FORMAT = 1 << 16;
    private static final int FIELDS = 8;

    /** What the numbers are, in this order. */
    enum Field {
        /** Chosen by the writer, with the level in the lowest byte; an answer has it again. */
        ID,
        /** The writer's number. */
        WRITER,
        /** What only this writer knows; of a greeting, the length of the address. */
        SECRET,
        /** Of an answer or a welcome, the error number, 0 if all went well. */
        STATUS,
        /** The region's key; of an answer, the level. */
        KEY,
        /** Where the bytes begin, as peers see it. */
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

    /** Appends an address; the length of the message. */
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
