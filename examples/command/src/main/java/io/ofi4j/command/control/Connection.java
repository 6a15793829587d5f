package io.ofi4j.command.control;

import io.ofi4j.command.CommandFailure;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.Locale;
import java.util.Optional;

/** The connection to the other side of a command; whatever goes wrong is said with the other's address. */
public final class Connection implements AutoCloseable {
    private static final long RETRY_MILLIS = 50;
    /** Who waits longer is told so. */
    private static final long TO_SAY_NANOS = 1_500_000_000;
    private static final long HEARTBEAT_MILLIS = 1000;

    /** Reads the fields of a frame. */
    @FunctionalInterface
    public interface Decoder<T> {
        /**
         * {@return what the fields say}
         *
         * @throws ControlException if they are none of such a frame
         */
        T decode(Frame frame) throws ControlException;
    }

    /** Where the other side is. */
    private final String place;
    /** What it is, for the beginning of a sentence. */
    private final String role;
    /** Null where a client has connected to this side. */
    private final InetSocketAddress server;
    private final Duration timeout;
    private final ControlChannel channel;
    private final PrintWriter err;
    private boolean stopAsked;
    private final Thread heartbeat = Thread.ofPlatform().daemon().name("heartbeat").unstarted(this::beat);

    private Connection(InetSocketAddress server, String role, String place, Duration timeout, ControlChannel channel,
            PrintWriter err) {
        this.server = server;
        this.role = role;
        this.place = place;
        this.err = err;
        this.timeout = timeout;
        this.channel = channel;
    }

    /**
     * {@return a connection to a server that may still be starting}
     *
     * @param host where it is
     * @param port where it listens
     * @param timeout how long it is tried, and how long an answer is waited for
     * @param err is told when it takes long
     */
    public static Connection open(String host, int port, Duration timeout, PrintWriter err) {
        InetSocketAddress server = new InetSocketAddress(host, port);
        if (server.isUnresolved()) {
            throw new CommandFailure(
                    "There is no host '" + host + "': give a name or an address that this machine knows.");
        }
        long start = System.nanoTime();
        long end = start + timeout.toNanos();
        boolean said = false;
        IOException last = null;
        for (long left = timeout.toMillis(); left > 0; left = (end - System.nanoTime()) / 1_000_000) {
            try {
                Connection connection = new Connection(server, "The server at ", text(server), timeout,
                        new ControlChannel(connect(server, left)), err);
                connection.heartbeat.start();
                return connection;
            } catch (IOException e) {
                last = e;
            }
            if (!said && System.nanoTime() - start > TO_SAY_NANOS) {
                err.println("waiting for the server at " + text(server) + " ...");
                err.flush();
                said = true;
            }
            nap(RETRY_MILLIS);
        }
        throw new CommandFailure("No server answers at " + text(server) + " (tried for " + timeout.toSeconds()
                + " s): start it there with --server, with the same port (-B there, -P here), "
                + (last instanceof SocketTimeoutException
                        ? "let port " + server.getPort() + " through a firewall, "
                        : "")
                + "or give a longer --timeout.", last);
    }

    /**
     * {@return the connection of a client that asks this side to measure}
     *
     * @param channel to the client
     * @param name where the client is
     * @param timeout how long an answer is waited for
     */
    public static Connection of(ControlChannel channel, String name, Duration timeout) {
        Connection connection = new Connection(null, "The client at ", name, timeout, channel, null);
        connection.heartbeat.start();
        return connection;
    }

    /** {@return another to the same server} */
    public Connection again() {
        return open(server.getHostString(), server.getPort(), timeout, err);
    }

    private static SocketChannel connect(InetSocketAddress server, long millis) throws IOException {
        SocketChannel socket = SocketChannel.open();
        try {
            Socket blocking = socket.socket();
            blocking.connect(server, (int) Math.min(millis, Integer.MAX_VALUE));
            if (socket.getLocalAddress().equals(socket.getRemoteAddress())) {
                throw new ConnectException("connected to itself"); // TCP does that where nobody listens
            }
            return socket;
        } catch (IOException e) {
            socket.close();
            throw e;
        }
    }

    /**
     * {@return the answer, waited for with a deadline}
     *
     * @param question what is asked
     * @param payload what belongs to it
     * @param answer what has to come
     * @param meanwhile what to do while nothing has come
     */
    public Frame ask(FrameType question, PayloadWriter payload, FrameType answer, Runnable meanwhile) {
        try {
            channel.send(question, payload, timeout);
            Frame frame;
            do {
                frame = channel.await(timeout, meanwhile);
            } while (isAside(frame));
            return frame.require(answer);
        } catch (ControlException e) {
            throw failure(e);
        }
    }

    /**
     * {@return the fields of a frame from the server}
     *
     * @param <T> what they say
     * @param frame what came
     * @param decoder reads it
     */
    public <T> T read(Frame frame, Decoder<T> decoder) {
        try {
            return decoder.decode(frame);
        } catch (ControlException e) {
            throw failure(e);
        }
    }

    /** What a client says while this side measures. */
    private boolean isAside(Frame frame) {
        stopAsked |= frame.type() == FrameType.STOP;
        return frame.type() == FrameType.STOP || frame.type() == FrameType.ALIVE;
    }

    /** {@return whether the client's user has enough, as far as frames were read} */
    public boolean isStopAsked() {
        return stopAsked;
    }

    /** {@return what says other frames than those that {@link #ask} exchanges} */
    public ControlChannel channel() {
        return channel;
    }

    /** Throws if the other side has gone; it says nothing of importance without being asked. */
    public void watch() {
        try {
            Optional<Frame> frame = channel.poll();
            if (frame.isPresent() && !isAside(frame.get())) {
                throw new ControlException(ControlException.Reason.GARBAGE, "said " + frame.get().type() + " unasked");
            }
        } catch (ControlException e) {
            throw failure(e);
        }
    }

    /** Tells the other side that all is done. */
    public void bye() {
        try {
            channel.send(FrameType.BYE, new PayloadWriter(), timeout);
        } catch (ControlException e) {
            throw failure(e);
        }
    }

    /**
     * {@return what is said of a failure}
     *
     * @param e what went wrong
     */
    public CommandFailure failure(ControlException e) {
        return new CommandFailure(this + (e.reason() == ControlException.Reason.REFUSED
                ? " refuses: " + e.getMessage()
                : " " + e.getMessage() + "."), e);
    }

    private void beat() {
        try {
            while (!Thread.interrupted()) {
                nap(HEARTBEAT_MILLIS);
                channel.send(FrameType.ALIVE, new PayloadWriter(), timeout);
            }
        } catch (ControlException e) {
            return; // the other thread finds out by itself
        }
    }

    private static void nap(long millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static String text(InetSocketAddress address) {
        return address.getAddress().getHostAddress() + ":" + address.getPort();
    }

    /** {@return where the other side is} */
    public String place() { return place; }

    /** {@return what the other side is and where, for the middle of a sentence} */
    public String other() {
        return role.toLowerCase(Locale.ROOT) + place;
    }

    @Override
    public String toString() { return role + place; }

    @Override
    public void close() {
        heartbeat.interrupt();
        channel.close();
    }
}
