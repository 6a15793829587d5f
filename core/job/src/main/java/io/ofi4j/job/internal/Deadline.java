package io.ofi4j.job.internal;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * The end of a wait, for all that one call does. It begins when this object is made, and no step of the call makes it
 * longer.
 */
public final class Deadline {
    /** A hundred years: what is added to the clock must not overflow. */
    private static final long MAX_NANOS = TimeUnit.DAYS.toNanos(36_500);

    private final Duration duration;
    private final long start = System.nanoTime();
    private final long limit;

    private Deadline(Duration duration) {
        this.duration = duration;
        this.limit = nanos(duration);
    }

    /** {@return a duration in nanoseconds, 0 at least, that can be added to the clock} */
    public static long nanos(Duration duration) {
        return Math.clamp(TimeUnit.NANOSECONDS.convert(duration), 0, MAX_NANOS);
    }

    /** A wait of at most so long, from now on. A negative duration is none. */
    public static Deadline in(Duration duration) {
        return new Deadline(duration);
    }

    /**
     * {@return a duration that is above zero}
     *
     * @throws IllegalArgumentException if it is not
     */
    public static Duration requireSome(Duration duration) {
        if (duration.isNegative() || duration.isZero()) {
            throw new IllegalArgumentException("the timeout must be above zero, not " + duration);
        }
        return duration;
    }

    /** {@return the earlier of this end and one in so long} */
    public Deadline atMost(Duration other) {
        Duration left = left();
        return in(left.compareTo(other) < 0 ? left : other);
    }

    /** {@return the later of this end and one in so long} */
    public Deadline atLeast(Duration other) {
        Duration left = left();
        return in(left.compareTo(other) > 0 ? left : other);
    }

    /** {@return an end so much later than this one} */
    public Deadline later(Duration more) {
        return in(left().plus(more));
    }

    /** {@return what is left, 0 at least} */
    public long nanosLeft() {
        return Math.max(0, limit - (System.nanoTime() - start));
    }

    /** {@return what is left in milliseconds, for calls where 0 would be for ever: 1 at least} */
    public int millisLeft() {
        return Math.clamp(TimeUnit.NANOSECONDS.toMillis(nanosLeft()), 1, Integer.MAX_VALUE);
    }

    /** {@return what is left} */
    public Duration left() { return Duration.ofNanos(nanosLeft()); }

    public boolean isOver() { return nanosLeft() == 0; }

    /** {@return how long the whole wait is} */
    public Duration duration() { return duration; }

    /** {@return the whole wait as text} */
    @Override
    public String toString() { return text(duration); }

    /** {@return a duration in milliseconds or seconds, as text} */
    public static String text(Duration duration) {
        long millis = TimeUnit.MILLISECONDS.convert(duration);
        return millis < 1000 ? millis + " ms" : millis / 1000.0 + " s";
    }
}
