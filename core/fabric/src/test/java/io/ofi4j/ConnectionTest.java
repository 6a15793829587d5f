package io.ofi4j;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.ofi4j.errors.ConnectionException;
import io.ofi4j.errors.FabricException;
import io.ofi4j.info.EndpointAddress;
import io.ofi4j.info.EndpointOption;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.support.ForEachProvider;
import io.ofi4j.support.Forked;
import io.ofi4j.support.FreePort;
import io.ofi4j.support.Listener;
import io.ofi4j.support.OtherThread;
import io.ofi4j.support.Pair;
import io.ofi4j.support.TestProviders;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.provider.MethodSource;

/** Connections come about, are refused, and end; each end learns which. */
@Timeout(600)
class ConnectionTest {
    private static final Duration SHORT = Duration.ofMillis(100);

    private final Random random = new Random(11);

    private byte[] bytes(int length) {
        byte[] bytes = new byte[length];
        random.nextBytes(bytes);
        return bytes;
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#connected")
    void bothEndsLearnOfTheConnectionAndOfWhatTheOtherSaid(String provider) {
        try (Listener listener = new Listener(provider)) {
            Endpoint client = listener.client();
            int limit = client.connection().maximumDataSize();
            assertThat(limit).isPositive().isEqualTo(listener.passive.maximumDataSize());
            byte[] asked = bytes(limit);
            byte[] answered = bytes(limit);

            client.connection().connect(listener.passive.address(), asked);
            assertThat(client.connection().state()).isEqualTo(Connection.State.CONNECTING);
            ConnectionRequest request = listener.request();
            assertThat(request.data()).containsExactly(asked);
            assertThat(request.passiveEndpoint()).isSameAs(listener.passive);
            assertThat(request.isPending()).isTrue();
            assertThat(request.info().destinationAddress()).isPresent();
            Endpoint server = listener.server(request);
            assertThat(request.isPending()).isFalse();
            server.connection().accept(Pair.DEADLINE, answered);
            assertThat(client.connection().awaitConnected(Pair.DEADLINE)).containsExactly(answered);

            assertThat(client.connection().state()).isEqualTo(Connection.State.CONNECTED);
            assertThat(client.connection().peerData()).containsExactly(answered);
            assertThat(server.connection().state()).isEqualTo(Connection.State.CONNECTED);
            assertThat(server.connection().peerData()).isEmpty();
            assertThat(client.connection().peerAddress()).isEqualTo(listener.passive.address());
            assertThat(listener.events.read()).as("events that the waiting form has taken").isEmpty();
            assertThat(listener.farEvents.read()).isEmpty();
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#connected")
    void aServerOpensItsDomainWithTheInfoOfTheRequest(String provider) {
        try (Listener listener = new Listener(provider)) {
            Endpoint client = listener.client();
            client.connection().connect(listener.passive.address());
            ConnectionRequest request = listener.request();
            try (Domain domain = listener.fabric.openDomain(request.info());
                    CompletionQueue queue = domain.openCompletionQueue();
                    Endpoint server = domain.openEndpoint(request).bind(queue).bind(listener.events).enable()) {
                server.connection().accept(Pair.DEADLINE);
                client.connection().awaitConnected(Pair.DEADLINE);

                assertThat(request.info().fabric().name()).isEqualTo(listener.fabric.info().fabric().name());
                assertThat(server.connection().state()).isEqualTo(Connection.State.CONNECTED);
                client.close(); // before the queue of the server's domain
            }
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#connected")
    void aClientConnectsFromTheAddressOfItsPassiveEndpoint(String provider) {
        EndpointAddress own = EndpointAddress
                .of(new InetSocketAddress(TestProviders.address("MSG " + provider), FreePort.find()));
        try (Listener listener = new Listener(provider)) {
            FabricInfo info = TestProviders.info(TestProviders.connectedHints(provider).source(own))
                    .withDestination(listener.passive.address());
            Domain domain = listener.domain; // one event queue's read makes progress on those of its fabric
            try (PassiveEndpoint passive = listener.fabric.openPassiveEndpoint(info).bind(listener.farEvents);
                    Endpoint client = domain.openEndpoint(passive).bind(listener.farQueue).bind(listener.farEvents)
                            .enable()) {
                assertThatIllegalStateException().isThrownBy(() -> domain.openEndpoint(passive))
                        .withMessageContaining("taken over");
                assertThatIllegalStateException().isThrownBy(passive::listen).withMessageContaining("taken over");
                assertThatIllegalStateException().isThrownBy(() -> passive.bind(listener.events))
                        .withMessageContaining("taken over");
                assertThatIllegalStateException().isThrownBy(() -> passive.backlog(1))
                        .withMessageContaining("taken over");
                assertThatIllegalStateException().isThrownBy(() -> passive.address(own))
                        .withMessageContaining("taken over");
                client.connection().connect(listener.passive.address());
                Endpoint server = listener.server(listener.request());
                server.connection().accept(Pair.DEADLINE);
                client.connection().awaitConnected(Pair.DEADLINE);

                assertThat(client.address()).isEqualTo(own);
            }
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#connected")
    void anEndpointThatTookOverAnAddressMayBeClosedUnconnected(String provider) {
        Forked.Result result = Forked.run(TakesOver.class, provider);

        assertThat(result.exit()).as(result.output()).isZero();
    }

    /** With an address of the hints, and with one that was chosen. */
    static final class TakesOver {
        private TakesOver() {}

        public static void main(String[] arguments) {
            try (Listener listener = new Listener(arguments[0])) {
                closeUnconnected(listener, false);
                closeUnconnected(listener, !arguments[0].equals("verbs")); // which takes none
            }
        }

        private static void closeUnconnected(Listener listener, boolean chooses) {
            try (PassiveEndpoint passive = listener.fabric.openPassiveEndpoint(listener.active())) {
                if (chooses) { passive.address(EndpointAddress.of(new InetSocketAddress("127.0.0.1", 0))); }
                try (Endpoint opened = listener.domain.openEndpoint(passive)) {
                    opened.bind(listener.farEvents).bind(listener.farQueue);
                }
            }
        }
    }

    /** Over some providers the endpoint has the port from its opening on, over others from its enabling on. */
    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#connected")
    void aChosenAddressIsTakenOver(String provider) {
        if (provider.equals("verbs")) {
            return; // which takes none
        }
        EndpointAddress own = EndpointAddress.of(new InetSocketAddress("127.0.0.2", FreePort.find()));
        try (Listener listener = new Listener(provider);
                PassiveEndpoint passive = listener.fabric.openPassiveEndpoint(listener.active()).address(own);
                Endpoint client = listener.domain.openEndpoint(passive).bind(listener.farQueue).bind(listener.farEvents)
                        .enable()) {
            assertThat(client.address()).isEqualTo(own);
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#connected")
    void anEndpointThatListensGivesItsAddressToNobody(String provider) {
        try (Listener listener = new Listener(provider); Domain domain = listener.fabric.openDomain()) {
            assertThatIllegalStateException().isThrownBy(() -> domain.openEndpoint(listener.passive))
                    .withMessageContaining("listens");
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#connected")
    void theEventsTellOfAConnectionToo(String provider) {
        try (Listener listener = new Listener(provider)) {
            Endpoint client = listener.client();
            client.connection().connect(listener.passive.address());
            Endpoint server = listener.server(listener.request());
            server.connection().accept((byte) 5);

            assertThat(((Event.Connected) listener.await(listener.events)).endpoint()).isSameAs(server);
            Event.Connected connected = (Event.Connected) listener.await(listener.farEvents);
            assertThat(connected.endpoint()).isSameAs(client);
            assertThat(connected.data()).containsExactly(5);
            client.connection().shutdown();
            assertThat(listener.await(listener.farEvents)).isEqualTo(new Event.ShutDown(client));
            assertThat(listener.await(listener.events)).isEqualTo(new Event.ShutDown(server));
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#connected")
    void dataOfEveryLengthArrives(String provider) {
        try (Listener listener = new Listener(provider)) {
            int limit = listener.passive.maximumDataSize();
            for (int length : new int[]{0, 1, 7, 8, 9, limit / 2, limit - 1, limit}) {
                byte[] asked = bytes(length);
                byte[] reason = bytes(length);
                Endpoint client = listener.client();
                client.connection().connect(listener.passive.address(), asked);
                ConnectionRequest request = listener.request();
                assertThat(request.data()).containsExactly(asked);
                request.reject(reason);

                ConnectionException e = catchThrowableOfType(ConnectionException.class,
                        () -> client.connection().awaitConnected(Pair.DEADLINE));
                // tcp of 1.15 loses what comes with a rejection, which its commit 208c3563b mended
                byte[] arrived = provider.equals("tcp") && TestProviders.isBefore(1, 16) ? new byte[0] : reason;
                assertThat(e.data()).containsExactly(arrived);
                assertThat(e.reason()).isEqualTo(
                        arrived.length == 0 ? ConnectionException.Reason.REFUSED : ConnectionException.Reason.REJECTED);
            }
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#connected")
    void tooMuchDataIsRefusedBeforeTheCall(String provider) {
        try (Listener listener = new Listener(provider)) {
            byte[] tooMuch = bytes(listener.passive.maximumDataSize() + 1);
            Endpoint client = listener.client();
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> client.connection().connect(listener.passive.address(), tooMuch))
                    .withMessageContaining("at most");
            client.connection().connect(listener.passive.address());
            ConnectionRequest request = listener.request();
            assertThatIllegalArgumentException().isThrownBy(() -> request.reject(tooMuch));
            Endpoint server = listener.server(request);
            assertThatIllegalArgumentException().isThrownBy(() -> server.connection().accept(tooMuch));

            server.connection().accept(Pair.DEADLINE);
            client.connection().awaitConnected(Pair.DEADLINE);
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#connected")
    void whereNobodyListensTheConnectionIsRefused(String provider) {
        try (Listener listener = new Listener(provider); Listener gone = new Listener(provider)) {
            EndpointAddress address = gone.passive.address();
            gone.passive.close();
            Endpoint client = listener.client(address);

            ConnectionException e = catchThrowableOfType(ConnectionException.class,
                    () -> client.connection().connect(address, Pair.DEADLINE));

            assertThat(e.reason()).isEqualTo(ConnectionException.Reason.REFUSED);
            assertThat(e.errno()).isEqualTo(111);
            assertThat(e).hasMessageContaining("Nothing listens");
            assertThat(client.connection().state()).isEqualTo(Connection.State.FAILED);
            assertThatIllegalStateException().isThrownBy(client::rma).withMessageContaining("FAILED");
            assertThatIllegalStateException().isThrownBy(() -> client.connection().connect(address))
                    .withMessageContaining("open another");
            assertThatIllegalStateException().isThrownBy(() -> client.connection().peer());
            client.connection().shutdown();
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#connected")
    void aPeerThatDoesNotAnswerTimesOutAndMayBeWaitedForAgain(String provider) {
        try (Listener listener = new Listener(provider)) {
            Endpoint client = listener.client();

            ConnectionException e = catchThrowableOfType(ConnectionException.class,
                    () -> client.connection().connect(listener.passive.address(), SHORT));
            assertThat(e.reason()).isEqualTo(ConnectionException.Reason.TIMED_OUT);
            assertThatIllegalStateException().isThrownBy(client::rma).withMessageContaining("CONNECTING");
            Endpoint server = listener.server(listener.request());
            server.connection().accept(Pair.DEADLINE, (byte) 1);

            assertThat(client.connection().awaitConnected(Pair.DEADLINE)).containsExactly(1);
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#connected")
    void anInterruptEndsTheWaitForAConnectionWhichMayBeWaitedForAgain(String provider) {
        try (Listener listener = new Listener(provider)) {
            Endpoint client = listener.client();
            Thread.currentThread().interrupt();
            FabricException e = catchThrowableOfType(FabricException.class,
                    () -> client.connection().connect(listener.passive.address(), Pair.DEADLINE));
            assertThat(Thread.interrupted()).isTrue();
            assertThat(e).isNotInstanceOf(ConnectionException.class).hasMessageContaining("interrupted");
            assertThat(e.errno()).isEqualTo(4);
            assertThat(client.connection().state()).isEqualTo(Connection.State.CONNECTING);
            Endpoint server = listener.server(listener.request());
            server.connection().accept(Pair.DEADLINE, (byte) 1);

            assertThat(client.connection().awaitConnected(Pair.DEADLINE)).containsExactly(1);
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#connected")
    void whoWaitsForAConnectionLearnsThatItsEndpointWasClosed(String provider) {
        try (Listener listener = new Listener(provider); OtherThread other = new OtherThread()) {
            Endpoint client = listener.client();
            Connection connection = client.connection();
            connection.connect(listener.passive.address());
            Future<byte[]> waiting = other.begin(() -> connection.awaitConnected(Pair.DEADLINE));
            Waiting.YIELD.until(() -> Arrays.stream(other.thread.getStackTrace())
                    .anyMatch(frame -> frame.getMethodName().equals("awaitUntil")), Pair.DEADLINE);
            client.close();

            assertThatThrownBy(() -> waiting.get(Pair.DEADLINE.toSeconds(), TimeUnit.SECONDS))
                    .hasCauseInstanceOf(IllegalStateException.class).hasMessageContaining("is closed");
            assertThatIllegalStateException().isThrownBy(connection::peer).withMessageContaining("not connected");
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#connected")
    void anEndpointWhoseConnectionHasEndedIsAskedNothingNatively(String provider) {
        try (Listener listener = new Listener(provider)) {
            Endpoint client = listener.connect()[0];
            client.options().get(EndpointOption.CONNECTION_DATA_SIZE);
            EndpointAddress address = client.address();
            client.connection().shutdown();

            if (provider.equals("sockets")) { // whose endpoint goes with the connection
                assertThatIllegalStateException()
                        .isThrownBy(() -> client.options().get(EndpointOption.CONNECTION_DATA_SIZE))
                        .withMessageContaining("lost its connection");
                assertThatIllegalStateException().isThrownBy(() -> client.control().transmitSizeLeft())
                        .withMessageContaining("lost its connection");
                assertThatIllegalStateException().isThrownBy(() -> client.alias(Set.of()))
                        .withMessageContaining("lost its connection");
            } else {
                assertThat(client.options().get(EndpointOption.CONNECTION_DATA_SIZE)).isPositive();
            }
            assertThat(client.address()).isEqualTo(address);
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#connected")
    void aRequestThatNobodyTakesIsRejectedWithItself(String provider) {
        try (Listener listener = new Listener(provider)) {
            Endpoint one = listener.client();
            one.connection().connect(listener.passive.address());
            ConnectionRequest request = listener.request();
            request.close();
            request.close();
            assertRefused(one);
            assertThatIllegalStateException().isThrownBy(request::reject).withMessageContaining("rejected");
            assertThatIllegalStateException().isThrownBy(() -> listener.domain.openEndpoint(request))
                    .withMessageContaining("rejected");

            Endpoint two = listener.client();
            two.connection().connect(listener.passive.address());
            Endpoint server = listener.server(listener.request());
            server.close();
            ConnectionException e = catchThrowableOfType(ConnectionException.class,
                    () -> two.connection().awaitConnected(Duration.ofSeconds(2)));
            assertThat(e).as("the accepting endpoint was closed").isNotNull();
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#connected")
    void aRequestIsRejectedWithAnEndpointThatNothingWasBoundTo(String provider) {
        try (Listener listener = new Listener(provider)) {
            Endpoint client = listener.client();
            client.connection().connect(listener.passive.address());
            ConnectionRequest request = listener.request();

            listener.domain.openEndpoint(request).close();

            assertThat(request.isPending()).isFalse();
            assertThatThrownBy(() -> client.connection().awaitConnected(Pair.DEADLINE))
                    .isInstanceOf(ConnectionException.class);
            listener.passive.close();
        }
    }

    @ForEachProvider
    @MethodSource("connectedButSockets")
    void requestsAreRejectedWhenThePassiveEndpointIsClosed(String provider) {
        try (Listener listener = new Listener(provider)) {
            Endpoint[] accepted = listener.connect();
            Endpoint handed = listener.client();
            handed.connection().connect(listener.passive.address());
            ConnectionRequest request = listener.request();
            Endpoint unread = listener.client();
            unread.connection().connect(listener.passive.address());
            listener.farEvents.read();

            listener.passive.close();

            assertThat(request.isPending()).isFalse();
            assertRefused(handed);
            assertThatThrownBy(() -> unread.connection().awaitConnected(Duration.ofSeconds(2)))
                    .isInstanceOf(ConnectionException.class);
            assertThat(listener.events.read()).isEmpty();
            assertThat(accepted[0].connection().state()).isEqualTo(Connection.State.CONNECTED);
            assertThat(accepted[1].rma()).isNotNull();
            assertThatIllegalStateException().isThrownBy(listener.passive::address).withMessageContaining("closed");
        }
    }

    private static void assertRefused(Endpoint client) {
        ConnectionException e = catchThrowableOfType(ConnectionException.class,
                () -> client.connection().awaitConnected(Pair.DEADLINE));
        assertThat(e.reason()).isEqualTo(ConnectionException.Reason.REFUSED);
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#connected")
    void anEndpointThatMayYetAcceptIsClosedBeforeThePassiveOne(String provider) {
        try (Listener listener = new Listener(provider)) {
            Endpoint client = listener.client();
            client.connection().connect(listener.passive.address());
            Endpoint server = listener.server(listener.request());

            assertThatIllegalStateException().isThrownBy(listener.passive::close).withMessageContaining("accepted");
            assertThatIllegalStateException().isThrownBy(listener.events::close)
                    .withMessageContaining("PassiveEndpoint");
            server.connection().accept(Pair.DEADLINE);
            client.connection().awaitConnected(Pair.DEADLINE);
            listener.passive.close();
            listener.passive.close();
            assertThat(server.connection().state()).isEqualTo(Connection.State.CONNECTED);
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#connected")
    void aPassiveEndpointTakesManyConnections(String provider) {
        try (Listener listener = new Listener(provider);
                MemoryRegion source = listener.domain.allocate(64, Access.WRITE);
                MemoryRegion target = listener.domain.allocate(64, Access.REMOTE_WRITE)) {
            List<Endpoint[]> pairs = new ArrayList<>();
            for (int i = 0; i < 5; i++) {
                pairs.add(listener.connect());
            }
            for (int i = 0; i < 5; i++) {
                Endpoint client = pairs.get(i)[0];
                source.segment().fill((byte) (i + 1));
                client.rma().write(source.slice(0, 8), client.connection().peer(), target.remote().slice(8L * i, 8), i);
                awaitTokens(listener.farQueue, listener.queue, i);
            }
            Waiting.YIELD.until(() -> {
                listener.poll();
                return target.segment().get(JAVA_BYTE, 39) == 5;
            }, Pair.DEADLINE);
            for (int at = 0; at < 64; at++) {
                assertThat(target.segment().get(JAVA_BYTE, at)).isEqualTo((byte) (at < 40 ? at / 8 + 1 : 0));
            }
        }
    }

    private static void awaitTokens(CompletionQueue near, CompletionQueue far, long token) {
        List<Long> tokens = new ArrayList<>();
        Waiting.YIELD.until(() -> {
            near.poll((one, flags, length, data) -> tokens.add(one), 16);
            far.poll((one, flags, length, data) -> {}, 16);
            return !tokens.isEmpty();
        }, Pair.DEADLINE);
        assertThat(tokens).containsExactly(token);
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#connected")
    void aPeerIsNobodyElses(String provider) {
        try (Listener listener = new Listener(provider);
                MemoryRegion source = listener.domain.allocate(8, Access.WRITE);
                MemoryRegion target = listener.domain.allocate(8, Access.REMOTE_WRITE)) {
            Endpoint one = listener.connect()[0];
            Endpoint two = listener.connect()[0];
            Peer other = two.connection().peer();

            assertThatIllegalArgumentException()
                    .isThrownBy(() -> one.rma().tryWrite(source, 0, 8, other, target.remote(), 0, 1))
                    .withMessageContaining("is not the peer");
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> one.rma().tryInjectWrite(source, 0, 8, other, target.remote(), 0));
            assertThatIllegalArgumentException().isThrownBy(() -> one.rma().prepare().peer(other))
                    .withMessageContaining("is not the peer");
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#connected")
    void shuttingDownEndsBothEnds(String provider) {
        try (Listener listener = new Listener(provider);
                MemoryRegion source = listener.domain.allocate(8, Access.WRITE);
                MemoryRegion target = listener.domain.allocate(8, Access.REMOTE_WRITE)) {
            Endpoint[] ends = listener.connect();
            Rma rma = ends[0].rma();
            Peer peer = ends[0].connection().peer();

            ends[1].connection().shutdown();
            ends[1].connection().shutdown();

            assertThat(ends[1].connection().state()).isEqualTo(Connection.State.SHUT_DOWN);
            assertThatIllegalStateException().isThrownBy(ends[1]::rma).withMessageContaining("SHUT_DOWN");
            assertThat(listener.await(listener.farEvents)).isEqualTo(new Event.ShutDown(ends[0]));
            assertThat(ends[0].connection().state()).isEqualTo(Connection.State.SHUT_DOWN);
            assertThatIllegalStateException().isThrownBy(() -> rma.tryWrite(source, 0, 8, peer, target.remote(), 0, 1))
                    .withMessageContaining("SHUT_DOWN");
            assertThatIllegalStateException().isThrownBy(() -> rma.write(source.slice(0, 8), peer, target.remote(), 1));
            ends[0].connection().shutdown();
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#connected")
    void anEndpointThatIsShutDownAndClosedLeavesNoEvent(String provider) {
        try (Listener listener = new Listener(provider)) {
            Endpoint client = listener.connect()[0];
            client.connection().shutdown();
            client.close();

            assertThat(listener.farEvents.read()).isEmpty();
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#connected")
    void aPeerThatGoesUnderTrafficLosesNoToken(String provider) {
        int large = 1 << 22;
        try (Listener listener = new Listener(provider);
                MemoryRegion source = listener.domain.allocate(large, Access.WRITE, Access.READ);
                MemoryRegion target = listener.domain.allocate(large, Access.REMOTE_WRITE, Access.REMOTE_READ)) {
            Endpoint[] ends = listener.connect();
            Endpoint client = ends[0];
            Peer peer = client.connection().peer();
            List<Long> posted = new ArrayList<>();
            for (long token = 1; token <= 12; token++) {
                boolean accepted = token % 2 == 0
                        ? client.rma().tryWrite(source, 0, large, peer, target.remote(), 0, token)
                        : client.rma().tryRead(source, 0, large, peer, target.remote(), 0, token);
                if (accepted) { posted.add(token); }
            }
            ends[1].close();
            List<Long> back = new ArrayList<>();
            CompletionHandler recorder = new CompletionHandler() {
                @Override
                public void onCompletion(long token, long flags, long length, long data) { back.add(token); }

                @Override
                public void onError(CompletionError error) {
                    if (error.token() != CompletionHandler.NO_TOKEN) { // sockets also tells the target's side of it
                        back.add(error.token());
                    }
                }
            };
            Waiting.YIELD.tryUntil(() -> {
                listener.farQueue.poll(recorder, 16);
                listener.farEvents.progress();
                return back.size() >= posted.size();
            }, Duration.ofSeconds(2));
            client.close();
            Waiting.YIELD.tryUntil(() -> listener.farQueue.poll(recorder, 16) == 0, Pair.DEADLINE);

            assertThat(posted).isNotEmpty();
            assertThat(back).containsExactlyInAnyOrderElementsOf(posted);
            assertThat(listener.farQueue.operationsInFlight()).isZero();
            assertThat(source.operationsInFlight()).isZero();
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#connected")
    void aConnectionThatIsAskedForWhileThePassiveEndpointClosesHarmsNobody(String provider) {
        for (int round = 0; round < 10; round++) {
            try (Listener listener = new Listener(provider)) {
                Endpoint client = listener.client();
                client.connection().connect(listener.passive.address());
                listener.events.progress(); // takes up the connection before it says what it wants
                listener.passive.close();
                for (int i = 0; i < 100; i++) {
                    listener.farEvents.progress();
                    listener.events.progress();
                }
                assertThat(listener.events.read()).isEmpty();
                try (PassiveEndpoint again = listener.fabric.openPassiveEndpoint(listener.fabric.info())) {
                    again.bind(listener.events).listen();
                    Endpoint other = listener.client(again.address());
                    other.connection().connect(again.address());
                    listener.request().close();
                }
            }
        }
    }

    /**
     * The provider sockets does not promise that: it forgets what it has not told yet when its passive endpoint is
     * closed.
     */
    @ForEachProvider
    @MethodSource("connectedButSockets")
    void whoHasAskedBeforeThePassiveEndpointIsClosedIsRefused(String provider) {
        try (Listener listener = new Listener(provider)) {
            for (int round = 0; round < 60; round++) {
                PassiveEndpoint passive = listener.fabric.openPassiveEndpoint(listener.fabric.info())
                        .bind(listener.events).listen();
                try (Endpoint client = listener.domain
                        .openEndpoint(listener.domain.info().withDestination(passive.address()))
                        .bind(listener.farEvents).bind(listener.farQueue).enable()) {
                    client.connection().connect(passive.address());
                    passive.close();
                    assertRefused(client);
                }
            }
        }
    }

    private static Stream<String> connectedButSockets() {
        return TestProviders.connected().filter(provider -> !provider.equals("sockets"));
    }

    /** The provider gives the next passive endpoint the place in memory of the one before. */
    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#connected")
    void aPassiveEndpointThatIsClosedAgainLeavesTheNextAlone(String provider) {
        PassiveEndpoint first = null;
        try (Listener listener = new Listener(provider)) {
            for (int round = 0; round < 10; round++) {
                first = listener.fabric.openPassiveEndpoint(listener.fabric.info()).bind(listener.events).listen();
                first.close();
                try (PassiveEndpoint next = listener.fabric.openPassiveEndpoint(listener.fabric.info())) {
                    next.bind(listener.events).listen();
                    first.close();
                    listener.client(next.address()).connection().connect(next.address());
                    assertThat(listener.request().passiveEndpoint()).isSameAs(next);
                }
            }
        }
        first.close(); // whose queue is closed
    }

    /** The provider gives the next passive endpoint the place in memory of the one before. */
    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#connected")
    void whatWasAskedOfAClosedPassiveEndpointIsNotAskedOfTheNext(String provider) {
        try (Listener listener = new Listener(provider)) {
            for (int round = 0; round < 100; round++) {
                PassiveEndpoint first = listener.fabric.openPassiveEndpoint(listener.fabric.info())
                        .bind(listener.events).listen();
                try (Endpoint client = listener.domain
                        .openEndpoint(listener.domain.info().withDestination(first.address())).bind(listener.farEvents)
                        .bind(listener.farQueue).enable()) {
                    client.connection().connect(first.address());
                    first.close();
                    try (PassiveEndpoint next = listener.fabric.openPassiveEndpoint(listener.fabric.info())) {
                        next.bind(listener.events).listen();
                        assertThat(listener.events.read()).as("round " + round).isEmpty();
                    }
                }
            }
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#connected")
    void whatIsNotConnectedYetTransfersNothing(String provider) {
        try (Listener listener = new Listener(provider);
                Endpoint idle = listener.domain.openEndpoint(listener.active());
                Endpoint bound = listener.domain.openEndpoint(listener.active()).bind(listener.events)
                        .bind(listener.queue)) {
            assertThatIllegalStateException().isThrownBy(idle::connection).withMessageContaining("event queue");
            assertThatIllegalStateException().isThrownBy(idle::enable).withMessageContaining("event queue");
            assertThatThrownBy(() -> {
                try (AddressVector vector = listener.domain.openAddressVector()) {
                    idle.bind(vector);
                }
            }).isInstanceOf(UnsupportedOperationException.class).hasMessageContaining("event queue");
            assertThatIllegalStateException().isThrownBy(() -> bound.bind(listener.events))
                    .withMessageContaining("already has");
            assertThatIllegalStateException().isThrownBy(() -> bound.connection().connect(listener.passive.address()))
                    .withMessageContaining("enable");
            bound.enable();
            assertThatIllegalStateException().isThrownBy(bound::rma).withMessageContaining("IDLE");
            assertThatIllegalStateException().isThrownBy(() -> bound.connection().shutdown());
            assertThatIllegalStateException().isThrownBy(() -> bound.connection().peer());
            assertThatIllegalStateException().isThrownBy(() -> bound.connection().peerAddress());
            assertThatIllegalStateException().isThrownBy(() -> bound.connection().awaitConnected(SHORT))
                    .withMessageContaining("first");
            assertThatIllegalStateException().isThrownBy(() -> bound.connection().accept())
                    .withMessageContaining("not opened for");
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> bound.connection().connect(EndpointAddress.of(new byte[5])))
                    .withMessageContaining("bytes");
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#connected")
    void parentsCloseAfterTheirChildren(String provider) {
        try (Listener listener = new Listener(provider)) {
            Endpoint[] ends = listener.connect();
            assertThatIllegalStateException().isThrownBy(listener.events::close)
                    .withMessageContaining("PassiveEndpoint of " + provider).withMessageContaining("Endpoint MSG");
            assertThatIllegalStateException().isThrownBy(listener.farEvents::close)
                    .withMessageContaining("Endpoint MSG");
            assertThatIllegalStateException().isThrownBy(listener.fabric::close)
                    .withMessageContaining("PassiveEndpoint").withMessageContaining("EventQueue");
            assertThatIllegalStateException().isThrownBy(listener.farQueue::close);
            assertThatIllegalStateException().isThrownBy(listener.domain::close);
            Connection connection = ends[0].connection();
            ends[0].close();
            ends[0].close();
            assertThatIllegalStateException().isThrownBy(connection::shutdown).withMessageContaining("closed");
            assertThatIllegalStateException().isThrownBy(() -> connection.awaitConnected(SHORT));
            assertThat(listener.await(listener.events)).isEqualTo(new Event.ShutDown(ends[1]));
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#connected")
    void aPassiveEndpointNeedsItsQueueAndOnlyOne(String provider) {
        try (Listener listener = new Listener(provider);
                PassiveEndpoint passive = listener.fabric.openPassiveEndpoint(listener.fabric.info())) {
            assertThatIllegalStateException().isThrownBy(passive::listen).withMessageContaining("event queue");
            assertThatIllegalStateException().isThrownBy(passive::address).withMessageContaining("listen");
            passive.bind(listener.farEvents);
            assertThatIllegalStateException().isThrownBy(() -> passive.bind(listener.events))
                    .withMessageContaining("already has");
            if (provider.equals("verbs")) {
                passive.backlog(3);
            } else {
                assertThatThrownBy(() -> passive.backlog(3)).isInstanceOf(UnsupportedOperationException.class)
                        .hasMessageContaining("backlog");
            }
            assertThatIllegalArgumentException().isThrownBy(() -> passive.backlog(0));
            passive.listen();
            assertThatIllegalStateException().isThrownBy(passive::listen).withMessageContaining("already");
            assertThat(passive.address()).isNotEqualTo(listener.passive.address());
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#connected")
    void whatIsOfAnotherFabricIsNotBound(String provider) {
        try (Listener listener = new Listener(provider); Listener other = new Listener(provider)) {
            try (PassiveEndpoint passive = other.fabric.openPassiveEndpoint(other.fabric.info());
                    Endpoint endpoint = other.domain.openEndpoint(other.active())) {
                assertThatIllegalArgumentException().isThrownBy(() -> passive.bind(listener.events));
                assertThatIllegalArgumentException().isThrownBy(() -> endpoint.bind(listener.events));
            }
            Endpoint client = listener.client();
            client.connection().connect(listener.passive.address());
            listener.farEvents.read();
            ConnectionRequest request = listener.request();
            assertThatIllegalArgumentException().isThrownBy(() -> other.domain.openEndpoint(request));
            assertThat(request.isPending()).isTrue();
            request.close();
        }
    }
}
