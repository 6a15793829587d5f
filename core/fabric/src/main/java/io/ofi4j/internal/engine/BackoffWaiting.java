package io.ofi4j.internal.engine;

import io.ofi4j.Waiting;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/**
 * Waits that spin, then yield, then sleep. Only {@link Waiting} may make them. The initialization of each of the two
 * types needs the other, so that two threads that begin with different ones would deadlock.
 *
 * @param text the name of the wait in recordings
 * @param spins how many pauses only tell the processor that a thread spins
 * @param yields how many pauses after them yield the processor
 * @param minSleepNanos the first sleep; each after it is twice as long
 * @param maxSleepNanos the longest sleep
 */
public record BackoffWaiting(String text, int spins, int yields, long minSleepNanos,
        long maxSleepNanos) implements Waiting {
    /** The number of spins before a wait yields or blocks. */
    public static final int SPINS = 1000;
    public static final Duration SLICE = Duration.ofMillis(10);
    public static final long VIRTUAL_PARK_NANOS = 200_000;

    private static final int SLICE_MILLIS = 100;
    private static final long NANOS_PER_MILLI = 1_000_000;
    private static final int MAX_DOUBLINGS = 30;
    /** The number of turns between two reads of the clock, each of which costs more than a poll. */
    private static final int TURNS_PER_CLOCK = 64;

    /** As {@link Waiting#backoff}. */
    public static BackoffWaiting backoff(int spins, int yields, Duration shortest, Duration longest) {
        if (spins < 0 || yields < 0 || !shortest.isPositive() || shortest.compareTo(longest) > 0) {
            throw new IllegalArgumentException("a backoff takes 0 or more spins and yields, and sleeps of 0 < shortest"
                    + " <= longest; not " + spins + ", " + yields + ", " + shortest + " and " + longest);
        }
        return new BackoffWaiting("Waiting.backoff", spins, yields, Deadlines.nanos(shortest),
                Deadlines.nanos(longest));
    }

    @Override
    public void pause(int turn) {
        if (turn < spins) {
            Thread.onSpinWait();
        } else if (turn - spins < yields) {
            Thread.yield();
        } else {
            int doublings = Math.min(turn - spins - yields, MAX_DOUBLINGS);
            LockSupport.parkNanos(Math.min(maxSleepNanos, minSleepNanos << doublings));
        }
    }

    /**
     * Whether to check the deadline before this turn: every {@link #TURNS_PER_CLOCK} turns while the wait spins,
     * otherwise always.
     */
    public static boolean isClockDue(Waiting waiting, int turn) {
        return turn % TURNS_PER_CLOCK == TURNS_PER_CLOCK - 1
                || !(waiting instanceof BackoffWaiting standard && turn < standard.spins);
    }

    /** The name of the wait in recordings. */
    public static String name(Waiting waiting) {
        return waiting instanceof BackoffWaiting standard ? standard.text : "Waiting";
    }

    /** How long a system call may block, in milliseconds: short enough that an interrupt is noticed. */
    public static int millisOf(long nanosLeft) {
        return (int) Math.min(Math.ceilDiv(nanosLeft, NANOS_PER_MILLI), SLICE_MILLIS);
    }

    @Override
    public String toString() { return text; }
}
