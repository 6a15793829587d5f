package io.ofi4j.job.internal;

import io.ofi4j.Waiting;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.IntFunction;

/**
 * The wait of one call: its deadline, and what makes progress in the thread that waits.
 *
 * @param progress what makes progress, or null if the job was given no queue
 */
public record Wait(Deadline deadline, Runnable progress) {
    private static final long FIRST_PAUSE_MILLIS = 5;
    private static final long MAX_PAUSE_MILLIS = 200;

    /** {@return whether the latch has opened before the deadline} */
    boolean until(CountDownLatch latch) {
        try {
            if (progress == null) { return latch.await(deadline.nanosLeft(), TimeUnit.NANOSECONDS); }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw interrupted(e);
        }
        for (int turn = 0; latch.getCount() > 0 && !deadline.isOver(); turn = turn + 1 & Integer.MAX_VALUE) {
            requireNotInterrupted();
            progress.run();
            Waiting.BACKOFF.pause(turn);
        }
        return latch.getCount() == 0;
    }

    /** Waits for this time, or until the deadline. */
    void pause(long millis) {
        Wait nap = new Wait(deadline.atMost(Duration.ofMillis(millis)), progress);
        nap.until(new CountDownLatch(1));
    }

    /** Makes progress once and pauses, where the caller itself looks for something. */
    void turn(int turns) {
        requireNotInterrupted();
        if (progress == null) { return; }
        progress.run();
        Waiting.BACKOFF.pause(turns);
    }

    /**
     * Looks for something again and again, with longer and longer pauses, and once more at the deadline.
     *
     * @param look is told how often it has looked before, and returns null if there is nothing
     * @return what was found, or null if there is nothing at the deadline
     */
    <T> T lookUntilFound(IntFunction<T> look) {
        T found = look.apply(0);
        long millis = FIRST_PAUSE_MILLIS;
        for (int looks = 1; found == null && !deadline.isOver(); looks++) {
            pause(millis);
            found = look.apply(looks);
            millis = Math.min(2 * millis, MAX_PAUSE_MILLIS);
        }
        return found;
    }

    private static void requireNotInterrupted() {
        if (Thread.currentThread().isInterrupted()) { throw interrupted(null); }
    }

    private static LauncherException interrupted(InterruptedException cause) {
        return new LauncherException("the wait was interrupted", cause);
    }
}
