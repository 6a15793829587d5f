package io.ofi4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ofi4j.errors.FabricException;
import io.ofi4j.errors.FabricTimeoutException;
import io.ofi4j.info.Capability;
import io.ofi4j.info.CounterAttributes;
import io.ofi4j.info.CounterEvent;
import io.ofi4j.info.FabricHints;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.info.ThreadingModel;
import io.ofi4j.info.WaitObject;
import io.ofi4j.internal.engine.BlockingWait;
import io.ofi4j.support.ForEachProvider;
import io.ofi4j.support.Pair;
import io.ofi4j.support.TestProviders;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Counters count what they are bound to, and wake who waits. */
@Timeout(300)
class CounterTest {
    private static final Duration SHORT = Duration.ofMillis(50);
    private static final CompletionHandler NOTHING = (token, flags, length, data) -> {};

    static Stream<Arguments> providersAndWaitObjects() {
        return TestProviders.rma().flatMap(provider -> offered(provider).map(object -> Arguments.of(provider, object)));
    }

    /** Which wait objects a provider's counters have. */
    private static Stream<WaitObject> offered(String provider) {
        return provider.equals("shm")
                ? Stream.of(WaitObject.NONE, WaitObject.UNSPECIFIED, WaitObject.YIELD)
                : Stream.of(WaitObject.NONE, WaitObject.UNSPECIFIED, WaitObject.FD);
    }

    /** Two endpoints with queues and counters of their own. */
    private static final class Counted implements AutoCloseable {
        final Fabric fabric;
        final Domain domain;
        final CompletionQueue queue;
        final CompletionQueue farQueue;
        final AddressVector vector;
        final Counter counter;
        final Counter farCounter;
        final Endpoint endpoint;
        final Endpoint farEndpoint;
        final Peer far;
        final MemoryRegion source;
        final MemoryRegion target;

        Counted(FabricHints hints, WaitObject object, CounterEvent event, CounterEvent... farEvents) {
            CounterAttributes attributes = CounterAttributes.defaults().waitObject(object);
            fabric = Libfabric.load().openFabric(TestProviders.info(hints));
            domain = fabric.openDomain();
            queue = domain.openCompletionQueue();
            farQueue = domain.openCompletionQueue();
            vector = domain.openAddressVector();
            counter = domain.openCounter(attributes);
            farCounter = domain.openCounter(attributes);
            endpoint = domain.openEndpoint().bind(vector).bind(queue).bind(counter, event).enable();
            farEndpoint = domain.openEndpoint().bind(vector).bind(farQueue);
            if (farEvents.length > 0) { farEndpoint.bind(farCounter, farEvents); }
            farEndpoint.enable();
            far = vector.insert(farEndpoint.address());
            source = domain.allocate(4096, Access.WRITE, Access.READ);
            target = domain.allocate(4096, Access.REMOTE_WRITE, Access.REMOTE_READ);
        }

        void write(int count) {
            for (int i = 0; i < count; i++) {
                endpoint.rma().write(source.slice(0, 8), far, target.remote(), i);
            }
        }

        /** Waits with the far end making progress on a thread of its own. */
        void await(Counter one, long threshold) throws Exception {
            try (ExecutorService pool = Executors.newSingleThreadExecutor()) {
                Future<?> progress = pool.submit(() -> {
                    while (!Thread.currentThread().isInterrupted()) {
                        farQueue.poll(NOTHING, 64);
                        Thread.yield();
                    }
                });
                try {
                    one.await(threshold, Pair.DEADLINE);
                } finally {
                    progress.cancel(true);
                }
            }
        }

        @Override
        public void close() {
            source.close();
            target.close();
            endpoint.close();
            farEndpoint.close();
            vector.close();
            counter.close();
            farCounter.close();
            queue.close();
            farQueue.close();
            domain.close();
            fabric.close();
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void aProviderOffersItsWaitObjectsAndRefusesOthersByName(String provider) {
        List<WaitObject> offered = offered(provider).toList();
        try (Fabric fabric = Libfabric.load().openFabric(TestProviders.info(provider));
                Domain domain = fabric.openDomain()) {
            for (WaitObject object : List.of(WaitObject.NONE, WaitObject.UNSPECIFIED, WaitObject.FD,
                    WaitObject.YIELD)) {
                CounterAttributes attributes = CounterAttributes.defaults().waitObject(object);
                if (offered.contains(object)) {
                    try (Counter counter = domain.openCounter(attributes)) {
                        assertThat(counter.read()).isZero();
                    }
                } else {
                    assertThatThrownBy(() -> domain.openCounter(attributes))
                            .isInstanceOf(UnsupportedOperationException.class).hasMessageContaining(provider);
                }
            }
        }
    }

    @ForEachProvider
    @MethodSource("providersAndWaitObjects")
    void writesAndInjectsAreCounted(String provider, WaitObject object) throws Exception {
        try (Counted pair = new Counted(TestProviders.hints(provider), object, CounterEvent.WRITE)) {
            pair.write(10);
            pair.await(pair.counter, 10);
            for (int i = 0; i < 5; i++) {
                pair.endpoint.rma().injectWrite(pair.source.slice(0, 8), pair.far, pair.target.remote());
            }
            pair.await(pair.counter, 15);

            assertThat(pair.counter.read()).isEqualTo(15);
            assertThat(pair.counter.readErrors()).isZero();
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void readsAreCountedApartFromWrites(String provider) throws Exception {
        try (Counted pair = new Counted(TestProviders.hints(provider), WaitObject.NONE, CounterEvent.READ)) {
            pair.write(3);
            for (int i = 0; i < 4; i++) {
                pair.endpoint.rma().read(pair.source.slice(0, 8), pair.far, pair.target.remote(), i);
            }
            pair.await(pair.counter, 4);

            assertThat(pair.counter.read()).isEqualTo(4);
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void readsOfNoBytesAreCounted(String provider) throws Exception {
        try (Counted c = new Counted(TestProviders.hints(provider), WaitObject.NONE, CounterEvent.READ)) {
            c.endpoint.rma().read(c.source.slice(0, 0), c.far, c.target.remote(), 1);

            c.await(c.counter, 1);
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void peersWritesAreCountedWhereTheProviderCan(String provider) throws Exception {
        if (provider.endsWith(";ofi_rxm")) {
            assertThatThrownBy(() -> new Counted(TestProviders.hints(provider), WaitObject.NONE, CounterEvent.WRITE,
                    CounterEvent.REMOTE_WRITE)).isInstanceOf(UnsupportedOperationException.class)
                    .hasMessageContaining("RMA_EVENT");
            return;
        }
        FabricHints hints = TestProviders.hints(provider).capabilities(Capability.RMA, Capability.RMA_EVENT);
        CounterEvent[] events = {CounterEvent.REMOTE_WRITE, CounterEvent.REMOTE_READ};
        if (provider.matches("net|tcp")) { // they count only writes with data
            for (CounterEvent event : events) {
                assertThatThrownBy(() -> new Counted(hints, WaitObject.NONE, CounterEvent.WRITE, event))
                        .isInstanceOf(UnsupportedOperationException.class).hasMessageContaining(provider)
                        .hasMessageContaining(event.name());
            }
            return;
        }
        try (Counted pair = new Counted(hints, WaitObject.NONE, CounterEvent.WRITE, events)) {
            pair.write(6);
            pair.endpoint.rma().read(pair.source.slice(0, 8), pair.far, pair.target.remote(), 7);
            int expected = 7;
            Waiting.YIELD.until(() -> {
                pair.queue.poll(NOTHING, 64);
                pair.farQueue.poll(NOTHING, 64);
                return pair.farCounter.read() >= expected;
            }, Pair.DEADLINE);

            assertThat(pair.farCounter.read()).isEqualTo(expected);
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void countsAreAddedToAndSet(String provider) {
        try (Fabric fabric = Libfabric.load().openFabric(TestProviders.info(provider));
                Domain domain = fabric.openDomain();
                Counter counter = domain.openCounter()) {
            counter.add(3);
            counter.add(4);
            awaitValue(7, counter);
            counter.set(2);
            awaitValue(2, counter);
            counter.addErrors(5);
            assertThat(counter.readErrors()).isEqualTo(5);
            counter.setErrors(1);
            assertThat(counter.readErrors()).isEqualTo(1);
            assertThatIllegalArgumentException().isThrownBy(() -> counter.add(-1)).withMessageContaining("-1");
            assertThatIllegalArgumentException().isThrownBy(() -> counter.set(-1));
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void aCounterOfOneOwnerCountsBeforeAndAfterAnEndpointIsEnabled(String provider) throws Exception {
        FabricHints hints = TestProviders.hints(provider).threading(ThreadingModel.COMPLETION);
        try (Fabric fabric = Libfabric.load().openFabric(TestProviders.info(hints));
                Domain domain = fabric.openDomain();
                Counter counter = domain.openCounter()) {
            assertThat(counter.read()).isZero();
            assertThat(counter.readErrors()).isZero();
            counter.add(3);
            awaitValue(3, counter);
            counter.set(2);
            awaitValue(2, counter);
            counter.addErrors(4);
            assertThat(counter.readErrors()).isEqualTo(4);
            counter.setErrors(0);
            counter.await(2, SHORT);
            assertThatThrownBy(() -> counter.await(3, SHORT)).isInstanceOf(FabricTimeoutException.class);
            try (CompletionQueue queue = domain.openCompletionQueue();
                    AddressVector vector = domain.openAddressVector();
                    MemoryRegion region = domain.allocate(8, Access.WRITE, Access.REMOTE_WRITE);
                    Endpoint endpoint = domain.openEndpoint().bind(vector).bind(queue).bind(counter, CounterEvent.WRITE)
                            .enable()) {
                Peer self = vector.insert(endpoint.address());
                endpoint.rma().write(region.slice(0, 4), self, region.remote().slice(4, 4), 1);
                Waiting.YIELD.until(() -> {
                    queue.progress();
                    return counter.read() == 3;
                }, Pair.DEADLINE);
                assertThat(counter.readErrors()).isZero();
            }
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void aCounterIsForEndpointsOfOneQueueWhereAQueueIsADomainOfItsOwn(String provider) {
        FabricHints hints = TestProviders.hints(provider).threading(ThreadingModel.COMPLETION);
        try (Fabric fabric = Libfabric.load().openFabric(TestProviders.info(hints));
                Domain domain = fabric.openDomain();
                Counter counter = domain.openCounter();
                CompletionQueue queue = domain.openCompletionQueue();
                CompletionQueue another = domain.openCompletionQueue();
                AddressVector vector = domain.openAddressVector();
                Endpoint first = domain.openEndpoint().bind(vector).bind(queue).bind(counter, CounterEvent.WRITE);
                Endpoint second = domain.openEndpoint().bind(vector).bind(another).bind(counter, CounterEvent.WRITE)) {
            first.enable();
            if (provider.equals("tcp") && !TestProviders.isBefore(2, 0)) {
                assertThatIllegalStateException().isThrownBy(second::enable)
                        .withMessage("ofi4j refuses different queues for the endpoints of a counter with"
                                + " ThreadingModel.COMPLETION over tcp of libfabric " + Libfabric.load().version()
                                + ", which makes each queue a domain of its own: open a counter for each queue, or"
                                + " ask for another threading model");
            } else {
                second.enable();
            }
        }
    }

    /** A thread of its own counts: where a count never returned, no interrupt would end it. */
    @ForEachProvider
    @MethodSource("providersAndWaitObjects")
    void aCounterWithoutWaitsCountsOn(String provider, WaitObject object) throws Exception {
        int many = 5000; // more than a descriptor that nobody reads has room for
        try (Fabric fabric = Libfabric.load().openFabric(TestProviders.info(provider));
                Domain domain = fabric.openDomain()) {
            Counter counter = domain.openCounter(CounterAttributes.defaults().waitObject(object));
            Thread counting = Thread.ofPlatform().daemon().start(() -> {
                for (int i = 0; i < many; i++) {
                    counter.add(1);
                }
            });
            assertThat(counting.join(Pair.DEADLINE)).isTrue();
            counter.await(many, Pair.DEADLINE);
            counter.close();
        }
    }

    /** fi_cntr(3): a change may be seen only after a while. */
    private static void awaitValue(long value, Counter counter) {
        Waiting.YIELD.until(() -> counter.read() == value, Pair.DEADLINE);
    }

    /** The number of threads whose wait has begun. */
    private static long waits() {
        return Thread.getAllStackTraces().values().stream()
                .filter(frames -> Arrays.stream(frames)
                        .anyMatch(frame -> frame.getClassName().equals(BlockingWait.class.getName())
                                && frame.getMethodName().equals("block")))
                .count();
    }

    @ForEachProvider
    @MethodSource("providersAndWaitObjects")
    void aWaitEndsWithItsDeadlineAnErrorAnAdditionOrAnInterrupt(String provider, WaitObject object) throws Exception {
        CounterAttributes attributes = CounterAttributes.defaults().waitObject(object);
        try (Fabric fabric = Libfabric.load().openFabric(TestProviders.info(provider));
                Domain domain = fabric.openDomain();
                Counter counter = domain.openCounter(attributes);
                ExecutorService pool = Executors.newFixedThreadPool(2)) {
            long start = System.nanoTime();
            assertThatThrownBy(() -> counter.await(1, SHORT)).isInstanceOf(FabricTimeoutException.class)
                    .hasMessageContaining("stands at 0");
            assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(SHORT.toNanos());

            Future<?> adding = pool.submit(() -> counter.await(2, Pair.DEADLINE));
            Future<?> another = pool.submit(() -> counter.await(1, Pair.DEADLINE));
            counter.add(2);
            adding.get(Pair.DEADLINE.toSeconds(), TimeUnit.SECONDS);
            another.get(Pair.DEADLINE.toSeconds(), TimeUnit.SECONDS);

            List<Future<?>> failing = List.of(pool.submit(() -> counter.await(3, Pair.DEADLINE)),
                    pool.submit(() -> counter.await(4, Pair.DEADLINE)));
            Waiting.BACKOFF.until(() -> waits() == 2, Pair.DEADLINE);
            counter.addErrors(2);
            for (Future<?> one : failing) {
                assertThatThrownBy(() -> one.get(Pair.DEADLINE.toSeconds(), TimeUnit.SECONDS)).cause()
                        .isInstanceOfSatisfying(FabricException.class, e -> assertThat(e.errno()).isEqualTo(259))
                        .hasMessageContaining("2 operations failed");
            }
            assertThatThrownBy(() -> counter.await(3, SHORT)).isInstanceOf(FabricTimeoutException.class);

            Throwable[] thrown = new Throwable[1];
            Thread thread = Thread.ofPlatform().start(() -> {
                try {
                    counter.await(3, Pair.DEADLINE);
                } catch (FabricException e) {
                    thrown[0] = e;
                }
            });
            thread.interrupt();
            assertThat(thread.join(Pair.DEADLINE)).isTrue();
            assertThat(thrown[0]).isInstanceOfSatisfying(FabricException.class,
                    e -> assertThat(e.errno()).isEqualTo(4));
        }
    }

    @ForEachProvider
    @MethodSource("providersAndWaitObjects")
    void waitsEndAsTheyShouldWhereOfiRxdHasPutItsOwnWaitIntoTheirTable(String provider, WaitObject object)
            throws Exception {
        try (Fabric fabric = Libfabric.load().openFabric(TestProviders.info("udp;ofi_rxd"));
                Domain domain = fabric.openDomain();
                Counter other = domain.openCounter();
                Counted pair = new Counted(TestProviders.hints(provider), object, CounterEvent.WRITE)) {
            assertThatThrownBy(() -> pair.counter.await(1, SHORT)).isInstanceOf(FabricTimeoutException.class);
            pair.write(10);
            pair.await(pair.counter, 10);
            assertThat(other.read()).isZero();
        }
    }

    @ForEachProvider
    @MethodSource("providersAndWaitObjects")
    void closingEndsAWait(String provider, WaitObject object) throws Exception {
        CounterAttributes attributes = CounterAttributes.defaults().waitObject(object);
        try (Fabric fabric = Libfabric.load().openFabric(TestProviders.info(provider));
                Domain domain = fabric.openDomain();
                ExecutorService pool = Executors.newFixedThreadPool(3)) {
            for (int round = 0; round < 5; round++) {
                Counter counter = domain.openCounter(attributes);
                List<Future<?>> waiting = new ArrayList<>();
                for (int thread = 0; thread < 3; thread++) {
                    waiting.add(pool.submit(() -> counter.await(1, Pair.DEADLINE)));
                }
                TimeUnit.MILLISECONDS.sleep(round); // at any moment of their waiting
                counter.close();
                for (Future<?> one : waiting) {
                    assertThatThrownBy(() -> one.get(Pair.DEADLINE.toSeconds(), TimeUnit.SECONDS))
                            .isInstanceOf(ExecutionException.class).hasCauseInstanceOf(IllegalStateException.class)
                            .hasMessageContaining("closed");
                }
                counter.close();
                assertThatIllegalStateException().isThrownBy(counter::read).withMessageContaining("closed");
                assertThatIllegalStateException().isThrownBy(counter::readErrors).withMessageContaining("closed");
                assertThatIllegalStateException().isThrownBy(() -> counter.add(1)).withMessageContaining("closed");
            }
        }
    }

    @ForEachProvider
    @MethodSource("providersAndWaitObjects")
    void virtualThreadsWaitWithoutHoldingACarrier(String provider, WaitObject object) throws Exception {
        try (Counted pair = new Counted(TestProviders.hints(provider), object, CounterEvent.WRITE);
                ExecutorService pool = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<?>> waiting = new ArrayList<>();
            for (int thread = 1; thread <= 50; thread++) {
                int threshold = thread;
                waiting.add(pool.submit(() -> pair.counter.await(threshold, Pair.DEADLINE)));
            }
            pool.submit(() -> pair.write(50)).get(Pair.DEADLINE.toSeconds(), TimeUnit.SECONDS);
            Waiting.YIELD.until(() -> {
                pair.farQueue.poll(NOTHING, 64);
                return waiting.stream().allMatch(Future::isDone);
            }, Pair.DEADLINE);
            for (Future<?> one : waiting) {
                one.get();
            }
        }
    }

    @Test
    void aCounterIsClosedAfterItsEndpoints() {
        try (Counted pair = new Counted(TestProviders.hints("shm"), WaitObject.NONE, CounterEvent.WRITE)) {
            assertThatIllegalStateException().isThrownBy(pair.counter::close)
                    .withMessageContaining("Endpoint RDM of shm");
            assertThatIllegalStateException().isThrownBy(pair.domain::close).withMessageContaining("Counter of shm");
            assertThat(pair.counter.read()).isZero();
        }
    }

    @Test
    void whatCannotBeBoundIsRefused() {
        FabricInfo info = TestProviders.info("shm");
        try (Fabric fabric = Libfabric.load().openFabric(info);
                Domain domain = fabric.openDomain();
                Domain other = fabric.openDomain();
                CompletionQueue queue = domain.openCompletionQueue();
                AddressVector vector = domain.openAddressVector();
                Counter counter = domain.openCounter();
                Counter foreign = other.openCounter();
                Endpoint endpoint = domain.openEndpoint()) {
            assertThatIllegalArgumentException().isThrownBy(() -> endpoint.bind(counter))
                    .withMessageContaining("CounterEvent");
            assertThatIllegalArgumentException().isThrownBy(() -> endpoint.bind(foreign, CounterEvent.READ))
                    .withMessageContaining("same domain");
            endpoint.bind(counter, CounterEvent.WRITE);
            Counter second = domain.openCounter();
            assertThatIllegalStateException().isThrownBy(() -> endpoint.bind(second, CounterEvent.WRITE))
                    .withMessageContaining("WRITE");
            second.close();
            assertThatIllegalStateException().isThrownBy(() -> endpoint.bind(second, CounterEvent.READ))
                    .withMessageContaining("closed");
            endpoint.bind(vector).bind(queue).enable();
            assertThatIllegalStateException().isThrownBy(() -> endpoint.bind(counter, CounterEvent.READ))
                    .withMessageContaining("enabled");
        }
    }

    @Test
    void anOwnersCounterIsForTheOwnerAndItsQueues() throws Exception {
        for (ThreadingModel model : List.of(ThreadingModel.DOMAIN, ThreadingModel.COMPLETION)) {
            try (Counted pair = new Counted(TestProviders.hints("sockets").threading(model), WaitObject.NONE,
                    CounterEvent.WRITE); ExecutorService pool = Executors.newSingleThreadExecutor()) {
                assertThatThrownBy(pool.submit(pair.counter::read)::get).hasCauseInstanceOf(WrongThreadException.class);
                assertThatThrownBy(pool.submit(() -> pair.counter.await(1, SHORT))::get)
                        .hasCauseInstanceOf(WrongThreadException.class);
                if (model == ThreadingModel.COMPLETION) {
                    Counter theirs = pool.submit(() -> pair.domain.openCounter()).get();
                    Endpoint endpoint = pair.domain.openEndpoint().bind(pair.vector).bind(pair.queue).bind(theirs,
                            CounterEvent.WRITE);
                    assertThatIllegalStateException().isThrownBy(endpoint::enable).withMessageContaining("one thread");
                    endpoint.close();
                    pool.submit(theirs::close).get();
                }
            }
        }
    }
}
