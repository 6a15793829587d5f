package io.ofi4j;

/** The endpoints that are bound to a completion queue, which must be closed before it. */
final class BoundEndpoints {
    private final Children open = new Children();
    private int enabled;
    private int disabled;

    synchronized void bound(Endpoint endpoint) {
        open.add(endpoint);
        disabled++;
    }

    synchronized void enabled() {
        disabled--;
        enabled++;
    }

    /** An endpoint is about to be closed. */
    synchronized void unbind(boolean wasEnabled) {
        if (wasEnabled) {
            enabled--;
        } else {
            disabled--;
        }
    }

    void closed(Endpoint endpoint) {
        open.remove(endpoint);
    }

    /** Whether libfabric knows of some, and all are enabled. */
    synchronized boolean areEnabled() {
        return enabled > 0 && disabled == 0;
    }

    /** @throws IllegalStateException naming those that are open */
    void requireNone(CompletionQueue queue) {
        open.requireNone(queue);
    }
}
