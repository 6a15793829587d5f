package io.ofi4j.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.ofi4j.support.Patience;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A close has one beginning, reaches the provider once, and goes on where it was broken off. */
@Tag("once")
class LifeCycleStepsTest {
    private static final int ROUNDS = 1000;

    private final LifeCycle lifeCycle = new LifeCycle();

    @Test
    void aCloseThatReachesTheProviderIsTheLast() {
        lifeCycle.begin();
        assertThat(lifeCycle.isOpen()).isFalse();
        assertThat(lifeCycle.mayClose()).as("while it is under way").isFalse();

        assertThat(lifeCycle.finish(() -> lifeCycle.beginNativeClose() ? -16 : 0)).as("the status").isEqualTo(-16);

        assertThat(lifeCycle.mayClose()).isFalse();
        assertThat(lifeCycle.isClosedNatively()).isTrue();
        assertThatIllegalStateException().isThrownBy(lifeCycle::begin);
        assertThatIllegalStateException().isThrownBy(() -> lifeCycle.requireOpen("it")).withMessage("it is closed");
    }

    @Test
    void aCloseThatThrowsIsDoneAgainAndTakesNoCallsUntilThen() {
        lifeCycle.begin();
        assertThatIllegalStateException().isThrownBy(() -> lifeCycle.finish(() -> {
            throw new IllegalStateException("held up");
        })).withMessage("held up");
        assertThat(lifeCycle.isOpen()).isFalse();
        assertThat(lifeCycle.mayClose()).isTrue();

        lifeCycle.begin();
        lifeCycle.finish(() -> lifeCycle.beginNativeClose() ? 0 : 1);

        assertThat(lifeCycle.isClosedNatively()).isTrue();
    }

    @Test
    void aCloseThatThrowsBehindTheProviderReachesItOnlyOnce() {
        lifeCycle.begin();
        assertThatIllegalStateException().isThrownBy(() -> lifeCycle.finish(() -> {
            lifeCycle.beginNativeClose();
            throw new IllegalStateException("behind it");
        }));

        assertThat(lifeCycle.mayClose()).isFalse();
        assertThat(lifeCycle.beginNativeClose()).isFalse();
    }

    @Test
    void aCloseThatIsPutOffReachesTheProviderLater() {
        lifeCycle.begin();
        lifeCycle.finish(() -> 0);

        assertThat(lifeCycle.mayClose()).isFalse();
        assertThat(lifeCycle.isClosedNatively()).isFalse();
        assertThat(lifeCycle.beginNativeClose()).isTrue();
        assertThat(lifeCycle.beginNativeClose()).isFalse();
    }

    @Test
    void ofTwoThreadsOneBeginsAndOneReachesTheProvider() throws Exception {
        try (ExecutorService threads = Executors.newFixedThreadPool(2)) {
            for (int round = 0; round < ROUNDS; round++) {
                LifeCycle shared = new LifeCycle();
                assertThat(howMany(threads, () -> begins(shared))).as("who begin").isOne();
                assertThat(howMany(threads, shared::beginNativeClose)).as("who reach the provider").isOne();
            }
        }
    }

    private static boolean begins(LifeCycle shared) {
        try {
            shared.begin();
            return true;
        } catch (IllegalStateException e) {
            return false;
        }
    }

    /** Of two threads that do it at once. */
    private static int howMany(ExecutorService threads, BooleanSupplier step) throws Exception {
        CyclicBarrier start = new CyclicBarrier(2);
        List<Future<Boolean>> calls = new ArrayList<>();
        for (int thread = 0; thread < 2; thread++) {
            calls.add(threads.submit(() -> {
                start.await();
                return step.getAsBoolean();
            }));
        }
        int count = 0;
        for (Future<Boolean> call : calls) {
            if (call.get(Patience.seconds(20).toSeconds(), TimeUnit.SECONDS)) { count++; }
        }
        return count;
    }
}
