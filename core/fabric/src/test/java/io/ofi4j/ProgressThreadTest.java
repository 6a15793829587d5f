package io.ofi4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ofi4j.info.CompletionQueueAttributes;
import io.ofi4j.info.ProgressModel;
import io.ofi4j.info.ThreadingModel;
import io.ofi4j.info.WaitObject;
import io.ofi4j.support.ForEachProvider;
import io.ofi4j.support.Pair;
import io.ofi4j.support.TestProviders;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A target whose application never polls is served by the thread that makes progress for it. */
@Timeout(300)
class ProgressThreadTest {
    private static final int LENGTH = 1 << 20;
    /** More than the initiator needs for its part of a write. */
    private static final int CALLS = 2000;

    /** One side, with a domain of its own so that nobody else's progress is its progress. */
    private static final class Side implements AutoCloseable {
        final Fabric fabric;
        final Domain domain;
        final CompletionQueue queue;
        final AddressVector peers;
        final Endpoint endpoint;
        final MemoryRegion memory;

        Side(String provider) {
            fabric = Libfabric.load()
                    .openFabric(TestProviders.info(TestProviders.hints(provider).dataProgress(ProgressModel.MANUAL)));
            domain = fabric.openDomain();
            queue = domain.openCompletionQueue();
            peers = domain.openAddressVector();
            memory = domain.allocate(LENGTH, Access.values());
            endpoint = domain.openEndpoint().bind(peers).bind(queue).enable();
        }

        boolean completes(Duration patience) {
            AtomicInteger count = new AtomicInteger();
            return Waiting.YIELD.tryUntil(() -> {
                queue.poll((token, flags, length, data) -> count.incrementAndGet(), 1);
                return count.get() > 0;
            }, patience);
        }

        @Override
        public void close() {
            endpoint.close();
            memory.close();
            peers.close();
            queue.close();
            domain.close();
            fabric.close();
        }
    }

    private static boolean arrives(Side here, Side there, Duration patience) {
        return Waiting.YIELD.tryUntil(() -> {
            here.queue.progress();
            return there.memory.segment().mismatch(here.memory.segment()) < 0;
        }, patience);
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void aTargetThatNeverPollsIsServed(String provider) {
        try (Side target = new Side(provider); Side initiator = new Side(provider)) {
            Peer peer = initiator.peers.insert(target.endpoint.address());
            initiator.memory.segment().fill((byte) 5);
            try (ProgressThread progress = target.domain.startProgress()) {
                initiator.endpoint.rma().write(initiator.memory.slice(0, LENGTH), peer, target.memory.remote(), 1);
                assertThat(initiator.completes(Pair.DEADLINE)).isTrue();
                assertThat(arrives(initiator, target, Pair.DEADLINE)).as("the bytes arrive").isTrue();
                target.memory.segment().fill((byte) 6);
                initiator.endpoint.rma().read(initiator.memory.slice(0, LENGTH), peer, target.memory.remote(), 2);
                assertThat(initiator.completes(Pair.DEADLINE)).isTrue();
                assertThat(initiator.memory.segment().mismatch(target.memory.segment())).isNegative();
                assertThat(progress.isRunning()).isTrue();
                assertThat(progress.failure()).isEmpty();
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"shm", "tcp;ofi_rxm", "udp;ofi_rxd"})
    void withoutTheThreadTheTargetWouldHaveToPoll(String provider) {
        try (Side target = new Side(provider); Side initiator = new Side(provider)) {
            Peer peer = initiator.peers.insert(target.endpoint.address());
            initiator.memory.segment().fill((byte) 5);
            initiator.memory.segment().asSlice(64).fill((byte) 0);
            boolean posted = false;
            for (int call = 0; call < CALLS; call++) { // where it is never posted, the peer is not even connected
                posted = posted || write(initiator, peer, target);
                initiator.queue.progress();
            }
            assertThat(target.memory.segment().mismatch(initiator.memory.segment())).as("nobody makes progress")
                    .isNotNegative();

            try (ProgressThread progress = target.domain.startProgress()) {
                if (!posted) { Waiting.YIELD.until(() -> write(initiator, peer, target), Pair.DEADLINE); }
                assertThat(arrives(initiator, target, Pair.DEADLINE)).as("the thread makes progress").isTrue();
                assertThat(progress.isRunning()).isTrue();
            }
        }
    }

    private static boolean write(Side from, Peer peer, Side to) {
        return from.endpoint.rma().tryWrite(from.memory, 0, 64, peer, to.memory.remote(), 0, 1);
    }

    @Test
    void completionsThatTheThreadMeetsAreKeptForThePoll() {
        try (Pair pair = new Pair("shm");
                MemoryRegion source = pair.domain.allocate(8, Access.WRITE);
                MemoryRegion target = pair.domain.allocate(8, Access.REMOTE_WRITE);
                ProgressThread progress = pair.domain.startProgress(Duration.ZERO)) {
            for (int i = 0; i < 100; i++) {
                pair.rma().write(source.slice(0, 8), pair.far, target.remote(), i);
            }
            Waiting.YIELD.until(() -> pair.queue.operationsInFlight() == 0, Pair.DEADLINE);
            pair.awaitCompletions(100);
            assertThat(pair.completed).hasSize(100).doesNotHaveDuplicates();
            assertThat(pair.errors).isEmpty();
            assertThat(progress.isRunning()).isTrue();
        }
    }

    /** What the one progress thread of this process has taken, in nanoseconds. */
    private static long processorTime() throws IOException {
        try (Stream<Path> tasks = Files.list(Path.of("/proc/self/task"))) {
            List<Path> named = tasks.filter(task -> {
                try {
                    return Files.readString(task.resolve("comm")).strip().equals("ofi4j-progress");
                } catch (IOException e) { // it has ended
                    return false;
                }
            }).toList();
            assertThat(named).hasSize(1);
            return Long.parseLong(Files.readString(named.getFirst().resolve("schedstat")).split(" ")[0]);
        }
    }

    @Test
    void anIdleThreadPausesAfterEachRound() {
        try (Pair pair = new Pair("shm")) {
            AtomicInteger calls = new AtomicInteger();
            List<Integer> callsBefore = new CopyOnWriteArrayList<>();
            ProgressThread progress = new ProgressThread(pair.domain, turn -> {
                callsBefore.add(calls.get());
                Thread.yield();
            }, () -> calls.incrementAndGet() < 0);
            Waiting.YIELD.until(() -> callsBefore.size() >= 10, Pair.DEADLINE);
            progress.close();

            assertThat(callsBefore.subList(0, 10))
                    .isEqualTo(IntStream.rangeClosed(1, 10).map(round -> 4 * round).boxed().toList());
        }
    }

    /** No pause is shorter than asked for: a round every 100 microseconds, by default, leaves the processor alone. */
    @Test
    void aPauseLastsAsLongAsItShould() {
        Waiting pauses = ProgressThread.every(ProgressThread.DEFAULT_PAUSE);
        long start = System.nanoTime();
        for (int pause = 0; pause < 100; pause++) {
            pauses.pause(pause);
        }
        assertThat(System.nanoTime() - start).as("a few may end early, as LockSupport says")
                .isGreaterThan(50 * ProgressThread.DEFAULT_PAUSE.toNanos());
    }

    /** On a slow machine a round may take longer than the pause behind it. */
    @Tag("long")
    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void anIdleThreadLeavesTheProcessorAlone(String provider) throws Exception {
        try (Side target = new Side(provider); ProgressThread progress = target.domain.startProgress()) {
            Thread.sleep(200); // not for anything to happen: time in which nothing should
            long before = processorTime();
            long start = System.nanoTime();
            Thread.sleep(500);
            long used = processorTime() - before;
            double share = (double) used / (System.nanoTime() - start);

            assertThat(progress.isRunning()).isTrue();
            assertThat(share).as("of a processor; who spins takes all that it gets").isLessThan(0.5);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"DOMAIN", "COMPLETION"})
    void otherThreadingModelsAreRefused(ThreadingModel model) {
        try (Pair pair = new Pair(TestProviders.hints("shm").threading(model))) {
            assertThatIllegalStateException().isThrownBy(pair.domain::startProgress)
                    .withMessageContaining("needs ThreadingModel.SAFE").withMessageContaining("has " + model);
        }
    }

    @Test
    void thereIsOneAtATimeAndItClosesBeforeItsDomain() {
        try (Pair pair = new Pair("shm")) {
            ProgressThread first = pair.domain.startProgress();
            assertThatIllegalStateException().isThrownBy(pair.domain::startProgress)
                    .withMessageContaining("already has ProgressThread");
            assertThatIllegalStateException().isThrownBy(pair.domain::close)
                    .withMessageContaining("ProgressThread of Domain shm");
            assertThat(first.thread()).matches(Thread::isDaemon).matches(thread -> !thread.isVirtual());
            first.close();
            first.close();
            assertThat(first.isRunning()).isFalse();
            assertThat(first.thread().isAlive()).isFalse();
            pair.domain.startProgress(Duration.ofMillis(1)).close();
            assertThatIllegalArgumentException().isThrownBy(() -> pair.domain.startProgress(Duration.ofNanos(-1)));
            assertThatIllegalArgumentException().isThrownBy(() -> pair.domain.startProgress(Duration.ofSeconds(2)));
        }
    }

    /** It may not wait for itself, nor for another thread that closes it and waits for it. */
    @Test
    @Timeout(300)
    void aPauseMayCloseItsThread() {
        try (Pair pair = new Pair("shm")) {
            AtomicReference<ProgressThread> progress = new AtomicReference<>();
            progress.set(pair.domain.startProgress(turn -> {
                if (progress.get() != null) { progress.get().close(); }
            }));
            Waiting.YIELD.until(() -> !progress.get().thread().isAlive(), Pair.DEADLINE);

            assertThat(progress.get().isRunning()).isFalse();
            assertThat(progress.get().failure()).isEmpty();
            pair.domain.startProgress().close(); // there is none any more
            progress.get().close();
        }
    }

    @Test
    void aFailureIsKeptAndThrownOnce() {
        try (Pair pair = new Pair("shm")) {
            IllegalStateException bad = new IllegalStateException("no more");
            ProgressThread progress = new ProgressThread(pair.domain, Waiting.YIELD, () -> {
                throw bad;
            });
            Waiting.YIELD.until(() -> !progress.isRunning(), Pair.DEADLINE);
            assertThat(progress.failure()).contains(bad);
            assertThatThrownBy(progress::close).isSameAs(bad);
            progress.close();
        }
    }

    /** An interrupted thread cannot sleep: with the status still set it would use a whole processor. */
    @Test
    void anInterruptedThreadRestsAgain() {
        try (Pair pair = new Pair("shm")) {
            AtomicInteger pauses = new AtomicInteger();
            AtomicInteger interrupted = new AtomicInteger();
            ProgressThread progress = new ProgressThread(pair.domain, _ -> {
                if (Thread.currentThread().isInterrupted()) { interrupted.incrementAndGet(); }
                pauses.incrementAndGet();
                Thread.yield();
            }, () -> false);
            progress.thread().interrupt();
            int before = pauses.get();
            Waiting.YIELD.until(() -> pauses.get() > before + 100, Pair.DEADLINE);

            assertThat(interrupted.get()).isLessThanOrEqualTo(1);
            assertThat(progress.isRunning()).isTrue();
            progress.close();
        }
    }

    @Test
    void anInterruptOfAPauseThatBlocksDoesNotEndTheThread() {
        CompletionQueueAttributes blocking = CompletionQueueAttributes.defaults().waitObject(WaitObject.FD);
        try (Pair pair = new Pair(TestProviders.hints("sockets"), blocking);
                ProgressThread progress = pair.domain.startProgress(turn -> {
                    Thread.currentThread().interrupt();
                    Waiting.block(Duration.ofMillis(10), pair.queue);
                });
                MemoryRegion source = pair.domain.allocate(8, Access.WRITE);
                MemoryRegion target = pair.domain.allocate(8, Access.REMOTE_WRITE)) {
            for (int token = 0; token < 10; token++) {
                pair.rma().write(source.slice(0, 8), pair.far, target.remote(), token);
                pair.awaitToken(token);
            }

            assertThat(progress.failure()).isEmpty();
        }
    }

    @Test
    void closingIsNotUndoneByAnInterrupt() {
        try (Pair pair = new Pair("shm")) {
            ProgressThread progress = pair.domain.startProgress(Duration.ofMillis(500));
            Thread.currentThread().interrupt();
            progress.close();
            assertThat(Thread.interrupted()).isTrue();
            assertThat(progress.thread().isAlive()).isFalse();
        }
    }
}
