package io.ofi4j.job;

import java.io.EOFException;
import java.io.IOException;
import java.net.ConnectException;
import java.net.Socket;
import java.net.SocketOption;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.util.Arrays;
import jdk.net.ExtendedSocketOptions;

/**
 * Messages over a socket that does not block, encrypted and authenticated with {@link SealedKeys}. The thread of
 * {@link PeerLoop} receives; any thread may send.
 */
final class PeerChannel implements AutoCloseable {
    private static final byte[] MAGIC = {'O', 'F', 'I', 'P', 'E', 'E', 'R', 1};
    /** A kind in one byte, and a hello. */
    private static final int MAX_LENGTH = 1 + PeerHello.MAX_LENGTH;
    private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

    /** The kernel asks a silent machine, so that a peer that is only busy or stopped stays. */
    private static final int SECONDS_TO_FIRST_PROBE = 10;
    private static final int SECONDS_BETWEEN_PROBES = 5;
    private static final int PROBES = 4;

    private final SocketChannel socket;
    private final String secret;
    private final byte[] greeting;
    /** What a client sends when it has the server's greeting; null at the server. */
    private final byte[] first;
    /** Set once the other side's greeting has come; written by the loop's thread inside the monitor. */
    private volatile SealedKeys keys;
    /** What comes next: a greeting, and then the length and the bytes of each message. */
    private ByteBuffer incoming = ByteBuffer.allocate(SealedKeys.GREETING_LENGTH);
    private boolean isBody;
    /** What the socket had no room for; guarded by this object, as the key is. */
    private ByteBuffer outgoing = NOTHING;
    private SelectionKey key;

    /** The other side is no peer, or one of another release. */
    static final class OtherProtocolException extends IOException {
        private static final long serialVersionUID = 1L;

        OtherProtocolException() { super("the other side is no peer server, or runs another release"); }
    }

    /**
     * Greets the other side of a connected socket.
     *
     * @param first what a client sends; null at the server
     */
    PeerChannel(SocketChannel socket, String secret, byte[] first) throws IOException {
        this.socket = socket;
        this.secret = secret;
        this.first = first;
        this.greeting = SealedKeys.greeting(MAGIC);
        socket.configureBlocking(false);
        socket.setOption(StandardSocketOptions.TCP_NODELAY, true);
        keepAlive(socket::setOption);
        socket.write(ByteBuffer.wrap(greeting)); // a new socket has room for it
    }

    /** Sets an option of a socket. */
    interface Options {
        <T> void set(SocketOption<T> option, T value) throws IOException;
    }

    /** Has the system notice within half a minute that the machine of the other side is gone. */
    static void keepAlive(Options socket) throws IOException {
        socket.set(StandardSocketOptions.SO_KEEPALIVE, true);
        socket.set(ExtendedSocketOptions.TCP_KEEPIDLE, SECONDS_TO_FIRST_PROBE);
        socket.set(ExtendedSocketOptions.TCP_KEEPINTERVAL, SECONDS_BETWEEN_PROBES);
        socket.set(ExtendedSocketOptions.TCP_KEEPCOUNT, PROBES);
    }

    /**
     * While nobody listens, the system may connect a socket to itself, at a port that it gives to clients.
     *
     * @throws ConnectException if it has
     */
    static void requireOther(Socket socket) throws IOException {
        if (!socket.getLocalSocketAddress().equals(socket.getRemoteSocketAddress())) { return; }
        socket.setSoLinger(true, 0); // or the port, which a server wants, stays in use for a minute
        throw new ConnectException("Connection refused");
    }

    /** Begins to receive. The monitor keeps the loop's thread from sending before there is a key. */
    synchronized void watch(PeerLoop.Watched watched) throws IOException {
        key = PeerLoop.watch(socket, SelectionKey.OP_READ, watched);
    }

    /** {@return whether the other side has greeted} */
    boolean isGreeted() { return keys != null; }

    /** {@return the next message; null if not all of it has come} */
    byte[] receive() throws IOException {
        while (true) {
            if (socket.read(incoming) < 0) { throw new EOFException("the other side has closed the connection"); }
            if (incoming.hasRemaining()) { return null; }
            byte[] bytes = incoming.array();
            if (keys == null) {
                greeted(bytes);
                incoming = ByteBuffer.allocate(Integer.BYTES);
            } else if (isBody) {
                isBody = false;
                incoming = ByteBuffer.allocate(Integer.BYTES);
                return keys.open(bytes);
            } else {
                isBody = true;
                incoming = ByteBuffer.allocate(SealedKeys.requireLength(incoming.getInt(0), MAX_LENGTH));
            }
        }
    }

    private void greeted(byte[] theirs) throws IOException {
        if (!Arrays.equals(theirs, 0, MAGIC.length, MAGIC, 0, MAGIC.length)) { throw new OtherProtocolException(); }
        synchronized (this) {
            keys = new SealedKeys(secret, greeting, theirs, first == null);
        }
        if (first != null) { send(first); }
    }

    /** Sends a message. What the socket has no room for follows when it has. */
    synchronized void send(byte[] message) throws IOException {
        ByteBuffer sealed = keys.seal(message);
        if (outgoing.hasRemaining()) {
            outgoing = ByteBuffer.allocate(outgoing.remaining() + sealed.remaining()).put(outgoing).put(sealed).flip();
            return;
        }
        socket.write(sealed);
        if (sealed.hasRemaining()) {
            outgoing = sealed;
            key.interestOpsOr(SelectionKey.OP_WRITE);
            PeerLoop.wake();
        }
    }

    /** Sends what there was no room for. */
    synchronized void flush() throws IOException {
        socket.write(outgoing);
        if (!outgoing.hasRemaining()) { key.interestOpsAnd(~SelectionKey.OP_WRITE); }
    }

    /** Tells the other side that its message cannot be read. */
    void refuse() throws IOException {
        socket.write(ByteBuffer.allocate(Integer.BYTES).putInt(0, SealedKeys.REFUSAL));
    }

    @Override
    public void close() {
        try {
            socket.close();
        } catch (IOException e) {
            return; // it is closed all the same
        } finally {
            PeerLoop.wake(); // it is the loop that gives the descriptor back
        }
    }
}
