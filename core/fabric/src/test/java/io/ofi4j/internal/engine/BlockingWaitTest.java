package io.ofi4j.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.ofi4j.Waiting;
import io.ofi4j.internal.os.Blocker;
import io.ofi4j.support.Pair;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Waits without a descriptor, whose threads sleep for a day between two polls, unless they are woken. */
@Timeout(300)
class BlockingWaitTest {
    private static final Duration DAY = Duration.ofDays(1);
    private static final Backoff ASLEEP = new Backoff(0, 0, DAY.toNanos(), DAY.toNanos());

    private final AtomicInteger polls = new AtomicInteger();
    private volatile int found;
    private final BlockingWait<String> wait = new BlockingWait<>(null, "a wait", new BlockingWait.Source<>() {
        @Override
        public int take(String argument, long number, long begun) {
            polls.incrementAndGet();
            return found;
        }

        @Override
        public boolean mayBlock() { return false; }

        @Override
        public void block(Blocker blocker, long number, long nanos) {
            throw new AssertionError("it has no descriptor");
        }
    }, ASLEEP);
    private volatile int returned = -1;
    private Duration spin = Duration.ZERO;
    private Thread thread;

    private void startWaiting(Duration deadline) {
        thread = Thread.ofPlatform().daemon().start(() -> returned = wait.until("", 1, deadline, spin));
    }

    private void startSleeping() {
        startWaiting(DAY);
        Waiting.YIELD.until(() -> thread.getState() == Thread.State.TIMED_WAITING, Pair.DEADLINE);
    }

    @AfterEach
    void end() { thread.interrupt(); }

    @Test
    void aSignalEndsTheSleepOfAThread() throws InterruptedException {
        startSleeping();
        wait.signal();

        assertThat(thread.join(Pair.DEADLINE)).isTrue();
        assertThat(returned).isZero();
    }

    @Test
    void aThreadThatIsWokenFindsWhatHasCome() throws InterruptedException {
        startSleeping();
        found = 7;
        wait.wake();

        assertThat(thread.join(Pair.DEADLINE)).isTrue();
        assertThat(returned).isEqualTo(7);
    }

    @Test
    void aThreadThatIsWokenForNothingGoesOnWaiting() {
        startSleeping();
        int before = polls.get();
        wait.wake();
        Waiting.YIELD.until(() -> polls.get() > before, Pair.DEADLINE);

        assertThat(returned).isEqualTo(-1);
    }

    @Test
    void aThreadPollsWithoutSleepingForAsLongAsItIsToSpin() {
        spin = DAY;
        startWaiting(DAY);
        Waiting.YIELD.until(() -> polls.get() > 1000, Pair.DEADLINE);
        found = 7; // nobody wakes it

        Waiting.YIELD.until(() -> returned == 7, Pair.DEADLINE);
    }

    @Test
    void aThreadSleepsAfterItsSpin() {
        spin = Duration.ofNanos(1);
        startSleeping();

        assertThat(returned).isEqualTo(-1);
    }

    @Test
    void aSpinIsNoLongerThanTheDeadline() throws InterruptedException {
        spin = DAY;
        startWaiting(Duration.ofMillis(1));

        assertThat(thread.join(Pair.DEADLINE)).isTrue();
        assertThat(returned).isZero();
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 300_000})
    void aSleepIsNoLongerThanTheDeadline(long nanos) throws InterruptedException {
        startWaiting(Duration.ofNanos(nanos));

        assertThat(thread.join(Pair.DEADLINE)).isTrue();
        assertThat(returned).isZero();
    }
}
