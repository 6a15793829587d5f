package io.ofi4j;

import static io.ofi4j.internal.observe.EventRecorder.RECORDER;

import io.ofi4j.internal.engine.Deadlines;
import io.ofi4j.internal.engine.DescriptorWait;
import java.time.Duration;
import java.util.Objects;
import java.util.function.BooleanSupplier;

/**
 * How a thread waits for something that it finds out by asking again and again, such as a completion: always with a
 * deadline.
 *
 * <pre>{@code
 * Waiting.SPIN.until(() -> queue.poll(handler, 16) > 0, Duration.ofSeconds(5));
 * }</pre>
 */
public enum Waiting {
    /** Asks again at once: the shortest delay, for a thread with a processor of its own. */
    SPIN {
        @Override
        void pause(int asked) {
            Thread.onSpinWait();
        }
    },
    /** Asks some times at once, then lets other threads run in between. */
    YIELD {
        @Override
        void pause(int asked) {
            if (asked < SPINS) {
                Thread.onSpinWait();
            } else {
                Thread.yield();
            }
        }
    };

    private static final int SPINS = 1000;
    /** The clock costs more than a poll: it is read once in so many turns. */
    private static final int TURNS_PER_CLOCK = 64;

    abstract void pause(int asked);

    /**
     * Asks until the answer is true.
     *
     * @param condition what is asked
     * @param deadline how long at most
     * @throws FabricTimeoutException if it does not become true in that time
     */
    public void until(BooleanSupplier condition, Duration deadline) {
        if (!tryUntil(condition, deadline)) {
            throw new FabricTimeoutException("what was waited for", deadline,
                    "Is the peer running, and does it make progress by polling its queue?");
        }
    }

    /**
     * Blocks, without using the processor, until something may be there to be read from one of several objects; fi_trywait and
     * poll(2). A virtual thread does not block: it looks again five thousand times a second.
     *
     * @param deadline how long at most
     * @param objects what to wait for, with wait descriptors
     * @return false where nothing came in time
     * @throws IllegalStateException if one has no wait descriptor, or is closed
     * @throws FabricException if the thread is interrupted, with errno {@code EINTR} (4); its status stays set
     * @throws WrongThreadException if the threading model gives one of them to another thread
     */
    public static boolean block(Duration deadline, Waitable... objects) {
        return new DescriptorWait(objects).until(deadline);
    }

    /**
     * {@return whether the answer became true in time}
     *
     * @param condition what is asked
     * @param deadline how long at most
     */
    public boolean tryUntil(BooleanSupplier condition, Duration deadline) {
        Objects.requireNonNull(condition);
        long start = System.nanoTime();
        long limit = Deadlines.nanos(deadline);
        Object recording = null; // not for the short waits, which are on the data path
        for (int asked = 0;; asked++) {
            if (condition.getAsBoolean()) {
                return ended(recording, asked, true);
            }
            if (asked % TURNS_PER_CLOCK == TURNS_PER_CLOCK - 1) {
                if (System.nanoTime() - start >= limit) {
                    return ended(recording, asked, false);
                }
                recording = recording == null ? RECORDER.waiting() : recording;
            }
            pause(asked);
        }
    }

    private boolean ended(Object recording, int asked, boolean found) {
        if (asked >= TURNS_PER_CLOCK) {
            RECORDER.waited(recording, "Waiting." + this, found);
        }
        return found;
    }
}
