package io.ofi4j;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;

import io.ofi4j.info.AtomicOperation;
import io.ofi4j.info.Datatype;
import io.ofi4j.info.EndpointAddress;
import io.ofi4j.support.ForEachProvider;
import io.ofi4j.support.Forked;
import io.ofi4j.support.Pair;
import io.ofi4j.support.Patience;
import io.ofi4j.support.TestProviders;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A counter, a spin lock and the tail of a queue without locks, in the memory of a peer, that threads and processes use
 * at the same time. {@code scripts/test --atomics} raises the counter a million times in total; an ordinary run, 1600
 * times.
 */
@Tag("gate")
@Timeout(value = 2, unit = TimeUnit.HOURS)
class SharedNumbersTest {
    private static final int OPERATIONS = Integer.getInteger("ofi4j.test.atomics", 1600);
    private static final int THREADS = 8;
    private static final int PROCESSES = 2;
    /** Of so many operations one takes the lock, or a place in the queue. */
    private static final int SELDOM = 20;

    /** More threads than processors wait: one that spins keeps the one that it waits for from running. */
    private static final Waiting PAUSES = Waiting.backoff(100, 1, Duration.ofNanos(10_000), Duration.ofNanos(500_000));

    private static final long COUNTER = 0;
    private static final long LOCK = 8;
    private static final long GUARDED = 16;
    private static final long TAIL = 24;
    private static final long PLACES = 32;

    static Stream<String> unconnected() { return TestProviders.atomics().filter(name -> !name.startsWith("MSG")); }

    /**
     * What raises the numbers of a peer: threads that share an endpoint, its queue, and a region with a cell for each.
     */
    static final class Raisers {
        private static final int CELL = 64;

        private final Endpoint endpoint;
        private final CompletionQueue queue;
        private final Peer peer;
        private final RemoteRegion remote;
        private final MemoryRegion cells;
        private final AtomicIntegerArray completed = new AtomicIntegerArray(THREADS);
        private final AtomicReference<Object> failure = new AtomicReference<>();
        private final long[] previous = new long[THREADS];
        private final CompletionHandler handler = new CompletionHandler() {
            @Override
            public void onCompletion(long token, long flags, long length, long data) {
                completed.incrementAndGet((int) token);
            }

            @Override
            public void onError(CompletionError error) { failure.set(error); }
        };

        Raisers(Endpoint endpoint, CompletionQueue queue, Peer peer, RemoteRegion remote) {
            this.endpoint = endpoint;
            this.queue = queue;
            this.peer = peer;
            this.remote = remote;
            this.cells = endpoint.domain.allocate(THREADS * CELL, Access.READ, Access.WRITE);
        }

        /** The sum of all values of the counter that were seen. */
        long run(int operations) {
            List<Thread> threads = IntStream.range(0, THREADS)
                    .mapToObj(thread -> Thread.ofPlatform().start(() -> raise(thread, operations))).toList();
            for (Thread thread : threads) {
                try {
                    thread.join();
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
            }
            cells.close();
            if (failure.get() != null) { throw new AssertionError(failure.get().toString()); }
            return LongStream.of(previous).sum();
        }

        private void raise(int thread, int operations) {
            try {
                for (int i = 0; i < operations && failure.get() == null; i++) {
                    previous[thread] += fetch(thread, AtomicOperation.SUM, 1, COUNTER);
                    if (i % SELDOM == 0) {
                        raiseUnderLock(thread);
                        long place = fetch(thread, AtomicOperation.SUM, 1, TAIL);
                        fetch(thread, AtomicOperation.ATOMIC_WRITE, place + 1, PLACES + place * Long.BYTES);
                    }
                }
            } catch (Throwable t) {
                failure.compareAndSet(null, t);
            }
        }

        /** Reads and writes with two operations, which nobody comes between. */
        private void raiseUnderLock(int thread) {
            while (swap(thread, thread + 1, 0) != 0) {
                Thread.onSpinWait();
            }
            long value = fetch(thread, AtomicOperation.SUM, 0, GUARDED); // a read: shm of 1.20 has no other
            fetch(thread, AtomicOperation.ATOMIC_WRITE, value + 1, GUARDED);
            fetch(thread, AtomicOperation.ATOMIC_WRITE, 0, LOCK);
        }

        private long fetch(int thread, AtomicOperation operation, long operand, long offset) {
            int before = completed.get(thread);
            endpoint.atomics().fetch(operation, Datatype.INT64, operand, cells.slice((long) thread * CELL, 16), peer,
                    remote.slice(offset, 8), thread);
            return result(thread, before);
        }

        private long swap(int thread, long value, long expected) {
            int before = completed.get(thread);
            endpoint.atomics().compare(AtomicOperation.CSWAP, Datatype.INT64, value, expected,
                    cells.slice((long) thread * CELL, 24), peer, remote.slice(LOCK, 8), thread);
            return result(thread, before);
        }

        private long result(int thread, int before) {
            PAUSES.until(() -> {
                queue.poll(handler, THREADS);
                return completed.get(thread) > before || failure.get() != null;
            }, Pair.DEADLINE);
            return cells.segment().get(JAVA_LONG, (long) thread * CELL);
        }
    }

    private static long length(int threads) {
        return PLACES + Long.BYTES * (long) threads * (OPERATIONS / threads / SELDOM + 1);
    }

    /** Each of so many threads has done its share: nothing was lost, nothing was done twice. */
    private static void assertExact(MemorySegment shared, int threads, long previous) {
        int each = OPERATIONS / threads;
        long total = (long) each * threads;
        long seldom = (long) threads * ((each + SELDOM - 1) / SELDOM);
        assertThat(shared.get(JAVA_LONG, COUNTER)).as("the counter").isEqualTo(total);
        assertThat(previous).as("the sum of all values that were seen").isEqualTo(total * (total - 1) / 2);
        assertThat(shared.get(JAVA_LONG, GUARDED)).as("what the lock guards").isEqualTo(seldom);
        assertThat(shared.get(JAVA_LONG, LOCK)).as("the lock").isZero();
        assertThat(shared.get(JAVA_LONG, TAIL)).as("the tail").isEqualTo(seldom);
        for (long place = 0; place < seldom; place++) {
            assertThat(shared.get(JAVA_LONG, PLACES + place * Long.BYTES)).as("place %d", place).isEqualTo(place + 1);
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#atomics")
    void ofEightThreads(String provider) {
        try (Pair pair = new Pair(TestProviders.atomicHints(provider));
                MemoryRegion shared = pair.domain.allocate(length(THREADS), Access.REMOTE_READ, Access.REMOTE_WRITE);
                ProgressThread progress = pair.domain.startProgress(Duration.ofNanos(1000))) {
            Raisers raisers = new Raisers(pair.endpoint, pair.queue, pair.far, shared.remote());
            long previous = raisers.run(OPERATIONS / THREADS);
            assertThat(progress.failure()).isEmpty();
            assertExact(shared.segment(), THREADS, previous);
        }
    }

    @ForEachProvider
    @MethodSource("unconnected")
    void ofEightThreadsInEachOfTwoProcesses(String provider) {
        int threads = THREADS * PROCESSES;
        try (Fabric fabric = Libfabric.load().openFabric(TestProviders.info(TestProviders.atomicHints(provider)));
                Domain domain = fabric.openDomain();
                AddressVector vector = domain.openAddressVector();
                CompletionQueue queue = domain.openCompletionQueue();
                Endpoint endpoint = domain.openEndpoint().bind(vector).bind(queue).enable();
                MemoryRegion shared = domain.allocate(length(threads), Access.REMOTE_READ, Access.REMOTE_WRITE)) {
            HexFormat hex = HexFormat.of();
            List<Forked.Running> processes = IntStream.range(0, PROCESSES)
                    .mapToObj(one -> Forked.start(OfAnotherProcess.class, Forked.EVERY_COMPILER, provider,
                            hex.formatHex(endpoint.address().encode()), hex.formatHex(shared.remote().encode()),
                            Integer.toString(OPERATIONS / threads), "-Dofi4j.test.atomics=" + OPERATIONS))
                    .toList();
            PAUSES.until(() -> {
                queue.poll((token, flags, length, data) -> {}, THREADS);
                return processes.stream().noneMatch(one -> one.process().isAlive());
            }, Patience.seconds(60 + OPERATIONS / 200));
            long previous = 0;
            for (Forked.Running one : processes) {
                assertThat(one.await().exit()).as(one.output()).isZero();
                previous += Long.parseLong(one.awaitLine("saw "));
            }
            assertExact(shared.segment(), threads, previous);
        }
    }

    /** Arguments: the provider, the owner's address, its region, and how often each thread raises the counter. */
    static final class OfAnotherProcess {
        private OfAnotherProcess() {}

        public static void main(String[] arguments) {
            HexFormat hex = HexFormat.of();
            try (Fabric fabric = Libfabric.load()
                    .openFabric(TestProviders.info(TestProviders.atomicHints(arguments[0])));
                    Domain domain = fabric.openDomain();
                    AddressVector vector = domain.openAddressVector();
                    CompletionQueue queue = domain.openCompletionQueue();
                    Endpoint endpoint = domain.openEndpoint().bind(vector).bind(queue).enable()) {
                Peer owner = vector.insert(EndpointAddress.decode(hex.parseHex(arguments[1])));
                Raisers raisers = new Raisers(endpoint, queue, owner, RemoteRegion.decode(hex.parseHex(arguments[2])));
                System.out.println("saw " + raisers.run(Integer.parseInt(arguments[3])));
            }
        }
    }
}
