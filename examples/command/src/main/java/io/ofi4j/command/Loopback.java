package io.ofi4j.command;

import java.io.IOException;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketException;

/** Addresses of this machine. */
public final class Loopback {
    /** The loopback address: of IPv4 where this machine has that, else of IPv6. */
    public static final String ADDRESS = isBindable("127.0.0.1") || !isBindable("::1") ? "127.0.0.1" : "::1";

    private Loopback() {}

    private static boolean isBindable(String literal) {
        try {
            return isOwn(InetAddress.getByName(literal));
        } catch (IOException e) {
            return false;
        }
    }

    /** {@return whether sockets of this machine can have this address} */
    public static boolean isOwn(InetAddress address) {
        try (DatagramSocket socket = new DatagramSocket(new InetSocketAddress(address, 0))) {
            return socket.isBound();
        } catch (SocketException e) {
            return false;
        }
    }
}
