package io.ofi4j.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.ofi4j.Connection;
import io.ofi4j.Endpoint;
import io.ofi4j.PackagePrivate;
import io.ofi4j.errors.ConnectionException;
import io.ofi4j.info.EndpointAddress;
import io.ofi4j.support.ForEachProvider;
import io.ofi4j.support.Listener;
import io.ofi4j.support.Pair;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.channels.SocketChannel;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Why connections do not come about that something on the way breaks off, or that there is no way for. */
@Tag("gate")
@Timeout(600)
class ConnectionFailureTest {
    private static final byte[] LOOPBACK = {127, 0, 0, 1};
    /** The broadcast address of the loopback interface, which the kernel makes no connections to. */
    private static final byte[] NOWHERE = {127, (byte) 255, (byte) 255, (byte) 255};
    private static final int SOME_PORT = 1234;
    private static final int PORT_OFFSET = 2;
    private static final int ADDRESS_OFFSET = 4;

    /** A provider's address (a sockaddr_in), with another host and port. */
    private static EndpointAddress address(Listener listener, byte[] host, int port) {
        byte[] bytes = listener.passive.address().toBytes();
        bytes[PORT_OFFSET] = (byte) (port >>> Byte.SIZE);
        bytes[PORT_OFFSET + 1] = (byte) port;
        System.arraycopy(host, 0, bytes, ADDRESS_OFFSET, host.length);
        return EndpointAddress.of(bytes, listener.domain.info().addressFormat());
    }

    private static ConnectionException failure(Listener listener, EndpointAddress address) {
        Endpoint client = listener.client(address);
        ConnectionException failure = catchThrowableOfType(ConnectionException.class,
                () -> client.connection().connect(address, Pair.DEADLINE));
        assertThat(client.connection().state()).isEqualTo(Connection.State.FAILED);
        return failure;
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#connected")
    void aConnectionThatThePeerBreaksOffIsReset(String provider) throws IOException {
        try (Listener listener = new Listener(provider);
                ServerSocket peer = new ServerSocket(0, 1, InetAddress.getByAddress(LOOPBACK))) {
            CompletableFuture<Void> brokenOff = CompletableFuture.runAsync(() -> breakOff(peer));

            ConnectionException e = failure(listener, address(listener, LOOPBACK, peer.getLocalPort()));

            brokenOff.orTimeout(Pair.DEADLINE.toSeconds(), TimeUnit.SECONDS).join();
            if (provider.equals("sockets")) { // all failures are one to it
                assertThat(e.reason()).isEqualTo(ConnectionException.Reason.REFUSED);
            } else {
                assertThat(e.reason()).isEqualTo(ConnectionException.Reason.RESET);
                assertThat(e.errno()).isEqualTo(104);
                assertThat(e).hasMessageContaining("broke");
            }
            assertThat(e.data()).isEmpty();
        }
    }

    /** Takes a connection, waits for its request, and resets it. */
    private static void breakOff(ServerSocket peer) {
        try (Socket socket = peer.accept()) {
            assertThat(socket.getInputStream().read()).isNotNegative();
            socket.setSoLinger(true, 0);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#connected")
    void whereThereIsNoWayToThePeerIsUnreachable(String provider) throws IOException {
        assumeTrue(isNowhere(), "this kernel connects to the loopback's broadcast address");
        try (Listener listener = new Listener(provider)) {
            ConnectionException e = failure(listener, address(listener, NOWHERE, SOME_PORT));

            assertThat(e.reason()).isEqualTo(ConnectionException.Reason.UNREACHABLE);
            assertThat(e.errno()).isEqualTo(101);
            assertThat(e).hasMessageContaining("route");
        }
    }

    /** Whether a plain socket learns that there is no way. */
    private static boolean isNowhere() throws IOException {
        try (SocketChannel socket = SocketChannel.open()) {
            socket.bind(new InetSocketAddress(InetAddress.getByAddress(LOOPBACK), 0));
            socket.connect(new InetSocketAddress(InetAddress.getByAddress(NOWHERE), SOME_PORT));
            return false;
        } catch (IOException e) {
            return e.getMessage().contains("unreachable");
        }
    }

    @ParameterizedTest
    @CsvSource({"111, REFUSED", "104, RESET", "103, RESET", "32, RESET", "107, RESET", "5, RESET", "115, RESET",
            "110, TIMED_OUT", "113, UNREACHABLE", "101, UNREACHABLE", "112, UNREACHABLE", "100, UNREACHABLE",
            "12, OTHER", "99999, OTHER"})
    void whatAProviderSaysHasAReason(int errno, ConnectionException.Reason reason) {
        ConnectionException e = PackagePrivate.connectionFailed(errno);

        assertThat(e.reason()).isEqualTo(reason);
        assertThat(e.errno()).isEqualTo(errno);
        assertThat(e).hasMessageContaining("connecting failed on provider tcp");
    }
}
