package io.ofi4j.netty;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.temporal.ChronoUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** When a loop polls before it sleeps, and when it does not. Times are made up. */
@Tag("once")
class SpinPaceTest {
    private static final long SPIN = 50_000;
    private static final long START = Long.MAX_VALUE - SPIN; // clocks of the system may wrap

    private final SpinPace pace = new SpinPace(Duration.ofNanos(SPIN));

    private static void pollInVain(SpinPace pace, int times, long now) {
        for (int i = 0; i < times; i++) {
            pace.wasInVain(now);
        }
    }

    @Test
    void itPollsAsLongAsItIsTold() { assertThat(pace.spinNanos(START)).isEqualTo(SPIN); }

    @Test
    void whatHasPolledInVainTooOftenRestsAndTriesAgain() {
        pollInVain(pace, SpinPace.MAX_IN_VAIN - 1, START);
        assertThat(pace.spinNanos(START)).isEqualTo(SPIN);

        pace.wasInVain(START);
        assertThat(pace.spinNanos(START)).isZero();
        assertThat(pace.spinNanos(START + SpinPace.REST * SPIN - 1)).isZero();
        assertThat(pace.spinNanos(START + SpinPace.REST * SPIN)).isEqualTo(SPIN);

        pollInVain(pace, SpinPace.MAX_IN_VAIN, START);
        assertThat(pace.spinNanos(START)).isZero();
    }

    @Test
    void onlyThoseInVainWithoutAPauseCount() {
        pollInVain(pace, SpinPace.MAX_IN_VAIN - 1, START);
        pace.paid();
        pollInVain(pace, SpinPace.MAX_IN_VAIN - 1, START);

        assertThat(pace.spinNanos(START)).isEqualTo(SPIN);
    }

    @Test
    void longPollsRestForASecondAtMost() {
        SpinPace slow = new SpinPace(Duration.ofHours(1));
        pollInVain(slow, SpinPace.MAX_IN_VAIN, START);

        assertThat(slow.spinNanos(START)).isZero();
        assertThat(slow.spinNanos(START + Duration.ofSeconds(1).toNanos())).isEqualTo(Duration.ofHours(1).toNanos());
    }

    @Test
    void foreverIsForever() {
        assertThat(new SpinPace(ChronoUnit.FOREVER.getDuration()).spinNanos(START)).isEqualTo(Long.MAX_VALUE);
    }
}
