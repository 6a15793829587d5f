package io.ofi4j;

import static org.assertj.core.api.Assertions.assertThat;

import io.ofi4j.errors.FabricException;
import io.ofi4j.support.ForEachProvider;
import io.ofi4j.support.Forked;
import io.ofi4j.support.Pair;
import io.ofi4j.support.Rounds;
import io.ofi4j.support.TestSeed;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Threads post, poll and wait while another closes everything under them, in any order: each ends with an
 * {@link IllegalStateException} once the closing has begun, and not before. In a JVM of its own.
 */
@Tag("gate")
class ConcurrentCloseTest {
    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#transfers")
    void everythingIsClosedUnderThreadsThatUseIt(String provider) {
        Forked.Result result = Forked.run(ClosesUnderThreads.class, Forked.EVERY_COMPILER, provider);

        assertThat(result.exit()).as(result.output()).isZero();
    }

    static final class ClosesUnderThreads {
        private static final Random RANDOM = TestSeed.random("ConcurrentCloseTest");
        private static final int ROUNDS = Rounds.of(4);
        /** How often the threads have called before everything is closed, at most. */
        private static final int MAX_CALLS = 2000;
        private static final Duration SHORT = Duration.ofMillis(2);

        private final Pair pair;
        private final MemoryRegion source;
        private final MemoryRegion target;
        private final RemoteRegion there;
        private final Rma rma;
        private final AtomicLong lastToken = new AtomicLong();
        private final AtomicLong calls = new AtomicLong();
        private volatile boolean closing;
        private final Map<AutoCloseable, String> whyNot = new IdentityHashMap<>();
        private Map.Entry<String, Duration> longest = Map.entry("none", Duration.ZERO);
        private final Set<Long> back = ConcurrentHashMap.newKeySet();
        private final List<Throwable> thrown = Collections.synchronizedList(new ArrayList<>());
        private final CompletionHandler handler = new CompletionHandler() {
            @Override
            public void onCompletion(long token, long flags, long length, long data) { comesBack(token); }

            @Override
            public void onError(CompletionError error) { comesBack(error.token()); }
        };

        private ClosesUnderThreads(String provider) {
            pair = new Pair(provider);
            source = pair.domain.allocate(4096, Access.WRITE, Access.READ);
            target = pair.domain.allocate(4096, Access.REMOTE_WRITE, Access.REMOTE_READ);
            there = target.remote();
            rma = pair.rma();
        }

        public static void main(String[] arguments) throws InterruptedException {
            for (int round = 0; round < ROUNDS; round++) {
                new ClosesUnderThreads(arguments[0]).run();
            }
            System.out.println(ROUNDS + " rounds");
        }

        private void comesBack(long token) {
            if (token != CompletionHandler.NO_TOKEN && (!back.add(token) || token > lastToken.get())) {
                throw new AssertionError("token " + token + " came back twice, or from nowhere");
            }
        }

        private void run() throws InterruptedException {
            List<Thread> threads = new ArrayList<>();
            threads.add(untilClosed(() -> rma.write(source.slice(0, 8), pair.far, there, lastToken.incrementAndGet())));
            threads.add(untilClosed(() -> rma.tryRead(source, 8, 64, pair.far, there, 8, lastToken.incrementAndGet())));
            threads.add(untilClosed(() -> pair.queue.poll(handler, 16)));
            threads.add(untilClosed(() -> pair.queue.await(handler, 4, SHORT)));
            threads.add(untilClosed(() -> pair.farQueue.poll(handler, 16)));
            int before = RANDOM.nextInt(MAX_CALLS);
            Waiting.YIELD.until(() -> calls.get() > before, Pair.DEADLINE);
            closing = true;
            closeAll();
            for (Thread thread : threads) {
                if (!thread.join(Pair.DEADLINE)) {
                    throw new AssertionError(thread + " did not end: " + List.of(thread.getStackTrace()));
                }
            }
            if (!thrown.isEmpty()) { throw new AssertionError("a thread ended otherwise", thrown.getFirst()); }
        }

        private Thread untilClosed(Runnable call) {
            return Thread.ofPlatform().start(() -> {
                try {
                    while (true) {
                        again(call);
                        calls.incrementAndGet();
                    }
                } catch (IllegalStateException e) {
                    if (!closing) { thrown.add(e); }
                } catch (Throwable t) {
                    thrown.add(t);
                }
            });
        }

        /** An operation may be refused once its peer is gone. */
        private static void again(Runnable call) {
            try {
                call.run();
            } catch (FabricException e) {
                Thread.yield();
            }
        }

        private void closeAll() {
            List<AutoCloseable> open = new ArrayList<>(List.of(source, target, pair.endpoint, pair.farEndpoint,
                    pair.queue, pair.farQueue, pair.domain, pair.fabric));
            open.addAll(pair.vector == null ? List.of(pair.passive, pair.events) : List.of(pair.vector));
            long start = System.nanoTime();
            while (!open.isEmpty() && System.nanoTime() - start < Pair.DEADLINE.toNanos()) {
                AutoCloseable one = open.get(RANDOM.nextInt(open.size()));
                long before = System.nanoTime();
                if (closes(one)) { open.remove(one); }
                Duration took = Duration.ofNanos(System.nanoTime() - before);
                if (took.compareTo(longest.getValue()) > 0) { longest = Map.entry(one.toString(), took); }
            }
            if (!open.isEmpty()) {
                throw new AssertionError("these do not close: " + open + "; what was said of all: " + whyNot
                        + "; the longest call: " + longest);
            }
        }

        /** Not where something must be closed before. */
        private boolean closes(AutoCloseable one) {
            try {
                one.close();
                return true;
            } catch (IllegalStateException e) {
                whyNot.put(one, e.getMessage());
                return false;
            } catch (Exception e) {
                throw new AssertionError(e);
            }
        }
    }
}
