package io.ofi4j.internal.os;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** Durations of waits, clamped to what the clock counts, and as text. */
public final class Deadlines {
    /** {@return nanoseconds, at least 0, so that elapsed time can be subtracted} */
    public static long nanos(Duration duration) {
        return Math.max(0, TimeUnit.NANOSECONDS.convert(duration));
    }

    public static Duration requireSome(Duration timeout) {
        if (timeout.isNegative() || timeout.isZero()) {
            throw new IllegalArgumentException("the timeout must be above zero, not " + timeout);
        }
        return timeout;
    }

    public static String text(Duration duration) {
        long millis = TimeUnit.MILLISECONDS.convert(duration);
        return millis < 1000 ? millis + " ms" : millis / 1000.0 + " s";
    }
}
