package io.ofi4j.internal.engine;

import static io.ofi4j.internal.observe.EventRecorder.RECORDER;

import io.ofi4j.internal.os.Descriptors;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * Blocks threads until something is there, they are woken, or time is over. What is asked is asked inside a guard; what blocks,
 * blocks outside it, so that others go on meanwhile, and in slices, so that nobody misses an interrupt or the end.
 */
public final class BlockingWait {
    private static final int SLICE_MILLIS = 10;
    private static final long SLICE_NANOS = 1_000_000L * SLICE_MILLIS;
    private static final long NANOS_PER_MILLI = 1_000_000;
    private static final int SPINS = 1000;
    private static final int VIRTUAL_YIELDS = 100;
    private static final long VIRTUAL_PARK_NANOS = 200_000;

    /** What blocks, for so many milliseconds at most; what it returns does not matter. */
    public interface Call {
        int block(int milliseconds);
    }

    /** Null where there is nothing to block on. */
    private final WaitDescriptor descriptor;
    private final String operation;
    /** Threads inside a system call; what is waited on lives until they have left. */
    private final AtomicInteger inside = new AtomicInteger();
    private int waiting;
    private int signals;
    private boolean signalPending;

    public BlockingWait(WaitDescriptor descriptor, String operation) {
        this.descriptor = descriptor;
        this.operation = operation;
    }

    /**
     * Waits.
     *
     * @param found asks, inside the guard
     * @param mayBlock whether a thread may block on the descriptor now; asked inside the guard, and to call {@link #enter} there
     *        if so
     * @return whether it was found; false where time is over or a signal came
     */
    public boolean until(BooleanSupplier found, BooleanSupplier mayBlock, Duration deadline) {
        Call call = descriptor == null ? null : milliseconds -> Descriptors.poll(milliseconds, descriptor.number);
        return until(found, mayBlock, call, deadline);
    }

    /** As the other, where something else blocks than the descriptor; null where nothing does. */
    public boolean until(BooleanSupplier found, BooleanSupplier mayBlock, Call call, Duration deadline) {
        long start = System.nanoTime();
        long limit = Deadlines.nanos(deadline); // the longest there is, where it is longer
        int since = begin();
        if (since < 0) {
            return found.getAsBoolean();
        }
        Object recording = RECORDER.waiting();
        boolean isFound = false;
        try {
            for (int turn = 0;; turn++) {
                isFound = found.getAsBoolean();
                if (isFound) {
                    return true;
                }
                long left = limit - (System.nanoTime() - start);
                if (left <= 0 || isSignaled(since)) {
                    return false;
                }
                Interrupts.check(operation);
                pause(mayBlock, call, turn, left);
            }
        } finally {
            end();
            RECORDER.waited(recording, operation, isFound);
        }
    }

    private void pause(BooleanSupplier mayBlock, Call call, int turn, long left) {
        if (Thread.currentThread().isVirtual()) { // a system call would hold its carrier
            if (turn < VIRTUAL_YIELDS) {
                Thread.yield();
            } else {
                LockSupport.parkNanos(this, Math.min(left, VIRTUAL_PARK_NANOS));
            }
        } else if (call == null) {
            if (turn < SPINS) {
                Thread.onSpinWait();
            } else {
                Thread.yield();
            }
        } else if (mayBlock.getAsBoolean()) {
            try {
                long slice = Math.min(left, SLICE_NANOS);
                call.block((int) ((slice + NANOS_PER_MILLI - 1) / NANOS_PER_MILLI));
            } finally {
                inside.decrementAndGet();
            }
        }
    }

    /** The calling thread is about to block: inside the guard. */
    public void enter() {
        inside.incrementAndGet();
    }

    /** Waits for who is inside to leave; nobody enters any more. */
    public void awaitNobodyInside() {
        while (inside.get() > 0) {
            wake();
            Thread.yield();
        }
    }

    /** Something is there, or over: whoever blocks looks again. */
    public void wake() {
        if (descriptor != null) {
            descriptor.wake();
        }
    }

    /** The provider must not be asked any more whether something is there. */
    public void deafen() {
        if (descriptor != null) {
            descriptor.deafen();
        }
    }

    /** Ends the waits that are under way, or, where there is none, the next. */
    public void signal() {
        synchronized (this) {
            if (waiting == 0) {
                signalPending = true;
            } else {
                signals = signals + 1 & Integer.MAX_VALUE;
            }
        }
        wake();
    }

    /** How many signals there were, or -1 where one is for this wait. */
    private synchronized int begin() {
        if (takeSignal()) {
            return -1;
        }
        waiting++;
        return signals;
    }

    /** Whether a signal came while nobody waited; it is for who asks. */
    public synchronized boolean takeSignal() {
        boolean taken = signalPending;
        signalPending = false;
        return taken;
    }

    private synchronized void end() {
        waiting--;
    }

    private synchronized boolean isSignaled(int since) {
        return signals != since;
    }

    /** @throws IllegalStateException if there is none */
    public WaitDescriptor requireDescriptor(Object owner) {
        if (descriptor == null) {
            throw new IllegalStateException(owner + " has no wait descriptor: open it with attributes that say"
                    + " waitObject(WaitObject.FD), of a provider that offers it");
        }
        return descriptor;
    }

    public void close() {
        if (descriptor != null) {
            descriptor.close();
        }
    }
}
