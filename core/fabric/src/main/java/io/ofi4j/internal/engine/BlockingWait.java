package io.ofi4j.internal.engine;

import static io.ofi4j.internal.observe.EventRecorder.RECORDER;

import io.ofi4j.errors.FabricException;
import io.ofi4j.internal.os.Blocker;
import io.ofi4j.internal.os.Deadlines;
import io.ofi4j.internal.os.Errno;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * Blocks threads until there is something, a signal comes, or the deadline passes. The source is checked inside a
 * guard. Threads block outside it, so that others go on meanwhile. Whatever lets a thread check again wakes each by
 * itself: another thread may reset the descriptor that they share before this one blocks on it. A wait allocates
 * nothing.
 *
 * @param <T> what a wait passes to its source
 */
public final class BlockingWait<T> {
    private static final Duration DRAIN_TIMEOUT = Duration.ofSeconds(30);
    private static final int VIRTUAL_YIELDS = 100;
    /** The longest block: a wake-up that a provider loses costs this, and not the whole deadline. */
    private static final long MAX_BLOCK_NANOS = 100_000_000;
    private static final int INITIAL_WAITERS = 4;

    /**
     * What threads wait for. It is made once, and a wait passes what belongs to it alone: a lambda would be garbage.
     *
     * @param <T> what a wait passes
     */
    public interface Source<T> {
        /** {@return what a wait that begins now passes to its calls of {@link #take}} */
        default long begin() {
            return 0;
        }

        /**
         * Enters the guard, and returns how much was found; 0 if nothing, and the wait goes on.
         *
         * @param begun what {@link #begin} has returned
         */
        int take(T argument, long number, long begun);

        /**
         * Whether a thread may block now, inside the guard; false where threads poll. If so, it calls
         * {@link #beginBlocking}.
         */
        boolean mayBlock();

        /** Blocks for at most these nanoseconds, outside the guard. */
        void block(Blocker blocker, long number, long nanos);
    }

    /** Null where threads poll instead, and sleep in between, or block in libfabric. */
    private final WaitDescriptor descriptor;
    private final String operation;
    private final Source<T> source;
    private final Backoff backoff;
    /** Threads inside a system call; the descriptor stays open until they have left. */
    private final AtomicInteger blockedThreads = new AtomicInteger();
    /** Those of the waits in progress, at the beginning of the array. */
    private Blocker[] waiters = new Blocker[INITIAL_WAITERS];
    private volatile int waiting;
    private int signals;
    /** Whether a signal came while no thread waited; written inside the monitor. */
    private volatile boolean signalPending;

    public BlockingWait(WaitDescriptor descriptor, String operation, Source<T> source) {
        this(descriptor, operation, source, Backoff.STANDARD);
    }

    /** With the pauses of threads that poll. */
    public BlockingWait(WaitDescriptor descriptor, String operation, Source<T> source, Backoff backoff) {
        this.descriptor = descriptor;
        this.operation = operation;
        this.source = source;
        this.backoff = backoff;
    }

    /**
     * Waits until the source has found something, and returns how much; 0 after the deadline or a signal.
     *
     * @param spin how long to poll before the thread blocks, yields or sleeps
     */
    public int until(T argument, long number, Duration deadline, Duration spin) {
        long limit = Deadlines.nanos(deadline);
        long spinNanos = Deadlines.nanos(spin);
        boolean isSignaled = signalPending && takeSignal();
        long begun = source.begin();
        int found = source.take(argument, number, begun); // what has come already costs no more than a poll
        return found > 0 || isSignaled ? found : block(argument, number, begun, limit, spinNanos);
    }

    private int block(T argument, long number, long begun, long limit, long spinNanos) {
        Blocker blocker = Blocker.take();
        try {
            int since = begin(blocker);
            return since < 0
                    ? source.take(argument, number, begun)
                    : until(argument, number, begun, limit, spinNanos, blocker, since);
        } finally {
            blocker.give();
        }
    }

    private int until(T argument, long number, long begun, long limit, long spinNanos, Blocker blocker, int since) {
        int found = 0;
        Object recording = null;
        try {
            recording = RECORDER.waiting(); // begins before the clock is read, so that it covers the whole wait
            long start = System.nanoTime();
            int turn = 0;
            while (true) {
                found = source.take(argument, number, begun);
                if (found > 0) { return found; }
                long elapsed = System.nanoTime() - start;
                if (elapsed >= limit || isSignaled(since)) { return 0; }
                Interrupts.check(operation);
                if (elapsed < spinNanos) {
                    spin();
                } else {
                    pause(blocker, number, turn, limit - elapsed);
                    turn = turn + 1 & Integer.MAX_VALUE;
                }
            }
        } finally {
            end(blocker);
            RECORDER.waited(recording, operation, found > 0);
        }
    }

    private static void spin() {
        if (Thread.currentThread().isVirtual()) {
            Thread.yield(); // others need its carrier
        } else {
            Thread.onSpinWait();
        }
    }

    private void pause(Blocker blocker, long number, int turn, long left) {
        if (Thread.currentThread().isVirtual()) { // a system call would hold its carrier
            if (turn < VIRTUAL_YIELDS) {
                Thread.yield();
            } else {
                LockSupport.parkNanos(this, Math.min(left, Backoff.VIRTUAL_PARK_NANOS));
            }
        } else if (source.mayBlock()) {
            try {
                source.block(blocker, number, Math.min(left, MAX_BLOCK_NANOS));
            } finally {
                blockedThreads.decrementAndGet();
            }
        } else {
            backoff.pause(turn, left);
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

    /** Makes waiting threads check again, and makes the descriptor readable for others. */
    public void wake() {
        if (descriptor != null) { descriptor.wake(); }
        if (waiting > 0) { wakeWaiters(); }
    }

    private synchronized void wakeWaiters() {
        for (int i = 0; i < waiting; i++) {
            waiters[i].wake();
        }
    }

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
    private synchronized int begin(Blocker blocker) {
        if (takeSignal()) { return -1; }
        if (waiting == waiters.length) { waiters = Arrays.copyOf(waiters, 2 * waiting); }
        waiters[waiting] = blocker;
        waiting++;
        return signals;
    }

    /** Whether a signal was pending. Clears it. */
    public synchronized boolean takeSignal() {
        boolean taken = signalPending;
        signalPending = false;
        return taken;
    }

    private synchronized void end(Blocker blocker) {
        int index = 0;
        while (waiters[index] != blocker) {
            index++;
        }
        waiting--;
        waiters[index] = waiters[waiting];
        waiters[waiting] = null;
    }

    private synchronized boolean isSignaled(int since) { return signals != since; }

    /** Whether a thread waits now. */
    public boolean hasWaiters() { return waiting > 0; }

    public boolean hasDescriptor() { return descriptor != null; }

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
