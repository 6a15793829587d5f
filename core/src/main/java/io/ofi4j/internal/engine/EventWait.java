package io.ofi4j.internal.engine;

import static io.ofi4j.internal.observe.EventRecorder.RECORDER;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** Waits for a condition that events change, in slices, so that other threads use the queue and an interrupt is noticed. */
public final class EventWait {
    public interface Source {
        /** Reads events for so many milliseconds at most, until the condition holds; whether it does. */
        boolean pumpUntil(BooleanSupplier condition, int milliseconds);

        /** Makes progress on the other queues of the fabric. */
        void progressBeside();
    }

    /** The longest time in native code at a stretch; other threads that need the queue wait as long. */
    private static final int SLICE_MILLIS = 10;
    private static final long NANOS_PER_MILLI = 1_000_000;
    private static final long SHORTEST_PAUSE_NANOS = 20_000;
    private static final long LONGEST_PAUSE_NANOS = 1_000_000;

    private final Source queue;
    private final boolean blocks;
    private long pause = SHORTEST_PAUSE_NANOS;

    /** If blocks is false, a thread sleeps between two reads instead of waiting inside the provider. */
    public EventWait(Source queue, boolean blocks) {
        this.queue = queue;
        this.blocks = blocks && !Thread.currentThread().isVirtual();
    }

    /** Whether the condition holds before the deadline. */
    public boolean until(BooleanSupplier condition, Duration deadline) {
        Object recording = RECORDER.waiting();
        boolean happened = happens(condition, deadline);
        RECORDER.waited(recording, "reading events", happened);
        return happened;
    }

    private boolean happens(BooleanSupplier condition, Duration deadline) {
        long start = System.nanoTime();
        long limit = Deadlines.nanos(deadline);
        while (true) {
            long left = limit - (System.nanoTime() - start);
            if (queue.pumpUntil(condition, blocks ? Math.clamp(left / NANOS_PER_MILLI, 0, SLICE_MILLIS) : 0)) {
                return true;
            }
            if (left <= 0) { return false; }
            Interrupts.check("fi_eq_sread");
            queue.progressBeside();
            if (!blocks) {
                LockSupport.parkNanos(queue, Math.min(pause, left));
                pause = Math.min(2 * pause, LONGEST_PAUSE_NANOS);
            }
        }
    }
}
