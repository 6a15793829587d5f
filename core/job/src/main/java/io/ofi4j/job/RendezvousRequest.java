package io.ofi4j.job;

import java.io.IOException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/**
 * A request of a member to the server of a rendezvous: its kind in one byte, milliseconds in 8, the name's length in
 * one, the name, the value.
 *
 * @param millis the longest wait, if it waits
 * @param value the value, if it publishes one
 */
record RendezvousRequest(Kind kind, String name, long millis, byte[] value) {
    static final int MAX_NAME_LENGTH = 255;
    static final int MAX_VALUE_LENGTH = 1 << 16;
    static final int MAX_LENGTH = MAX_NAME_LENGTH + MAX_VALUE_LENGTH + 32;
    /** The length of the longest answer: its first byte, and all that the server keeps, in one gathering. */
    static final int MAX_ANSWER_LENGTH = 1 + RendezvousServer.MAX_BYTES;

    /** The first byte of an answer. */
    static final byte DONE = 0;
    static final byte ABSENT = 1;
    static final byte FULL = 2;
    /** A member has gone, or the request can never be fulfilled; a sentence follows. */
    static final byte BROKEN = 3;

    private static final int HEADER = 10;

    /**
     * How long a request waits at the server.
     *
     * @param isLast whether it is the last request of a call
     */
    record Wait(long millis, boolean isLast) {}

    enum Kind {
        JOIN, PUBLISH, AWAIT, ENTER, LEAVE, GATHER
    }

    /**
     * A request to gather: the place, the number of places, whether the place does not come again if it gets no answer,
     * and the value.
     */
    static RendezvousRequest gather(String name, Wait wait, int place, int count, byte[] value) {
        byte[] all = ByteBuffer.allocate(2 * Integer.BYTES + 1 + value.length).putInt(place).putInt(count)
                .put((byte) (wait.isLast() ? 1 : 0)).put(value).array();
        return new RendezvousRequest(Kind.GATHER, name, wait.millis(), all);
    }

    byte[] encode() {
        byte[] bytes = name.getBytes(StandardCharsets.UTF_8);
        return ByteBuffer.allocate(HEADER + bytes.length + value.length).put((byte) kind.ordinal()).putLong(millis)
                .put((byte) bytes.length).put(bytes).put(value).array();
    }

    static RendezvousRequest decode(byte[] encoded) throws IOException {
        ByteBuffer buffer = ByteBuffer.wrap(encoded);
        try {
            Kind kind = Kind.values()[buffer.get()];
            long millis = buffer.getLong();
            byte[] name = new byte[Byte.toUnsignedInt(buffer.get())];
            buffer.get(name);
            byte[] value = new byte[buffer.remaining()];
            buffer.get(value);
            return new RendezvousRequest(kind, new String(name, StandardCharsets.UTF_8), millis, value);
        } catch (BufferUnderflowException | ArrayIndexOutOfBoundsException e) {
            throw new IOException("not a request", e);
        }
    }

    static byte[] answer(byte outcome, byte[] value) {
        return ByteBuffer.allocate(1 + value.length).put(outcome).put(value).array();
    }
}
