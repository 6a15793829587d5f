package io.ofi4j.command.control;

import java.nio.ByteBuffer;

/** The bytes of frames, for those who send other bytes. */
public final class RawFrames {
    private RawFrames() {}

    /** {@return the bytes of a frame} */
    public static byte[] of(FrameType type, PayloadWriter payload) {
        return of(type, payload.toBytes());
    }

    /** {@return the bytes of a frame} */
    public static byte[] of(FrameType type, byte[] payload) {
        return ByteBuffer.allocate(ControlChannel.HEADER + payload.length).putInt(ControlChannel.MAGIC)
                .putShort(ControlChannel.VERSION).putShort(type.code()).putInt(payload.length).put(payload).array();
    }
}
