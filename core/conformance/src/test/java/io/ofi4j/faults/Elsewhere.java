package io.ofi4j.faults;

/** Something that another thread does, and what came of it. */
public final class Elsewhere {
    private static final long DEADLINE_MILLIS = 60_000;

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
            thread.join(DEADLINE_MILLIS);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
        if (thread.isAlive()) { throw new AssertionError(thread + " does not end"); }
        return thrown;
    }
}
