package io.ofi4j;

import static org.assertj.core.api.Assertions.assertThat;

import io.ofi4j.info.CompletionQueueAttributes;
import io.ofi4j.info.WaitObject;
import io.ofi4j.support.ForEachProvider;
import io.ofi4j.support.Forked;
import io.ofi4j.support.Pair;
import io.ofi4j.support.TestProviders;
import io.ofi4j.util.PollGroup;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.Pipe;
import java.nio.channels.SelectionKey;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Threads that block have descriptors, which stay open for later waits: none is left when the last fabric is closed and
 * no thread waits. Each program has a process of its own, where no other test has a fabric open.
 */
@Tag("gate")
@Timeout(300)
class WaitDescriptorsTest {
    @ForEachProvider
    @MethodSource("io.ofi4j.WaitTest#withDescriptor")
    void theCloseOfTheLastFabricClosesTheDescriptorsOfWaits(String provider) {
        Forked.Result result = Forked.run(Waits.class, provider);

        assertThat(result.exit()).as(result.output()).isZero();
        assertThat(result.output().lines()).contains("while a fabric is open: 3 more", "after its close: 0 more",
                "after a wait that outlasts the last fabric: 0 more",
                "after threads that open, wait and close at the same time: 0 more");
    }

    private static final class Waits {
        private static final CompletionHandler NOTHING = (token, flags, length, data) -> {};
        private static final Duration VERY_SHORT = Duration.ofMillis(1);
        private static final int THREADS = 3;
        private static final int ROUNDS = 10;

        private final String provider;
        private final long before;

        private Waits(String provider) {
            this.provider = provider;
            openPair().close(); // what the provider keeps of its own
            this.before = events();
        }

        public static void main(String[] arguments) throws Exception {
            Waits waits = new Waits(arguments[0]);
            try (Pair pair = waits.openPair()) {
                long opened = events();
                waits.waitInThreads(pair);
                System.out.println("while a fabric is open: " + (events() - opened) + " more");
            }
            waits.print("after its close");
            waits.outlast();
            waits.print("after a wait that outlasts the last fabric");
            waits.compete();
            waits.print("after threads that open, wait and close at the same time");
        }

        private Pair openPair() {
            return new Pair(TestProviders.hints(provider),
                    CompletionQueueAttributes.defaults().waitObject(WaitObject.FD));
        }

        private void print(String when) { System.out.println(when + ": " + (events() - before) + " more"); }

        private void waitInThreads(Pair pair) throws InterruptedException {
            List<Thread> threads = new ArrayList<>();
            for (int i = 0; i < THREADS; i++) {
                threads.add(Thread.ofPlatform().start(() -> pair.queue.await(NOTHING, 1, Pair.DEADLINE)));
            }
            for (Thread thread : threads) {
                Waiting.YIELD.until(() -> isBlocked(thread), Pair.DEADLINE);
            }
            pair.queue.signal();
            join(threads);
        }

        private static boolean isBlocked(Thread thread) {
            return Stream.of(thread.getStackTrace()).anyMatch(frame -> frame.getMethodName().equals("ppoll"));
        }

        private static void join(List<Thread> threads) throws InterruptedException {
            for (Thread thread : threads) {
                if (!thread.join(Pair.DEADLINE)) { throw new AssertionError(thread + " has not ended"); }
            }
        }

        /** A thread waits for a channel; meanwhile a fabric is opened and closed. */
        private void outlast() throws Exception {
            Pipe pipe = Pipe.open();
            try (PollGroup group = new PollGroup();
                    Pipe.SourceChannel source = pipe.source();
                    Pipe.SinkChannel _ = pipe.sink()) {
                source.configureBlocking(false);
                group.add(source, SelectionKey.OP_READ, key -> {});
                Thread waiting = Thread.ofPlatform().start(() -> group.await(Pair.DEADLINE));
                Waiting.YIELD.until(() -> isBlocked(waiting), Pair.DEADLINE);
                openPair().close();
                group.wake();
                join(List.of(waiting));
            }
        }

        private void compete() throws InterruptedException {
            List<Thread> threads = new ArrayList<>();
            for (int i = 0; i < THREADS; i++) {
                threads.add(Thread.ofPlatform().start(() -> {
                    for (int round = 0; round < ROUNDS; round++) {
                        try (Pair pair = openPair()) {
                            pair.queue.await(NOTHING, 1, VERY_SHORT);
                        }
                    }
                }));
            }
            join(threads);
        }

        private static long events() {
            try (Stream<Path> descriptors = Files.list(Path.of("/proc/self/fd"))) {
                return descriptors.filter(Waits::isEvent).count();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        private static boolean isEvent(Path descriptor) {
            try {
                return Files.readSymbolicLink(descriptor).toString().equals("anon_inode:[eventfd]");
            } catch (IOException e) {
                return false; // closed since: that of the list itself
            }
        }
    }
}
