package io.ofi4j.internal.engine;

/**
 * The regions of a domain that were closed with operations in flight: polls finish those whose last operation they have
 * read.
 */
public final class ClosingRegions {
    /** Whether there are any. */
    public volatile boolean isAny;

    private final Runnable finishIdle;

    /** Runs this to finish those that have no operation in flight any more. */
    public ClosingRegions(Runnable finishIdle) {
        this.finishIdle = finishIdle;
    }

    /** Finishes those that have no operation in flight any more. */
    public void finishIdle() { finishIdle.run(); }
}
