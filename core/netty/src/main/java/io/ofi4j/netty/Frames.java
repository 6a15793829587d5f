package io.ofi4j.netty;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** What stands before the bytes of each message: which channel of the other loop it is for, and what it is. */
final class Frames {
    /** The length of a header: the channel, kind and count, the key. */
    static final int HEADER = 2 * Integer.BYTES + Long.BYTES;

    /** Bytes of the stream. */
    static final int DATA = 1;
    /** So many further messages of bytes may be sent. */
    static final int CREDIT = 2;
    /** No bytes follow, but bytes the other way may. */
    static final int FIN = 3;
    /** The channel is closed. */
    static final int CLOSE = 4;
    /** The answer to the last message: it has come, and all before it. */
    static final int GOT_ALL = 5;

    /** Both sides may have another byte order. */
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final int KIND_SHIFT = 24;
    private static final int MAX_COUNT = (1 << KIND_SHIFT) - 1;

    private Frames() {}

    static void write(MemorySegment memory, long offset, Target target, int kind, int count) {
        memory.set(INT, offset, target.channel());
        memory.set(INT, offset + Integer.BYTES, kind << KIND_SHIFT | count);
        memory.set(LONG, offset + 2 * Integer.BYTES, target.key());
    }

    /** {@return the number of a message behind that one} It is in the count of bytes and ends, and shows a gap. */
    static int next(int number) {
        return number + 1 & MAX_COUNT;
    }

    static int channel(MemorySegment memory, long offset) { return memory.get(INT, offset); }

    static int kind(MemorySegment memory, long offset) {
        return memory.get(INT, offset + Integer.BYTES) >>> KIND_SHIFT;
    }

    static long key(MemorySegment memory, long offset) { return memory.get(LONG, offset + 2 * Integer.BYTES); }

    static int count(MemorySegment memory, long offset) { return memory.get(INT, offset + Integer.BYTES) & MAX_COUNT; }

    /**
     * Where messages to a channel go.
     *
     * @param channel its number at its loop
     * @param key what only its other side knows: who has the secret may send to any loop, and not into the connections
     *        of others
     */
    record Target(int channel, long key) {}

    /**
     * What the two sides of a channel tell each other when they connect.
     *
     * @param target the channel at this side
     * @param messageLength the longest message that this side takes, with its header
     * @param window how many messages of bytes may be on their way to this side
     * @param doorbell the address of what wakes this side's loop; empty if it waits at a descriptor
     */
    record Greeting(Target target, int messageLength, int window, byte[] doorbell) {
        private static final int VERSION = 2;
        private static final int LENGTH = 4 * Integer.BYTES + Long.BYTES;

        byte[] encode() {
            return ByteBuffer.allocate(LENGTH + doorbell.length).putInt(VERSION).putInt(target.channel)
                    .putLong(target.key).putInt(messageLength).putInt(window).put(doorbell).array();
        }

        /** @throws FabricProtocolException if the other side is no channel, or that of another release */
        static Greeting decode(byte[] bytes) throws FabricProtocolException {
            ByteBuffer all = ByteBuffer.wrap(bytes);
            if (bytes.length < LENGTH || all.getInt() != VERSION) {
                throw new FabricProtocolException(
                        "the other side is no channel of ofi4j-netty, or one of another release");
            }
            Greeting greeting = new Greeting(new Target(all.getInt(), all.getLong()), all.getInt(), all.getInt(),
                    rest(all));
            if (greeting.messageLength <= HEADER || greeting.window < 1) {
                throw new FabricProtocolException("the other side takes no messages: " + greeting.messageLength
                        + " bytes, " + greeting.window + " at once");
            }
            return greeting;
        }

        private static byte[] rest(ByteBuffer all) {
            byte[] rest = new byte[all.remaining()];
            all.get(rest);
            return rest;
        }
    }
}
