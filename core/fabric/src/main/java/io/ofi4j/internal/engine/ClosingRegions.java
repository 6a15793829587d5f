package io.ofi4j.internal.engine;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * What polls of a domain's queues do beside reading completions: they finish regions that were closed with operations in flight, and
 * run the chores of saves.
 */
public final class ClosingRegions {
    /** Whether there is anything to do. */
    public volatile boolean isAny;

    private final List<Runnable> chores = new CopyOnWriteArrayList<>();
    private final Runnable finishIdle;
    private volatile boolean areRegions;

    /** Runs this for regions that wait: it finishes those that have no operation in flight any more. */
    public ClosingRegions(Runnable finishIdle) {
        this.finishIdle = finishIdle;
    }

    /** Whether regions wait for their last operation. */
    public synchronized void regions(boolean any) {
        areRegions = any;
        isAny = any || hasChores();
    }

    /** Has each poll run this. It must neither wait nor throw, and may poll queues itself. */
    public synchronized void add(Runnable chore) {
        chores.add(chore);
        isAny = true;
    }

    public synchronized void remove(Runnable chore) {
        chores.remove(chore);
        isAny = areRegions || hasChores();
    }

    /** Whether what is waited for may come by way of another queue. */
    public boolean hasChores() {
        return !chores.isEmpty();
    }

    public void run() {
        chores.forEach(Runnable::run);
        if (areRegions) { finishIdle.run(); }
    }
}
