package io.ofi4j.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ofi4j.Waiting;
import io.ofi4j.errors.FabricException;
import io.ofi4j.internal.os.Errno;
import io.ofi4j.support.Pair;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** One thread at a time, or one thread only, and nobody is kept out. */
class ThreadGuardTest {
    private static final int THREADS = 4;
    private static final int ENTRIES = 2000;
    private static final Duration DEADLINE = Pair.DEADLINE;

    private final ThreadGuard guard = ThreadGuard.exclusive();
    private int inside;
    private int together;

    private void enterAgainAndAgain() {
        for (int entry = 0; entry < ENTRIES; entry++) {
            guard.enter();
            together += inside++;
            if (entry % 16 == 0) { Thread.yield(); } // others try to come in
            inside--;
            guard.exit();
        }
    }

    @Test
    void threadsAreInsideOneAtATime() throws InterruptedException {
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            threads.add(Thread.ofPlatform().start(this::enterAgainAndAgain));
        }
        for (Thread thread : threads) {
            assertThat(thread.join(DEADLINE)).isTrue();
        }

        assertThat(together).isZero();
    }

    /** Who has waited for long goes next, even where the one that is inside comes back at once. */
    @Test
    void aThreadGetsInWhileAnotherComesAgainAndAgain() throws InterruptedException {
        List<String> order = new ArrayList<>();
        guard.enter();
        Thread waiting = Thread.ofPlatform().start(() -> {
            guard.enter();
            order.add("who has waited");
            guard.exit();
        });
        Waiting.YIELD.until(() -> guard.isNext(waiting), DEADLINE);
        guard.exit();
        guard.enter();
        order.add("who was inside before");
        guard.exit();
        assertThat(waiting.join(DEADLINE)).isTrue();

        assertThat(order).containsExactly("who has waited", "who was inside before");
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
        assertThat(entered.await(DEADLINE.toSeconds(), TimeUnit.SECONDS)).isTrue();

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
            assertThat(over.await(DEADLINE.toSeconds(), TimeUnit.SECONDS)).as("still inside %s", inside).isTrue();
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
