package io.ofi4j.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.ofi4j.SharedReceiveContext;
import io.ofi4j.Access;
import io.ofi4j.AddressVector;
import io.ofi4j.CompletionError;
import io.ofi4j.CompletionHandler;
import io.ofi4j.CompletionQueue;
import io.ofi4j.ConnectionRequest;
import io.ofi4j.Domain;
import io.ofi4j.Endpoint;
import io.ofi4j.Event;
import io.ofi4j.EventQueue;
import io.ofi4j.Fabric;
import io.ofi4j.Libfabric;
import io.ofi4j.MemoryRegion;
import io.ofi4j.PassiveEndpoint;
import io.ofi4j.Peer;
import io.ofi4j.Waiting;
import io.ofi4j.info.AttributeHints;
import io.ofi4j.info.Capability;
import io.ofi4j.info.EndpointAddress;
import io.ofi4j.info.FabricHints;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.support.ForEachProvider;
import io.ofi4j.support.Forked;
import io.ofi4j.support.Pair;
import io.ofi4j.support.TestProviders;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A peer is killed while it sends to a shared receive context, where receives are posted for it and for others: those
 * who live go on, and every token comes back once.
 */
@Tag("gate")
@Timeout(600)
class SharedContextFaultTest {
    private static final int RECEIVES = 64;
    /** What the peer sends at most, and after how many of them it is killed. */
    private static final int SENT = 32;
    private static final int RECEIVED = 4;
    /** What another peer sends afterwards. */
    private static final int LATER = 8;
    private static final int LENGTH = 1000;

    static Stream<String> providers() {
        return Stream.concat(Stream.of("sockets"), TestProviders.connected().map("MSG "::concat));
    }

    private static boolean isConnected(String provider) { return provider.startsWith("MSG "); }

    private static FabricInfo info(String provider, AttributeHints attributes) {
        FabricHints hints = TestProviders.hints(provider).capabilities(Capability.MSG);
        return TestProviders.info(hints.attributes(attributes));
    }

    private static final class Tokens implements CompletionHandler {
        final List<Long> completed = new ArrayList<>();
        final List<Long> failed = new ArrayList<>();

        @Override
        public void onCompletion(long token, long flags, long length, long data) { completed.add(token); }

        @Override
        public void onError(CompletionError error) { if (error.token() != NO_TOKEN) { failed.add(error.token()); } }

        List<Long> all() { return Stream.concat(completed.stream(), failed.stream()).toList(); }
    }

    /** The receiving process: each peer has an endpoint here, and all endpoints one context. */
    private static final class Server implements AutoCloseable {
        final FabricInfo shared;
        final FabricInfo plain;
        final Fabric fabric;
        final Domain domain;
        final CompletionQueue queue;
        final CompletionQueue laterQueue;
        final MemoryRegion inbox;
        final MemoryRegion outbox;
        final SharedReceiveContext context;
        final Tokens received = new Tokens();
        final Tokens later = new Tokens();
        final List<Endpoint> endpoints = new ArrayList<>();
        private final AddressVector vector;
        private final EventQueue events;
        private final PassiveEndpoint passive;

        Server(String provider) {
            shared = info(provider, AttributeHints.none().sharedReceiveContext());
            plain = info(provider, AttributeHints.none());
            fabric = Libfabric.load().openFabric(shared);
            domain = fabric.openDomain();
            queue = domain.openCompletionQueue();
            laterQueue = domain.openCompletionQueue();
            inbox = domain.allocate((long) RECEIVES * LENGTH, Access.RECEIVE);
            outbox = domain.allocate(LENGTH, Access.SEND);
            context = domain.openSharedReceiveContext().bind(queue).enable();
            for (int slot = 0; slot < RECEIVES; slot++) {
                context.messages().receive(inbox.slice((long) slot * LENGTH, LENGTH), slot);
            }
            boolean connected = isConnected(provider);
            vector = connected ? null : domain.openAddressVector();
            events = connected ? fabric.openEventQueue() : null;
            passive = connected ? fabric.openPassiveEndpoint(shared).bind(events).listen() : null;
            if (!connected) { endpoints.add(domain.openEndpoint().bind(vector).bind(queue).bind(context).enable()); }
        }

        EndpointAddress address() { return passive != null ? passive.address() : endpoints.getFirst().address(); }

        /** Takes the connection that a peer asks for, where there are connections. */
        void accept() {
            if (passive == null) { return; }
            ConnectionRequest request = null;
            while (request == null) { // the end of an earlier connection is told here, too
                Event event = events.read(Pair.DEADLINE);
                assertThat(event).as("a connection was to be asked for").isNotNull();
                if (event instanceof Event.ConnectionRequested(ConnectionRequest asked)) { request = asked; }
            }
            endpoints.add(domain.openEndpoint(request).bind(events).bind(queue).bind(context).enable());
            endpoints.getLast().connection().accept(Pair.DEADLINE);
        }

        void poll() {
            queue.poll(received, 64);
            laterQueue.poll(later, 64);
        }

        void awaitReceived(int count) {
            Waiting.YIELD.until(() -> {
                poll();
                return received.completed.size() >= count;
            }, Pair.DEADLINE);
        }

        /** Has another peer, in this process, send: its messages arrive. */
        void sendFromAnother() {
            int before = received.completed.size();
            Endpoint another = passive == null
                    ? domain.openEndpoint(plain).bind(vector).bind(laterQueue).enable()
                    : domain.openEndpoint(plain.withDestination(address())).bind(events).bind(laterQueue).enable();
            Peer peer = passive == null ? vector.insert(address()) : null;
            if (passive != null) {
                another.connection().connect(address());
                accept();
                another.connection().awaitConnected(Pair.DEADLINE);
                peer = another.connection().peer();
            }
            for (int message = 0; message < LATER; message++) {
                another.messages().send(outbox.slice(0, LENGTH), peer, message);
            }
            awaitReceived(before + LATER);
            another.close();
        }

        @Override
        public void close() {
            endpoints.forEach(Endpoint::close);
            context.close();
            Waiting.YIELD.until(() -> {
                poll();
                return received.all().size() >= RECEIVES;
            }, Pair.DEADLINE);
            poll();
            if (passive != null) {
                passive.close();
                events.close();
            } else {
                vector.close();
            }
            queue.close();
            laterQueue.close();
            inbox.close();
            outbox.close();
            domain.close();
            fabric.close();
        }
    }

    @ForEachProvider
    @MethodSource("providers")
    void whoLivesGoesOnAndEveryReceiveComesBackOnce(String provider) {
        Tokens received;
        try (Server server = new Server(provider)) {
            received = server.received;
            Forked.Running sender = Forked.start(Sender.class, provider,
                    HexFormat.of().formatHex(server.address().toBytes()));
            try {
                server.accept();
                server.awaitReceived(RECEIVED);
            } finally {
                sender.process().destroyForcibly().onExit().join();
            }
            Waiting.YIELD.tryUntil(() -> {
                server.poll();
                return false;
            }, Duration.ofMillis(200)); // the provider learns of it
            assertThat(server.queue.operationsInFlight()).as("receives that nobody's death ends")
                    .isGreaterThanOrEqualTo(RECEIVES - SENT);
            server.sendFromAnother();
        }
        assertThat(received.completed).hasSizeGreaterThanOrEqualTo(RECEIVED + LATER);
        assertThat(received.all()).hasSize(RECEIVES).doesNotHaveDuplicates();
    }

    /**
     * Arguments: the provider, and the server's address. Sends without end, {@link #SENT} at most, until it is killed.
     */
    static final class Sender {
        private Sender() {}

        public static void main(String[] arguments) {
            EndpointAddress there = EndpointAddress.of(HexFormat.of().parseHex(arguments[1]));
            FabricInfo info = info(arguments[0], AttributeHints.none());
            Fabric fabric = Libfabric.load().openFabric(info);
            Domain domain = fabric.openDomain();
            CompletionQueue queue = domain.openCompletionQueue();
            MemoryRegion region = domain.allocate(LENGTH, Access.SEND);
            Endpoint endpoint;
            Peer peer;
            if (isConnected(arguments[0])) {
                endpoint = domain.openEndpoint(info.withDestination(there)).bind(fabric.openEventQueue()).bind(queue)
                        .enable();
                endpoint.connection().connect(there, Pair.DEADLINE);
                peer = endpoint.connection().peer();
            } else {
                AddressVector vector = domain.openAddressVector();
                endpoint = domain.openEndpoint().bind(vector).bind(queue).enable();
                peer = vector.insert(there);
            }
            long end = System.nanoTime() + Pair.DEADLINE.toNanos();
            int posted = 0;
            while (System.nanoTime() < end) {
                if (posted < SENT && endpoint.messages().trySend(region, 0, LENGTH, peer, posted)) { posted++; }
                queue.poll((token, flags, length, data) -> {}, 16);
            }
        }
    }
}
