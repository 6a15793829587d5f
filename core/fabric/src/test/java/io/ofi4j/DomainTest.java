package io.ofi4j;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.ofi4j.info.CompletionQueueAttributes;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.info.ThreadingModel;
import io.ofi4j.support.ForEachProvider;
import io.ofi4j.support.Pair;
import io.ofi4j.support.TestProviders;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.provider.MethodSource;

/** What a domain does for all that was opened in it: progress, and finding a region by its key. */
@Timeout(300)
class DomainTest {
    private static final long VALUE = 0x1122334455667788L;

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#transfers")
    void itsProgressServesEveryQueueAndLeavesTheCompletionsToPolls(String provider) {
        try (Pair pair = new Pair(provider);
                MemoryRegion source = pair.domain.allocate(8, Access.WRITE);
                MemoryRegion target = pair.domain.allocate(8, Access.REMOTE_WRITE)) {
            source.segment().set(JAVA_LONG, 0, VALUE);
            for (long token = 0; token < 10; token++) {
                pair.rma().write(source.slice(0, 8), pair.far, target.remote(), token);
            }
            Waiting.YIELD.until(() -> {
                assertThat(pair.domain.progress()).isTrue();
                return pair.queue.operationsInFlight() == 0 && target.segment().get(JAVA_LONG, 0) == VALUE;
            }, Pair.DEADLINE);

            assertThat(pair.completed).isEmpty();
            pair.pollNear();
            assertThat(pair.completed).containsExactlyElementsOf(LongStream.range(0, 10).boxed().toList());
            assertThat(pair.errors).isEmpty();
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#transfers")
    void itSaysThatAQueueKeepsAllThatItHasRoomFor(String provider) {
        CompletionQueueAttributes small = CompletionQueueAttributes.defaults().size(64);
        try (Pair pair = new Pair(TestProviders.hints(provider), small);
                MemoryRegion region = pair.domain.allocate(16, Access.WRITE, Access.REMOTE_WRITE)) {
            pair.rma().write(region.slice(0, 8), pair.far, region.remote().slice(8, 8), -1); // connects
            pair.awaitToken(-1);
            for (int token = 0; token < pair.queue.size(); token++) {
                pair.rma().write(region.slice(0, 8), pair.far, region.remote().slice(8, 8), token);
            }
            Waiting.YIELD.until(() -> !pair.domain.progress(), Pair.DEADLINE);

            assertThat(pair.queue.operationsInFlight()).isZero();
            pair.completed.clear();
            pair.awaitCompletions(pair.queue.size());
            assertThat(pair.domain.progress()).isTrue();
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void itMakesNoProgressForAThreadThatDoesNotOwnItsQueues(String provider) throws Exception {
        FabricInfo owned = TestProviders.info(TestProviders.hints(provider).threading(ThreadingModel.COMPLETION));
        assumeThat(owned.domain().threading()).as("ofi_rxm answers SAFE").isEqualTo(ThreadingModel.COMPLETION);
        try (Fabric fabric = Libfabric.load().openFabric(owned);
                Domain domain = fabric.openDomain();
                CompletionQueue queue = domain.openCompletionQueue();
                ExecutorService other = Executors.newSingleThreadExecutor()) {
            assertThatThrownBy(other.submit(domain::progress)::get).hasCauseInstanceOf(WrongThreadException.class);
            assertThat(domain.progress()).isTrue();
            assertThat(queue.operationsInFlight()).isZero();
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#transfers")
    void aRegionIsFoundByItsKeyWhileItIsOpen(String provider) {
        try (Pair pair = new Pair(provider);
                Pair another = new Pair(provider);
                MemoryRegion first = pair.domain.allocate(8, Access.REMOTE_WRITE);
                MemoryRegion elsewhere = another.domain.allocate(8, Access.REMOTE_WRITE)) {
            MemoryRegion second = pair.domain.allocate(8, Access.REMOTE_READ);
            long key = second.remote().key();
            long firstKey = first.remote().key();
            List<Long> keys = List.of(key, firstKey);

            assertThat(pair.domain.region(key)).containsSame(second);
            assertThat(pair.domain.region(firstKey)).containsSame(first);
            assertThat(another.domain.region(elsewhere.remote().key())).containsSame(elsewhere);
            long unknown = LongStream.iterate(1, one -> one + 1).filter(one -> !keys.contains(one)).findFirst()
                    .getAsLong();
            assertThat(pair.domain.region(unknown)).isEmpty();
            second.close();
            assertThat(pair.domain.region(key)).isEmpty();
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#transfers")
    void aClosedDomainMakesNoProgressAndHasNoRegions(String provider) {
        Pair pair = new Pair(provider);
        MemoryRegion region = pair.domain.allocate(8, Access.REMOTE_WRITE);
        long key = region.remote().key();
        region.close();
        pair.close();

        assertThatIllegalStateException().isThrownBy(pair.domain::progress).withMessageContaining("is closed");
        assertThat(pair.domain.region(key)).isEmpty();
    }
}
