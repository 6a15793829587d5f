package io.ofi4j.command.control;

import io.ofi4j.command.control.ControlException.Reason;
import java.io.IOException;
import java.net.InetAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.Optional;

/**
 * Frames over TCP, never blocking, so that the thread that makes progress can look at it too. A frame begins with the
 * letters {@code OFJP}, the version of the protocol and the type in 2 bytes each, and the payload's length in 4;
 * big-endian. Memory is bounded whatever comes in. One thread receives; any thread sends.
 */
public final class ControlChannel implements AutoCloseable {
    /** The most bytes that a frame carries. */
    public static final int MAXIMUM_PAYLOAD = 8192;
    /** Of the protocol; raised whenever frames change their meaning. */
    public static final short VERSION = 1;

    static final int MAGIC = 0x4f464a50; // OFJP
    static final int HEADER = 12;

    private static final Duration LAST_WORD = Duration.ofMillis(200);
    private static final int IDLE_TURNS = 64;
    private static final long NAP_MILLIS = 1;

    private final SocketChannel socket;
    private final ByteBuffer in = ByteBuffer.allocate(HEADER + MAXIMUM_PAYLOAD);

    /**
     * Takes a connection over.
     *
     * @param socket connected; closed with this
     * @throws IOException if it cannot be used
     */
    public ControlChannel(SocketChannel socket) throws IOException {
        this.socket = socket;
        socket.configureBlocking(false);
        socket.setOption(StandardSocketOptions.TCP_NODELAY, true);
    }

    /**
     * Sends a frame.
     *
     * @param type what it says
     * @param payload what belongs to it
     * @param timeout how long that may take
     * @throws ControlException if the other side has gone or takes nothing
     */
    public synchronized void send(FrameType type, PayloadWriter payload, Duration timeout) throws ControlException {
        byte[] bytes = payload.toBytes();
        ByteBuffer out = ByteBuffer.allocate(HEADER + bytes.length);
        out.putInt(MAGIC).putShort(VERSION).putShort(type.code()).putInt(bytes.length).put(bytes).flip();
        long start = System.nanoTime();
        try {
            while (out.hasRemaining()) {
                if (socket.write(out) == 0) {
                    if (System.nanoTime() - start > timeout.toNanos()) {
                        throw new ControlException(Reason.SILENT, "takes no messages");
                    }
                    nap();
                }
            }
        } catch (IOException e) {
            throw gone();
        }
    }

    /**
     * Tells the other side, if it still listens, why it is not served.
     *
     * @param why what is wrong with it
     */
    public void refuse(ControlException why) {
        if (why.reason() == Reason.GONE) { return; }
        String text = why.reason() == Reason.REFUSED ? why.getMessage() : "the client " + why.getMessage() + ".";
        try {
            send(FrameType.REFUSED, new PayloadWriter().text(text), LAST_WORD);
        } catch (ControlException e) {
            return; // it does not listen
        }
    }

    /**
     * {@return a frame that has come, or nothing}
     *
     * @throws ControlException if the other side has gone or sends something else
     */
    public Optional<Frame> poll() throws ControlException {
        try {
            Optional<Frame> frame = parse();
            if (frame.isPresent()) { return frame; }
            if (socket.read(in) < 0) { throw gone(); }
        } catch (IOException e) {
            throw gone();
        }
        return parse();
    }

    private Optional<Frame> parse() throws ControlException {
        if (in.position() < HEADER) {
            requireBeginning();
            return Optional.empty();
        }
        requireBeginning();
        int length = in.getInt(8);
        FrameType type = FrameType.of(in.getShort(6)).orElse(null);
        if (type == null || length < 0 || length > MAXIMUM_PAYLOAD) {
            throw new ControlException(Reason.GARBAGE, "sent something that is no message of ofi4j");
        }
        if (in.position() < HEADER + length) { return Optional.empty(); }
        byte[] payload = new byte[length];
        in.flip().position(HEADER);
        in.get(payload).compact();
        return Optional.of(new Frame(type, payload));
    }

    /** Looks at the first bytes as soon as they are there: whoever speaks something else may send no more. */
    private void requireBeginning() throws ControlException {
        if (in.position() >= 4 && in.getInt(0) != MAGIC) {
            throw new ControlException(Reason.GARBAGE, "does not speak the protocol of ofi4j");
        }
        if (in.position() >= 6 && in.getShort(4) != VERSION) {
            throw new ControlException(Reason.VERSION, "speaks version " + in.getShort(4)
                    + " of the protocol, this side speaks " + VERSION + ": run the same release of ofi4j at both ends");
        }
    }

    /** {@return the address that this side has for the other} */
    public InetAddress localAddress() {
        return socket.socket().getLocalAddress();
    }

    /** {@return the address of the other side} */
    public InetAddress remoteAddress() {
        return socket.socket().getInetAddress();
    }

    /**
     * {@return the next frame}
     *
     * @param timeout how long to wait
     * @param meanwhile what to do while there is nothing
     * @throws ControlException if nothing comes, or no frame
     */
    public Frame await(Duration timeout, Runnable meanwhile) throws ControlException {
        long start = System.nanoTime();
        for (int turn = 1;; turn++) {
            Optional<Frame> frame = poll();
            if (frame.isPresent()) { return frame.get(); }
            if (System.nanoTime() - start > timeout.toNanos()) {
                throw new ControlException(Reason.SILENT,
                        "did not answer within " + timeout.toMillis() / 1000.0 + " s");
            }
            meanwhile.run();
            if (turn % IDLE_TURNS == 0) { nap(); }
        }
    }

    private static ControlException gone() { return new ControlException(Reason.GONE, "closed the connection"); }

    private static void nap() {
        try {
            Thread.sleep(NAP_MILLIS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void close() {
        try {
            socket.close();
        } catch (IOException e) {
            // it is of no use any more
        }
    }
}
