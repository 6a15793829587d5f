package io.ofi4j;

import static io.ofi4j.internal.observe.EventRecorder.RECORDER;

import io.ofi4j.errors.FabricException;
import io.ofi4j.errors.FabricTimeoutException;
import io.ofi4j.internal.engine.Backoff;
import io.ofi4j.internal.os.Deadlines;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.function.BooleanSupplier;

/**
 * How a thread waits for a condition that it polls, such as a completion: always with a deadline.
 *
 * <pre>{@code
 * Waiting.SPIN.until(() -> queue.poll(handler, 16) > 0, Duration.ofSeconds(5));
 * }</pre>
 *
 * <p>The constants suit most programs. A lambda makes another way of waiting:
 * {@code Waiting slow = turn -> LockSupport.parkNanos(50_000);} The constants have no state: any number of threads may
 * use them.
 */
@FunctionalInterface
public interface Waiting {
    /** Polls again at once: the shortest delay, for a thread with its own processor. */
    Waiting SPIN = new BackoffWaiting("Waiting.SPIN", Integer.MAX_VALUE, 0, 0, 0);
    /** Polls many times at once, then yields the processor between polls. */
    Waiting YIELD = new BackoffWaiting("Waiting.YIELD", Backoff.SPINS, Integer.MAX_VALUE, 0, 0);
    /**
     * Spins 1,000 times, yields 1,000 times, and then sleeps: first 10 microseconds, then twice as long each time, up
     * to 500. A long wait uses about a hundredth of a processor, and ends within a millisecond of its condition.
     */
    Waiting BACKOFF = new BackoffWaiting("Waiting.BACKOFF", Backoff.STANDARD);

    /**
     * Passes the time between two polls.
     *
     * @param turn the number of polls in a row that have found nothing, minus one: 0 after the first
     */
    void pause(int turn);

    /**
     * {@return a way of waiting that spins, yields and sleeps, as {@link #BACKOFF} does, with these limits}
     *
     * @param spins how many pauses do nothing but tell the processor that this thread spins
     * @param yields how many pauses after them yield the processor
     * @param shortest the first sleep; each of those after it is twice as long
     * @param longest the longest sleep
     * @throws IllegalArgumentException if a number is negative, or not {@code 0 < shortest <= longest}
     */
    static Waiting backoff(int spins, int yields, Duration shortest, Duration longest) {
        return BackoffWaiting.backoff(spins, yields, shortest, longest);
    }

    /**
     * {@return a way of waiting that spins 1,000 times and then blocks as {@link #block} does, 10 milliseconds at a
     * time}
     *
     * @param objects objects with wait descriptors that can end the wait
     */
    static Waiting blocking(Waitable... objects) {
        return new BlockingWaiting(List.of(objects).toArray(Waitable[]::new)); // none of them null
    }

    /**
     * Blocks, without using the processor, until one of several objects may have something to read; fi_trywait and
     * poll(2). A virtual thread does not block, but polls five thousand times a second.
     *
     * @param deadline the longest wait
     * @param objects objects with wait descriptors; see {@link Waitable#tryWait} for their errors
     * @return false if nothing came in time
     * @throws FabricException if the thread is interrupted, with errno {@code EINTR} (4); its interrupt status stays
     *         set
     */
    static boolean block(Duration deadline, Waitable... objects) {
        return BlockingWaiting.block(Deadlines.nanos(deadline), objects);
    }

    /**
     * As {@link #tryUntil}, but throws if the condition does not become true in time.
     *
     * @throws FabricTimeoutException if the deadline passes
     */
    default void until(BooleanSupplier condition, Duration deadline) {
        if (!tryUntil(condition, deadline)) {
            throw new FabricTimeoutException("waiting for a condition", deadline,
                    "Is the peer running, and does it make progress by polling its queue?"
                            + OpenObjects.unservedDomains());
        }
    }

    /**
     * {@return whether the condition became true in time}
     *
     * @param condition what is polled
     * @param deadline the longest wait
     */
    default boolean tryUntil(BooleanSupplier condition, Duration deadline) {
        Objects.requireNonNull(condition);
        long start = System.nanoTime();
        long limit = Deadlines.nanos(deadline);
        Object recording = null; // short waits, which may be on the data path, are not recorded
        boolean found;
        int turn = 0;
        while (!(found = condition.getAsBoolean())) {
            long left = limit;
            if (BackoffWaiting.isClockDue(this, turn)) {
                left = limit - (System.nanoTime() - start);
                if (left <= 0) { break; }
                recording = recording == null ? RECORDER.waiting() : recording;
            }
            BackoffWaiting.pause(this, turn, left);
            turn = turn + 1 & Integer.MAX_VALUE;
        }
        if (recording != null) { RECORDER.waited(recording, BackoffWaiting.name(this), found); }
        return found;
    }
}
