package io.ofi4j.internal.engine;

import io.ofi4j.internal.observe.LockOrder;
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.BooleanSupplier;
import java.util.function.IntSupplier;

/**
 * Closes the native children of a parent in order. While the close of one is postponed, later closes queue behind it,
 * and so do those that come while the queued ones run. Any thread may call this.
 */
public final class CloseOrder {
    private final Set<Object> postponed = Collections.newSetFromMap(new IdentityHashMap<>());
    private final Queue<IntSupplier> waiting = new ArrayDeque<>();
    /** Whether a thread runs the closes that queued. */
    private boolean isRunning;
    /** Postponed closes that may happen now, on a thread that may use the object. */
    private final Queue<BooleanSupplier> due = new ConcurrentLinkedQueue<>();

    /** Closes now, or queues behind a postponed close: the status, or 0 if it is queued. */
    public int close(IntSupplier nativeClose) {
        runDue();
        synchronized (this) {
            assert LockOrder.taken(LockOrder.Rank.LEAF, this);
            if (hasPostponed()) {
                waiting.add(nativeClose);
                return 0;
            }
        }
        return nativeClose.getAsInt();
    }

    /** Postpones the close of an object. */
    public synchronized void postpone(Object object) {
        assert LockOrder.taken(LockOrder.Rank.LEAF, this);
        postponed.add(object);
    }

    /** Whether a close queues now. */
    public synchronized boolean hasPostponed() {
        return isRunning || !postponed.isEmpty();
    }

    /** Whether the close of this object is postponed. */
    public synchronized boolean isPostponed(Object object) {
        return postponed.contains(object);
    }

    /**
     * Lets {@link #runDue} close an object whose close is postponed.
     *
     * @param nativeClose closes the object and {@link #release releases} it, unless that has happened; returns false if
     *         it must be called again. Several threads may call it
     */
    public void addDue(BooleanSupplier nativeClose) { due.add(nativeClose); }

    /** Runs the closes that are due. The calling thread must be allowed to use their objects. */
    public void runDue() {
        for (BooleanSupplier next : due) { // stays due if it throws because a call on the object hangs
            if (next.getAsBoolean()) { due.remove(next); }
        }
    }

    /** Records that a postponed object is closed. After the last one, runs the closes that queued behind them. */
    public void release(Object object) {
        synchronized (this) {
            assert LockOrder.taken(LockOrder.Rank.LEAF, this);
            postponed.remove(object);
            if (isRunning) { return; } // whoever runs them goes on
            isRunning = true;
        }
        try {
            for (IntSupplier next = next(); next != null; next = next()) {
                next.getAsInt(); // the caller has returned, so a failure cannot be reported
            }
        } catch (Throwable t) {
            stop();
            throw t;
        }
    }

    private synchronized void stop() { isRunning = false; }

    /** The next close that may run, or null, after which this thread runs none. */
    private synchronized IntSupplier next() {
        IntSupplier next = postponed.isEmpty() ? waiting.poll() : null;
        isRunning = next != null;
        return next;
    }
}
