package io.ofi4j.faults;

import static org.assertj.core.api.Assertions.assertThat;

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
import io.ofi4j.errors.FabricException;
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

/** A peer is killed with receives posted at both ends, and with unexpected messages in its memory. */
@Tag("gate")
@Timeout(600)
class MessageFaultTest {
    private static final int RECEIVES = 16;
    private static final int EXPECTED = 8;
    private static final int MESSAGES = 200;
    private static final int LENGTH = 1000;
    private static final int IN_FLIGHT = 16;
    /** For how long it is sent to a peer that is gone, if the provider does not refuse it. */
    private static final Duration AFTER_THE_KILL = Duration.ofSeconds(1);

    /** Kills of shm peers are left to the test of their remedy. */
    static Stream<String> providers() {
        return TestProviders.rma().filter(provider -> !provider.equals("shm"));
    }

    private static FabricHints hints(String provider) {
        return TestProviders.hints(provider).capabilities(Capability.MSG, Capability.RMA);
    }

    private static final class Tokens implements CompletionHandler {
        final List<Long> completed = new ArrayList<>();
        final List<Long> failed = new ArrayList<>();

        @Override
        public void onCompletion(long token, long flags, long length, long data) { completed.add(token); }

        @Override
        public void onError(CompletionError error) { if (error.token() != NO_TOKEN) { failed.add(error.token()); } }

        int count() { return completed.size() + failed.size(); }
    }

    @ForEachProvider
    @MethodSource("providers")
    void everyTokenComesBackOnce(String provider) {
        Forked.Running other = Forked.start(Receiver.class, provider);
        Tokens tokens = new Tokens();
        int[] posted = new int[1];
        try (Fabric fabric = Libfabric.load().openFabric(TestProviders.info(hints(provider)));
                Domain domain = fabric.openDomain();
                AddressVector vector = domain.openAddressVector();
                CompletionQueue queue = domain.openCompletionQueue();
                MemoryRegion region = domain.allocate((long) (RECEIVES + 1) * LENGTH, Access.SEND, Access.RECEIVE)) {
            Endpoint endpoint = domain.openEndpoint().bind(vector).bind(queue).enable();
            Peer peer = vector.insert(EndpointAddress.of(HexFormat.of().parseHex(other.awaitLine("ready "))));
            for (int slot = 1; slot <= RECEIVES; slot++) {
                endpoint.messages().receive(region.slice((long) slot * LENGTH, LENGTH), MESSAGES + slot);
            }
            Runnable sendAndPoll = () -> {
                if (posted[0] - tokens.count() < IN_FLIGHT
                        && endpoint.messages().trySend(region, 0, LENGTH, peer, posted[0])) {
                    posted[0]++;
                }
                queue.poll(tokens, IN_FLIGHT);
            };
            Waiting.YIELD.until(() -> {
                sendAndPoll.run();
                return posted[0] == MESSAGES / 2;
            }, Pair.DEADLINE);
            other.process().destroyForcibly().onExit().join();
            try {
                Waiting.YIELD.tryUntil(() -> {
                    sendAndPoll.run();
                    return posted[0] == MESSAGES;
                }, AFTER_THE_KILL);
            } catch (FabricException e) {
                assertThat(e).hasMessageContaining("fi_send"); // what the provider says of a peer that is gone
            }
            endpoint.close();
            int expected = posted[0] + RECEIVES;
            Waiting.YIELD.until(() -> {
                queue.poll(tokens, IN_FLIGHT);
                return tokens.count() >= expected;
            }, Pair.DEADLINE);
            assertThat(region.operationsInFlight()).isZero();
        } finally {
            other.process().destroyForcibly();
        }
        assertThat(tokens.completed).as("sent before the kill").hasSizeGreaterThan(MESSAGES / 4);
        assertThat(tokens.failed).as("the receives among them").hasSizeGreaterThanOrEqualTo(RECEIVES);
        List<Long> all = new ArrayList<>(tokens.completed);
        all.addAll(tokens.failed);
        assertThat(all).hasSize(posted[0] + RECEIVES).doesNotHaveDuplicates();
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#connected")
    void everyTokenOfAConnectionComesBackOnce(String provider) {
        FabricHints hints = TestProviders.connectedHints(provider).capabilities(Capability.MSG, Capability.RMA);
        Forked.Running other = Forked.start(ConnectedReceiver.class, provider);
        Tokens tokens = new Tokens();
        int[] posted = new int[1];
        try (Fabric fabric = Libfabric.load().openFabric(TestProviders.info(hints));
                Domain domain = fabric.openDomain();
                EventQueue events = fabric.openEventQueue();
                CompletionQueue queue = domain.openCompletionQueue();
                MemoryRegion region = domain.allocate((long) (RECEIVES + 1) * LENGTH, Access.SEND, Access.RECEIVE)) {
            EndpointAddress there = EndpointAddress.of(HexFormat.of().parseHex(other.awaitLine("ready ")));
            Endpoint endpoint = domain.openEndpoint(domain.info().withDestination(there)).bind(events).bind(queue)
                    .enable();
            for (int slot = 1; slot <= RECEIVES; slot++) {
                endpoint.messages().receive(region.slice((long) slot * LENGTH, LENGTH), MESSAGES + slot);
            }
            endpoint.connection().connect(there, Pair.DEADLINE);
            Peer peer = endpoint.connection().peer();
            Runnable sendAndPoll = () -> {
                if (posted[0] - tokens.count() < IN_FLIGHT
                        && endpoint.messages().trySend(region, 0, LENGTH, peer, posted[0])) {
                    posted[0]++;
                }
                queue.poll(tokens, IN_FLIGHT);
            };
            Waiting.YIELD.until(() -> {
                sendAndPoll.run();
                return posted[0] == EXPECTED;
            }, Pair.DEADLINE);
            other.process().destroyForcibly().onExit().join();
            try {
                Waiting.YIELD.tryUntil(() -> {
                    sendAndPoll.run();
                    return posted[0] == MESSAGES;
                }, AFTER_THE_KILL);
            } catch (FabricException | IllegalStateException e) {
                assertThat(e).hasMessageMatching("(?s).*(fi_send|not connected|closed).*");
            }
            endpoint.close();
            int expected = posted[0] + RECEIVES;
            Waiting.YIELD.until(() -> {
                queue.poll(tokens, IN_FLIGHT);
                return tokens.count() >= expected;
            }, Pair.DEADLINE);
            assertThat(region.operationsInFlight()).isZero();
        } finally {
            other.process().destroyForcibly();
        }
        assertThat(posted[0]).as("sent before the kill").isGreaterThanOrEqualTo(EXPECTED);
        assertThat(tokens.failed).as("the receives among them").hasSizeGreaterThanOrEqualTo(RECEIVES);
        List<Long> all = new ArrayList<>(tokens.completed);
        all.addAll(tokens.failed);
        assertThat(all).hasSize(posted[0] + RECEIVES).doesNotHaveDuplicates();
    }

    /** As the receiver, for one connection. Argument: the provider. */
    static final class ConnectedReceiver {
        private ConnectedReceiver() {}

        public static void main(String[] arguments) {
            FabricInfo info = TestProviders
                    .info(TestProviders.connectedHints(arguments[0]).capabilities(Capability.MSG, Capability.RMA));
            Fabric fabric = Libfabric.load().openFabric(info);
            Domain domain = fabric.openDomain();
            EventQueue events = fabric.openEventQueue();
            CompletionQueue queue = domain.openCompletionQueue();
            MemoryRegion region = domain.allocate((long) EXPECTED * LENGTH, Access.RECEIVE);
            PassiveEndpoint passive = fabric.openPassiveEndpoint(info).bind(events).listen();
            System.out.println("ready " + HexFormat.of().formatHex(passive.address().toBytes()));
            if (!(events.read(Pair.DEADLINE) instanceof Event.ConnectionRequested(ConnectionRequest request))) {
                throw new AssertionError("no connection was asked for");
            }
            Endpoint endpoint = domain.openEndpoint(request).bind(events).bind(queue).enable();
            for (int slot = 0; slot < EXPECTED; slot++) {
                endpoint.messages().receive(region.slice((long) slot * LENGTH, LENGTH), slot);
            }
            endpoint.connection().accept(Pair.DEADLINE);
            long end = System.nanoTime() + Pair.DEADLINE.toNanos();
            while (System.nanoTime() < end) {
                queue.poll((token, flags, length, data) -> {}, IN_FLIGHT);
                events.read();
            }
        }
    }

    /** Has a few receives posted, and takes whatever comes into its memory. Argument: the provider. */
    static final class Receiver {
        private Receiver() {}

        public static void main(String[] arguments) {
            Domain domain = Libfabric.load().openFabric(TestProviders.info(hints(arguments[0]))).openDomain();
            CompletionQueue queue = domain.openCompletionQueue();
            Endpoint endpoint = domain.openEndpoint().bind(domain.openAddressVector()).bind(queue).enable();
            MemoryRegion region = domain.allocate((long) EXPECTED * LENGTH, Access.RECEIVE);
            for (int slot = 0; slot < EXPECTED; slot++) {
                endpoint.messages().receive(region.slice((long) slot * LENGTH, LENGTH), slot);
            }
            System.out.println("ready " + HexFormat.of().formatHex(endpoint.address().toBytes()));
            long end = System.nanoTime() + Pair.DEADLINE.toNanos();
            while (System.nanoTime() < end) {
                queue.poll((token, flags, length, data) -> {}, IN_FLIGHT);
            }
        }
    }
}
