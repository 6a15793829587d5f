package io.ofi4j.job.internal;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** The deadline of a call, for all of its steps. Its time starts when this object is made. */
public final class Deadline {
    /** A hundred years, so that the sum with the clock does not overflow. */
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

    /** A deadline after this time. A negative duration is over at once. */
    public static Deadline in(Duration duration) {
        return new Deadline(duration);
    }

    /** A deadline that nobody lives to see. */
    public static Deadline unlimited() {
        return in(Duration.ofNanos(MAX_NANOS));
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

    /** {@return the earlier of this deadline and one after this time from now} */
    public Deadline atMost(Duration other) {
        Duration left = left();
        return in(left.compareTo(other) < 0 ? left : other);
    }

    /** {@return the later of this deadline and one after this time from now} */
    public Deadline atLeast(Duration other) {
        Duration left = left();
        return in(left.compareTo(other) > 0 ? left : other);
    }

    /** {@return a deadline that is later than this one by this time} */
    public Deadline later(Duration more) {
        return in(left().plus(more));
    }

    /** {@return the remaining time in nanoseconds, 0 at least} */
    public long nanosLeft() {
        return Math.max(0, limit - (System.nanoTime() - start));
    }

    /** {@return the remaining time in milliseconds, 1 at least, for calls that take 0 as unlimited} */
    public int millisLeft() {
        return Math.clamp(TimeUnit.NANOSECONDS.toMillis(nanosLeft()), 1, Integer.MAX_VALUE);
    }

    /** {@return the remaining time} */
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
