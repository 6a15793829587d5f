package io.ofi4j.command.control;

import io.ofi4j.command.CommandFailure;
import io.ofi4j.command.Loopback;
import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.net.UnknownHostException;
import java.nio.channels.Channel;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Consumer;

/** Where clients connect to. */
public final class Listener implements AutoCloseable {
    private static final long NAP_MILLIS = 2;

    /**
     * A client that has connected.
     *
     * @param channel what it says
     * @param name where it is
     */
    public record Caller(ControlChannel channel, String name) {}

    private final ServerSocketChannel socket;
    private boolean isComplained;

    /**
     * {@return an address of this machine}
     *
     * @param source its name or its text; without one, the loopback address
     */
    public static InetAddress own(Optional<String> source) {
        String name = source.orElse(Loopback.ADDRESS);
        try {
            InetAddress address = InetAddress.getByName(name);
            if (Loopback.isOwn(address)) { return address; }
        } catch (UnknownHostException e) {
            throw new CommandFailure("'" + name + "' is the name of no machine: give an address with -s.", e);
        }
        throw new CommandFailure("'" + name + "' is no address of this machine: give one of its own with -s.");
    }

    /**
     * Begins to listen.
     *
     * @param address of this machine
     * @param port 0 for any that is free
     */
    public Listener(InetAddress address, int port) {
        try {
            socket = ServerSocketChannel.open();
            socket.setOption(StandardSocketOptions.SO_REUSEADDR, true);
            socket.configureBlocking(false);
            bind(new InetSocketAddress(address, port));
        } catch (IOException e) {
            throw new CommandFailure(
                    "Cannot listen at " + address.getHostAddress() + ":" + port + ": " + e.getMessage() + ".", e);
        }
    }

    private void bind(InetSocketAddress address) throws IOException {
        try {
            socket.bind(address);
        } catch (BindException e) {
            socket.close();
            String where = address.getAddress().getHostAddress();
            throw new CommandFailure(e.getMessage().contains("in use")
                    ? "Port " + address.getPort() + " of " + where
                            + " is in use: choose another with -B, and the same with -P at the client."
                    : "This machine cannot listen at " + where + ":" + address.getPort() + " (" + e.getMessage()
                            + "): give one of its own addresses with -s.",
                    e);
        }
    }

    /**
     * {@return a client, or nothing if none came in time} What keeps one from coming, such as too many open files, is
     * said, once until another one comes: it may pass.
     *
     * @param timeout how long to wait
     * @param complaint takes what is said
     */
    public Optional<Caller> accept(Duration timeout, Consumer<String> complaint) {
        long start = System.nanoTime();
        try {
            do {
                Optional<Caller> caller = accept(complaint);
                if (caller.isPresent()) { return caller; }
                Thread.sleep(NAP_MILLIS);
            } while (System.nanoTime() - start < timeout.toNanos());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return Optional.empty();
    }

    private Optional<Caller> accept(Consumer<String> complaint) {
        SocketChannel client;
        try {
            client = socket.accept();
        } catch (IOException e) {
            if (!socket.isOpen()) { throw new CommandFailure("Cannot accept clients: " + e.getMessage() + ".", e); }
            if (!isComplained) { complaint.accept("Cannot accept clients now: " + e.getMessage() + "."); }
            isComplained = true;
            return Optional.empty();
        }
        if (client == null) { return Optional.empty(); }
        isComplained = false;
        try {
            return Optional.of(new Caller(new ControlChannel(client), text(client)));
        } catch (IOException e) {
            close(client); // it has gone already
            return Optional.empty();
        }
    }

    private static String text(SocketChannel client) throws IOException {
        InetSocketAddress remote = (InetSocketAddress) client.getRemoteAddress();
        return remote == null ? "?" : remote.getAddress().getHostAddress() + ":" + remote.getPort();
    }

    /** {@return address and port} */
    @Override
    public String toString() {
        try {
            InetSocketAddress local = (InetSocketAddress) socket.getLocalAddress();
            return local.getAddress().getHostAddress() + ":" + local.getPort();
        } catch (IOException e) {
            return "?";
        }
    }

    @Override
    public void close() { close(socket); }

    private static void close(Channel channel) {
        try {
            channel.close();
        } catch (IOException e) {
            // nobody uses it any more either way
        }
    }
}
