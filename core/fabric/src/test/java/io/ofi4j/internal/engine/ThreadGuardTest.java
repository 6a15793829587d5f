package io.ofi4j.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ofi4j.FabricException;
import io.ofi4j.internal.os.Errno;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** One thread at a time, or one thread only, and nobody is kept out. */
class ThreadGuardTest {
    private static final int THREADS = 4;
    /** Where nobody's turn comes they may take longer than is waited for here, on an idle machine as well. */
    private static final int ENTRIES = 2000;
    private static final long NANOS_INSIDE = 20_000;
    private static final Duration DEADLINE = Duration.ofSeconds(20);

    private final ThreadGuard guard = ThreadGuard.exclusive();
    private int inside;

    /** Inside for as long as a provider's poll may take, and there again at once. */
    private void hammer(AtomicBoolean over) {
        while (!over.get()) {
            guard.enter();
            inside++;
            long begin = System.nanoTime();
            while (System.nanoTime() - begin < NANOS_INSIDE) {
                Thread.onSpinWait();
            }
            inside--;
            guard.exit();
        }
    }

    @Test
    void aThreadGetsInWhileOthersComeAgainAndAgain() throws InterruptedException {
        AtomicBoolean over = new AtomicBoolean();
        List<Thread> others = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            others.add(Thread.ofPlatform().start(() -> hammer(over)));
        }
        long begin = System.nanoTime();
        int entries = 0;
        int together = 0;

        while (entries < ENTRIES && System.nanoTime() - begin < DEADLINE.toNanos()) {
            guard.enter();
            together += inside;
            guard.exit();
            entries++;
        }
        over.set(true);
        for (Thread other : others) {
            assertThat(other.join(DEADLINE)).isTrue();
        }

        assertThat(together).isZero();
        assertThat(entries).isEqualTo(ENTRIES);
    }

    @Test
    void aThreadThatDidNotExitIsToldOnceAndGetsInAgain() {
        guard.enter();

        assertThatThrownBy(guard::enter).isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("StackOverflowError").hasMessageContaining(Thread.currentThread().getName());
        guard.enter().exit();
    }

    @Test
    void theGuardOfAThreadThatEndedInsideIsOpenedForOthers() throws InterruptedException {
        Thread other = Thread.ofPlatform().start(guard::enter);
        assertThat(other.join(DEADLINE)).isTrue();

        assertThatThrownBy(guard::enter).isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("a thread that has ended");
        guard.enter().exit();
    }

    @Test
    void whoWaitsForACallThatDoesNotReturnGivesUp() throws InterruptedException {
        ThreadGuard occupied = ThreadGuard.exclusive(Duration.ofSeconds(1).toNanos());
        CountDownLatch entered = new CountDownLatch(1);
        CountDownLatch over = new CountDownLatch(1);
        Thread holder = Thread.ofPlatform().name("holder").start(() -> holdUntil(over, entered, occupied));
        assertThat(entered.await(20, TimeUnit.SECONDS)).isTrue();

        assertThatThrownBy(occupied::enter).isInstanceOf(FabricException.class)
                .hasMessageContaining("a call of thread 'holder' on the same object has not returned")
                .extracting(thrown -> ((FabricException) thrown).errno()).isEqualTo(Errno.ETIMEDOUT);
        over.countDown();
        assertThat(holder.join(DEADLINE)).isTrue();
        occupied.enter().exit();
    }

    private static void holdUntil(CountDownLatch over, CountDownLatch entered, ThreadGuard guard) {
        try (ThreadGuard inside = guard.enter()) {
            entered.countDown();
            assertThat(over.await(20, TimeUnit.SECONDS)).as("still inside %s", inside).isTrue();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void onlyTheOwnerGetsIn() throws InterruptedException {
        ThreadGuard owned = ThreadGuard.owned("DOMAIN");
        Throwable[] thrown = new Throwable[1];

        Thread other = Thread.ofPlatform().start(() -> {
            try {
                owned.enter();
            } catch (WrongThreadException e) {
                thrown[0] = e;
            }
        });

        assertThat(other.join(DEADLINE)).isTrue();
        assertThat(thrown[0]).hasMessageContaining("ThreadingModel.SAFE");
    }
}
