package io.ofi4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.ofi4j.info.CompletionQueueAttributes;
import io.ofi4j.info.WaitObject;
import io.ofi4j.support.Pair;
import io.ofi4j.support.TestProviders;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** How threads pass the time between polls. */
@Timeout(300)
class WaitingTest {
    private static final Duration LONG = Duration.ofMillis(600);
    /** What {@link Waiting#BACKOFF} does before it sleeps for longer and longer. */
    private static final int SPINS = 1000;
    private static final int YIELDS = 1000;
    private static final Duration MAX_SLEEP = Duration.ofNanos(500_000);
    private static final int SHORTER_SLEEPS = 100;
    private static final int BLOCKS = 1000;
    private static final Duration MILLI = Duration.ofMillis(1);

    @Test
    void aCallersOwnWaitIsToldHowOftenNothingWasFound() {
        List<Integer> turns = new ArrayList<>();
        Waiting own = turns::add;
        own.until(() -> turns.size() == 3, Pair.DEADLINE);
        assertThat(turns).containsExactly(0, 1, 2);
    }

    @Test
    void aWaitThatSleepsKeepsItsDeadline() {
        long start = System.nanoTime();
        Waiting sleeping = Waiting.backoff(0, 0, Duration.ofMillis(5), Duration.ofMillis(20));
        assertThat(sleeping.tryUntil(() -> false, Duration.ofMillis(50))).isFalse();
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThanOrEqualTo(Duration.ofMillis(50));
    }

    @Test
    void aSleepOfManySecondsDoesNotBecomeShorterWithTime() {
        Duration nine = Duration.ofSeconds(9);
        Thread sleeping = Thread.ofPlatform().daemon().start(() -> Waiting.backoff(0, 0, nine, nine).pause(30));

        Waiting.BACKOFF.until(() -> sleeping.getState() == Thread.State.TIMED_WAITING || !sleeping.isAlive(),
                Pair.DEADLINE);
        assertThat(sleeping.isAlive()).isTrue();
        LockSupport.unpark(sleeping);
    }

    /** Who spins asks millions of times meanwhile. */
    @Test
    void aBackoffAsksSeldomOnceItHasSpunAndYielded() {
        int[] asked = new int[1];
        assertThat(Waiting.BACKOFF.tryUntil(() -> ++asked[0] < 0, LONG)).isFalse();
        assertThat(asked[0]).isLessThan(SPINS + YIELDS + (int) LONG.dividedBy(MAX_SLEEP) + SHORTER_SLEEPS);
    }

    /** Other work on the machine cannot make it more, but a machine that is slow enough can. */
    @Tag("long")
    @ParameterizedTest
    @ValueSource(strings = {"shm", "tcp;ofi_rxm"})
    void aQuietQueueWithoutDescriptorUsesLittleOfTheProcessor(String provider) {
        try (Pair pair = new Pair(provider)) {
            assertThat(processorTime(() -> pair.queue.await((t, f, l, d) -> {}, 1, LONG)))
                    .isLessThan(LONG.dividedBy(4));
        }
    }

    @Test
    void aWaitBlocksOnADescriptor() {
        CompletionQueueAttributes blocking = CompletionQueueAttributes.defaults().waitObject(WaitObject.FD);
        try (Pair pair = new Pair(TestProviders.hints("sockets"), blocking);
                MemoryRegion source = pair.domain.allocate(8, Access.WRITE);
                MemoryRegion target = pair.domain.allocate(8, Access.REMOTE_WRITE)) {
            Waiting waiting = Waiting.blocking(pair.queue);
            int[] asked = new int[1];
            assertThat(waiting.tryUntil(() -> ++asked[0] < 0, LONG)).isFalse();
            assertThat(asked[0]).as("it blocks once it has spun").isLessThan(SPINS + BLOCKS);
            pair.rma().write(source.slice(0, 8), pair.far, target.remote(), 7);
            List<Long> tokens = new ArrayList<>();
            waiting.until(() -> pair.queue.poll((token, flags, length, data) -> tokens.add(token), 1) > 0,
                    Pair.DEADLINE);
            assertThat(tokens).containsExactly(7L);
        }
    }

    @Test
    void limitsThatMakeNoBackoffAreRefused() {
        assertThatIllegalArgumentException().isThrownBy(() -> Waiting.backoff(-1, 0, MILLI, MILLI));
        assertThatIllegalArgumentException().isThrownBy(() -> Waiting.backoff(0, -1, MILLI, MILLI));
        assertThatIllegalArgumentException().isThrownBy(() -> Waiting.backoff(0, 0, Duration.ZERO, MILLI));
        assertThatIllegalArgumentException().isThrownBy(() -> Waiting.backoff(0, 0, MILLI, MILLI.dividedBy(2)))
                .withMessageContaining("0 < shortest <= longest");
    }

    /** What this thread uses of a processor meanwhile, in steps of 10 ms. */
    private static Duration processorTime(Runnable action) {
        long before = ticks();
        action.run();
        return Duration.ofMillis(10 * (ticks() - before));
    }

    private static long ticks() {
        try {
            String stat = Files.readString(Path.of("/proc/thread-self/stat"));
            String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
            return Long.parseLong(fields[11]) + Long.parseLong(fields[12]);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
