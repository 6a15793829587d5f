package io.ofi4j.internal.engine;

import java.util.Arrays;

/**
 * Takes the time of operations in flight on one queue, for the endpoints that want it. Used inside the queue's guard.
 */
final class LatencyRecording {
    /** The time at which the operation of each slot was posted; 0 if its latency is not recorded. */
    private final long[] starts;
    private int[] endpoints = {};
    private LatencyHistogram[] counts = {};

    LatencyRecording(int slots) { starts = new long[slots]; }

    /** Sets the histogram that counts an endpoint's latencies from now on. If it is null, none are counted. */
    void endpoint(int endpoint, LatencyHistogram itsCounts) {
        int at = at(endpoint);
        if (at < 0) {
            at = endpoints.length;
            endpoints = Arrays.copyOf(endpoints, at + 1);
            counts = Arrays.copyOf(counts, at + 1);
            endpoints[at] = endpoint;
        }
        counts[at] = itsCounts;
    }

    private int at(int endpoint) {
        for (int at = 0; at < endpoints.length; at++) {
            if (endpoints[at] == endpoint) { return at; }
        }
        return -1;
    }

    void began(int slot, int endpoint) {
        int at = at(endpoint);
        starts[slot] = at < 0 || counts[at] == null ? 0 : System.nanoTime();
    }

    void ended(int slot, int endpoint) {
        long start = starts[slot];
        int at = start == 0 ? -1 : at(endpoint);
        if (at >= 0 && counts[at] != null) { counts[at].add(System.nanoTime() - start); }
    }
}
