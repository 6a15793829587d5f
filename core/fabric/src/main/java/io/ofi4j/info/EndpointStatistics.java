package io.ofi4j.info;

/**
 * Counts of an endpoint's operations; see {@link io.ofi4j.Endpoint#statistics}. Completed operations are counted by
 * {@link io.ofi4j.CompletionQueue#statistics its queue}, or by a {@link io.ofi4j.Counter}.
 *
 * @param inFlight operations in flight: accepted, their completion not read yet
 * @param canceled operations that were in flight when this endpoint was closed
 * @param timesFull posts refused because the provider had no room ({@code -FI_EAGAIN}), each retry counted
 * @param slowPosts posts that waited for room for 1 ms or longer, whether they found it in time or not
 * @param latencies how long operations took while {@link io.ofi4j.Endpoint#recordLatencies} was on
 */
public record EndpointStatistics(int inFlight, int canceled, long timesFull, long slowPosts, Latencies latencies) {
    /**
     * How long operations took, in nanoseconds, from the accepted post to the poll that read the completion. Receives,
     * failed operations and operations without a completion, such as injects, are left out. Percentiles are exact to
     * one part in 32.
     *
     * @param count the number of operations; if it is 0, all other numbers are 0
     * @param minimum the shortest time
     * @param mean the average
     * @param p50 the median: 50 % of the operations took no longer
     * @param p90 90 % of the operations took no longer
     * @param p99 99 % of the operations took no longer
     * @param p999 99.9 % of the operations took no longer
     * @param maximum the longest time
     */
    public record Latencies(long count, long minimum, double mean, long p50, long p90, long p99, long p999,
            long maximum) {
        /** The times of no operations. */
        public static final Latencies NONE = new Latencies(0, 0, 0, 0, 0, 0, 0, 0);
    }
}
