package io.ofi4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.ofi4j.info.Capability;
import io.ofi4j.info.FabricHints;
import io.ofi4j.info.ThreadingModel;
import io.ofi4j.support.ForEachProvider;
import io.ofi4j.support.Forked;
import io.ofi4j.support.Pair;
import io.ofi4j.support.TestProviders;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.provider.MethodSource;

/** A close that does not wait is tried until it is done. */
@Timeout(300)
class TryCloseTest {
    private static final int OPERATIONS = 8;

    static Stream<String> withNeighbours() { return TestProviders.rma().filter("shm"::equals); }

    /** Some providers have SAFE, whatever is asked for. */
    static Stream<String> withOwners() {
        return TestProviders.rma()
                .filter(provider -> TestProviders.info(owned(provider)).domain().threading() == ThreadingModel.DOMAIN);
    }

    private static FabricHints owned(String provider) {
        return TestProviders.hints(provider).threading(ThreadingModel.DOMAIN);
    }

    private static Pair open(String provider) {
        return new Pair(TestProviders.hints(provider).capabilities(Capability.RMA, Capability.MSG));
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#transfers")
    void eachOperationInFlightCompletesOnce(String provider) {
        try (Pair pair = open(provider);
                MemoryRegion region = pair.domain.allocate(4096, Access.WRITE, Access.RECEIVE);
                MemoryRegion target = pair.domain.allocate(4096, Access.REMOTE_WRITE)) {
            for (int i = 0; i < OPERATIONS; i++) {
                pair.endpoint.messages().receive(region.slice(2048, 64), i);
                pair.rma().write(region.slice(0, 64), pair.far, target.remote(), OPERATIONS + i);
            }
            Waiting.YIELD.until(() -> {
                boolean isClosed = pair.endpoint.tryClose();
                pair.poll();
                return isClosed;
            }, Pair.DEADLINE);
            pair.awaitCompletions(2 * OPERATIONS);

            List<Long> tokens = new ArrayList<>(pair.completed);
            pair.errors.forEach(error -> tokens.add(error.token()));
            assertThat(tokens)
                    .containsExactlyInAnyOrderElementsOf(LongStream.range(0, 2 * OPERATIONS).boxed().toList());
            assertThat(pair.endpoint.tryClose()).as("it is closed").isTrue();
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#transfers")
    void newOperationsAreRefusedFromTheFirstTryOn(String provider) {
        try (Pair pair = open(provider); MemoryRegion region = pair.domain.allocate(64, Access.SEND, Access.RECEIVE)) {
            Messages messages = pair.endpoint.messages();
            messages.receive(region.slice(0, 8), 1);
            pair.endpoint.tryClose();

            assertThatIllegalStateException().isThrownBy(() -> messages.tryReceive(region, 0, 8, 2))
                    .withMessageContaining("closed");
            assertThatIllegalStateException().isThrownBy(() -> messages.tryInject(region, 0, 8, pair.far))
                    .withMessageContaining("closed");
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#transfers")
    void aCloseEndsWhatATryHasBegun(String provider) {
        try (Pair pair = open(provider); MemoryRegion region = pair.domain.allocate(64, Access.RECEIVE)) {
            pair.endpoint.messages().receive(region.slice(0, 8), 1);
            pair.farEndpoint.messages().receive(region.slice(8, 8), 2);
            pair.endpoint.tryClose();
            pair.endpoint.close();
            pair.awaitCompletions(1);

            assertThat(pair.errors).singleElement().extracting(CompletionError::token).isEqualTo(1L);
            assertThat(pair.endpoint.tryClose()).isTrue();
        }
    }

    @ForEachProvider
    @MethodSource("withOwners")
    void aThreadThatDoesNotOwnTheEndpointLeavesItOpen(String provider) throws InterruptedException {
        List<Throwable> thrown = new ArrayList<>();
        try (Pair pair = new Pair(owned(provider));
                MemoryRegion region = pair.domain.allocate(8, Access.WRITE);
                MemoryRegion target = pair.domain.allocate(8, Access.REMOTE_WRITE)) {
            Thread other = Thread.ofPlatform().start(() -> {
                try {
                    pair.endpoint.tryClose();
                } catch (WrongThreadException e) {
                    thrown.add(e);
                }
            });
            other.join();
            pair.rma().write(region.slice(0, 8), pair.far, target.remote(), 1);
            pair.awaitToken(1);

            assertThat(thrown).hasSize(1);
        }
    }

    /** In a JVM of its own: what closes too early ends the process. */
    @ForEachProvider
    @MethodSource("withNeighbours")
    void aTryDoesNotWaitForANeighbour(String provider) {
        Forked.Result result = Forked.run(ClosesBesideReceives.class, provider);

        assertThat(result.exit()).as(result.output()).isZero();
        assertThat(result.output()).contains("not closed at the first try");
    }

    /** Closes one end by tries, while a receive of the other is in flight, and the other between the tries. */
    static final class ClosesBesideReceives {
        /** The limit of time is over at the first try where this thread loses its processor for so long. */
        private static final int ROUNDS = 10;

        private ClosesBesideReceives() {}

        public static void main(String[] arguments) {
            for (int round = 0; round < ROUNDS; round++) {
                boolean isFirst;
                try (Pair pair = open(arguments[0]); MemoryRegion region = pair.domain.allocate(64, Access.RECEIVE)) {
                    pair.farEndpoint.messages().receive(region.slice(0, 8), 1);
                    isFirst = pair.endpoint.tryClose();
                    pair.farEndpoint.close();
                    Waiting.YIELD.until(pair.endpoint::tryClose, Pair.DEADLINE);
                }
                if (!isFirst) { System.out.println("not closed at the first try"); }
            }
        }
    }
}
