package io.ofi4j.internal.engine;

/** The endpoints that are bound to a completion queue; they close before it. */
public final class BoundEndpoints {
    private final OpenChildren open = new OpenChildren();
    private int enabled;

    public void bound(Object endpoint) { open.add(endpoint); }

    public synchronized void enabled() { enabled++; }

    public synchronized void disabled() { enabled--; }

    public void closed(Object endpoint) { open.remove(endpoint); }

    public synchronized boolean areEnabled() { return enabled > 0; }

    public void requireNone(Object queue) { open.requireNone(queue); }
}
