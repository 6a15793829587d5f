package io.ofi4j.internal.engine;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** How long a wait lasts: no shorter than nothing, and no longer than the clock counts, whatever the duration. */
public final class Deadlines {
    private Deadlines() {
    }

    /** {@return so many nanoseconds, from 0, so that time that passed can be subtracted} */
    public static long nanos(Duration duration) {
        return Math.max(0, TimeUnit.NANOSECONDS.convert(duration));
    }

    /**
     * {@return the duration}
     *
     * @throws IllegalArgumentException if it is nothing or less
     */
    public static Duration requireSome(Duration timeout) {
        if (timeout.isNegative() || timeout.isZero()) {
            throw new IllegalArgumentException("the timeout must be longer than nothing, not " + timeout);
        }
        return timeout;
    }

    /** {@return it for a sentence} */
    public static String text(Duration duration) {
        long millis = TimeUnit.MILLISECONDS.convert(duration);
        return millis < 1000 ? millis + " ms" : millis / 1000.0 + " s";
    }
}
