package io.ofi4j;

import static org.assertj.core.api.Assertions.assertThat;

import io.ofi4j.info.CompletionQueueAttributes;
import io.ofi4j.info.CounterAttributes;
import io.ofi4j.info.CounterEvent;
import io.ofi4j.info.Direction;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.info.WaitObject;
import io.ofi4j.support.ForEachProvider;
import io.ofi4j.support.Forked;
import io.ofi4j.support.Pair;
import io.ofi4j.support.TestProviders;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** What endpoints do to the wait objects of the queues and counters that they are bound to. */
@Tag("gate")
@Timeout(300)
class WaitObjectTest {
    static Stream<Arguments> providersAndDirections() {
        return TestProviders.rma()
                .flatMap(provider -> Stream.of(Direction.values()).map(direction -> Arguments.of(provider, direction)));
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#transfers")
    void anInfoSaysWhichWaitObjectsItsQueuesHave(String provider) {
        FabricInfo info = TestProviders.info(TestProviders.hints(provider));
        try (Fabric fabric = Libfabric.load().openFabric(info); Domain domain = fabric.openDomain()) {
            for (WaitObject object : WaitObject.values()) {
                assertThat(info.supports(object)).as("%s over %s", object, provider).isEqualTo(opens(domain, object));
            }
        }
    }

    private static boolean opens(Domain domain, WaitObject object) {
        try {
            domain.openCompletionQueue(CompletionQueueAttributes.defaults().waitObject(object)).close();
            return true;
        } catch (UnsupportedOperationException e) {
            return false;
        }
    }

    /** In a JVM of its own, which ofi_rxm would end: it leaves what the endpoint waited for in the wait object. */
    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void queuesAndCountersAreWaitedForAfterAnEndpointOfTheirsWasClosed(String provider) {
        Forked.Result result = Forked.run(WaitsAfterAClose.class, provider);

        assertThat(result.exit()).as(result.output()).isZero();
    }

    static final class WaitsAfterAClose {
        private static final int ROUNDS = 8;
        private static final Duration SHORT = Duration.ofMillis(2);
        private static final CompletionHandler NOTHING = (token, flags, length, data) -> {};

        private final Domain domain;
        private final CompletionQueue queue;
        private final Counter counter;
        private final AddressVector vector;

        private WaitsAfterAClose(Domain domain, CompletionQueue queue, Counter counter, AddressVector vector) {
            this.domain = domain;
            this.queue = queue;
            this.counter = counter;
            this.vector = vector;
        }

        public static void main(String[] arguments) {
            try (Fabric fabric = Libfabric.load().openFabric(TestProviders.info(arguments[0]));
                    Domain domain = fabric.openDomain();
                    CompletionQueue queue = domain.openCompletionQueue(
                            CompletionQueueAttributes.defaults().waitObject(WaitObject.UNSPECIFIED));
                    Counter counter = domain
                            .openCounter(CounterAttributes.defaults().waitObject(WaitObject.UNSPECIFIED));
                    AddressVector vector = domain.openAddressVector()) {
                WaitsAfterAClose waits = new WaitsAfterAClose(domain, queue, counter, vector);
                for (int round = 1; round <= ROUNDS; round++) {
                    waits.run(round);
                }
            }
        }

        private Endpoint open() {
            return domain.openEndpoint().bind(vector).bind(queue).bind(counter, CounterEvent.WRITE).enable();
        }

        private void run(int round) {
            try (Endpoint near = open();
                    Endpoint far = open();
                    MemoryRegion source = domain.allocate(8, Access.WRITE);
                    MemoryRegion target = domain.allocate(8, Access.REMOTE_WRITE)) {
                queue.await(NOTHING, 1, SHORT);
                open().close();
                queue.await(NOTHING, 1, SHORT);
                near.rma().write(source.slice(0, 8), vector.insert(far.address()), target.remote(), round);
                List<Long> tokens = new ArrayList<>();
                queue.await((token, flags, length, data) -> tokens.add(token), 1, Pair.DEADLINE);
                counter.await(round, Pair.DEADLINE);
                if (!tokens.equals(List.of((long) round))) {
                    throw new AssertionError("token " + round + " did not come, but " + tokens);
                }
                awaitQuiet();
            }
        }

        /** Whoever blocks on the descriptor may sleep again, too, once all is read. */
        private void awaitQuiet() {
            try {
                queue.waitDescriptor();
            } catch (IllegalStateException e) { // the provider does not say what it waits on
                return;
            }
            Waiting.YIELD.until(() -> {
                queue.poll(NOTHING, 16);
                return queue.tryWait();
            }, Pair.DEADLINE);
            Waiting.block(SHORT, queue);
        }
    }

    /** ofi_rxd takes the queue that it is told of first for both. */
    @ForEachProvider
    @MethodSource("providersAndDirections")
    void anEndpointHasOneQueueWithAWaitObjectAndOneWithout(String provider, Direction waits) {
        CompletionQueueAttributes attributes = CompletionQueueAttributes.defaults();
        try (Fabric fabric = Libfabric.load().openFabric(TestProviders.info(provider));
                Domain domain = fabric.openDomain();
                CompletionQueue one = domain.openCompletionQueue(attributes.waitObject(WaitObject.UNSPECIFIED));
                CompletionQueue other = domain.openCompletionQueue(attributes);
                AddressVector vector = domain.openAddressVector();
                Endpoint endpoint = domain.openEndpoint().bind(vector).bind(one, waits)
                        .bind(other, waits == Direction.TRANSMIT ? Direction.RECEIVE : Direction.TRANSMIT).enable();
                MemoryRegion source = domain.allocate(8, Access.WRITE);
                MemoryRegion target = domain.allocate(8, Access.REMOTE_WRITE)) {
            Peer self = vector.insert(endpoint.address());
            endpoint.rma().write(source.slice(0, 8), self, target.remote(), 7);
            List<Long> tokens = new ArrayList<>();
            Waiting.YIELD.until(() -> {
                one.poll((token, flags, length, data) -> tokens.add(token), 16);
                other.poll((token, flags, length, data) -> tokens.add(token), 16);
                return !tokens.isEmpty();
            }, Pair.DEADLINE);

            assertThat(tokens).containsExactly(7L);
        }
    }

    /** As in an application's own loop, which looks whether it is to stop before it waits. */
    @ForEachProvider
    @MethodSource("io.ofi4j.WaitTest#withDescriptor")
    void aSignalBeforeALoopWaitsIsNotLost(String provider) {
        try (Fabric fabric = Libfabric.load().openFabric(TestProviders.info(provider));
                Domain domain = fabric.openDomain();
                CompletionQueue queue = domain
                        .openCompletionQueue(CompletionQueueAttributes.defaults().waitObject(WaitObject.FD))) {
            queue.signal();
            assertThat(queue.tryWait()).isFalse();
            Waiting.YIELD.until(queue::tryWait, Pair.DEADLINE);
            queue.signal();
            assertThat(Waiting.block(Pair.DEADLINE, queue)).isTrue();
        }
    }
}
