package io.ofi4j.internal.engine;

import java.util.ArrayDeque;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.IntSupplier;

/**
 * Closes the native children of a parent in order. While the close of one is put off, later closes queue behind it. Any thread
 * may call this.
 */
public final class CloseOrder {
    private final Set<Object> held = Collections.newSetFromMap(new IdentityHashMap<>());
    private final Queue<IntSupplier> waiting = new ArrayDeque<>();
    /** Closes that were put off and may happen now, on a thread that may use the object. */
    private final Queue<Runnable> due = new ConcurrentLinkedQueue<>();

    /** Closes now, or behind what is held: the status, or 0 if it is queued. */
    public int close(IntSupplier nativeClose) {
        runDue();
        synchronized (this) {
            if (!held.isEmpty()) {
                waiting.add(nativeClose);
                return 0;
            }
        }
        return nativeClose.getAsInt();
    }

    /** Puts off the close of an object. */
    public synchronized void hold(Object object) { held.add(object); }

    public synchronized boolean isHolding() { return !held.isEmpty(); }

    /** Lets {@link #runDue} close an object that is held. */
    public void due(Object object, Runnable nativeClose) {
        due.add(() -> {
            nativeClose.run();
            release(object);
        });
    }

    /** Closes what is due. The calling thread must be allowed to use it. */
    public void runDue() {
        for (Runnable next = due.poll(); next != null; next = due.poll()) {
            try {
                next.run();
            } catch (Throwable t) { // a call on it hangs: later
                due.add(next);
                throw t;
            }
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
