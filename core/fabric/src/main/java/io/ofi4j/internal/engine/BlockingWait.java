package io.ofi4j.internal.engine;

import static io.ofi4j.internal.observe.EventRecorder.RECORDER;

import io.ofi4j.errors.FabricException;
import io.ofi4j.internal.os.Deadlines;
import io.ofi4j.internal.os.Descriptors;
import io.ofi4j.internal.os.Errno;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.IntConsumer;

/**
 * Blocks threads until a condition holds, a signal comes, or the deadline passes. The condition is checked inside a
 * guard. Threads block outside it, so that others go on meanwhile, in slices of 10 ms, so that an interrupt is noticed.
 */
public final class BlockingWait {
    private static final int SLICE_MILLIS = 10;
    private static final long NANOS_PER_MILLI = 1_000_000;
    private static final Duration DRAIN_TIMEOUT = Duration.ofSeconds(30);
    private static final int VIRTUAL_YIELDS = 100;

    /** Null where threads poll instead, and sleep in between. */
    private final WaitDescriptor descriptor;
    private final String operation;
    /** Threads inside a system call; the descriptor stays open until they have left. */
    private final AtomicInteger blockedThreads = new AtomicInteger();
    private int waiting;
    private int signals;
    private boolean signalPending;

    public BlockingWait(WaitDescriptor descriptor, String operation) {
        this.descriptor = descriptor;
        this.operation = operation;
    }

    /**
     * Waits until {@code found}, which enters the guard, returns true. Returns false after the deadline or a signal.
     * {@code mayBlock} says, inside the guard, whether a thread may block on the descriptor now. If so, it calls
     * {@link #beginBlocking}.
     */
    public boolean until(BooleanSupplier found, BooleanSupplier mayBlock, Duration deadline) {
        IntConsumer call = descriptor == null ? null : millis -> Descriptors.poll(millis, descriptor.number);
        return until(found, mayBlock, call, deadline);
    }

    /**
     * As {@link #until(BooleanSupplier, BooleanSupplier, Duration)}, with a call that blocks for at most the
     * milliseconds that it is passed, instead of the descriptor; null where threads poll.
     */
    public boolean until(BooleanSupplier found, BooleanSupplier mayBlock, IntConsumer call, Duration deadline) {
        long limit = Deadlines.nanos(deadline);
        int since = begin();
        if (since < 0) { return found.getAsBoolean(); }
        Object recording = RECORDER.waiting(); // begins before the clock is read, so that it covers the whole wait
        long start = System.nanoTime();
        boolean isFound = false;
        try {
            for (int turn = 0;; turn++) {
                isFound = found.getAsBoolean();
                if (isFound) { return true; }
                long left = limit - (System.nanoTime() - start);
                if (left <= 0 || isSignaled(since)) { return false; }
                Interrupts.check(operation);
                pause(mayBlock, call, turn, left);
            }
        } finally {
            end();
            RECORDER.waited(recording, operation, isFound);
        }
    }

    private void pause(BooleanSupplier mayBlock, IntConsumer call, int turn, long left) {
        if (Thread.currentThread().isVirtual()) { // a system call would hold its carrier
            if (turn < VIRTUAL_YIELDS) {
                Thread.yield();
            } else {
                LockSupport.parkNanos(this, Math.min(left, Backoff.VIRTUAL_PARK_NANOS));
            }
        } else if (call != null && mayBlock.getAsBoolean()) {
            try {
                call.accept((int) Math.min(Math.ceilDiv(left, NANOS_PER_MILLI), SLICE_MILLIS));
            } finally {
                blockedThreads.decrementAndGet();
            }
        } else {
            Backoff.STANDARD.pause(turn);
        }
    }

    /** The calling thread is about to block. Called inside the guard. */
    public void beginBlocking() {
        blockedThreads.incrementAndGet();
    }

    /**
     * Waits until no thread is inside a system call. No thread may enter meanwhile.
     *
     * @throws FabricException after 30 seconds
     */
    public void drain() {
        long begin = System.nanoTime();
        while (blockedThreads.get() > 0) {
            if (System.nanoTime() - begin > DRAIN_TIMEOUT.toNanos()) {
                throw new FabricException(
                        "a wait of another thread has not ended for " + Deadlines.text(DRAIN_TIMEOUT)
                                + ". Did a StackOverflowError or another Error break it off?",
                        operation, Errno.ETIMEDOUT);
            }
            wake();
            Thread.yield();
        }
    }

    /** Makes blocked threads check again. */
    public void wake() { if (descriptor != null) { descriptor.wake(); } }

    /** As {@link WaitDescriptor#detachProvider}. */
    public void detachProvider() {
        if (descriptor != null) { descriptor.detachProvider(); }
    }

    /** Ends the waits in progress; if there is none, the next one. */
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

    /** The number of signals so far, or -1 if a pending one ends this wait. */
    private synchronized int begin() {
        if (takeSignal()) { return -1; }
        waiting++;
        return signals;
    }

    /** Whether a signal was pending. Clears it. */
    public synchronized boolean takeSignal() {
        boolean taken = signalPending;
        signalPending = false;
        return taken;
    }

    private synchronized void end() { waiting--; }

    private synchronized boolean isSignaled(int since) { return signals != since; }

    public WaitDescriptor requireDescriptor(Object owner) {
        if (descriptor == null) {
            throw new IllegalStateException(
                    owner + " has no wait descriptor: open it with waitObject(WaitObject.FD), of a provider"
                            + " that offers it");
        }
        return descriptor;
    }

    public void close() { if (descriptor != null) { descriptor.close(); } }
}
