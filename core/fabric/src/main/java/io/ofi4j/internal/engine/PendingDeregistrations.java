package io.ofi4j.internal.engine;

/**
 * The regions of a domain that were closed with operations in flight: polls finish those whose last operation they have
 * read.
 */
public final class PendingDeregistrations {
    /** Whether there are any. */
    public volatile boolean isPending;

    private final Runnable finishIdle;

    /** @param finishIdle finishes those that have no operation in flight any more */
    public PendingDeregistrations(Runnable finishIdle) {
        this.finishIdle = finishIdle;
    }

    /** Finishes those that have no operation in flight any more. */
    public void finishIdle() { finishIdle.run(); }
}
