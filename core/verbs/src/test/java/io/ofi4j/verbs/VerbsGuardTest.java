package io.ofi4j.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import io.ofi4j.internal.engine.ThreadGuard;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** A guard that a call of this package holds, without frames of other packages of the library, is in use. */
class VerbsGuardTest {
    /** Longer than a waiting thread waits before it looks at the holder's stack. */
    private static final long MILLIS_INSIDE = 1_500;

    private final ThreadGuard guard = ThreadGuard.exclusive();
    private volatile boolean inside;

    private void hold(CountDownLatch entered) {
        guard.enter();
        inside = true;
        entered.countDown();
        try {
            Thread.sleep(MILLIS_INSIDE);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        } finally {
            inside = false;
            guard.exit();
        }
    }

    @Test
    void aGuardIsNotTakenFromALongCall() throws InterruptedException {
        CountDownLatch entered = new CountDownLatch(1);
        Thread holder = Thread.ofPlatform().start(() -> hold(entered));
        assertThat(entered.await(VerbsLink.DEADLINE.toSeconds(), TimeUnit.SECONDS)).isTrue();

        assertThatCode(guard::enter).doesNotThrowAnyException();
        assertThat(inside).isFalse();
        guard.exit();
        assertThat(holder.join(VerbsLink.DEADLINE)).isTrue();
    }
}
