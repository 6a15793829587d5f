package io.ofi4j;

/** The endpoints that are bound to a completion queue, which must be closed before it. */
final class BoundEndpoints {
    private final Children open = new Children();
    private int enabled;

    void bound(Object endpoint) {
        open.add(endpoint);
    }

    synchronized void enabled() {
        enabled++;
    }

    /** An enabled endpoint is about to be closed. */
    synchronized void disabled() {
        enabled--;
    }

    void closed(Object endpoint) {
        open.remove(endpoint);
    }

    /** Whether libfabric knows of some. */
    synchronized boolean areEnabled() {
        return enabled > 0;
    }

    /** @throws IllegalStateException naming those that are open */
    void requireNone(Object queue) {
        open.requireNone(queue);
    }
}
