package io.ofi4j.job;

import io.ofi4j.job.internal.Deadline;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;

/**
 * A link to one peer, over TCP, beside the endpoints that exchange the data: it brings the peer's {@link PeerHello},
 * and it ends when the peer does. {@link #connect} makes one to a {@link PeerServer}, which hands out those of its
 * clients.
 *
 * <p>{@link #isGone} tells whether the peer is still there. It costs the read of a field, so that a loop can ask before
 * each use of the peer. A process that ends, by {@code kill -9} too, is gone at the other side within milliseconds, as
 * its kernel closes the connection. A machine that loses its power or its network is gone after about 30 seconds, as
 * its kernel answers no more. A process that is only stopped or busy is not gone.
 *
 * <p>A link says nothing about the operations of endpoints, and does not touch them: remove the peer from the address
 * vector, and close the endpoint where operations to the peer stay in flight.
 *
 * <p>Any thread may call the methods. None of them waits, but for {@link #connect}.
 */
public final class PeerLink implements AutoCloseable {
    /** Where a link is. */
    public enum State {
        /** At the server: the client waits for {@link PeerLink#accept}. */
        ARRIVED,
        /** Both sides know each other. */
        OPEN,
        /** The peer has closed it. */
        LEFT,
        /** The connection has ended without a word: the peer has died, or cannot be reached. */
        LOST,
        /** This side has closed or refused it. */
        CLOSED;

        private boolean isEnd() { return compareTo(OPEN) > 0; }
    }

    /** The first byte of a message. */
    private static final byte ACCEPTED = 1;
    private static final byte REFUSED = 2;
    private static final byte LEAVING = 3;

    private static final int MAX_REASON_LENGTH = 1000;

    private final PeerChannel channel;
    private final PeerHello hello;
    /** Called once when the link has ended, whoever has ended it. */
    private final Consumer<PeerLink> onEnd;
    /** Whether the server's program has been told of it; used by the thread that polls the server. */
    boolean isTold;
    /** What the loop does with the connection. */
    final PeerLoop.Watched watched = new Reader();
    /** Written in {@link #become} alone. */
    private volatile State state;
    /** Whether the program has closed it, perhaps after it had ended. */
    private volatile boolean isClosed;

    /** The server's program does not take this client. */
    private static final class RefusedException extends IOException {
        private static final long serialVersionUID = 1L;

        RefusedException(String reason) { super(reason); }
    }

    private PeerLink(PeerChannel channel, PeerHello hello, State state, Consumer<PeerLink> onEnd) {
        this.channel = channel;
        this.hello = hello;
        this.state = state;
        this.onEnd = onEnd;
    }

    /** {@return the link to a client that has sent its hello} */
    static PeerLink arrived(PeerChannel channel, byte[] message, Consumer<PeerLink> onEnd) throws IOException {
        return new PeerLink(channel, PeerHello.decode(ByteBuffer.wrap(message)), State.ARRIVED, onEnd);
    }

    /** {@return the link to a server that has answered} */
    private static PeerLink answered(PeerChannel channel, byte[] message, Runnable onGone) throws IOException {
        ByteBuffer answer = ByteBuffer.wrap(message);
        if (!answer.hasRemaining()) { throw new IOException("the answer of the server is empty"); }
        if (answer.get() != ACCEPTED) {
            throw new RefusedException(new String(message, 1, message.length - 1, StandardCharsets.UTF_8));
        }
        return new PeerLink(channel, PeerHello.decode(answer), State.OPEN, link -> link.tellGone(onGone));
    }

    /** As {@link #connect(InetSocketAddress, String, PeerHello, Duration, Runnable)}, and tells nobody. */
    public static PeerLink connect(InetSocketAddress server, String secret, PeerHello mine, Duration deadline) {
        return connect(server, secret, mine, deadline, () -> {});
    }

    /**
     * Connects to a server, and waits until its program has accepted. It tries again until the server is there or the
     * deadline has passed.
     *
     * @param server where the {@link PeerServer} listens; the wildcard address is this host
     * @param secret the server's secret
     * @param mine what the server's program gets
     * @param deadline the longest wait
     * @param onGone called once when the server has gone, by a thread that must not be kept: usually
     *        {@code queue::signal}, which ends the queue's {@code await}. It is not called after {@link #close},
     *        unless the server goes at the same moment
     * @return the link; close it when you leave
     * @throws IllegalArgumentException if the secret has fewer than 16 characters
     * @throws RendezvousException if no server accepts in time, it has another secret or runs another release, its
     *         program refuses, or the thread is interrupted, which stays so; the message has the last reason
     */
    public static PeerLink connect(InetSocketAddress server, String secret, PeerHello mine, Duration deadline,
            Runnable onGone) {
        Rendezvous.requireSecret(secret);
        Objects.requireNonNull(onGone, "onGone");
        byte[] hello = mine.encode();
        Deadline end = Deadline.in(deadline);
        InetSocketAddress reachable = Rendezvous.reachable(server);
        IOException reason = null;
        while (true) {
            try {
                return connect(reachable, secret, hello, end, onGone);
            } catch (IOException e) {
                if (e instanceof ClosedByInterruptException) {
                    throw failed(server,
                            "the wait was interrupted" + (reason == null ? "" : ". Until then: " + sentence(reason)),
                            e);
                }
                // a last attempt has no time, and says nothing of the server
                if (reason == null || !(e instanceof SocketTimeoutException)) { reason = e; }
                if (Thread.currentThread().isInterrupted()) {
                    throw failed(server, "the wait was interrupted. Until then: " + sentence(reason), reason);
                }
                if (isFinal(e)) { throw failed(server, sentence(e), e); }
                if (end.isOver()) { throw failed(server, "not within " + end + ": " + sentence(reason), reason); }
            }
            Rendezvous.sleep();
        }
    }

    private static boolean isFinal(IOException e) {
        return e instanceof SealedChannel.ForgedException || e instanceof PeerChannel.OtherProtocolException
                || e instanceof RefusedException;
    }

    private static RendezvousException failed(InetSocketAddress server, String why, IOException cause) {
        return new RendezvousException("no link to the peer server at " + server + ": " + why, cause);
    }

    private static String sentence(IOException e) {
        return switch (e) {
            case RefusedException _ -> "its program has refused this peer: " + e.getMessage();
            case PeerChannel.OtherProtocolException _ -> e.getMessage() + ". Run the same release on both sides.";
            case SilentException _ -> e.getMessage();
            default -> Rendezvous.sentence(e);
        };
    }

    /** The server's process answers, and its program does not. */
    private static final class SilentException extends SocketTimeoutException {
        private static final long serialVersionUID = 1L;

        SilentException() { super("the server's program has not accepted. Does it poll the server?"); }
    }

    private static PeerLink connect(InetSocketAddress server, String secret, byte[] hello, Deadline end,
            Runnable onGone) throws IOException {
        SocketChannel socket = SocketChannel.open();
        try {
            socket.socket().connect(server, end.millisLeft());
            PeerChannel.requireOther(socket.socket());
            PeerChannel channel = new PeerChannel(socket, secret, hello);
            PeerHandshake handshake = new PeerHandshake(channel,
                    (greeted, message) -> answered(greeted, message, onGone));
            channel.watch(handshake);
            return await(handshake, channel, end);
        } catch (IOException | RuntimeException | Error e) {
            socket.close();
            PeerLoop.wake();
            throw e;
        }
    }

    private static PeerLink await(PeerHandshake handshake, PeerChannel channel, Deadline end) throws IOException {
        try {
            return handshake.get(end.nanosLeft(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            throw ended(handshake,
                    channel.isGreeted() ? new SilentException() : new SocketTimeoutException("nothing came in time"));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw ended(handshake, new SocketTimeoutException("nothing had come"));
        } catch (ExecutionException e) {
            if (e.getCause() instanceof IOException failure) { throw failure; }
            throw new IOException(e.getCause());
        }
    }

    /** Ends a handshake that nobody waits for, and a link that has come at the same moment. */
    private static IOException ended(PeerHandshake handshake, IOException why) {
        if (!handshake.completeExceptionally(why) && !handshake.isCompletedExceptionally()) { handshake.join().drop(); }
        return why;
    }

    /** {@return what the peer has said} */
    public PeerHello hello() { return hello; }

    /** {@return where the link is now} */
    public State state() { return state; }

    /** {@return whether the link has ended: the peer has left or is lost, or this side has closed it} */
    public boolean isGone() {
        return state.isEnd();
    }

    /**
     * Accepts the peer, at the server: its {@link #connect} returns. Nothing happens if the peer has gone meanwhile,
     * which the server's {@link PeerServer#poll} tells.
     *
     * @param mine what the peer gets
     * @throws IllegalStateException if it was accepted already, or closed; or it is a client's link
     */
    public void accept(PeerHello mine) {
        byte[] hello = mine.encode();
        answer(ByteBuffer.allocate(1 + hello.length).put(ACCEPTED).put(hello).array(), State.OPEN);
    }

    /**
     * Refuses the peer, at the server, and closes the link: the peer's {@link #connect} throws with the reason.
     *
     * @param reason for people; its first 1,000 bytes are sent
     * @throws IllegalStateException as {@link #accept} throws it
     */
    public void refuse(String reason) {
        byte[] text = reason.getBytes(StandardCharsets.UTF_8);
        int length = Math.min(text.length, MAX_REASON_LENGTH);
        answer(ByteBuffer.allocate(1 + length).put(REFUSED).put(text, 0, length).array(), State.CLOSED);
    }

    private synchronized void answer(byte[] message, State next) {
        if (state == State.OPEN) { throw new IllegalStateException(this + " is open: a peer is answered once"); }
        if (state == State.CLOSED) { throw new IllegalStateException(this + " is closed"); }
        become(next, message);
    }

    /** Changes the state and tells the peer, unless the link has ended. Returns whether it had not. */
    private synchronized boolean become(State next, byte... message) {
        if (state.isEnd()) { return false; }
        state = next;
        try (var _ = next.isEnd() ? channel : null) {
            if (message.length > 0) { channel.send(message); }
        } catch (IOException e) {
            assert next == State.OPEN || next.isEnd(); // the loop finds an open connection broken, and ends the link
        }
        if (next == State.CLOSED) { onEnd.accept(this); }
        return true;
    }

    /** Tells the program that the link has ended, unless it has ended the link itself. */
    void tellGone(Runnable callback) {
        if (state != State.CLOSED && !isClosed) { PeerLoop.run(callback); }
    }

    /** Closes the connection without a word. */
    void drop() { become(State.CLOSED); }

    /** Ends the link with its server. Who waits to be accepted may find another server, and so is told nothing. */
    void closeWithServer() {
        if (state == State.ARRIVED) {
            drop();
        } else {
            close();
        }
    }

    /**
     * Leaves: at the other side the link is {@link State#LEFT}. A peer that was not accepted is refused. Nothing
     * happens if the link has ended.
     */
    @Override
    public synchronized void close() {
        isClosed = true;
        if (state == State.ARRIVED) {
            refuse("the server has closed the link");
        } else {
            become(State.CLOSED, LEAVING);
        }
    }

    @Override
    public String toString() { return "PeerLink to " + hello.address() + ", " + state; }

    private final class Reader implements PeerLoop.Watched {
        /** Only the farewell of the peer can come. */
        @Override
        public void ready(SelectionKey key) throws IOException {
            if (key.isWritable()) { channel.flush(); }
            byte[] message = channel.receive();
            if (message == null) { return; }
            if (message.length != 1 || message[0] != LEAVING) { throw new IOException("a message that is not known"); }
            end(State.LEFT);
        }

        @Override
        public void failed(Throwable why) { end(State.LOST); }

        private void end(State how) { if (become(how)) { onEnd.accept(PeerLink.this); } }
    }
}
