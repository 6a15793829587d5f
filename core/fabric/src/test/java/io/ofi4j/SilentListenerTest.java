package io.ofi4j;

import static org.assertj.core.api.Assertions.assertThat;

import io.ofi4j.errors.ConnectionException;
import io.ofi4j.info.EndpointAddress;
import io.ofi4j.support.ForEachProvider;
import io.ofi4j.support.Listener;
import io.ofi4j.support.Pair;
import io.ofi4j.support.TestProviders;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.provider.MethodSource;

/** A connect to an address at which nobody answers keeps nobody else waiting. */
@Timeout(300)
class SilentListenerTest {
    /** Whether the connect of a provider waits for an answer. */
    private static boolean waits(String provider) {
        return provider.equals("sockets");
    }

    static Stream<String> whereConnectsWait() { return TestProviders.connected().filter(SilentListenerTest::waits); }

    /** A port whose kernel answers no more requests: its queue is full, and nobody accepts. */
    private static final class SilentPort implements AutoCloseable {
        private static final int MORE_THAN_QUEUED = 8;

        private final ServerSocketChannel server = ServerSocketChannel.open();
        private final List<SocketChannel> queued = new ArrayList<>();

        SilentPort(String host) throws IOException {
            server.bind(new InetSocketAddress(host, 0), 1);
            for (int i = 0; i < MORE_THAN_QUEUED; i++) {
                SocketChannel channel = SocketChannel.open();
                queued.add(channel);
                channel.configureBlocking(false);
                channel.connect(server.getLocalAddress());
            }
        }

        EndpointAddress address() throws IOException {
            return EndpointAddress.of((InetSocketAddress) server.getLocalAddress());
        }

        /** From now on requests are refused. */
        void refuse() throws IOException { server.close(); }

        @Override
        public void close() throws IOException {
            refuse();
            for (SocketChannel channel : queued) {
                channel.close();
            }
        }
    }

    /** A thread in a connect, and what that has thrown. */
    private record Connecting(Thread thread, CompletableFuture<Void> done) {
        /** Returns when the thread is in fi_connect, or has returned from it. */
        static Connecting start(Endpoint client, EndpointAddress address) {
            CompletableFuture<Void> done = new CompletableFuture<>();
            Thread thread = Thread.ofPlatform().daemon().start(() -> {
                try {
                    client.connection().connect(address);
                    done.complete(null);
                } catch (RuntimeException e) {
                    done.completeExceptionally(e);
                }
            });
            Waiting.YIELD.until(() -> done.isDone() || Arrays.stream(thread.getStackTrace())
                    .anyMatch(frame -> frame.getMethodName().equals("fi_connect")), Pair.DEADLINE);
            return new Connecting(thread, done);
        }

        Throwable failure() throws Exception {
            return done.handle((nothing, thrown) -> thrown).get(Pair.DEADLINE.toSeconds(), TimeUnit.SECONDS);
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#connected")
    void otherCallsOfItsFabricGoOn(String provider) throws Exception {
        try (Listener listener = new Listener(provider);
                SilentPort silent = new SilentPort(TestProviders.address("MSG " + provider))) {
            Endpoint client = listener.client(silent.address());
            Connecting connecting = Connecting.start(client, silent.address());
            if (!waits(provider)) { assertThat(connecting.failure()).as("the connect returns").isNull(); }
            Endpoint[] ends = listener.connect();
            ends[0].close();
            listener.fabric.openDomain().close();

            assertThat(connecting.done.isDone()).as("the connect has returned").isEqualTo(!waits(provider));
            silent.refuse();
            if (waits(provider)) { assertThat(connecting.failure()).isInstanceOf(ConnectionException.class); }
        }
    }

    @ForEachProvider
    @MethodSource("whereConnectsWait")
    void aCloseWaitsForTheConnectOfAnotherThread(String provider) throws Exception {
        try (Listener listener = new Listener(provider);
                SilentPort silent = new SilentPort(TestProviders.address("MSG " + provider))) {
            Endpoint client = listener.client(silent.address());
            Connection connection = client.connection();
            Connecting connecting = Connecting.start(client, silent.address());
            Thread closing = Thread.ofPlatform().daemon().start(client::close);
            Waiting.YIELD.until(() -> closing.getState() == Thread.State.WAITING, Pair.DEADLINE);
            assertThat(connecting.done).isNotDone();
            silent.refuse();

            assertThat(connecting.failure()).isInstanceOf(ConnectionException.class);
            assertThat(closing.join(Pair.DEADLINE)).isTrue();
            assertThat(client.isClosed()).isTrue();
            assertThat(connection.state()).isEqualTo(Connection.State.FAILED);
        }
    }
}
