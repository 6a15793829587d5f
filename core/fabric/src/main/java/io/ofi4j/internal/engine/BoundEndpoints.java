package io.ofi4j.internal.engine;

/** The endpoints that are bound to a completion queue; they close before it. */
public final class BoundEndpoints extends OpenChildren {
    private int enabled;

    public synchronized void enabled() { enabled++; }

    public synchronized void disabled() { enabled--; }

    public synchronized boolean areEnabled() { return enabled > 0; }
}
