package io.ofi4j.support;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;

/**
 * A port that nobody listens at, for who must know it before a server has it. It is below those that the system gives
 * to whoever asks for any: none of them is taken meanwhile, and a client that connects too early does not meet itself.
 */
public final class FreePort {
    private static final int FIRST = 20_000;
    private static final int COUNT = 10_000;

    private FreePort() {}

    public static int find() {
        for (int tries = 0; tries < COUNT; tries++) {
            int port = FIRST + (int) ((ProcessHandle.current().pid() * 31 + tries) % COUNT);
            try (ServerSocket socket = new ServerSocket()) {
                socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 1);
                return port;
            } catch (IOException e) {
                continue; // somebody has it
            }
        }
        throw new AssertionError("no port is free from " + FIRST + " on");
    }
}
