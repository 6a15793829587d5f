package io.ofi4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ofi4j.info.Capability;
import io.ofi4j.info.CounterAttributes;
import io.ofi4j.info.CounterEvent;
import io.ofi4j.info.FabricHints;
import io.ofi4j.info.ThreadingModel;
import io.ofi4j.support.ForEachProvider;
import io.ofi4j.support.OtherThread;
import io.ofi4j.support.Pair;
import io.ofi4j.support.TestProviders;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Objects of one thread go to another one, in either of the models that have owners. */
@Timeout(300)
class HandOverTest {
    private static final CompletionHandler NOTHING = (token, flags, length, data) -> {};

    private final OtherThread elsewhere = new OtherThread();
    private final Thread other = elsewhere.thread;

    /** Some providers have SAFE, whatever is asked for. */
    static Stream<Arguments> providersAndModels() {
        return TestProviders.rma().flatMap(provider -> Stream.of(ThreadingModel.DOMAIN, ThreadingModel.COMPLETION)
                .filter(model -> offers(provider, model)).map(model -> Arguments.of(provider, model)));
    }

    static Stream<String> withOwnersOfQueues() {
        return TestProviders.rma().filter(provider -> offers(provider, ThreadingModel.COMPLETION));
    }

    private static boolean offers(String provider, ThreadingModel model) {
        return TestProviders.info(hints(provider, model)).domain().threading() == model;
    }

    private static FabricHints hints(String provider, ThreadingModel model) {
        return TestProviders.hints(provider).capabilities(Capability.RMA, Capability.MSG).threading(model);
    }

    private static Pair open(String provider, ThreadingModel model) { return new Pair(hints(provider, model)); }

    @AfterEach
    void close() { elsewhere.close(); }

    private static void handOver(Pair pair, Thread to) {
        if (pair.domain.info().domain().threading() == ThreadingModel.DOMAIN) {
            pair.domain.handOver(to);
        } else {
            pair.queue.handOver(to);
            pair.farQueue.handOver(to);
        }
    }

    @ForEachProvider
    @MethodSource("providersAndModels")
    void theNextThreadGoesOnWhereTheOwnerWas(String provider, ThreadingModel model) {
        try (Pair pair = open(provider, model);
                MemoryRegion region = pair.domain.allocate(64, Access.SEND, Access.RECEIVE)) {
            Messages sends = pair.endpoint.messages();
            Messages receives = pair.farEndpoint.messages();
            region.setLongRelease(0, 77);
            receives.receive(region.slice(32, 8), 1); // completes in the other thread
            handOver(pair, other);
            List<Long> tokens = new ArrayList<>();
            elsewhere.run(() -> {
                sends.send(region.slice(0, 8), pair.far, 2);
                Waiting.YIELD.until(() -> {
                    pair.queue.poll((token, flags, length, data) -> tokens.add(token), 4);
                    pair.farQueue.poll((token, flags, length, data) -> tokens.add(token), 4);
                    return tokens.size() == 2;
                }, Pair.DEADLINE);
                handOver(pair, Thread.ofPlatform().unstarted(() -> {}));
            });
            assertThat(tokens).containsExactlyInAnyOrder(1L, 2L);
            assertThat(region.getLongAcquire(32)).isEqualTo(77);
            Thread here = Thread.currentThread();
            elsewhere.run(() -> handOver(pair, here)); // in place of the thread that was never started
            assertThat(pair.queue.poll(NOTHING, 1)).isZero();
        }
    }

    @ForEachProvider
    @MethodSource("providersAndModels")
    void anotherThreadClosesWhatALoopHasHandedOver(String provider, ThreadingModel model) throws Exception {
        Pair closing = open(provider, model);
        try (Pair pair = open(provider, model);
                MemoryRegion region = pair.domain.allocate(64, Access.SEND, Access.RECEIVE)) {
            handOver(closing, other);
            Future<?> closed = elsewhere.begin(Executors.callable(closing::close));
            do {
                exchange(pair, region); // the loop goes on
            } while (!closed.isDone());
            closed.get();
            exchange(pair, region);

            assertThat(closing.endpoint.isClosed()).isTrue();
        }
    }

    private static void exchange(Pair pair, MemoryRegion region) {
        pair.farEndpoint.messages().receive(region.slice(32, 8), 1);
        pair.endpoint.messages().send(region.slice(0, 8), pair.far, 2);
        int[] left = {2};
        Waiting.YIELD.until(() -> {
            left[0] -= pair.queue.poll(NOTHING, 4) + pair.farQueue.poll(NOTHING, 4);
            return left[0] == 0;
        }, Pair.DEADLINE);
    }

    @ForEachProvider
    @MethodSource("providersAndModels")
    void theFormerOwnerIsRefused(String provider, ThreadingModel model) {
        try (Pair pair = open(provider, model);
                MemoryRegion region = pair.domain.allocate(64, Access.WRITE, Access.REMOTE_WRITE, Access.SEND)) {
            Rma rma = pair.rma();
            Messages messages = pair.endpoint.messages();
            RemoteRegion remote = region.remote();
            pair.pollNear();
            handOver(pair, other);
            refused(() -> rma.tryWrite(region, 0, 8, pair.far, remote, 0, 1));
            refused(() -> messages.trySend(region, 0, 8, pair.far, 1));
            refused(() -> pair.queue.poll(NOTHING, 1));
            refused(() -> pair.queue.await(NOTHING, 1, Pair.DEADLINE));
            elsewhere.run(() -> assertThat(pair.queue.poll(NOTHING, 1)).isZero());
            refused(() -> rma.tryWrite(region, 0, 8, pair.far, remote, 0, 1));
            refused(() -> messages.trySend(region, 0, 8, pair.far, 1));
            refused(() -> pair.queue.poll(NOTHING, 1));
            Thread here = Thread.currentThread();
            refused(() -> pair.queue.close());
            elsewhere.run(() -> handOver(pair, here));
        }
    }

    private static void refused(Runnable call) {
        assertThatThrownBy(call::run).isInstanceOf(WrongThreadException.class);
    }

    @ForEachProvider
    @MethodSource("providersAndModels")
    void noOperationIsLostBetweenThreadsThatTakeTurns(String provider, ThreadingModel model) {
        int turns = 100;
        try (Pair pair = open(provider, model);
                MemoryRegion region = pair.domain.allocate(64, Access.WRITE, Access.REMOTE_WRITE)) {
            Rma rma = pair.rma();
            RemoteRegion remote = region.remote();
            List<Long> tokens = new ArrayList<>();
            Thread here = Thread.currentThread();
            for (int turn = 0; turn < turns; turn++) {
                long token = 2L * turn;
                rma.write(region.slice(0, 8), pair.far, remote, token); // completes anywhere
                pair.queue.poll((one, flags, length, data) -> tokens.add(one), 1);
                handOver(pair, other);
                elsewhere.run(() -> {
                    rma.write(region.slice(8, 8), pair.far, remote, token + 1);
                    pair.queue.poll((one, flags, length, data) -> tokens.add(one), 1);
                    pair.farQueue.poll(NOTHING, 16);
                    handOver(pair, here);
                });
            }
            Waiting.YIELD.until(() -> {
                pair.queue.poll((one, flags, length, data) -> tokens.add(one), 16);
                pair.farQueue.poll(NOTHING, 16);
                return tokens.size() >= 2 * turns;
            }, Pair.DEADLINE);

            assertThat(tokens).hasSize(2 * turns).doesNotHaveDuplicates();
        }
    }

    /** With COMPLETION, an endpoint's queues and counters are one thread's. */
    @ForEachProvider
    @MethodSource("withOwnersOfQueues")
    void whatSharesAnEndpointIsHandedOverTogether(String provider) {
        try (Fabric fabric = Libfabric.load()
                .openFabric(TestProviders.info(TestProviders.hints(provider).threading(ThreadingModel.COMPLETION)));
                Domain domain = fabric.openDomain();
                AddressVector vector = domain.openAddressVector();
                CompletionQueue one = domain.openCompletionQueue();
                CompletionQueue apart = domain.openCompletionQueue();
                Counter counter = domain.openCounter(CounterAttributes.defaults());
                Endpoint endpoint = domain.openEndpoint().bind(vector).bind(one).bind(counter, CounterEvent.WRITE)
                        .enable()) {
            counter.handOver(other);
            refused(() -> one.poll(NOTHING, 1));
            refused(counter::read);
            assertThat(apart.poll(NOTHING, 1)).isZero();
            Thread here = Thread.currentThread();
            elsewhere.run(() -> {
                assertThat(counter.read()).isZero();
                one.handOver(here);
            });
            assertThat(counter.read()).isZero();
            assertThat(endpoint.isClosed()).isFalse();
        }
    }

    @Test
    void aHandlerCannotHandOver() {
        for (ThreadingModel model : List.of(ThreadingModel.DOMAIN, ThreadingModel.COMPLETION)) {
            try (Pair pair = open("shm", model);
                    MemoryRegion region = pair.domain.allocate(64, Access.WRITE, Access.REMOTE_WRITE)) {
                AtomicReference<Throwable> thrown = new AtomicReference<>();
                pair.rma().write(region.slice(0, 8), pair.far, region.remote(), 1);
                Waiting.YIELD.until(() -> {
                    pair.farQueue.poll(NOTHING, 16);
                    pair.queue.poll((token, flags, length, data) -> {
                        try {
                            handOver(pair, other);
                            thrown.set(new AssertionError("it was not refused"));
                        } catch (IllegalStateException e) {
                            thrown.set(e);
                        }
                    }, 1);
                    return thrown.get() != null;
                }, Pair.DEADLINE);

                assertThat(thrown.get()).hasMessageContaining("when the poll has returned");
                assertThat(pair.queue.poll(NOTHING, 1)).isZero();
            }
        }
    }

    @Test
    void whatIsNoOwnersCannotBeHandedOver() {
        try (Pair pair = open("shm", ThreadingModel.SAFE)) {
            assertThatIllegalStateException().isThrownBy(() -> pair.domain.handOver(other))
                    .withMessageContaining("ThreadingModel.SAFE");
            assertThatIllegalStateException().isThrownBy(() -> pair.queue.handOver(other))
                    .withMessageContaining("ThreadingModel.SAFE");
        }
        try (Pair pair = open("shm", ThreadingModel.DOMAIN)) {
            assertThatIllegalStateException().isThrownBy(() -> pair.queue.handOver(other))
                    .withMessageContaining("hand over the domain");
            elsewhere.run(() -> refused(() -> pair.domain.handOver(other)));
            assertThat(pair.queue.poll(NOTHING, 1)).isZero();
        }
    }
}
