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
 * Closes the native children of a parent in order. While the close of one is put off, later closes queue behind it. Any
 * thread may call this.
 */
public final class CloseOrder {
    private final Set<Object> held = Collections.newSetFromMap(new IdentityHashMap<>());
    private final Queue<IntSupplier> waiting = new ArrayDeque<>();
    /** Closes that were put off and may happen now, on a thread that may use the object. */
    private final Queue<BooleanSupplier> due = new ConcurrentLinkedQueue<>();

    /** Closes now, or behind what is held: the status, or 0 if it is queued. */
    public int close(IntSupplier nativeClose) {
        runDue();
        synchronized (this) {
            assert LockOrder.taken(LockOrder.Rank.LEAF, this);
            if (!held.isEmpty()) {
                waiting.add(nativeClose);
                return 0;
            }
        }
        return nativeClose.getAsInt();
    }

    /** Puts off the close of an object. */
    public synchronized void hold(Object object) {
        assert LockOrder.taken(LockOrder.Rank.LEAF, this);
        held.add(object);
    }

    public synchronized boolean isHolding() { return !held.isEmpty(); }

    /** Whether the close of this object is put off. */
    public synchronized boolean isHolding(Object object) {
        return held.contains(object);
    }

    /**
     * Lets {@link #runDue} close an object that is held.
     *
     * @param nativeClose closes it and {@link #release releases} it, unless that has happened; false where that must be
     *         tried again. More than one thread may call it
     */
    public void due(BooleanSupplier nativeClose) { due.add(nativeClose); }

    /** Closes what is due. The calling thread must be allowed to use it. */
    public void runDue() {
        for (BooleanSupplier next : due) { // if it throws, a call on it hangs: later
            if (next.getAsBoolean()) { due.remove(next); }
        }
    }

    /** Closes what waits for an object that is closed now. */
    public void release(Object object) {
        for (IntSupplier next = released(object); next != null; next = released(object)) {
            next.getAsInt(); // its caller has returned: a failure has no receiver
        }
    }

    private synchronized IntSupplier released(Object object) {
        held.remove(object);
        return held.isEmpty() ? waiting.poll() : null;
    }
}
