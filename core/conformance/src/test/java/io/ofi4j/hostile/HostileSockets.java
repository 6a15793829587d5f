package io.ofi4j.hostile;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

/**
 * Connections to a server that do not know its secret: they are silent, send garbage, halves of greetings and false
 * lengths, or end.
 */
final class HostileSockets implements AutoCloseable {
    private static final int RANDOM = 32;
    private static final int MOST = 64;
    private static final int FLOOD = 1 << 16;

    private final HostileRun run;
    private final Random random;
    private final InetSocketAddress server;
    private final byte[] magic;
    private final List<Socket> sockets = new ArrayList<>();

    /** @param magic how the greetings of the server's protocol begin */
    HostileSockets(HostileRun run, Random random, InetSocketAddress server, String magic) {
        this.run = run;
        this.random = random;
        this.server = server;
        this.magic = magic.getBytes(StandardCharsets.ISO_8859_1);
    }

    void step() throws IOException {
        switch (random.nextInt(4)) {
            case 0 -> {
                if (!sockets.isEmpty()) { sockets.remove(random.nextInt(sockets.size())).close(); }
            }
            case 1 -> {
                if (!sockets.isEmpty()) { send(sockets.get(random.nextInt(sockets.size()))); }
            }
            default -> {
                if (sockets.size() < MOST) {
                    Socket socket = new Socket(server.getAddress(), server.getPort());
                    sockets.add(socket);
                    if (random.nextBoolean()) { send(socket); }
                    if (random.nextInt(4) == 0) { socket.shutdownOutput(); }
                    run.tried("strangers");
                }
            }
        }
    }

    private byte[] bytes(int length) {
        byte[] bytes = new byte[length];
        random.nextBytes(bytes);
        return bytes;
    }

    /** Whatever a stranger may: the server closes the connection, or waits. */
    private void send(Socket socket) {
        byte[] greeting = ByteBuffer.allocate(magic.length + RANDOM).put(magic).put(bytes(RANDOM)).array();
        int length = switch (random.nextInt(6)) {
            case 0 -> Integer.MIN_VALUE;
            case 1 -> Integer.MAX_VALUE;
            case 2 -> 1 << 16;
            case 3 -> 0;
            default -> random.nextInt();
        };
        byte[] bytes = switch (random.nextInt(5)) {
            case 0 -> bytes(1 + random.nextInt(200));
            case 1 -> Arrays.copyOf(greeting, random.nextInt(greeting.length));
            case 2 -> bytes(FLOOD);
            case 3 -> ByteBuffer.allocate(greeting.length + Integer.BYTES).put(greeting).putInt(length).array();
            default -> ByteBuffer.allocate(greeting.length + Integer.BYTES + 100).put(greeting)
                    .putInt(random.nextBoolean() ? 100 : length).put(bytes(100)).array();
        };
        try {
            socket.getOutputStream().write(bytes);
            run.tried("lies of strangers");
        } catch (IOException e) { // closed by the server, as it should be
            run.tried("connections that the server had closed");
        }
    }

    @Override
    public void close() throws IOException {
        for (Socket socket : sockets) {
            socket.close();
        }
    }
}
