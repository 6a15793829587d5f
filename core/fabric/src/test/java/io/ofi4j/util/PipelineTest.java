package io.ofi4j.util;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ofi4j.Access;
import io.ofi4j.CompletionError;
import io.ofi4j.CompletionQueue;
import io.ofi4j.Endpoint;
import io.ofi4j.MemoryRegion;
import io.ofi4j.ProgressThread;
import io.ofi4j.Waiting;
import io.ofi4j.errors.FabricException;
import io.ofi4j.errors.FabricTimeoutException;
import io.ofi4j.info.Capability;
import io.ofi4j.info.Direction;
import io.ofi4j.info.FabricHints;
import io.ofi4j.support.ForEachProvider;
import io.ofi4j.support.Pair;
import io.ofi4j.support.TestProviders;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.provider.MethodSource;

/** A window of operations in flight, each with an object of the application. */
class PipelineTest {
    private static final int SIZE = 64;
    private static final FabricHints MESSAGES = TestProviders.hints("tcp;ofi_rxm").capabilities(Capability.MSG,
            Capability.RMA);

    /** Notes what has completed. */
    private static final class Notes implements PipelineHandler<String> {
        final List<String> done = new ArrayList<>();
        final List<String> failed = new ArrayList<>();
        final List<Long> others = new ArrayList<>();

        @Override
        public void onCompletion(String context, long length, long data) { done.add(context); }

        @Override
        public void onError(String context, CompletionError error) { failed.add(context + " " + error.errno()); }

        @Override
        public void onOther(long token, long flags, long length, long data) { others.add(token); }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#transfers")
    void everyOperationComesBackOnceWithItsObject(String provider) {
        Notes notes = new Notes();
        int count = 500;
        try (Pair pair = new Pair(provider);
                MemoryRegion near = pair.domain.allocate(SIZE, Access.READ, Access.WRITE);
                MemoryRegion far = pair.domain.allocate(SIZE, Access.REMOTE_READ, Access.REMOTE_WRITE);
                ProgressThread progress = pair.domain.startProgress(Waiting.YIELD)) {
            Pipeline<String> pipeline = new Pipeline<>(pair.endpoint, pair.queue, 8, notes);
            List<String> all = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                all.add("operation " + i);
                if (i % 2 == 0) {
                    pipeline.write(near.slice(0, 8), pair.far, far.remote(), all.getLast());
                } else {
                    pipeline.read(near.slice(8, 8), pair.far, far.remote().slice(8, 8), all.getLast());
                }
                assertThat(pipeline.inFlight()).isLessThanOrEqualTo(8);
            }
            pipeline.drain(Pair.DEADLINE);
            assertThat(progress.isRunning()).isTrue();
            assertThat(notes.failed).isEmpty();
            assertThat(notes.done).containsExactlyInAnyOrderElementsOf(all);
        }
    }

    /** Nobody waited for the first receive any longer. */
    @Test
    void aCompletionOfAnEarlierPipelineEndsNoOperationOfTheNext() {
        Notes earlier = new Notes();
        Notes later = new Notes();
        try (Pair pair = new Pair(MESSAGES);
                MemoryRegion region = pair.domain.allocate(SIZE, Access.SEND, Access.RECEIVE)) {
            new Pipeline<>(pair.farEndpoint, pair.farQueue, 1, earlier).submit("first",
                    token -> pair.farEndpoint.messages().receive(region.slice(16, 8), token));
            Pipeline<String> next = new Pipeline<>(pair.farEndpoint, pair.farQueue, 1, later);
            next.submit("second", token -> pair.farEndpoint.messages().receive(region.slice(32, 8), token));
            pair.endpoint.messages().send(region.slice(0, 8), pair.far, 1);
            Waiting.YIELD.until(() -> {
                pair.pollNear();
                next.poll();
                return !later.others.isEmpty() || !later.done.isEmpty();
            }, Pair.DEADLINE);

            assertThat(later.done).isEmpty();
            assertThat(next.inFlight()).isEqualTo(1);
        }
    }

    @Test
    void latenciesAreRecordedWhileAskedFor() {
        List<Long> nanos = new ArrayList<>();
        Notes notes = new Notes();
        try (Pair pair = new Pair("shm");
                MemoryRegion near = pair.domain.allocate(SIZE, Access.WRITE, Access.REMOTE_WRITE)) {
            Pipeline<String> pipeline = new Pipeline<>(pair.endpoint, pair.queue, 1, notes);
            for (int i = 0; i < 3; i++) {
                pipeline.recordLatencies(i == 1 ? nanos::add : null);
                pipeline.write(near.slice(0, 8), pair.far, near.remote(), "one");
                while (pipeline.inFlight() > 0) {
                    pipeline.poll();
                    pair.farQueue.poll((t, f, l, d) -> {}, 16);
                }
            }
        }
        assertThat(notes.done).hasSize(3);
        assertThat(nanos).hasSize(1).allSatisfy(one -> assertThat(one).isBetween(1L, Pair.DEADLINE.toNanos()));
    }

    @Test
    void aRecorderThatThrowsTakesNoCompletionFromTheHandler() {
        Notes notes = new Notes();
        int count = 76;
        try (Pair pair = new Pair("shm");
                MemoryRegion near = pair.domain.allocate(SIZE, Access.WRITE, Access.REMOTE_WRITE)) {
            Pipeline<String> pipeline = new Pipeline<>(pair.endpoint, pair.queue, count, notes);
            int[] calls = {0};
            pipeline.recordLatencies(nanos -> {
                if (calls[0]++ % 3 == 0) { throw new ArrayIndexOutOfBoundsException("out of range"); }
            });
            for (int i = 0; i < count; i++) {
                pipeline.write(near.slice(0, 8), pair.far, near.remote(), "operation " + i);
            }
            int thrown = 0;
            long start = System.nanoTime();
            while (pipeline.inFlight() > 0 && System.nanoTime() - start < Pair.DEADLINE.toNanos()) {
                pair.farQueue.poll((t, f, l, d) -> {}, 16);
                try {
                    pipeline.poll();
                } catch (ArrayIndexOutOfBoundsException e) {
                    thrown++;
                }
            }
            assertThat(notes.done).hasSize(count).doesNotHaveDuplicates();
            assertThat(thrown).isEqualTo((count + 2) / 3);
        }
    }

    @Test
    void aQueueThatTheEndpointDoesNotUseIsRefused() {
        try (Pair pair = new Pair("shm"); Pair other = new Pair("shm")) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> new Pipeline<>(pair.endpoint, other.queue, 1, new Notes()))
                    .withMessageContaining("pass a queue that is bound to the endpoint");
        }
    }

    @Test
    void aPipelineOfTheReceiveQueueWritesNothing() {
        try (Pair pair = new Pair(MESSAGES);
                CompletionQueue transmitted = pair.domain.openCompletionQueue();
                CompletionQueue received = pair.domain.openCompletionQueue();
                MemoryRegion near = pair.domain.allocate(SIZE, Access.RECEIVE, Access.WRITE);
                Endpoint endpoint = pair.domain.openEndpoint().bind(transmitted, Direction.TRANSMIT)
                        .bind(received, Direction.RECEIVE).bind(pair.vector).enable()) {
            Pipeline<String> pipeline = new Pipeline<>(endpoint, received, 1, new Notes());
            assertThatIllegalStateException()
                    .isThrownBy(() -> pipeline.write(near.slice(0, 8), pair.far, near.remote(), "a write"))
                    .withMessageContaining("complete in another queue");
            assertThat(pipeline.inFlight()).isZero();
            assertThat(endpoint.completionQueue(Direction.TRANSMIT)).contains(transmitted);
            assertThat(endpoint.completionQueue(Direction.RECEIVE)).contains(received);
        }
    }

    @Test
    void whatIsRefusedLeavesItsPlace() {
        Notes notes = new Notes();
        try (Pair pair = new Pair("shm"); MemoryRegion near = pair.domain.allocate(SIZE, Access.READ)) {
            Pipeline<String> pipeline = new Pipeline<>(pair.endpoint, pair.queue, 1, notes);
            for (int i = 0; i < 3; i++) {
                assertThatIllegalArgumentException()
                        .isThrownBy(() -> pipeline.write(near.slice(0, 8), pair.far, near.remote(), "no right"));
            }
            assertThat(pipeline.inFlight()).isZero();
        }
        assertThat(notes.done).isEmpty();
    }

    @Test
    void whatAnEndpointLeavesComesBackAsAnError() {
        Notes notes = new Notes();
        try (Pair pair = new Pair(MESSAGES); MemoryRegion near = pair.domain.allocate(SIZE, Access.RECEIVE)) {
            Pipeline<String> pipeline = new Pipeline<>(pair.endpoint, pair.queue, 4, notes);
            pipeline.submit("never sent", token -> pair.endpoint.messages().receive(near.slice(0, 8), token));
            pair.endpoint.close();
            pipeline.poll();
            assertThat(notes.failed).containsExactly("never sent 125");
        }
    }

    @Test
    void completionsOfOthersAreTold() {
        Notes notes = new Notes();
        try (Pair pair = new Pair("shm");
                MemoryRegion near = pair.domain.allocate(SIZE, Access.WRITE, Access.REMOTE_WRITE)) {
            Pipeline<String> pipeline = new Pipeline<>(pair.endpoint, pair.queue, 2, notes);
            pair.rma().write(near.slice(0, 8), pair.far, near.remote(), 5);
            long start = System.nanoTime();
            while (notes.others.isEmpty() && System.nanoTime() - start < Pair.DEADLINE.toNanos()) {
                pipeline.poll();
                pair.farQueue.poll((t, f, l, d) -> {}, 16);
            }
            assertThat(notes.others).containsExactly(5L);
        }
    }

    @Test
    void anOperationThatCompletesTwiceFreesOnePlace() {
        Notes notes = new Notes();
        try (Pair pair = new Pair(MESSAGES); MemoryRegion near = pair.domain.allocate(SIZE, Access.RECEIVE)) {
            Pipeline<String> pipeline = new Pipeline<>(pair.endpoint, pair.queue, 4, notes);
            pipeline.submit("twice", token -> {
                pair.endpoint.messages().receive(near.slice(0, 8), token);
                pair.endpoint.messages().receive(near.slice(8, 8), token);
            });
            pipeline.submit("once", token -> pair.endpoint.messages().receive(near.slice(16, 8), token));
            pair.endpoint.close();

            int thrown = 0;
            for (int i = 0; i < 4; i++) { // an error each
                try {
                    pipeline.poll();
                } catch (FabricException e) { // of no operation of the pipeline
                    thrown++;
                }
            }
            assertThat(thrown).isOne();
            assertThat(notes.failed).containsExactlyInAnyOrder("twice 125", "once 125");
            assertThat(pipeline.inFlight()).isZero();
        }
    }

    @Test
    void aPostThatThrowsAfterItHasPostedFreesOnePlace() {
        Notes notes = new Notes();
        try (Pair pair = new Pair("shm");
                MemoryRegion near = pair.domain.allocate(SIZE, Access.WRITE, Access.REMOTE_WRITE)) {
            Pipeline<String> pipeline = new Pipeline<>(pair.endpoint, pair.queue, 2, notes);
            assertThatIllegalStateException().isThrownBy(() -> pipeline.submit("posted", token -> {
                pair.rma().write(near.slice(0, 8), pair.far, near.remote(), token);
                throw new IllegalStateException("too late");
            }));
            long start = System.nanoTime();
            while (notes.others.isEmpty() && System.nanoTime() - start < Pair.DEADLINE.toNanos()) {
                pipeline.poll();
                pair.farQueue.poll((t, f, l, d) -> {}, 16);
            }
            assertThat(notes.others).hasSize(1);
            assertThat(notes.done).isEmpty();
            assertThat(pipeline.inFlight()).isZero();
        }
    }

    @Test
    void anotherThreadIsRefused() throws InterruptedException {
        try (Pair pair = new Pair("shm")) {
            Pipeline<String> pipeline = new Pipeline<>(pair.endpoint, pair.queue, 2, new Notes());
            List<Throwable> thrown = new ArrayList<>();
            Thread other = Thread.ofPlatform().start(() -> {
                for (Runnable call : List.<Runnable>of(pipeline::poll, () -> pipeline.submit("one", token -> {}),
                        () -> pipeline.drain(Duration.ZERO))) {
                    try {
                        call.run();
                    } catch (WrongThreadException e) {
                        thrown.add(e);
                    }
                }
            });
            assertThat(other.join(Pair.DEADLINE)).isTrue();
            assertThat(thrown).hasSize(3)
                    .allSatisfy(each -> assertThat(each).hasMessageContaining("was made by thread"));
        }
    }

    @Test
    void aWindowThatTheQueueCannotHoldIsRefused() {
        try (Pair pair = new Pair("shm")) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> new Pipeline<>(pair.endpoint, pair.queue, pair.queue.size() + 1, new Notes()));
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> new Pipeline<>(pair.endpoint, pair.queue, 0, new Notes()));
        }
    }

    @Test
    void aDrainThatDoesNotEndInTimeSaysHowManyAreLeft() {
        try (Pair pair = new Pair(MESSAGES); MemoryRegion near = pair.domain.allocate(SIZE, Access.RECEIVE)) {
            Pipeline<String> pipeline = new Pipeline<>(pair.endpoint, pair.queue, 4, new Notes());
            pipeline.submit("never sent", token -> pair.endpoint.messages().receive(near.slice(0, 8), token));
            assertThatThrownBy(() -> pipeline.drain(Duration.ofMillis(50)))
                    .hasMessageContaining("completing 1 operations");
            pair.endpoint.close();
        }
    }

    @Test
    void aFullWindowWaitsForAPlaceNoLongerThanAPost() {
        try (Pair pair = new Pair(MESSAGES); MemoryRegion near = pair.domain.allocate(SIZE, Access.RECEIVE)) {
            Pipeline<String> pipeline = new Pipeline<>(pair.endpoint, pair.queue, 1, new Notes());
            pair.endpoint.postTimeout(Duration.ofMillis(50));
            pipeline.submit("never sent", token -> pair.endpoint.messages().receive(near.slice(0, 8), token));
            assertThatThrownBy(() -> pipeline.submit("one too many",
                    token -> pair.endpoint.messages().receive(near.slice(8, 8), token)))
                    .isInstanceOf(FabricTimeoutException.class).hasMessageContaining("All 1 operations");
            pair.endpoint.close();
        }
    }
}
