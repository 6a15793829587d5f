package io.ofi4j;

import static org.assertj.core.api.Assertions.assertThat;

import io.ofi4j.support.ForEachProvider;
import io.ofi4j.support.Forked;
import io.ofi4j.support.Pair;
import io.ofi4j.support.Rounds;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Two threads close the same objects at once. Whoever comes first, both calls return, and the provider closes each
 * object once. In a JVM of its own, which a second native close would end.
 */
@Tag("gate")
class SimultaneousCloseTest {
    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#transfers")
    void twoThreadsCloseEachObjectAtOnce(String provider) { survives(provider, ClosesInTwos.EACH); }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#transfers")
    void twoThreadsCloseAllObjectsInOppositeOrders(String provider) { survives(provider, ClosesInTwos.ALL); }

    private static void survives(String provider, String what) {
        Forked.Result result = Forked.run(ClosesInTwos.class, provider, what);

        assertThat(result.exit()).as(result.output()).isZero();
        assertThat(result.output()).contains(ClosesInTwos.ROUNDS + " rounds");
    }

    /** Arguments: the provider, and whether each object has its turn or all are closed together. */
    static final class ClosesInTwos {
        static final String EACH = "each";
        static final String ALL = "all";
        static final int ROUNDS = Rounds.of(10);
        private static final int OPERATIONS = 8;

        private final Pair pair;
        private final MemoryRegion source;
        private final MemoryRegion target;
        /** Children before parents. */
        private final List<AutoCloseable> objects;

        private ClosesInTwos(String provider) {
            pair = new Pair(provider);
            source = pair.domain.allocate(4096, Access.WRITE);
            target = pair.domain.allocate(4096, Access.REMOTE_WRITE);
            objects = new ArrayList<>(List.of(pair.endpoint, pair.farEndpoint, source, target));
            objects.addAll(pair.vector == null ? List.of(pair.passive, pair.events) : List.of(pair.vector));
            objects.addAll(List.of(pair.queue, pair.farQueue, pair.domain, pair.fabric));
        }

        public static void main(String[] arguments) throws Exception {
            try (ExecutorService threads = Executors.newFixedThreadPool(2)) {
                for (int round = 0; round < ROUNDS; round++) {
                    ClosesInTwos closes = new ClosesInTwos(arguments[0]);
                    closes.post();
                    if (arguments[1].equals(EACH)) {
                        closes.closeEach(threads);
                    } else {
                        closes.closeAll(threads);
                    }
                }
            }
            System.out.println(ROUNDS + " rounds");
        }

        /** What is in flight has to end with the endpoint. */
        private void post() {
            RemoteRegion there = target.remote();
            pair.rma().write(source.slice(0, 8), pair.far, there, 0); // connects
            pair.awaitToken(0);
            for (int token = 1; token <= OPERATIONS; token++) {
                pair.rma().tryWrite(source, 0, 8, pair.far, there, 0, token);
            }
        }

        private void closeEach(ExecutorService threads) throws Exception {
            for (AutoCloseable object : objects) {
                together(threads, () -> close(object), () -> close(object));
            }
            requireClosed();
        }

        private void closeAll(ExecutorService threads) throws Exception {
            together(threads, () -> closeInTurn(objects), () -> closeInTurn(objects.reversed()));
            requireClosed();
        }

        private static void together(ExecutorService threads, Callable<Void> one, Callable<Void> other)
                throws Exception {
            CyclicBarrier start = new CyclicBarrier(2);
            List<Future<Void>> calls = new ArrayList<>();
            for (Callable<Void> call : List.of(one, other)) {
                calls.add(threads.submit(() -> {
                    start.await();
                    return call.call();
                }));
            }
            for (Future<Void> call : calls) {
                call.get(Pair.DEADLINE.toMillis(), TimeUnit.MILLISECONDS);
            }
        }

        private static Void close(AutoCloseable object) throws Exception {
            object.close();
            return null;
        }

        /** Goes round until nothing is refused because of what is still open. */
        private static Void closeInTurn(List<AutoCloseable> order) {
            List<AutoCloseable> left = new ArrayList<>(order);
            Waiting.YIELD.until(() -> {
                left.removeIf(ClosesInTwos::closes);
                return left.isEmpty();
            }, Pair.DEADLINE);
            return null;
        }

        private static boolean closes(AutoCloseable object) {
            try {
                object.close();
                return true;
            } catch (IllegalStateException e) {
                return false;
            } catch (Exception e) {
                throw new AssertionError(e);
            }
        }

        private void requireClosed() {
            if (source.isOpen() || target.isOpen() || !pair.endpoint.isClosed() || !pair.farEndpoint.isClosed()
                    || !pair.domain.isClosed()) {
                throw new AssertionError("something is open: " + objects);
            }
        }
    }
}
