package io.ofi4j.command.control;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** Puts the fields of a frame one behind the other, big-endian, texts and bytes with their length in front. */
public final class PayloadWriter {
    private final ByteBuffer buffer = ByteBuffer.allocate(ControlChannel.MAXIMUM_PAYLOAD);

    /** A writer without fields. */
    public PayloadWriter() {
        // the buffer is all there is
    }

    /**
     * {@return this}
     *
     * @param value the next field
     */
    public PayloadWriter number(long value) {
        buffer.putLong(value);
        return this;
    }

    /**
     * {@return this}
     *
     * @param value the next field
     */
    public PayloadWriter bytes(byte[] value) {
        buffer.putShort((short) value.length).put(value);
        return this;
    }

    /**
     * {@return this}
     *
     * @param value the next field; cut where it would not fit
     */
    public PayloadWriter text(String value) {
        byte[] bytes = value.getBytes(StandardCharsets.UTF_8);
        return bytes(Arrays.copyOf(bytes, Math.min(bytes.length, buffer.remaining() - Short.BYTES)));
    }

    byte[] toBytes() {
        byte[] bytes = new byte[buffer.position()];
        buffer.get(0, bytes);
        return bytes;
    }
}
