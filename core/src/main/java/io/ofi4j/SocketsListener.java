package io.ofi4j;

import io.ofi4j.internal.DomainOps;
import io.ofi4j.internal.FidOps;
import io.ofi4j.internal.InfoHandle;
import io.ofi4j.internal.Out;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.Arrays;

/**
 * What a passive endpoint of the sockets provider has under way: a thread of its takes connections, another reads what they ask for
 * and sends the rejections. Closing it stops both, and leaves what they have not done yet: the peer is told nothing, and this process
 * keeps the connection's socket.
 */
final class SocketsListener {
    private static final Duration PATIENCE = Duration.ofSeconds(2);
    /** The header of a request, whose kind is 0. Where no more comes, the provider closes the connection. */
    private static final int HEADER = 8;
    private static final int FAMILY_AND_PORT = 4;
    private static final int IPV4 = 4;
    private static final int IPV6_AT = 8;
    private static final int IPV6 = 16;
    /** {@code struct sockaddr_in} has so many bytes. */
    private static final int SHORT_ADDRESS = 16;

    private SocketsListener() {
    }

    /** Waits until what was asked for before is told, and what was rejected before is sent. */
    static void catchUp(EndpointAddress address) {
        try {
            askInVain(address);
            askInVain(address); // rejections are sent between two looks at the connections
        } catch (IOException | UncheckedIOException e) {
            // no descriptor is left, or nobody listens any more
        }
    }

    /** Connections are taken, and looked at, one after the other. */
    private static void askInVain(EndpointAddress address) throws IOException {
        try (SocketChannel channel = SocketChannel.open()) {
            channel.configureBlocking(false);
            channel.connect(socketAddress(address.toBytes()));
            if (!Waiting.YIELD.tryUntil(() -> isConnected(channel), PATIENCE)) {
                return;
            }
            channel.write(ByteBuffer.allocate(HEADER));
            channel.shutdownOutput();
            Waiting.YIELD.tryUntil(() -> isClosedByPeer(channel), PATIENCE);
        }
    }

    private static boolean isConnected(SocketChannel channel) {
        try {
            return channel.finishConnect();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static boolean isClosedByPeer(SocketChannel channel) {
        try {
            return channel.read(ByteBuffer.allocate(1)) < 0;
        } catch (IOException e) { // reset
            return true;
        }
    }

    /** Of a {@code sockaddr_in} or {@code sockaddr_in6}. */
    private static InetSocketAddress socketAddress(byte[] address) throws IOException {
        int start = address.length == SHORT_ADDRESS ? FAMILY_AND_PORT : IPV6_AT;
        int length = address.length == SHORT_ADDRESS ? IPV4 : IPV6;
        int port = Short.toUnsignedInt(ByteBuffer.wrap(address).getShort(Short.BYTES));
        return new InetSocketAddress(InetAddress.getByAddress(Arrays.copyOfRange(address, start, start + length)),
                port);
    }

    /** Ends a request whose passive endpoint is closed: an endpoint takes it over, and is closed. */
    static void end(Fabric fabric, InfoHandle request) {
        Out domain = fabric.domainList().open(fabric.info().handle());
        if (domain.status() != 0) {
            return;
        }
        Out endpoint = DomainOps.fi_endpoint(domain.handle(), request);
        if (endpoint.status() == 0) {
            FidOps.fi_close(endpoint.handle());
        }
        fabric.domainList().close(domain.handle());
    }
}
