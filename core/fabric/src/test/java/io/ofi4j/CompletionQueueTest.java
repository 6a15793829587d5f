package io.ofi4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ofi4j.errors.FabricException;
import io.ofi4j.errors.FabricTimeoutException;
import io.ofi4j.info.CompletionQueueAttributes;
import io.ofi4j.support.ForEachProvider;
import io.ofi4j.support.Pair;
import io.ofi4j.support.TestProviders;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** No completion is lost, none comes twice, whatever handlers and threads do. */
@Timeout(300)
class CompletionQueueTest {
    @Test
    void aHandlerThatThrowsGetsTheRestAtTheNextPoll() {
        try (Pair pair = new Pair("shm");
                MemoryRegion source = pair.domain.allocate(8, Access.WRITE);
                MemoryRegion target = pair.domain.allocate(8, Access.REMOTE_WRITE)) {
            List<Long> tokens = new ArrayList<>();
            for (long token = 1; token <= 10; token++) {
                pair.rma().write(source.slice(0, 8), pair.far, target.remote(), token);
            }
            Waiting.YIELD.until(() -> {
                pair.farQueue.poll((t, f, l, d) -> {}, 64);
                try {
                    pair.queue.poll((token, flags, length, data) -> {
                        tokens.add(token);
                        if (token % 3 == 0) { throw new IllegalArgumentException("handler " + token); }
                    }, 64);
                } catch (IllegalArgumentException e) {
                    assertThat(e).hasMessage("handler " + tokens.getLast());
                }
                return tokens.size() >= 10;
            }, Pair.DEADLINE);

            assertThat(tokens).containsExactlyInAnyOrderElementsOf(LongStream.rangeClosed(1, 10).boxed().toList());
        }
    }

    @Test
    void aRegionThatWaitedForAnOperationIsDeregisteredThoughItsHandlerThrows() {
        try (Pair pair = new Pair("shm"); MemoryRegion target = pair.domain.allocate(8, Access.REMOTE_WRITE)) {
            MemoryRegion source = pair.domain.allocate(8, Access.WRITE);
            pair.rma().write(source.slice(0, 8), pair.far, target.remote(), 1);
            source.close();
            assertThat(pair.domain.statistics().closingRegions()).isEqualTo(1);

            Waiting.YIELD.until(() -> {
                pair.farQueue.poll((t, f, l, d) -> {}, 64);
                try {
                    pair.queue.poll((token, flags, length, data) -> {
                        throw new IllegalArgumentException("handler");
                    }, 64);
                    return false;
                } catch (IllegalArgumentException e) {
                    return true;
                }
            }, Pair.DEADLINE);

            assertThat(pair.domain.statistics().closingRegions()).isZero();
        }
    }

    @Test
    void aHandlerMayPostPollAndMakeProgress() {
        try (Pair pair = new Pair("shm");
                MemoryRegion source = pair.domain.allocate(8, Access.WRITE);
                MemoryRegion target = pair.domain.allocate(8, Access.REMOTE_WRITE)) {
            List<Long> tokens = new ArrayList<>();
            CompletionHandler handler = (token, flags, length, data) -> {
                tokens.add(token);
                if (token == 1) {
                    pair.queue.progress();
                    pair.rma().write(source.slice(0, 8), pair.far, target.remote(), 2);
                    Waiting.YIELD.until(() -> {
                        pair.farQueue.progress();
                        return pair.queue.poll((t, f, l, d) -> tokens.add(t), 64) > 0;
                    }, Pair.DEADLINE);
                }
            };
            pair.rma().write(source.slice(0, 8), pair.far, target.remote(), 1);
            Waiting.YIELD.until(() -> {
                pair.farQueue.poll(handler, 64);
                pair.queue.poll(handler, 64);
                return tokens.size() >= 2;
            }, Pair.DEADLINE);

            assertThat(tokens).containsExactly(1L, 2L);
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void whatCompletesDuringProgressIsKeptForThePoll(String provider) {
        try (Pair pair = new Pair(provider);
                MemoryRegion source = pair.domain.allocate(8, Access.WRITE);
                MemoryRegion target = pair.domain.allocate(8, Access.REMOTE_WRITE)) {
            pair.rma().write(source.slice(0, 8), pair.far, target.remote(), 41);
            pair.rma().write(source.slice(0, 8), pair.far, target.remote(), 42);
            Waiting.YIELD.until(() -> {
                pair.queue.progress();
                pair.farQueue.progress();
                return pair.queue.operationsInFlight() == 0;
            }, Pair.DEADLINE);

            List<Long> tokens = new ArrayList<>();
            assertThat(pair.queue.poll((token, flags, length, data) -> tokens.add(token), 1)).isEqualTo(1);
            assertThat(pair.queue.poll((token, flags, length, data) -> tokens.add(token), 64)).isEqualTo(1);
            assertThat(tokens).containsExactlyInAnyOrder(41L, 42L);
        }
    }

    @Test
    void aWriteFindsRoomByItselfThoughNobodyPolls() {
        try (Pair pair = new Pair("shm");
                MemoryRegion source = pair.domain.allocate(8, Access.WRITE);
                MemoryRegion target = pair.domain.allocate(8, Access.REMOTE_WRITE)) {
            int count = pair.queue.size() + 100;
            for (long token = 0; token < count; token++) {
                pair.rma().write(source.slice(0, 8), pair.far, target.remote(), token);
            }
            pair.awaitCompletions(count);

            assertThat(pair.completed).containsExactlyInAnyOrderElementsOf(LongStream.range(0, count).boxed().toList());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"tcp;ofi_rxm", "sockets"})
    void aReadWithAWrongKeyIsAnErrorWithItsToken(String provider) {
        try (Pair pair = new Pair(provider);
                MemoryRegion sink = pair.domain.allocate(8, Access.READ);
                MemoryRegion source = pair.domain.allocate(8, Access.REMOTE_READ)) {
            RemoteRegion there = source.remote();
            RemoteRegion wrong = new RemoteRegion(there.base(), 8, there.key() ^ 0x5555, there.accessBits());
            pair.rma().read(sink.slice(0, 8), pair.far, wrong, 9);
            pair.awaitCompletions(1);

            assertThat(pair.completed).isEmpty();
            assertThat(pair.errors).singleElement().satisfies(error -> {
                assertThat(error.token()).isEqualTo(9);
                assertThat(error.errno()).isPositive();
                assertThat(error.toException()).hasMessageContaining("token 9").hasMessageContaining("errno");
            });
        }
    }

    @Test
    void anErrorIsThrownWhereTheHandlerDoesNotTakeIt() {
        int large = 32 << 20; // more than sockets buffer, and the far side does not poll
        try (Pair pair = new Pair("tcp;ofi_rxm");
                MemoryRegion source = pair.domain.allocate(large, Access.WRITE);
                MemoryRegion target = pair.domain.allocate(large, Access.REMOTE_WRITE)) {
            pair.rma().write(source.slice(0, large), pair.far, target.remote(), 1);
            pair.endpoint.close();

            assertThatThrownBy(
                    () -> Waiting.YIELD.until(() -> pair.queue.poll((t, f, l, d) -> {}, 1) > 0, Pair.DEADLINE))
                    .isInstanceOfSatisfying(FabricException.class, e -> assertThat(e.errno()).isEqualTo(125));
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void threadsThatShareEverythingGetEachTokenOnce(String provider) throws Exception {
        int threads = 3;
        int each = provider.equals("shm") ? 20_000 : 2_000;
        try (Pair pair = new Pair(provider);
                MemoryRegion source = pair.domain.allocate(8, Access.WRITE);
                MemoryRegion target = pair.domain.allocate(8, Access.REMOTE_WRITE);
                ExecutorService pool = Executors.newFixedThreadPool(threads)) {
            ConcurrentLinkedQueue<Long> back = new ConcurrentLinkedQueue<>();
            List<Future<?>> workers = new ArrayList<>();
            for (int worker = 0; worker < threads; worker++) {
                long first = (long) worker * each;
                workers.add(pool.submit(() -> {
                    for (long token = first; token < first + each; token++) {
                        pair.rma().write(source.slice(0, 8), pair.far, target.remote(), token);
                        pair.queue.poll((t, f, l, d) -> back.add(t), 16);
                        pair.farQueue.poll((t, f, l, d) -> {}, 16);
                    }
                }));
            }
            for (Future<?> worker : workers) {
                worker.get();
            }
            Waiting.YIELD.until(() -> {
                pair.farQueue.poll((t, f, l, d) -> {}, 64);
                pair.queue.poll((t, f, l, d) -> back.add(t), 64);
                return pair.queue.operationsInFlight() == 0 && pair.queue.poll((t, f, l, d) -> back.add(t), 64) == 0;
            }, Pair.DEADLINE);

            assertThat(back.stream().sorted().toList())
                    .isEqualTo(LongStream.range(0, (long) threads * each).boxed().toList());
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#transfers")
    void whoNeverPollsIsToldThatTheQueueIsFull(String provider) {
        CompletionQueueAttributes small = CompletionQueueAttributes.defaults().size(64);
        try (Pair pair = new Pair(TestProviders.hints(provider), small);
                MemoryRegion region = pair.domain.allocate(16, Access.values())) {
            pair.rma().write(region.slice(0, 8), pair.far, region.remote().slice(8, 8), -1); // connects
            pair.awaitToken(-1);
            for (int token = 0; token < pair.queue.size(); token++) {
                pair.rma().write(region.slice(0, 8), pair.far, region.remote().slice(8, 8), token);
            }
            Waiting.YIELD.until(() -> {
                pair.queue.progress();
                pair.farQueue.progress();
                return pair.queue.operationsInFlight() == 0;
            }, Pair.DEADLINE);
            pair.endpoint.postTimeout(Duration.ofMillis(50));

            assertThatThrownBy(() -> { // as many more may be in flight
                for (int token = 0; token < 200; token++) {
                    pair.rma().write(region.slice(0, 8), pair.far, region.remote().slice(8, 8), token);
                }
            }).isInstanceOf(FabricTimeoutException.class)
                    .hasMessageContaining("is full, with " + pair.queue.size() + " completions")
                    .hasMessageContaining("poll it");
        }
    }
}
