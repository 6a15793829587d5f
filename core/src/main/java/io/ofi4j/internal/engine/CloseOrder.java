package io.ofi4j.internal.engine;

import java.util.ArrayDeque;
import java.util.Collections;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.Set;
import java.util.function.IntSupplier;

/**
 * Closes a parent's native children in order. Where the close of one was put off, what it uses is closed behind it. Any thread may call
 * this.
 */
public final class CloseOrder {
    private final Set<Object> held = Collections.newSetFromMap(new IdentityHashMap<>());
    private final Deque<IntSupplier> waiting = new ArrayDeque<>();
    /** Closes that were put off, and may happen now, on a thread that may use the object. */
    private final Deque<Runnable> due = new ArrayDeque<>();

    /**
     * Closes something now, or behind what is held.
     *
     * @return the status; 0 where it is closed later
     */
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

    /** The close of an object is put off. */
    public synchronized void hold(Object object) {
        held.add(object);
    }

    public synchronized boolean isHolding() {
        return !held.isEmpty();
    }

    /** An object that is held may be closed now: by {@link #runDue}. */
    public synchronized void due(Object object, Runnable nativeClose) {
        due.add(() -> {
            nativeClose.run();
            release(object);
        });
    }

    /** Closes what is due. The calling thread may use it. */
    public void runDue() {
        for (Runnable next = nextDue(); next != null; next = nextDue()) {
            next.run();
        }
    }

    private synchronized Runnable nextDue() {
        return due.poll();
    }

    /** An object that was held is closed: so is what waits for it. */
    public void release(Object object) {
        for (IntSupplier next = released(object); next != null; next = released(object)) {
            next.getAsInt(); // nobody is there any more to tell of a failure
        }
    }

    private synchronized IntSupplier released(Object object) {
        held.remove(object);
        return held.isEmpty() ? waiting.poll() : null;
    }
}
