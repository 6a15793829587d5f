package io.ofi4j;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ofi4j.errors.NoProviderException;
import io.ofi4j.info.AttributeHints;
import io.ofi4j.info.Capability;
import io.ofi4j.info.Direction;
import io.ofi4j.info.EndpointType;
import io.ofi4j.info.FabricHints;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.info.PeekAction;
import io.ofi4j.internal.os.Errno;
import io.ofi4j.support.ForEachProvider;
import io.ofi4j.support.Pair;
import io.ofi4j.support.TestProviders;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.provider.MethodSource;

/** Contexts that several endpoints share: fi_srx_context and fi_stx_context. */
@Timeout(600)
class SharedContextTest {
    private static final String RECEIVING = "receiving";
    private static final String TRANSMITTING = "transmitting";
    private static final int SERVED = 3;
    private static final int LENGTH = 64;

    static Stream<String> receiving() {
        return Stream.concat(Stream.of("sockets"), TestProviders.connected().map("MSG "::concat));
    }

    @ForEachProvider
    @MethodSource("receiving")
    void connectionsHaveNoTagsWhereTheyWouldEndTheProcess(String provider) {
        FabricHints hints = TestProviders.hints(provider).capabilities(Capability.MSG, Capability.TAGGED)
                .attributes(AttributeHints.none().sharedReceiveContext());
        Optional<FabricInfo> info = Libfabric.load().infoOrNothing(hints).stream().findFirst();
        if (info.isEmpty()) { return; } // the provider says itself that it has none
        try (Fabric fabric = Libfabric.load().openFabric(info.get());
                Domain domain = fabric.openDomain();
                CompletionQueue queue = domain.openCompletionQueue();
                SharedReceiveContext context = domain.openSharedReceiveContext().bind(queue).enable()) {
            if (provider.equals("MSG net") || !TestProviders.isBefore(1, 18) && provider.equals("MSG tcp")) {
                assertThatThrownBy(context::tagged).isInstanceOf(UnsupportedOperationException.class)
                        .hasMessageContaining("end the process");
            } else {
                assertThat(context.tagged()).isNotNull();
            }
        }
    }

    @Test
    void aLookInASharedContextIsRefusedOverSockets() {
        FabricHints hints = TestProviders.hints("sockets").capabilities(Capability.TAGGED)
                .attributes(AttributeHints.none().sharedReceiveContext());
        try (Fabric fabric = Libfabric.load().openFabric(TestProviders.info(hints));
                Domain domain = fabric.openDomain();
                CompletionQueue queue = domain.openCompletionQueue();
                SharedReceiveContext context = domain.openSharedReceiveContext().bind(queue).enable()) {
            assertThatThrownBy(() -> context.tagged().tryPeek(PeekAction.KEEP, 1, 0, 1))
                    .isInstanceOf(UnsupportedOperationException.class).hasMessageContaining("shared context")
                    .hasMessageContaining("ends the process");
        }
    }

    static Stream<String> transmitting() { return Stream.of("sockets"); }

    private static FabricHints hints(String provider) {
        return TestProviders.hints(provider).capabilities(Capability.MSG, Capability.RMA);
    }

    private static FabricInfo info(String provider, AttributeHints attributes) {
        return TestProviders.info(hints(provider).attributes(attributes));
    }

    /** Endpoints that share a receive context, and one for each that sends to it. */
    private static final class World implements AutoCloseable {
        final FabricInfo shared;
        final FabricInfo plain;
        final Fabric fabric;
        final Domain domain;
        final CompletionQueue queue;
        final CompletionQueue clientQueue;
        final MemoryRegion inbox;
        final MemoryRegion outbox;
        final SharedReceiveContext context;
        final List<Endpoint> servers = new ArrayList<>();
        final List<Endpoint> clients = new ArrayList<>();
        final List<Peer> peers = new ArrayList<>();
        final List<Long> received = new ArrayList<>();
        final List<Long> sent = new ArrayList<>();
        final List<CompletionError> errors = new ArrayList<>();
        private final boolean connected;
        private AddressVector vector;
        private EventQueue events;
        private PassiveEndpoint passive;

        World(String provider) {
            shared = info(provider, AttributeHints.none().sharedReceiveContext());
            plain = info(provider, AttributeHints.none());
            connected = shared.endpoint().type() == EndpointType.MSG;
            fabric = Libfabric.load().openFabric(shared);
            domain = fabric.openDomain();
            queue = domain.openCompletionQueue();
            clientQueue = domain.openCompletionQueue();
            inbox = domain.allocate(1024 * LENGTH, Access.RECEIVE);
            outbox = domain.allocate(LENGTH, Access.SEND);
            context = domain.openSharedReceiveContext().bind(queue).enable();
            if (connected) {
                events = fabric.openEventQueue();
                passive = fabric.openPassiveEndpoint(shared).bind(events).listen();
            } else {
                vector = domain.openAddressVector();
            }
        }

        World serving(int count) {
            for (int i = 0; i < count; i++) {
                if (connected) {
                    connect();
                } else {
                    insert();
                }
            }
            return this;
        }

        private void insert() {
            servers.add(domain.openEndpoint().bind(vector).bind(queue).bind(context).enable());
            clients.add(domain.openEndpoint(plain).bind(vector).bind(clientQueue).enable());
            peers.add(vector.insert(servers.getLast().address()));
        }

        private void connect() {
            Endpoint client = domain.openEndpoint(plain.withDestination(passive.address())).bind(events)
                    .bind(clientQueue).enable();
            client.connection().connect(passive.address());
            if (!(events.read(Pair.DEADLINE) instanceof Event.ConnectionRequested(ConnectionRequest request))) {
                throw new AssertionError("no connection was asked for");
            }
            Endpoint server = domain.openEndpoint(request).bind(events).bind(queue).bind(context).enable();
            server.connection().accept(Pair.DEADLINE);
            client.connection().awaitConnected(Pair.DEADLINE);
            servers.add(server);
            clients.add(client);
            peers.add(client.connection().peer());
        }

        FabricInfo destined(FabricInfo info) { return connected ? info.withDestination(passive.address()) : info; }

        Endpoint bindRest(Endpoint endpoint) { return connected ? endpoint.bind(events) : endpoint.bind(vector); }

        void poll() {
            queue.poll(recorder(received), 64);
            clientQueue.poll(recorder(sent), 64);
        }

        private CompletionHandler recorder(List<Long> tokens) {
            return new CompletionHandler() {
                @Override
                public void onCompletion(long token, long flags, long length, long data) { tokens.add(token); }

                @Override
                public void onError(CompletionError error) { errors.add(error); }
            };
        }

        void await(int receives, int sends) {
            boolean done = Waiting.YIELD.tryUntil(() -> {
                poll();
                return received.size() >= receives && sent.size() >= sends;
            }, Pair.DEADLINE);
            assertThat(done).as("received " + received + ", sent " + sent + ", failed " + errors).isTrue();
        }

        @Override
        public void close() {
            for (Endpoint endpoint : clients) {
                endpoint.close();
            }
            for (Endpoint endpoint : servers) {
                endpoint.close();
            }
            context.close();
            if (connected) {
                passive.close();
                events.close();
            } else {
                vector.close();
            }
            queue.close();
            clientQueue.close();
            inbox.close();
            outbox.close();
            domain.close();
            fabric.close();
        }
    }

    @ForEachProvider
    @MethodSource(RECEIVING)
    void messagesToSeveralEndpointsArriveInOneContext(String provider) {
        try (World world = new World(provider).serving(SERVED)) {
            int rounds = 20;
            for (int round = 0; round < rounds; round++) {
                for (int i = 0; i < SERVED; i++) {
                    int number = round * SERVED + i;
                    world.context.messages().receive(world.inbox.slice((long) number * LENGTH, LENGTH), number);
                }
                for (int i = 0; i < SERVED; i++) {
                    int number = round * SERVED + i;
                    world.outbox.segment().fill((byte) (number + 1));
                    world.clients.get(i).messages().send(world.outbox.slice(0, LENGTH), world.peers.get(i), number);
                    world.await(number + 1, number + 1);
                }
            }
            assertThat(world.errors).isEmpty();
            assertThat(world.received).hasSize(rounds * SERVED).doesNotHaveDuplicates();
            for (int number = 0; number < rounds * SERVED; number++) {
                int place = Math.toIntExact(world.received.get(number));
                assertThat(world.inbox.segment().get(JAVA_BYTE, (long) place * LENGTH)).isEqualTo((byte) (number + 1));
            }
            assertThat(world.queue.operationsInFlight()).isZero();
        }
    }

    @ForEachProvider
    @MethodSource(RECEIVING)
    void everyReceiveThatIsPostedComesBackWhenTheContextCloses(String provider) {
        try (World world = new World(provider).serving(2)) {
            for (int i = 0; i < 10; i++) {
                world.context.messages().receive(world.inbox.slice((long) i * LENGTH, LENGTH), i);
            }
            world.clients.getLast().messages().send(world.outbox.slice(0, LENGTH), world.peers.getLast(), 99);
            world.await(1, 1);
            world.servers.getFirst().close();
            assertThat(world.queue.operationsInFlight()).isEqualTo(9);
            assertThatIllegalStateException().isThrownBy(world.context::close)
                    .withMessageContaining("close these before");
            world.servers.getLast().close();
            world.context.close();
            for (int i = 0; i < 20; i++) {
                world.poll();
            }
            assertThat(world.errors).hasSize(9).extracting(CompletionError::token).doesNotHaveDuplicates();
            assertThat(world.errors).extracting(CompletionError::errno).containsOnly(Errno.ECANCELED);
            assertThat(world.inbox.operationsInFlight()).isZero();
        }
    }

    @ForEachProvider
    @MethodSource(RECEIVING)
    void aReceiveIsCanceledOrThatIsRefusedByName(String provider) {
        try (World world = new World(provider).serving(1)) {
            world.context.messages().receive(world.inbox.slice(0, LENGTH), 7);
            if (provider.contains("sockets")) {
                assertThatThrownBy(() -> world.context.messages().cancel(7))
                        .isInstanceOf(UnsupportedOperationException.class).hasMessageContaining("sockets");
                return;
            }
            world.context.messages().cancel(7);
            Waiting.YIELD.tryUntil(() -> {
                world.poll();
                return !world.errors.isEmpty();
            }, Pair.DEADLINE);
            assertThat(world.errors).extracting(CompletionError::token).containsExactly(7L);
            assertThat(world.errors.getFirst().errno()).isEqualTo(Errno.ECANCELED);
        }
    }

    @ForEachProvider
    @MethodSource(RECEIVING)
    void theContextReceivesAndItsEndpointsSend(String provider) {
        try (World world = new World(provider).serving(1)) {
            Endpoint server = world.servers.getFirst();
            assertThatIllegalStateException()
                    .isThrownBy(() -> server.messages().receive(world.inbox.slice(0, LENGTH), 1))
                    .withMessageContaining("post the receive there");
            assertThatThrownBy(
                    () -> world.context.messages().send(world.outbox.slice(0, LENGTH), world.peers.getFirst(), 1))
                    .isInstanceOf(UnsupportedOperationException.class).hasMessageContaining("only receives");
            assertThatThrownBy(
                    () -> world.context.messages().prepare().local(world.outbox, 0, 8).peer(world.peers.getFirst()))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThat(world.context).hasToString(
                    "Shared receive context " + world.shared.endpoint().type() + " of " + world.shared.provider());

            Endpoint client = world.clients.getFirst();
            client.messages().receive(world.inbox.slice(0, LENGTH), 3);
            Peer back = server.info().endpoint().type() == EndpointType.MSG
                    ? server.connection().peer()
                    : world.vector.insert(client.address());
            server.messages().send(world.outbox.slice(0, LENGTH), back, 4);
            world.await(1, 1); // each queue has one: the client's receive is on its own
            assertThat(world.received).containsExactly(4L);
            assertThat(world.sent).containsExactly(3L);
        }
    }

    @ForEachProvider
    @MethodSource(RECEIVING)
    void whatDoesNotFitTogetherIsRefused(String provider) {
        try (World world = new World(provider);
                CompletionQueue other = world.domain.openCompletionQueue();
                SharedReceiveContext second = world.domain.openSharedReceiveContext().bind(world.queue);
                Endpoint plain = world.domain.openEndpoint(world.destined(world.plain));
                Endpoint endpoint = world.domain.openEndpoint(world.destined(world.shared))) {
            assertThatIllegalStateException().isThrownBy(() -> plain.bind(world.context))
                    .withMessageContaining("sharedReceiveContext()");
            assertThatIllegalStateException().isThrownBy(() -> endpoint.bind(second)).withMessageContaining("enable");
            world.bindRest(endpoint).bind(other);
            assertThatIllegalStateException().isThrownBy(endpoint::enable)
                    .withMessageContaining("bind a shared receive context");
            endpoint.bind(world.context);
            assertThatIllegalStateException().isThrownBy(() -> endpoint.bind(world.context))
                    .withMessageContaining("already has");
            assertThatIllegalStateException().isThrownBy(endpoint::enable)
                    .withMessageContaining("bind the completion queue of");
        }
    }

    @ForEachProvider
    @MethodSource("lackingReceive")
    void aProviderWithoutSharedReceiveContextsIsNamed(String provider) {
        assertThatThrownBy(() -> info(provider, AttributeHints.none().sharedReceiveContext()))
                .isInstanceOf(NoProviderException.class).hasMessageContaining("a shared receive context")
                .hasMessageContaining("not offered");
        try (Pair pair = new Pair(hints(provider))) {
            assertThatThrownBy(pair.domain::openSharedReceiveContext).isInstanceOf(UnsupportedOperationException.class)
                    .hasMessageContaining("shared receive contexts are not offered");
        }
    }

    static Stream<String> lackingReceive() { return TestProviders.rma().filter(name -> !name.equals("sockets")); }

    @ForEachProvider
    @MethodSource("lackingTransmit")
    void aProviderWithoutSharedTransmitContextsIsNamed(String provider) {
        assertThatThrownBy(() -> info(provider, AttributeHints.none().sharedTransmitContext()))
                .isInstanceOf(NoProviderException.class).hasMessageContaining("a shared transmit context");
        try (Pair pair = new Pair(hints(provider))) {
            assertThatThrownBy(pair.domain::openSharedTransmitContext).isInstanceOf(UnsupportedOperationException.class)
                    .hasMessageContaining("shared transmit contexts are not offered");
        }
    }

    static Stream<String> lackingTransmit() {
        return TestProviders.transfers().filter(name -> !name.contains("sockets"));
    }

    @ForEachProvider
    @MethodSource(TRANSMITTING)
    void endpointsTransmitThroughOneContext(String provider) {
        FabricInfo info = info(provider, AttributeHints.none().sharedTransmitContext());
        FabricInfo plain = info(provider, AttributeHints.none());
        List<Long> sent = new ArrayList<>();
        List<Long> received = new ArrayList<>();
        try (Fabric fabric = Libfabric.load().openFabric(info);
                Domain domain = fabric.openDomain();
                CompletionQueue queue = domain.openCompletionQueue();
                CompletionQueue farQueue = domain.openCompletionQueue();
                AddressVector vector = domain.openAddressVector();
                MemoryRegion region = domain.allocate(LENGTH, Access.SEND, Access.RECEIVE);
                SharedTransmitContext context = domain.openSharedTransmitContext();
                Endpoint one = domain.openEndpoint().bind(vector).bind(queue).bind(context).enable();
                Endpoint two = domain.openEndpoint().bind(vector).bind(queue).bind(context).enable();
                Endpoint far = domain.openEndpoint(plain).bind(vector).bind(farQueue).enable()) {
            Peer peer = vector.insert(far.address());
            for (int i = 0; i < 20; i++) {
                far.messages().receive(region.slice(0, LENGTH), i);
                (i % 2 == 0 ? one : two).messages().send(region.slice(0, LENGTH), peer, i);
                int count = i + 1;
                Waiting.YIELD.until(() -> {
                    queue.poll((token, flags, length, data) -> sent.add(token), 64);
                    farQueue.poll((token, flags, length, data) -> received.add(token), 64);
                    return sent.size() == count && received.size() == count;
                }, Pair.DEADLINE);
            }
            assertThatIllegalStateException().isThrownBy(context::close).withMessageContaining("close these before");
            assertThatIllegalStateException().isThrownBy(() -> far.bind(context))
                    .withMessageContaining("sharedTransmitContext()");
            Endpoint third = domain.openEndpoint().bind(vector).bind(queue);
            assertThatIllegalStateException().isThrownBy(third::enable)
                    .withMessageContaining("bind a shared transmit context");
            third.close();
        }
        assertThat(sent).hasSize(20).doesNotHaveDuplicates();
    }
}
