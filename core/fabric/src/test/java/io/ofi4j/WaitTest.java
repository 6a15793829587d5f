package io.ofi4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ofi4j.errors.FabricException;
import io.ofi4j.info.Capability;
import io.ofi4j.info.CompletionQueueAttributes;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.info.ThreadingModel;
import io.ofi4j.info.WaitObject;
import io.ofi4j.internal.os.Descriptors;
import io.ofi4j.support.ForEachProvider;
import io.ofi4j.support.Pair;
import io.ofi4j.support.TestProviders;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Blocking until something has completed, by the library's means and by an application's own loop. */
@Timeout(300)
class WaitTest {
    private static final Duration SHORT = Duration.ofMillis(50);
    /** Of a wait that only the awaited thing ends; without it the time limit of the test does. */
    private static final Duration ENDLESS = Duration.ofDays(1);
    private static final CompletionHandler NOTHING = (token, flags, length, data) -> {};

    static Stream<Arguments> providersAndWaitObjects() {
        return TestProviders.rma().flatMap(provider -> offered(provider).map(object -> Arguments.of(provider, object)));
    }

    /** Which wait objects a provider's queues have. */
    private static Stream<WaitObject> offered(String provider) {
        return switch (provider) {
            case "shm" -> Stream.of(WaitObject.NONE, WaitObject.UNSPECIFIED, WaitObject.YIELD);
            case "udp;ofi_rxd" -> Stream.of(WaitObject.NONE, WaitObject.UNSPECIFIED);
            default -> Stream.of(WaitObject.NONE, WaitObject.UNSPECIFIED, WaitObject.FD);
        };
    }

    static Stream<String> withDescriptor() {
        return TestProviders.rma().filter(provider -> offered(provider).anyMatch(WaitObject.FD::equals));
    }

    private static Pair pair(String provider, WaitObject object) {
        return new Pair(TestProviders.hints(provider), CompletionQueueAttributes.defaults().waitObject(object));
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void aProviderOffersItsWaitObjectsAndRefusesOthersByName(String provider) {
        List<WaitObject> offered = offered(provider).toList();
        try (Fabric fabric = Libfabric.load().openFabric(TestProviders.info(provider));
                Domain domain = fabric.openDomain()) {
            for (WaitObject object : List.of(WaitObject.NONE, WaitObject.UNSPECIFIED, WaitObject.FD,
                    WaitObject.YIELD)) {
                CompletionQueueAttributes attributes = CompletionQueueAttributes.defaults().waitObject(object);
                if (offered.contains(object)) {
                    try (CompletionQueue queue = domain.openCompletionQueue(attributes)) {
                        assertThat(queue.poll(NOTHING, 1)).isZero();
                        if (object == WaitObject.FD) {
                            assertThat(queue.waitDescriptor()).isNotNegative();
                        } else if (object != WaitObject.UNSPECIFIED) {
                            assertThatIllegalStateException().isThrownBy(queue::waitDescriptor)
                                    .withMessageContaining("WaitObject.FD");
                            assertThatIllegalStateException().isThrownBy(queue::tryWait)
                                    .withMessageContaining("WaitObject.FD");
                        }
                    }
                } else {
                    assertThatThrownBy(() -> domain.openCompletionQueue(attributes))
                            .isInstanceOf(UnsupportedOperationException.class)
                            .hasMessageContaining("the wait object " + object + " is not offered by the provider "
                                    + provider + ": ask for WaitObject.UNSPECIFIED or NONE");
                }
            }
        }
    }

    @ForEachProvider
    @MethodSource("providersAndWaitObjects")
    void aBlockingReadReturnsWhatCompletes(String provider, WaitObject object) throws Exception {
        int count = 200;
        try (Pair pair = pair(provider, object);
                MemoryRegion source = pair.domain.allocate(8, Access.WRITE);
                MemoryRegion target = pair.domain.allocate(8, Access.REMOTE_WRITE);
                ExecutorService pool = Executors.newSingleThreadExecutor()) {
            Future<?> far = pool.submit(() -> { // the target makes progress, and blocks in between
                while (!Thread.currentThread().isInterrupted()) {
                    pair.farQueue.await(NOTHING, 64, SHORT);
                }
            });
            List<Long> tokens = new ArrayList<>();
            for (long token = 0; token < count; token++) {
                pair.rma().write(source.slice(0, 8), pair.far, target.remote(), token);
                assertThat(pair.queue.await((t, f, l, d) -> tokens.add(t), 16, Pair.DEADLINE)).isPositive();
            }
            far.cancel(true);
            pool.shutdown();
            assertThat(pool.awaitTermination(Pair.DEADLINE.toSeconds(), TimeUnit.SECONDS)).isTrue();

            assertThat(tokens).containsExactlyElementsOf(LongStream.range(0, count).boxed().toList());
        }
    }

    @ForEachProvider
    @MethodSource("providersAndWaitObjects")
    void aBlockingReadEndsWithItsDeadline(String provider, WaitObject object) {
        try (Pair pair = pair(provider, object)) {
            long start = System.nanoTime();
            assertThat(pair.queue.await(NOTHING, 1, SHORT)).isZero();
            long took = System.nanoTime() - start;

            assertThat(took).isGreaterThanOrEqualTo(SHORT.toNanos());
            assertThat(pair.queue.await(NOTHING, 1, Duration.ZERO)).isZero();
            assertThatIllegalArgumentException().isThrownBy(() -> pair.queue.await(NOTHING, 0, SHORT));
            assertThatThrownBy(() -> pair.queue.await(null, 1, SHORT)).isInstanceOf(NullPointerException.class);
        }
    }

    @ForEachProvider
    @MethodSource("providersAndWaitObjects")
    void aSignalEndsABlockingRead(String provider, WaitObject object) throws Exception {
        try (Pair pair = pair(provider, object); ExecutorService pool = Executors.newFixedThreadPool(3)) {
            List<Future<Integer>> waiting = new ArrayList<>();
            for (int thread = 0; thread < 3; thread++) {
                waiting.add(pool.submit(() -> pair.queue.await(NOTHING, 1, Pair.DEADLINE)));
            }
            Waiting.YIELD.until(() -> {
                pair.queue.signal();
                return waiting.stream().allMatch(Future::isDone);
            }, Pair.DEADLINE);
            for (Future<Integer> one : waiting) {
                assertThat(one.get()).isZero();
            }
            pair.queue.signal(); // also one that comes before
            assertThat(pair.queue.await(NOTHING, 1, ENDLESS)).isZero();
        }
    }

    @ForEachProvider
    @MethodSource("providersAndWaitObjects")
    void closingEndsABlockingRead(String provider, WaitObject object) throws Exception {
        try (Fabric fabric = Libfabric.load().openFabric(TestProviders.info(provider));
                Domain domain = fabric.openDomain();
                ExecutorService pool = Executors.newFixedThreadPool(3)) {
            for (int round = 0; round < 10; round++) {
                CompletionQueue queue = domain
                        .openCompletionQueue(CompletionQueueAttributes.defaults().waitObject(object));
                List<Future<Integer>> waiting = new ArrayList<>();
                for (int thread = 0; thread < 3; thread++) {
                    waiting.add(pool.submit(() -> queue.await(NOTHING, 1, Pair.DEADLINE)));
                }
                TimeUnit.MILLISECONDS.sleep(round); // at any moment of their waiting
                queue.close();
                for (Future<Integer> one : waiting) {
                    assertThatThrownBy(one::get).isInstanceOf(ExecutionException.class)
                            .hasCauseInstanceOf(IllegalStateException.class).hasMessageContaining("closed");
                }
                assertThatIllegalStateException().isThrownBy(queue::signal);
                assertThatIllegalStateException().isThrownBy(queue::waitDescriptor);
                assertThatIllegalStateException().isThrownBy(queue::tryWait);
            }
        }
    }

    @ForEachProvider
    @MethodSource("providersAndWaitObjects")
    void anInterruptEndsABlockingRead(String provider, WaitObject object) throws Exception {
        try (Pair pair = pair(provider, object)) {
            Throwable[] thrown = new Throwable[1];
            Thread thread = Thread.ofPlatform().start(() -> {
                try {
                    pair.queue.await(NOTHING, 1, Pair.DEADLINE);
                } catch (FabricException e) {
                    thrown[0] = Thread.currentThread().isInterrupted() ? e : null;
                }
            });
            thread.interrupt();
            assertThat(thread.join(Pair.DEADLINE)).isTrue();

            assertThat(thrown[0]).isInstanceOfSatisfying(FabricException.class, e -> {
                assertThat(e.errno()).isEqualTo(4);
                assertThat(e).hasMessageContaining("interrupted");
            });
        }
    }

    @ForEachProvider
    @MethodSource("providersAndWaitObjects")
    void aThreadThatSpinsFindsWhatComes(String provider, WaitObject object) throws Exception {
        try (Pair pair = pair(provider, object);
                MemoryRegion source = pair.domain.allocate(8, Access.WRITE);
                MemoryRegion target = pair.domain.allocate(8, Access.REMOTE_WRITE)) {
            List<Long> tokens = new CopyOnWriteArrayList<>();
            CompletionHandler handler = (token, flags, length, data) -> tokens.add(token);
            Thread waiting = Thread.ofPlatform().daemon().start(() -> pair.queue.await(handler, 1, ENDLESS, ENDLESS));
            Waiting.YIELD.until(() -> isInside(waiting, "BlockingWait", "until"), Pair.DEADLINE);
            pair.rma().write(source.slice(0, 8), pair.far, target.remote(), 5);
            Waiting.YIELD.until(() -> {
                pair.farQueue.poll(NOTHING, 1); // the target makes progress
                return !waiting.isAlive();
            }, Pair.DEADLINE);

            assertThat(tokens).containsExactly(5L);
        }
    }

    @ForEachProvider
    @MethodSource("providersAndWaitObjects")
    void aSignalEndsASpin(String provider, WaitObject object) throws Exception {
        try (Pair pair = pair(provider, object)) {
            Thread waiting = Thread.ofPlatform().daemon().start(() -> pair.queue.await(NOTHING, 1, ENDLESS, ENDLESS));
            Waiting.YIELD.until(() -> isInside(waiting, "BlockingWait", "until"), Pair.DEADLINE);
            pair.queue.signal();

            assertThat(waiting.join(Pair.DEADLINE)).isTrue();
        }
    }

    /** In slices of 10 ms it would be woken 60 times. */
    @ForEachProvider
    @MethodSource("withDescriptor")
    void aWaitForNothingBlocksOnceAndNotInSlices(String provider) {
        Duration wait = Duration.ofMillis(600);
        try (Pair pair = pair(provider, WaitObject.FD)) {
            pair.queue.await(NOTHING, 1, SHORT);
            long start = System.nanoTime();
            long before = voluntarySwitches();
            assertThat(pair.queue.await(NOTHING, 1, wait)).isZero();
            assertThat(voluntarySwitches() - before).isLessThan(20);
            assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(wait.toNanos());
        }
    }

    /** How often this thread has given up its processor to wait. */
    private static long voluntarySwitches() {
        String name = "voluntary_ctxt_switches:";
        try (Stream<String> lines = Files.lines(Path.of("/proc/thread-self/status"))) {
            return lines.filter(line -> line.startsWith(name))
                    .mapToLong(line -> Long.parseLong(line.substring(name.length()).strip())).findFirst().getAsLong();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @ForEachProvider
    @MethodSource("providersAndWaitObjects")
    void oneSignalEndsTheWaitsOfAllThreads(String provider, WaitObject object) throws Exception {
        try (Pair pair = pair(provider, object)) {
            List<Thread> waiting = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                waiting.add(Thread.ofPlatform().daemon().start(() -> pair.queue.await(NOTHING, 1, ENDLESS)));
            }
            for (Thread thread : waiting) {
                Waiting.YIELD.until(() -> isInside(thread, "BlockingWait", "pause"), Pair.DEADLINE);
            }
            pair.queue.signal();
            for (Thread thread : waiting) {
                assertThat(thread.join(Pair.DEADLINE)).isTrue();
            }
        }
    }

    @ForEachProvider
    @MethodSource("withDescriptor")
    void anInterruptEndsASystemCall(String provider) throws Exception {
        try (Pair pair = pair(provider, WaitObject.FD)) {
            List<Integer> errors = new CopyOnWriteArrayList<>();
            Thread waiting = Thread.ofPlatform().daemon().start(() -> {
                try {
                    pair.queue.await(NOTHING, 1, ENDLESS);
                } catch (FabricException e) {
                    errors.add(e.errno());
                }
            });
            Waiting.YIELD.until(() -> isInside(waiting, "Descriptors", "ppoll"), Pair.DEADLINE);
            waiting.interrupt();

            assertThat(waiting.join(Pair.DEADLINE)).isTrue();
            assertThat(errors).containsExactly(4);
        }
    }

    /** Who blocks already has not asked the provider: it must be told of the endpoint. */
    @ForEachProvider
    @MethodSource("withDescriptor")
    void aWaitThatBeganBeforeTheEndpointWasEnabledSeesItsCompletions(String provider) throws Exception {
        FabricInfo info = TestProviders
                .info(TestProviders.hints(provider).capabilities(Capability.RMA, Capability.MSG));
        CompletionQueueAttributes attributes = CompletionQueueAttributes.defaults().waitObject(WaitObject.FD);
        try (Fabric fabric = Libfabric.load().openFabric(info);
                Domain domain = fabric.openDomain();
                AddressVector vector = domain.openAddressVector();
                CompletionQueue queue = domain.openCompletionQueue(attributes);
                MemoryRegion region = domain.allocate(16, Access.values());
                Endpoint endpoint = domain.openEndpoint().bind(vector).bind(queue)) {
            List<Long> tokens = new CopyOnWriteArrayList<>();
            CompletionHandler handler = (token, flags, length, data) -> tokens.add(token);
            Thread waiting = Thread.ofPlatform().daemon().start(() -> {
                while (!tokens.contains(1L)) {
                    queue.await(handler, 1, ENDLESS);
                }
            });
            Waiting.YIELD.until(() -> isInside(waiting, "Descriptors", "ppoll"), Pair.DEADLINE);
            endpoint.enable();
            Peer self = vector.insert(endpoint.address());
            endpoint.messages().receive(region.slice(0, 8), 1);
            endpoint.messages().send(region.slice(8, 8), self, 2);

            assertThat(waiting.join(Pair.DEADLINE)).isTrue();
            assertThat(tokens).contains(1L);
        }
    }

    private static boolean isInside(Thread thread, String type, String method) {
        return Stream.of(thread.getStackTrace())
                .anyMatch(frame -> frame.getClassName().endsWith(type) && frame.getMethodName().equals(method));
    }

    @ForEachProvider
    @MethodSource("providersAndWaitObjects")
    void manyVirtualThreadsWaitWithoutHoldingACarrier(String provider, WaitObject object) throws Exception {
        int threads = 200; // many more than carriers
        try (Pair pair = pair(provider, object);
                MemoryRegion source = pair.domain.allocate(8, Access.WRITE);
                MemoryRegion target = pair.domain.allocate(8, Access.REMOTE_WRITE);
                ExecutorService pool = Executors.newVirtualThreadPerTaskExecutor()) {
            ConcurrentLinkedQueue<Long> tokens = new ConcurrentLinkedQueue<>();
            List<Future<Integer>> waiting = new ArrayList<>();
            for (int thread = 0; thread < threads; thread++) {
                waiting.add(pool.submit(() -> pair.queue.await((t, f, l, d) -> tokens.add(t), 1, Pair.DEADLINE)));
            }
            pool.submit(() -> {
                for (long token = 0; token < threads; token++) {
                    pair.rma().write(source.slice(0, 8), pair.far, target.remote(), token);
                }
            }).get(Pair.DEADLINE.toSeconds(), TimeUnit.SECONDS);
            Waiting.YIELD.until(() -> {
                pair.farQueue.poll(NOTHING, 64);
                return waiting.stream().allMatch(Future::isDone);
            }, Pair.DEADLINE);

            assertThat(tokens).containsExactlyInAnyOrderElementsOf(LongStream.range(0, threads).boxed().toList());
        }
    }

    @ForEachProvider
    @MethodSource("withDescriptor")
    void othersPostAndPollWhileOneBlocks(String provider) throws Exception {
        try (Pair pair = pair(provider, WaitObject.FD);
                MemoryRegion source = pair.domain.allocate(8, Access.WRITE);
                MemoryRegion target = pair.domain.allocate(8, Access.REMOTE_WRITE);
                ExecutorService pool = Executors.newFixedThreadPool(2)) {
            int count = 500;
            ConcurrentLinkedQueue<Long> tokens = new ConcurrentLinkedQueue<>();
            CompletionHandler handler = (t, f, l, d) -> tokens.add(t);
            List<Future<?>> waiting = new ArrayList<>();
            for (int thread = 0; thread < 2; thread++) {
                waiting.add(pool.submit(() -> {
                    while (tokens.size() < count) {
                        pair.queue.await(handler, 8, SHORT);
                    }
                }));
            }
            for (long token = 0; token < count; token++) {
                pair.rma().write(source.slice(0, 8), pair.far, target.remote(), token);
                pair.queue.poll(handler, 4);
                pair.farQueue.poll(NOTHING, 64);
            }
            for (Future<?> one : waiting) {
                Waiting.YIELD.until(() -> {
                    pair.farQueue.poll(NOTHING, 64);
                    return one.isDone();
                }, Pair.DEADLINE);
                one.get();
            }
            assertThat(tokens.stream().sorted().toList()).isEqualTo(LongStream.range(0, count).boxed().toList());
        }
    }

    /** Two endpoints, one thread, no spinning: it sleeps in poll(2) over both descriptors until one is readable. */
    @ForEachProvider
    @MethodSource("withDescriptor")
    void anApplicationsOwnLoopSleepsUntilSomethingIsThere(String provider) {
        int count = 100;
        try (Pair pair = pair(provider, WaitObject.FD);
                MemoryRegion source = pair.domain.allocate(8, Access.WRITE);
                MemoryRegion target = pair.domain.allocate(8, Access.REMOTE_WRITE)) {
            List<Long> tokens = new ArrayList<>();
            int wakeUps = 0;
            int denials = 0;
            long start = System.nanoTime();
            for (long token = 0; token < count; token++) {
                pair.rma().write(source.slice(0, 8), pair.far, target.remote(), token);
                while (tokens.size() <= token && System.nanoTime() - start < Pair.DEADLINE.toNanos()) {
                    if (pair.fabric.tryWait(pair.queue, pair.farQueue)) {
                        Descriptors.poll(1000, pair.queue.waitDescriptor(), pair.farQueue.waitDescriptor());
                        wakeUps++;
                    } else {
                        denials++;
                    }
                    pair.queue.poll((t, f, l, d) -> tokens.add(t), 16);
                    pair.farQueue.poll(NOTHING, 16);
                }
            }
            assertThat(wakeUps + denials).as("a loop that spins turns a million times").isLessThan(count * 100);
            assertThat(tokens).containsExactlyElementsOf(LongStream.range(0, count).boxed().toList());
            int idle = 0;
            long idleStart = System.nanoTime();
            while (System.nanoTime() - idleStart < 300_000_000) {
                if (!pair.fabric.tryWait(pair.queue, pair.farQueue)
                        || Descriptors.poll(100, pair.queue.waitDescriptor(), pair.farQueue.waitDescriptor()) > 0) {
                    idle++;
                }
                pair.queue.poll(NOTHING, 16);
                pair.farQueue.poll(NOTHING, 16);
            }
            assertThat(idle).isLessThan(100);
        }
    }

    @ForEachProvider
    @MethodSource("withDescriptor")
    void whatIsKeptWakesWhoBlocksOnTheDescriptor(String provider) throws Exception {
        try (Pair pair = pair(provider, WaitObject.FD);
                MemoryRegion source = pair.domain.allocate(8, Access.WRITE);
                MemoryRegion target = pair.domain.allocate(8, Access.REMOTE_WRITE)) {
            Waiting.YIELD.until(() -> {
                pair.farQueue.poll(NOTHING, 16);
                pair.queue.poll(NOTHING, 16);
                return pair.queue.tryWait();
            }, Pair.DEADLINE);
            pair.rma().write(source.slice(0, 8), pair.far, target.remote(), 5);
            Waiting.YIELD.until(() -> {
                pair.queue.progress();
                pair.farQueue.progress();
                return pair.queue.operationsInFlight() == 0;
            }, Pair.DEADLINE);

            assertThat(Waiting.block(Duration.ZERO, pair.queue)).isTrue();
            assertThat(pair.queue.tryWait()).isFalse();
            List<Long> tokens = new ArrayList<>();
            assertThat(pair.queue.await((t, f, l, d) -> tokens.add(t), 1, Pair.DEADLINE)).isEqualTo(1);
            assertThat(tokens).containsExactly(5L);
        }
    }

    @ForEachProvider
    @MethodSource("withDescriptor")
    void blockingOnSeveralQueuesEndsWithTheFirst(String provider) {
        try (Pair pair = pair(provider, WaitObject.FD)) {
            long start = System.nanoTime();
            while (Waiting.block(SHORT, pair.queue, pair.farQueue)) {
                pair.queue.poll(NOTHING, 16);
                pair.farQueue.poll(NOTHING, 16);
            }
            assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(SHORT.toNanos());
            pair.farQueue.signal();
            assertThat(Waiting.block(SHORT, pair.queue)).isFalse();
            pair.farQueue.signal();
            Thread.currentThread().interrupt();
            assertThatThrownBy(() -> Waiting.block(SHORT, pair.queue)).isInstanceOf(FabricException.class)
                    .hasMessageContaining("interrupted");
            assertThat(Thread.interrupted()).isTrue();
        }
    }

    @ForEachProvider
    @MethodSource("providersAndWaitObjects")
    void aThresholdWaitsForSeveral(String provider, WaitObject object) throws Exception {
        CompletionQueueAttributes attributes = CompletionQueueAttributes.defaults().waitObject(object).waitThreshold(3);
        try (Pair pair = new Pair(TestProviders.hints(provider), attributes);
                MemoryRegion source = pair.domain.allocate(8, Access.WRITE);
                MemoryRegion target = pair.domain.allocate(8, Access.REMOTE_WRITE);
                ExecutorService pool = Executors.newSingleThreadExecutor()) {
            Future<?> far = pool.submit(() -> {
                while (!Thread.currentThread().isInterrupted()) {
                    pair.farQueue.poll(NOTHING, 64);
                    Thread.yield();
                }
            });
            List<Long> tokens = new ArrayList<>();
            CompletionHandler handler = (t, f, l, d) -> tokens.add(t);
            pair.rma().write(source.slice(0, 8), pair.far, target.remote(), 1);
            assertThat(pair.queue.await(handler, 16, SHORT)).isLessThanOrEqualTo(1);
            for (long token = 2; token <= 4; token++) {
                pair.rma().write(source.slice(0, 8), pair.far, target.remote(), token);
            }
            int before = tokens.size();
            assertThat(pair.queue.await(handler, 16, Pair.DEADLINE)).isGreaterThanOrEqualTo(3);
            far.cancel(true);
            assertThat(tokens.size() - before).isGreaterThanOrEqualTo(3);
        }
    }

    @Test
    void anOwnersQueueIsSignaledFromOutsideAndReadByTheOwnerOnly() throws Exception {
        for (ThreadingModel model : List.of(ThreadingModel.DOMAIN, ThreadingModel.COMPLETION)) {
            try (Pair pair = new Pair(TestProviders.hints("sockets").threading(model),
                    CompletionQueueAttributes.defaults().waitObject(WaitObject.FD));
                    ExecutorService pool = Executors.newSingleThreadExecutor()) {
                assertThatThrownBy(pool.submit(() -> pair.queue.await(NOTHING, 1, SHORT))::get)
                        .hasCauseInstanceOf(WrongThreadException.class);
                assertThatThrownBy(pool.submit(pair.queue::tryWait)::get)
                        .hasCauseInstanceOf(WrongThreadException.class);
                Future<?> signal = pool.submit(() -> {
                    TimeUnit.MILLISECONDS.sleep(20);
                    pair.queue.signal();
                    return null;
                });
                assertThat(pair.queue.await(NOTHING, 1, ENDLESS)).isZero();
                signal.get();
            }
        }
    }
}
