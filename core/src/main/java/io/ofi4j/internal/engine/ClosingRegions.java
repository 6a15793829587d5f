package io.ofi4j.internal.engine;

/** Regions of a domain that were closed while operations on them were in flight, and are finished when those have completed. */
public abstract class ClosingRegions {
    /** Whether a completion may be what one of them waits for. */
    public volatile boolean isAny;

    /** Finishes those that nothing is in flight on any more. */
    public abstract void finishIdle();
}
