package io.ofi4j.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import io.ofi4j.internal.os.Descriptors;
import io.ofi4j.support.Patience;
import io.ofi4j.verbs.internal.CmCalls;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Waits for events of the connection manager, of which there are none. No device is needed. */
class CmEventWaitTest {
    private static final Duration DEADLINE = Patience.seconds(30);

    private final int descriptor = Descriptors.event();
    private final CmCalls.Id id = new CmCalls.Id(MemorySegment.NULL, MemorySegment.NULL, descriptor);

    @AfterEach
    void close() { Descriptors.close(descriptor); }

    @Test
    void whatIsThereIsFoundAfterTheDeadlineToo() {
        long longAgo = System.nanoTime() - DEADLINE.toNanos();
        AtomicInteger looks = new AtomicInteger();

        assertThat(CmEventWait.until(() -> true, id, longAgo, DEADLINE)).isTrue();
        assertThat(CmEventWait.until(() -> looks.incrementAndGet() > 1, id, longAgo, DEADLINE)).isFalse();
        assertThat(looks).hasValue(1);
    }

    @Test
    void waitingVirtualThreadsLeaveTheirCarriersToOthers() throws InterruptedException {
        AtomicBoolean isOver = new AtomicBoolean();
        AtomicInteger found = new AtomicInteger();
        int waiters = 4 * Runtime.getRuntime().availableProcessors();
        List<Thread> waiting = IntStream.range(0, waiters).mapToObj(i -> Thread.ofVirtual().start(() -> {
            if (CmEventWait.until(isOver::get, id, System.nanoTime(), DEADLINE)) { found.incrementAndGet(); }
        })).toList();
        Thread.ofVirtual().start(() -> isOver.set(true));
        for (Thread thread : waiting) {
            thread.join();
        }
        assertThat(found).hasValue(waiters);
    }
}
