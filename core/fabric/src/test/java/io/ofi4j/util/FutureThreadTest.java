package io.ofi4j.util;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ofi4j.Access;
import io.ofi4j.CompletionQueue;
import io.ofi4j.MemoryRegion;
import io.ofi4j.Peer;
import io.ofi4j.ProgressThread;
import io.ofi4j.Waiting;
import io.ofi4j.errors.FabricException;
import io.ofi4j.errors.FabricTimeoutException;
import io.ofi4j.info.AtomicOperation;
import io.ofi4j.info.Capability;
import io.ofi4j.info.Datatype;
import io.ofi4j.info.FabricHints;
import io.ofi4j.info.ThreadingModel;
import io.ofi4j.support.ForEachProvider;
import io.ofi4j.support.Pair;
import io.ofi4j.support.TestProviders;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.provider.MethodSource;

/** Operations as futures. */
class FutureThreadTest {
    private static final int SIZE = 64;
    private static final FabricHints MESSAGES = TestProviders.hints("tcp;ofi_rxm").capabilities(Capability.MSG,
            Capability.RMA);

    /** Endpoints that exchange messages, memory for these, and futures of the near one. */
    private static final class Stage implements AutoCloseable {
        final Pair pair = new Pair(MESSAGES);
        final MemoryRegion region = pair.domain.allocate(SIZE, Access.SEND, Access.RECEIVE);
        final FutureThread futures = new FutureThread(pair.endpoint, pair.queue);

        @Override
        public void close() {
            futures.close();
            region.close();
            pair.close();
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#transfers")
    void aReadFollowsAWrite(String provider) throws Exception {
        try (Pair pair = new Pair(provider);
                MemoryRegion near = pair.domain.allocate(SIZE, Access.READ, Access.WRITE);
                MemoryRegion far = pair.domain.allocate(SIZE, Access.REMOTE_READ, Access.REMOTE_WRITE);
                ProgressThread progress = pair.domain.startProgress();
                FutureThread futures = new FutureThread(pair.endpoint, pair.queue)) {
            near.asByteBuffer().putLong(0, 4711);
            CompletableFuture<FutureThread.Result> both = futures.write(near.slice(0, 8), pair.far, far.remote())
                    .thenCompose(written -> futures.read(near.slice(8, 8), pair.far, far.remote()));
            both.get(Pair.DEADLINE.toMillis(), TimeUnit.MILLISECONDS);
            assertThat(near.asByteBuffer().getLong(8)).isEqualTo(4711);
            assertThat(progress.isRunning()).isTrue();
        }
    }

    private static FabricHints hints(String provider, Capability family) {
        return TestProviders.hints(provider).capabilities(family, Capability.RMA);
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#transfers")
    void aMessageIsSentAndReceived(String provider) {
        try (Pair pair = new Pair(hints(provider, Capability.MSG));
                MemoryRegion region = pair.domain.allocate(SIZE, Access.SEND, Access.RECEIVE);
                FutureThread sender = new FutureThread(pair.endpoint, pair.queue);
                FutureThread receiver = new FutureThread(pair.farEndpoint, pair.farQueue)) {
            region.asByteBuffer().putLong(0, 4711);
            FabricFuture received = receiver.receive(region.slice(16, 16)).within(Pair.DEADLINE);
            sender.send(region.slice(0, 8), pair.far).await();
            assertThat(received.await().length()).isEqualTo(8);
            assertThat(region.asByteBuffer().getLong(16)).isEqualTo(4711);
        }
    }

    /** Its receive was posted by earlier futures of the queue, which are closed, and takes the first message. */
    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#transfers")
    void aCompletionOfEarlierFuturesEndsNoneOfTheLater(String provider) {
        try (Pair pair = new Pair(hints(provider, Capability.MSG));
                MemoryRegion region = pair.domain.allocate(SIZE, Access.SEND, Access.RECEIVE);
                FutureThread sender = new FutureThread(pair.endpoint, pair.queue)) {
            try (FutureThread earlier = new FutureThread(pair.farEndpoint, pair.farQueue)) {
                earlier.receive(region.slice(16, 8));
            }
            try (FutureThread later = new FutureThread(pair.farEndpoint, pair.farQueue)) {
                FabricFuture received = later.receive(region.slice(32, 8));
                for (long value = 1; value <= 2; value++) {
                    region.asByteBuffer().putLong(0, value);
                    sender.send(region.slice(0, 8), pair.far).await();
                }

                received.within(Pair.DEADLINE).await();

                assertThat(region.asByteBuffer().getLong(16)).isEqualTo(1);
                assertThat(region.asByteBuffer().getLong(32)).isEqualTo(2);
            }
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void aTaggedMessageIsSentAndReceived(String provider) {
        try (Pair pair = new Pair(hints(provider, Capability.TAGGED));
                MemoryRegion region = pair.domain.allocate(SIZE, Access.SEND, Access.RECEIVE);
                FutureThread sender = new FutureThread(pair.endpoint, pair.queue);
                FutureThread receiver = new FutureThread(pair.farEndpoint, pair.farQueue)) {
            region.asByteBuffer().putLong(0, 1).putLong(8, 2);
            FabricFuture second = receiver.receive(region.slice(16, 8), 2, 0).within(Pair.DEADLINE);
            FabricFuture first = receiver.receive(region.slice(24, 8), 1, 0).within(Pair.DEADLINE);
            sender.send(region.slice(0, 8), pair.far, 1).await();
            sender.send(region.slice(8, 8), pair.far, 2).await();
            first.await();
            second.await();
            assertThat(region.asByteBuffer().getLong(16)).isEqualTo(2);
            assertThat(region.asByteBuffer().getLong(24)).isEqualTo(1);
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#atomics")
    void anAtomicOperationBringsThePreviousValue(String provider) {
        try (Pair pair = new Pair(TestProviders.atomicHints(provider));
                MemoryRegion cell = pair.domain.allocate(SIZE, Access.READ, Access.WRITE);
                MemoryRegion target = pair.domain.allocate(SIZE, Access.REMOTE_READ, Access.REMOTE_WRITE);
                ProgressThread progress = pair.domain.startProgress();
                FutureThread futures = new FutureThread(pair.endpoint, pair.queue)) {
            MemoryRegion.Slice slice = cell.slice(8, 24);
            futures.fetch(AtomicOperation.SUM, Datatype.INT64, 5, slice, pair.far, target.remote()).await();
            assertThat(cell.asByteBuffer().getLong(8)).isZero();
            futures.compare(AtomicOperation.CSWAP, Datatype.INT64, 9, 5, slice, pair.far, target.remote()).await();
            assertThat(cell.asByteBuffer().getLong(8)).isEqualTo(5);
            assertThat(progress.isRunning()).isTrue();
        }
    }

    private static boolean cancels(String provider) { return !provider.equals("MSG verbs"); }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#transfers")
    void aReceiveIsCanceledAtItsDeadlineAndItsMemoryIsFree(String provider) {
        try (Pair pair = new Pair(hints(provider, Capability.MSG));
                MemoryRegion region = pair.domain.allocate(SIZE, Access.RECEIVE);
                FutureThread futures = new FutureThread(pair.endpoint, pair.queue)) {
            FabricFuture future = futures.receive(region.slice(0, 8)).within(Duration.ofMillis(20));
            if (cancels(provider)) {
                assertThatThrownBy(future::await).isInstanceOf(FabricTimeoutException.class)
                        .hasMessageContaining("within 20 ms").hasMessageContaining("canceled");
                assertThat(region.operationsInFlight()).isZero();
            } else {
                pair.endpoint.close();
                assertThatThrownBy(future::await).isInstanceOf(FabricException.class);
            }
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void aTaggedReceiveIsCanceled(String provider) {
        try (Pair pair = new Pair(hints(provider, Capability.TAGGED));
                MemoryRegion region = pair.domain.allocate(SIZE, Access.RECEIVE);
                FutureThread futures = new FutureThread(pair.endpoint, pair.queue)) {
            FabricFuture future = futures.receive(region.slice(0, 8), 1, 0);
            future.cancel(true);
            assertThatThrownBy(future::await).isInstanceOf(CancellationException.class);
            assertThat(future.isCancelled()).isTrue();
            assertThat(region.operationsInFlight()).isZero();
        }
    }

    @Test
    void aMessageThatHasComeIsNotLostToACancellation() {
        try (Pair pair = new Pair(MESSAGES);
                MemoryRegion region = pair.domain.allocate(SIZE, Access.SEND, Access.RECEIVE);
                FutureThread sender = new FutureThread(pair.endpoint, pair.queue);
                FutureThread receiver = new FutureThread(pair.farEndpoint, pair.farQueue)) {
            FabricFuture received = receiver.receive(region.slice(0, 8));
            sender.send(region.slice(8, 8), pair.far).await();
            received.await();
            assertThat(received.cancel(true)).isFalse();
            assertThat(received).isCompletedWithValueMatching(result -> result.length() == 8);
            assertThat(received.within(Duration.ZERO)).isCompleted();
        }
    }

    @Test
    void whatCannotBeCanceledEndsWithItsOperation() {
        try (Pair pair = new Pair("shm");
                MemoryRegion near = pair.domain.allocate(SIZE, Access.WRITE, Access.REMOTE_WRITE);
                ProgressThread progress = pair.domain.startProgress();
                FutureThread futures = new FutureThread(pair.endpoint, pair.queue)) {
            FabricFuture write = futures.write(near.slice(0, 8), pair.far, near.remote().slice(8, 8))
                    .within(Duration.ZERO);
            write.cancel(true);
            assertThat(write.await()).isNotNull();
            assertThat(progress.isRunning()).isTrue();
        }
    }

    @Test
    void anInterruptOfThePollingThreadEndsNothing() {
        try (Stage s = new Stage()) {
            FabricFuture future = s.futures.receive(s.region.slice(0, 8));
            for (Thread thread : Thread.getAllStackTraces().keySet()) {
                if (thread.getName().equals("ofi4j-futures")) { thread.interrupt(); }
            }
            FabricFuture later = s.futures.receive(s.region.slice(8, 8)).within(Duration.ofMillis(300));

            assertThatThrownBy(later::await).isInstanceOf(FabricTimeoutException.class);
            assertThat(future).isNotDone();
        }
    }

    @Test
    void anInterruptCancelsWhatAThreadAwaits() {
        try (Stage s = new Stage()) {
            FabricFuture future = s.futures.receive(s.region.slice(0, 8));
            Thread.currentThread().interrupt();
            assertThatThrownBy(future::await).isInstanceOf(FabricException.class).hasMessageContaining("interrupted");
            assertThat(Thread.interrupted()).as("the interrupt status").isTrue();
            assertThat(s.region.operationsInFlight()).isZero();
        }
    }

    @Test
    void manyVirtualThreadsWait() throws Exception {
        int count = 200;
        try (Pair pair = new Pair(MESSAGES);
                MemoryRegion region = pair.domain.allocate(8 * count, Access.SEND, Access.RECEIVE);
                FutureThread sender = new FutureThread(pair.endpoint, pair.queue);
                FutureThread receiver = new FutureThread(pair.farEndpoint, pair.farQueue);
                ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            List<FabricFuture> receives = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                receives.add(receiver.receive(region.slice(8L * i, 8)));
            }
            List<Future<Long>> waits = receives.stream().map(one -> threads.submit(() -> one.await().length()))
                    .toList();
            for (int i = 0; i < count; i++) {
                sender.send(region.slice(8L * i, 8), pair.far);
            }
            for (Future<Long> wait : waits) {
                assertThat(wait.get(Pair.DEADLINE.toSeconds(), TimeUnit.SECONDS)).isEqualTo(8);
            }
        }
    }

    @Test
    void anActionThatAwaitsAnotherFutureIsRefused() {
        try (Stage s = new Stage()) {
            CompletableFuture<FutureThread.Result> first = receive(s.futures, s.pair, s.region);
            FabricFuture never = s.futures.receive(s.region.slice(16, 8));
            CompletableFuture<FutureThread.Result> action = first.thenApply(received -> never.await());
            send(s.pair, s.region, action::isDone);
            assertThatThrownBy(action::join).hasCauseInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("thenCompose");
        }
    }

    @Test
    void manyThreadsMaySubmit() throws Exception {
        try (Pair pair = new Pair("shm");
                MemoryRegion near = pair.domain.allocate(SIZE, Access.WRITE, Access.REMOTE_WRITE);
                ProgressThread progress = pair.domain.startProgress();
                FutureThread futures = new FutureThread(pair.endpoint, pair.queue)) {
            List<CompletableFuture<Void>> threads = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                threads.add(CompletableFuture.runAsync(() -> {
                    for (int n = 0; n < 200; n++) {
                        futures.write(near.slice(0, 8), pair.far, near.remote().slice(8, 8)).join();
                    }
                }));
            }
            CompletableFuture.allOf(threads.toArray(CompletableFuture[]::new)).get(Pair.DEADLINE.toMillis(),
                    TimeUnit.MILLISECONDS);
            assertThat(progress.isRunning()).isTrue();
        }
    }

    @Test
    void whatFailsSaysWhy() {
        try (Stage s = new Stage()) {
            CompletableFuture<FutureThread.Result> future = receive(s.futures, s.pair, s.region);
            s.pair.endpoint.close();
            assertThatThrownBy(() -> future.orTimeout(Pair.DEADLINE.toMillis(), TimeUnit.MILLISECONDS).join())
                    .isInstanceOf(CompletionException.class).hasCauseInstanceOf(FabricException.class);
        }
    }

    @Test
    void whatIsRefusedIsThrownAtOnce() {
        try (Pair pair = new Pair("shm");
                MemoryRegion near = pair.domain.allocate(SIZE, Access.READ);
                FutureThread futures = new FutureThread(pair.endpoint, pair.queue)) {
            assertThatThrownBy(() -> futures.write(near.slice(0, 8), pair.far, near.remote()))
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    void closingEndsWhatWaits() {
        try (Pair pair = new Pair(MESSAGES); MemoryRegion near = pair.domain.allocate(SIZE, Access.RECEIVE)) {
            FutureThread futures = new FutureThread(pair.endpoint, pair.queue);
            CompletableFuture<FutureThread.Result> future = futures
                    .submit(token -> pair.endpoint.messages().receive(near.slice(0, 8), token));
            futures.close();
            futures.close();
            assertThatThrownBy(future::join).isInstanceOf(CancellationException.class);
            assertThatIllegalStateException().isThrownBy(() -> futures.submit(token -> {}))
                    .withMessageContaining("closed");
            pair.endpoint.close();
        }
    }

    @Test
    void closingEndsAnActionThatWaitsForAnotherFuture() {
        try (Pair pair = new Pair(MESSAGES);
                MemoryRegion region = pair.domain.allocate(SIZE, Access.RECEIVE, Access.SEND)) {
            FutureThread futures = new FutureThread(pair.endpoint, pair.queue);
            CountDownLatch waits = new CountDownLatch(1);
            CompletableFuture<FutureThread.Result> first = receive(futures, pair, region);
            CompletableFuture<FutureThread.Result> never = receive(futures, pair, region);
            CompletableFuture<FutureThread.Result> action = first.thenApply(received -> {
                waits.countDown();
                return never.join(); // which only this thread, that polls, could complete
            });
            send(pair, region, () -> waits.getCount() == 0);
            futures.close();
            assertThatThrownBy(() -> action.orTimeout(Pair.DEADLINE.toMillis(), TimeUnit.MILLISECONDS).join())
                    .hasCauseInstanceOf(CancellationException.class);
            pair.endpoint.close();
        }
    }

    @Test
    @Tag("gate") // it takes ten seconds
    void closingSaysThatAnActionStillRuns() {
        CountDownLatch end = new CountDownLatch(1);
        try (Pair pair = new Pair(MESSAGES);
                MemoryRegion region = pair.domain.allocate(SIZE, Access.RECEIVE, Access.SEND)) {
            FutureThread futures = new FutureThread(pair.endpoint, pair.queue);
            CountDownLatch runs = new CountDownLatch(1);
            CompletableFuture<Void> action = receive(futures, pair, region).thenRun(() -> {
                runs.countDown();
                awaitUninterruptibly(end);
            });
            send(pair, region, () -> runs.getCount() == 0);
            assertThatThrownBy(futures::close).isInstanceOf(FabricTimeoutException.class)
                    .hasMessageContaining("An action of a future still runs on the thread 'ofi4j-futures'");
            end.countDown();
            futures.close();
            assertThat(action).isCompleted();
        }
    }

    /** What follows it runs on the thread of the futures: no message has been sent yet. */
    private static CompletableFuture<FutureThread.Result> receive(FutureThread futures, Pair pair,
            MemoryRegion region) {
        return futures.submit(token -> pair.endpoint.messages().receive(region.slice(0, 8), token));
    }

    private static void send(Pair pair, MemoryRegion region, BooleanSupplier isDone) {
        Peer near = pair.vector.insert(pair.endpoint.address());
        pair.farEndpoint.messages().send(region.slice(8, 8), near, 1);
        Waiting.YIELD.until(() -> {
            pair.farQueue.poll((token, flags, length, data) -> {}, 16);
            return isDone.getAsBoolean();
        }, Pair.DEADLINE);
    }

    private static void awaitUninterruptibly(CountDownLatch latch) {
        try {
            assertThat(latch.await(Pair.DEADLINE.toSeconds() * 2, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void aQueueThatTheEndpointDoesNotUseIsRefused() {
        try (Pair pair = new Pair("shm"); CompletionQueue other = pair.domain.openCompletionQueue()) {
            assertThatIllegalArgumentException().isThrownBy(() -> new FutureThread(pair.endpoint, other))
                    .withMessageContaining("pass a queue that is bound to the endpoint");
        }
    }

    @Test
    void aSecondObjectOnAQueueIsRefusedUntilTheFirstIsClosed() {
        try (Pair pair = new Pair("shm")) {
            try (FutureThread futures = new FutureThread(pair.endpoint, pair.queue)) {
                assertThatIllegalStateException().isThrownBy(() -> new FutureThread(pair.endpoint, pair.queue))
                        .withMessageContaining("other futures use");
                assertThat(futures).hasToString("FutureThread of " + pair.endpoint);
            }
            new FutureThread(pair.endpoint, pair.queue).close();
        }
    }

    @Test
    void aThreadingModelWithAnOwnerIsRefused() {
        try (Pair pair = new Pair(TestProviders.hints("shm").threading(ThreadingModel.DOMAIN))) {
            assertThatIllegalStateException().isThrownBy(() -> new FutureThread(pair.endpoint, pair.queue))
                    .withMessageContaining("request SAFE");
        }
    }
}
