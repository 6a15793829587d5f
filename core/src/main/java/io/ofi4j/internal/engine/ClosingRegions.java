package io.ofi4j.internal.engine;

/** Regions of a domain that were closed with operations in flight, and are finished when those have completed. */
public abstract class ClosingRegions {
    /** Whether there are any. */
    public volatile boolean isAny;

    /** Finishes those that have no operation in flight any more. */
    public abstract void finishIdle();
}
