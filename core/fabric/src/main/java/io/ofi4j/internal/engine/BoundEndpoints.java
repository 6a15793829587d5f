package io.ofi4j.internal.engine;

import java.util.HashSet;
import java.util.Set;

/** The endpoints that are bound to a completion queue; they close before it. */
public final class BoundEndpoints extends OpenChildren {
    private final Set<Object> enabled = new HashSet<>();

    public synchronized void enabled(Object endpoint) { enabled.add(endpoint); }

    /** Records that an endpoint is no longer enabled. A second call does nothing. */
    public synchronized void disabled(Object endpoint) {
        enabled.remove(endpoint);
    }

    public synchronized boolean areEnabled() { return !enabled.isEmpty(); }
}
