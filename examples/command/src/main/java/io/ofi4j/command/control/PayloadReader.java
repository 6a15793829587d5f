package io.ofi4j.command.control;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** Takes the fields of a frame as {@link PayloadWriter} put them; trusts nothing. */
public final class PayloadReader {
    private final ByteBuffer buffer;

    PayloadReader(byte[] payload) { buffer = ByteBuffer.wrap(payload); }

    /**
     * {@return the next field}
     *
     * @param least what it is at least
     * @param most what it is at most
     * @throws ControlException if it is something else
     */
    public long number(long least, long most) throws ControlException {
        try {
            long value = buffer.getLong();
            if (value >= least && value <= most) { return value; }
        } catch (BufferUnderflowException e) {
            // as bad as a number out of range
        }
        throw damaged();
    }

    /**
     * {@return the next field}
     *
     * @param most how long it is at most
     * @throws ControlException if it is something else
     */
    public byte[] bytes(int most) throws ControlException {
        if (buffer.remaining() < Short.BYTES) { throw damaged(); }
        int length = Short.toUnsignedInt(buffer.getShort());
        if (length > most || length > buffer.remaining()) { throw damaged(); }
        byte[] bytes = new byte[length];
        buffer.get(bytes);
        return bytes;
    }

    /**
     * {@return the next field, with whatever is not printable ASCII replaced: it may end up on a terminal}
     *
     * @param most how long it is at most
     * @throws ControlException if it is something else
     */
    public String text(int most) throws ControlException {
        return new String(bytes(most), StandardCharsets.UTF_8).replaceAll("[^\\x20-\\x7e]", "?");
    }

    /**
     * Says that there are no more fields.
     *
     * @throws ControlException if there are
     */
    public void end() throws ControlException { if (buffer.hasRemaining()) { throw damaged(); } }

    private static ControlException damaged() {
        return new ControlException(ControlException.Reason.GARBAGE, "sent a damaged message");
    }
}
