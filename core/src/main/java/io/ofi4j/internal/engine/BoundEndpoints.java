package io.ofi4j.internal.engine;

/** The endpoints that are bound to a completion queue, which must be closed before it. */
public final class BoundEndpoints {
    private final OpenChildren open = new OpenChildren();
    private int enabled;

    public void bound(Object endpoint) {
        open.add(endpoint);
    }

    public synchronized void enabled() {
        enabled++;
    }

    /** An enabled endpoint is about to be closed. */
    public synchronized void disabled() {
        enabled--;
    }

    public void closed(Object endpoint) {
        open.remove(endpoint);
    }

    /** Whether libfabric knows of some. */
    public synchronized boolean areEnabled() {
        return enabled > 0;
    }

    /** @throws IllegalStateException naming those that are open */
    public void requireNone(Object queue) {
        open.requireNone(queue);
    }
}
