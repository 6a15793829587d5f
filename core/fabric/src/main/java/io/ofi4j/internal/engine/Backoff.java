package io.ofi4j.internal.engine;

import java.util.concurrent.locks.LockSupport;

/**
 * Pauses between polls: some spin, those after them yield the processor, and the rest sleep.
 *
 * @param spins how many pauses only tell the processor that a thread spins
 * @param yields how many pauses after them yield the processor
 * @param minSleepNanos the first sleep; each after it is twice as long
 * @param maxSleepNanos the longest sleep
 */
public record Backoff(int spins, int yields, long minSleepNanos, long maxSleepNanos) {
    /** The number of spins before a wait yields or blocks. */
    public static final int SPINS = 1000;
    /** Ends within a millisecond of its condition, and uses about a hundredth of a processor in a long wait. */
    public static final Backoff STANDARD = new Backoff(SPINS, SPINS, 10_000, 500_000);
    /** How long a virtual thread sleeps instead of blocking. */
    public static final long VIRTUAL_PARK_NANOS = 200_000;

    private static final int MAX_DOUBLINGS = 30;

    /** Passes the time after a poll that found nothing; {@code turn} is 0 after the first. */
    public void pause(int turn) {
        pause(turn, Long.MAX_VALUE);
    }

    /** As {@link #pause(int)}, but sleeps no longer than these nanoseconds. */
    public void pause(int turn, long longestNanos) {
        if (turn < spins) {
            Thread.onSpinWait();
        } else if (turn - spins < yields) {
            Thread.yield();
        } else {
            int doublings = Math.min(turn - spins - yields, MAX_DOUBLINGS);
            long nanos = minSleepNanos > maxSleepNanos >> doublings ? maxSleepNanos : minSleepNanos << doublings;
            LockSupport.parkNanos(Math.min(longestNanos, nanos));
        }
    }
}
