package io.ofi4j.internal.engine;

import io.ofi4j.Waiting;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/**
 * Waits that spin, then yield, then sleep. Only {@link Waiting} makes them: its constants need this class, and this
 * class needs that interface, so that threads that began with different ones would wait for each other.
 *
 * @param text what recordings call it
 * @param spins how many pauses only tell the processor that a thread spins
 * @param yields how many pauses after them yield the processor
 * @param shortestNanos the first sleep; each after it is twice as long
 * @param longestNanos the longest sleep
 */
public record StandardWaiting(String text, int spins, int yields, long shortestNanos,
        long longestNanos) implements Waiting {
    /** Before a wait yields or blocks. */
    public static final int SPINS = 1000;
    public static final Duration SLICE = Duration.ofMillis(10);
    public static final long VIRTUAL_PARK_NANOS = 200_000;

    private static final int SLICE_MILLIS = 100;
    private static final long NANOS_PER_MILLI = 1_000_000;
    private static final int MOST_DOUBLINGS = 30;
    /** Reading the clock costs more than a poll. */
    private static final int TURNS_PER_CLOCK = 64;

    /** As {@link Waiting#backoff}. */
    public static StandardWaiting backoff(int spins, int yields, Duration shortest, Duration longest) {
        if (spins < 0 || yields < 0 || !shortest.isPositive() || shortest.compareTo(longest) > 0) {
            throw new IllegalArgumentException("a backoff takes 0 or more spins and yields, and sleeps of 0 < shortest"
                    + " <= longest; not " + spins + ", " + yields + ", " + shortest + " and " + longest);
        }
        return new StandardWaiting("Waiting.backoff", spins, yields, Deadlines.nanos(shortest),
                Deadlines.nanos(longest));
    }

    @Override
    public void pause(int turn) {
        if (turn < spins) {
            Thread.onSpinWait();
        } else if (turn - spins < yields) {
            Thread.yield();
        } else {
            int doublings = Math.min(turn - spins - yields, MOST_DOUBLINGS);
            LockSupport.parkNanos(Math.min(longestNanos, shortestNanos << doublings));
        }
    }

    /** Whether the deadline is to be looked at before this turn: always, unless the pause is shorter than that. */
    public static boolean isClockDue(Waiting waiting, int turn) {
        return turn % TURNS_PER_CLOCK == TURNS_PER_CLOCK - 1
                || !(waiting instanceof StandardWaiting standard && turn < standard.spins);
    }

    /** What recordings call it. */
    public static String name(Waiting waiting) {
        return waiting instanceof StandardWaiting standard ? standard.text : "Waiting";
    }

    /** Of the time that is left, so many milliseconds as a system call may block, so that an interrupt is noticed. */
    public static int millisOf(long nanosLeft) {
        return (int) Math.min(Math.ceilDiv(nanosLeft, NANOS_PER_MILLI), SLICE_MILLIS);
    }

    @Override
    public String toString() { return text; }
}
