package io.ofi4j.job;

import io.ofi4j.job.internal.Deadline;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * Messages over a socket, encrypted and authenticated with {@link SealedKeys}. A call waits for the other side until
 * its deadline.
 */
final class SealedChannel implements AutoCloseable {
    private static final byte[] MAGIC = {'O', 'F', 'I', 'M', 'E', 'E', 'T', 1};
    /** The largest number of bytes that are allocated before any have come, whatever length a message announces. */
    private static final int FIRST_PIECE = 1 << 16;

    private final Socket socket;
    private final InputStream in;
    private final OutputStream out;
    private final SealedKeys keys;
    private final int limit;
    /** The part of the next message that has come: its length, then its bytes. */
    private byte[] incoming = {};
    private int filled;
    /** The length of the next message, or -1 if that has not come. */
    private int length = -1;

    /** The message is not the one that the other side sent: the secrets differ, or a third party changed it. */
    static final class ForgedException extends IOException {
        private static final long serialVersionUID = 1L;

        ForgedException() { super("the other side has another secret"); }

        ForgedException(Throwable cause) { super("a message cannot be decrypted with this secret", cause); }
    }

    /**
     * Opens the channel. One side is the server.
     *
     * @param limit the length of the longest message that is accepted, in bytes
     * @param deadline when the other side must have begun
     */
    SealedChannel(Socket socket, String secret, boolean isServer, int limit, Deadline deadline) throws IOException {
        this.socket = socket;
        this.limit = limit;
        socket.setTcpNoDelay(true);
        PeerChannel.keepAlive(socket::setOption);
        this.in = socket.getInputStream();
        this.out = socket.getOutputStream();
        byte[] mine = SealedKeys.greeting(MAGIC);
        out.write(mine);
        byte[] theirs = next(mine.length, deadline);
        if (!Arrays.equals(theirs, 0, MAGIC.length, MAGIC, 0, MAGIC.length)) {
            throw new IOException("the other side is not a rendezvous, or runs another release");
        }
        this.keys = new SealedKeys(secret, mine, theirs, isServer);
    }

    void send(byte[] message) throws IOException { out.write(keys.seal(message).array()); }

    /** Tells the other side that its message cannot be read. */
    void refuse() throws IOException {
        out.write(ByteBuffer.allocate(Integer.BYTES).putInt(SealedKeys.REFUSAL).array());
    }

    /**
     * {@return the next message} If a wait ends before the message is here, the next call goes on with it.
     *
     * @throws SocketTimeoutException if the whole message has not come in time
     */
    byte[] receive(Deadline deadline) throws IOException {
        if (length < 0) {
            length = SealedKeys.requireLength(ByteBuffer.wrap(next(Integer.BYTES, deadline)).getInt(), limit);
        }
        byte[] sealed = next(length, deadline);
        length = -1;
        return keys.open(sealed);
    }

    /** {@return the next bytes} If not all come in time, the next call continues with those that have come. */
    private byte[] next(int count, Deadline deadline) throws IOException {
        if (filled == 0) { incoming = new byte[Math.min(count, FIRST_PIECE)]; }
        while (filled < count) {
            if (filled == incoming.length) { incoming = Arrays.copyOf(incoming, Math.min(count, 2 * filled)); }
            filled += read(deadline);
        }
        filled = 0;
        return incoming;
    }

    private int read(Deadline deadline) throws IOException {
        while (!deadline.isOver()) {
            try {
                socket.setSoTimeout(deadline.millisLeft());
                int count = in.read(incoming, filled, incoming.length - filled);
                if (count < 0) { throw new EOFException(); }
                return count;
            } catch (SocketTimeoutException e) {
                continue; // a socket waits 24 days at most
            }
        }
        throw new SocketTimeoutException("nothing came in time");
    }

    @Override
    public void close() throws IOException { socket.close(); }
}
