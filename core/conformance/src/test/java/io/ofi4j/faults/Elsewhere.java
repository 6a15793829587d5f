package io.ofi4j.faults;

import io.ofi4j.support.Pair;

/** Something that another thread does, and what came of it. */
public final class Elsewhere {
    private final Thread thread;
    private volatile Throwable thrown;

    private Elsewhere(Runnable code) {
        thread = Thread.ofPlatform().start(() -> {
            try {
                code.run();
            } catch (Throwable t) {
                thrown = t;
            }
        });
    }

    public static Elsewhere start(Runnable code) { return new Elsewhere(code); }

    /** Waits for its end: what it has thrown, or null. */
    public Throwable await() {
        try {
            if (!thread.join(Pair.DEADLINE)) { throw new AssertionError(thread + " does not end"); }
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
        return thrown;
    }
}
