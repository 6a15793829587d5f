package io.ofi4j;

import static io.ofi4j.internal.observe.EventRecorder.RECORDER;

import io.ofi4j.internal.engine.Deadlines;
import io.ofi4j.internal.engine.Interrupts;
import io.ofi4j.internal.os.Descriptors;
import java.time.Duration;
import java.util.Arrays;
import java.util.Objects;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * How a thread waits for a condition that it polls, such as a completion: always with a deadline.
 *
 * <pre>{@code
 * Waiting.SPIN.until(() -> queue.poll(handler, 16) > 0, Duration.ofSeconds(5));
 * }</pre>
 */
public enum Waiting {
    /** Polls again at once: the shortest delay, for a thread with its own processor. */
    SPIN,
    /** Polls many times at once, then yields the processor between polls. */
    YIELD;

    private static final int SPINS = 1000;
    /** Reading the clock costs more than a poll. */
    private static final int TURNS_PER_CLOCK = 64;
    private static final int SLICE_MILLIS = 100;
    private static final long NANOS_PER_MILLI = 1_000_000;
    private static final long VIRTUAL_PARK_NANOS = 200_000;

    /**
     * As {@link #tryUntil}, but throws if the condition does not become true in time.
     *
     * @throws FabricTimeoutException if the deadline passes
     */
    public void until(BooleanSupplier condition, Duration deadline) {
        if (!tryUntil(condition, deadline)) {
            throw new FabricTimeoutException("the condition that was waited for", deadline,
                    "Is the peer running, and does it make progress by polling its queue?");
        }
    }

    /**
     * Blocks, without using the processor, until one of several objects may have something to read; fi_trywait and poll(2). A
     * virtual thread does not block: it polls five thousand times a second.
     *
     * @param deadline the longest wait
     * @param objects objects with wait descriptors; see {@link Waitable#tryWait} for their errors
     * @return false if nothing came in time
     * @throws FabricException if the thread is interrupted, with errno {@code EINTR} (4); its interrupt status stays set
     */
    public static boolean block(Duration deadline, Waitable... objects) {
        Waitable[] all = objects.clone();
        int[] descriptors = Arrays.stream(all).mapToInt(Waitable::waitDescriptor).toArray();
        long start = System.nanoTime();
        long limit = Deadlines.nanos(deadline);
        while (Arrays.stream(all).allMatch(Waitable::tryWait)) {
            long left = limit - (System.nanoTime() - start);
            if (left <= 0) { return false; }
            Interrupts.check("poll");
            if (Thread.currentThread().isVirtual()) { // a system call would hold its carrier
                LockSupport.parkNanos(Math.min(left, VIRTUAL_PARK_NANOS));
            } else if (Descriptors.poll((int) Math.min(Math.ceilDiv(left, NANOS_PER_MILLI), SLICE_MILLIS),
                    descriptors) > 0) {
                return true;
            }
        }
        return true;
    }

    /**
     * {@return whether the condition became true in time}
     *
     * @param condition what is polled
     * @param deadline the longest wait
     */
    public boolean tryUntil(BooleanSupplier condition, Duration deadline) {
        Objects.requireNonNull(condition);
        long start = System.nanoTime();
        long limit = Deadlines.nanos(deadline);
        Object recording = null; // short waits, which are on the data path, are not recorded
        for (int asked = 0;; asked++) {
            if (condition.getAsBoolean()) { return ended(recording, asked, true); }
            if (asked % TURNS_PER_CLOCK == TURNS_PER_CLOCK - 1) {
                if (System.nanoTime() - start >= limit) { return ended(recording, asked, false); }
                recording = recording == null ? RECORDER.waiting() : recording;
            }
            pause(asked);
        }
    }

    void pause(int asked) {
        if (this == SPIN || asked < SPINS) {
            Thread.onSpinWait();
        } else {
            Thread.yield();
        }
    }

    private boolean ended(Object recording, int asked, boolean found) {
        if (asked >= TURNS_PER_CLOCK) { RECORDER.waited(recording, "Waiting." + this, found); }
        return found;
    }
}
