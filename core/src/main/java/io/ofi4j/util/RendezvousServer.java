package io.ofi4j.util;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;

/** Keeps what the members of a rendezvous publish, and tells them. A thread for each member, in this process. */
final class RendezvousServer implements AutoCloseable {
    /** All names and values together; a member that publishes more is refused. */
    static final long MOST_BYTES = 64 << 20;
    /** Connections at once: strangers too are held by this. */
    private static final int MOST_MEMBERS = 4096;
    private static final long STACK = 256 << 10;
    /** For a stranger to show that it knows the secret. */
    private static final Duration INTRODUCTION = Duration.ofSeconds(10);

    private final ServerSocket listener;
    private final String secret;
    private final Map<String, byte[]> published = new HashMap<>();
    private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
    private final Semaphore places = new Semaphore(MOST_MEMBERS);
    private long bytes;
    private volatile boolean closed;

    RendezvousServer(InetSocketAddress at, String secret) throws IOException {
        this.secret = secret;
        this.listener = new ServerSocket();
        listener.setReuseAddress(true);
        try {
            listener.bind(at, 512);
        } catch (IOException e) {
            listener.close();
            throw e;
        }
        start("ofi4j-rendezvous", this::accept);
    }

    InetSocketAddress address() { return (InetSocketAddress) listener.getLocalSocketAddress(); }

    private void accept() {
        while (!closed) {
            try {
                places.acquireUninterruptibly();
                Socket socket = listener.accept();
                sockets.add(socket);
                if (closed) { socket.close(); }
                start("ofi4j-rendezvous-member", () -> serve(socket));
            } catch (IOException e) { // closed, or no descriptor is left for now
                places.release();
                pause();
            }
        }
    }

    private static void start(String name, Runnable work) {
        Thread.ofPlatform().daemon().name(name).stackSize(STACK).start(work);
    }

    private static void pause() {
        try {
            Thread.sleep(Duration.ofMillis(10));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void serve(Socket socket) {
        try (socket) {
            socket.setSoTimeout((int) INTRODUCTION.toMillis());
            SealedChannel channel = new SealedChannel(socket, secret, true, RendezvousRequest.LONGEST);
            RendezvousRequest request = RendezvousRequest.decode(channel.receive());
            socket.setSoTimeout(0);
            while (true) {
                channel.send(answer(request));
                request = RendezvousRequest.decode(channel.receive());
            }
        } catch (IOException e) {
            return; // it has left, or was never one
        } finally {
            sockets.remove(socket);
            places.release();
        }
    }

    /** What to answer: a byte for the outcome, and the value that was asked for. */
    private byte[] answer(RendezvousRequest request) {
        return switch (request.kind()) {
            case JOIN -> RendezvousRequest.answer(RendezvousRequest.DONE, new byte[0]);
            case PUBLISH -> RendezvousRequest.answer(
                    publish(request.name(), request.value()) ? RendezvousRequest.DONE : RendezvousRequest.FULL,
                    new byte[0]);
            case AWAIT -> {
                byte[] value = await(request.name(), request.millis());
                yield value == null
                        ? RendezvousRequest.answer(RendezvousRequest.ABSENT, new byte[0])
                        : RendezvousRequest.answer(RendezvousRequest.DONE, value);
            }
        };
    }

    private synchronized boolean publish(String name, byte[] value) {
        byte[] before = published.get(name);
        long more = value.length - (before == null ? -name.length() : before.length);
        if (bytes + more > MOST_BYTES) { return false; }
        bytes += more;
        published.put(name, value);
        notifyAll();
        return true;
    }

    /** The value, or null if it does not come in so many milliseconds, or the server closes. */
    private synchronized byte[] await(String name, long millis) {
        long start = System.nanoTime();
        while (!closed) {
            byte[] value = published.get(name);
            long left = millis - (System.nanoTime() - start) / 1_000_000;
            if (value != null || left <= 0) { return value; }
            try {
                wait(left);
            } catch (InterruptedException e) {
                return null;
            }
        }
        return null;
    }

    @Override
    public void close() throws IOException {
        closed = true;
        listener.close();
        synchronized (this) {
            notifyAll();
        }
        for (Socket socket : sockets) {
            socket.close();
        }
    }
}
