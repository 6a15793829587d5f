package io.ofi4j.faults;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ofi4j.ProgressThread;
import io.ofi4j.Waiting;
import io.ofi4j.durable.SaveService;
import io.ofi4j.errors.FabricTimeoutException;
import io.ofi4j.info.Capability;
import io.ofi4j.support.Pair;
import io.ofi4j.support.TestProviders;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A thread that does not end holds up a close for half a minute, and then the close says so. */
@Tag("long")
@Timeout(600)
class StuckThreadTest {
    private final CountDownLatch paused = new CountDownLatch(1);
    private final CountDownLatch end = new CountDownLatch(1);

    /** A pause that lasts until the test lets it end. */
    private final Waiting stuck = turn -> {
        paused.countDown();
        await(end);
    };

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void closingAProgressThreadSaysThatItHangs() {
        try (Pair pair = new Pair("shm"); ProgressThread progress = pair.domain.startProgress(stuck)) {
            await(paused);
            assertThatThrownBy(progress::close).isInstanceOf(FabricTimeoutException.class)
                    .hasMessageContaining("waiting for ProgressThread");
            end.countDown();
        }
    }

    @Test
    void closingASaveServiceSaysThatItHangs() {
        try (Pair pair = new Pair(TestProviders.hints("shm").capabilities(Capability.RMA, Capability.MSG));
                SaveService service = new SaveService(pair.domain)) {
            service.start(stuck);
            await(paused);
            assertThatThrownBy(service::close).isInstanceOf(FabricTimeoutException.class)
                    .hasMessageContaining("waiting for the thread of SaveService");
            end.countDown();
        }
    }
}
