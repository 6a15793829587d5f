package io.ofi4j.command.perf;

import static org.assertj.core.api.Assertions.assertThat;

import io.ofi4j.command.Patience;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** When a watchdog tells that nothing moves, as a server with other clients uses it. */
@Tag("gate")
@Tag("once") // what it is about is the command, not libfabric
class WatchdogTest {
    private static final Duration TIMEOUT = Duration.ofMillis(100);

    private final BlockingQueue<Duration> told = new LinkedBlockingQueue<>();

    @Test
    void itTellsHowLongNothingHasMoved() throws InterruptedException {
        try (Watchdog watchdog = Watchdog.start(TIMEOUT, told::add)) {
            watchdog.watch();
            assertThat(told.poll(Patience.seconds(60).toSeconds(), TimeUnit.SECONDS)).isEqualTo(TIMEOUT.plusSeconds(3));
        }
    }

    @Test
    void slowWorkHasTenTimesTheLimit() throws InterruptedException {
        try (Watchdog watchdog = Watchdog.start(TIMEOUT, told::add)) {
            watchdog.watchSlow();
            assertThat(told.poll(Patience.seconds(60).toSeconds(), TimeUnit.SECONDS))
                    .isEqualTo(TIMEOUT.multipliedBy(10).plusSeconds(3));
        }
    }

    @Test
    void whoRestsIsNotWatched() throws InterruptedException {
        try (Watchdog watchdog = Watchdog.start(TIMEOUT, told::add)) {
            watchdog.watch();
            watchdog.rest();
            told.clear(); // this thread may have stood still before it rested
            assertThat(told.poll(4, TimeUnit.SECONDS)).isNull();
        }
    }
}
