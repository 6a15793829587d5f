package io.ofi4j;

import io.ofi4j.internal.engine.Backoff;
import io.ofi4j.internal.os.Deadlines;
import java.time.Duration;

/**
 * The waits that {@link Waiting} offers. Only that interface may make them. The initialization of each of the two types
 * needs the other, so that two threads that begin with different ones would deadlock.
 *
 * @param text the name of the wait in recordings
 * @param backoff its pauses
 */
record BackoffWaiting(String text, Backoff backoff) implements Waiting {
    /** The number of turns between two reads of the clock, each of which costs more than a poll. */
    private static final int TURNS_PER_CLOCK = 64;

    BackoffWaiting(String text, int spins, int yields, long minSleepNanos, long maxSleepNanos) {
        this(text, new Backoff(spins, yields, minSleepNanos, maxSleepNanos));
    }

    /** As {@link Waiting#backoff}. */
    static BackoffWaiting backoff(int spins, int yields, Duration shortest, Duration longest) {
        if (spins < 0 || yields < 0 || !shortest.isPositive() || shortest.compareTo(longest) > 0) {
            throw new IllegalArgumentException("a backoff takes 0 or more spins and yields, and sleeps of 0 < shortest"
                    + " <= longest; not " + spins + ", " + yields + ", " + shortest + " and " + longest);
        }
        return new BackoffWaiting("Waiting.backoff", spins, yields, Deadlines.nanos(shortest),
                Deadlines.nanos(longest));
    }

    @Override
    public void pause(int turn) { backoff.pause(turn); }

    /**
     * Whether to check the deadline before this turn: every {@link #TURNS_PER_CLOCK} turns while the wait spins,
     * otherwise always.
     */
    static boolean isClockDue(Waiting waiting, int turn) {
        return turn % TURNS_PER_CLOCK == TURNS_PER_CLOCK - 1
                || !(waiting instanceof BackoffWaiting standard && turn < standard.backoff.spins());
    }

    /** The name of the wait in recordings. */
    static String name(Waiting waiting) {
        return waiting instanceof BackoffWaiting standard ? standard.text : "Waiting";
    }

    /** As {@link Waiting#pause}, but no longer than these nanoseconds, if the wait is one of this library. */
    static void pause(Waiting waiting, int turn, long longestNanos) {
        switch (waiting) {
            case BackoffWaiting standard -> standard.backoff.pause(turn, longestNanos);
            case BlockingWaiting blocking -> blocking.pause(turn, longestNanos);
            default -> waiting.pause(turn);
        }
    }

    @Override
    public String toString() { return text; }
}
