package io.ofi4j.info;

/**
 * Counts of an endpoint's operations; see {@link io.ofi4j.Endpoint#statistics}. Completed operations are counted by
 * {@link io.ofi4j.CompletionQueue#statistics its queue}, or by a {@link io.ofi4j.Counter}.
 *
 * @param inFlight operations in flight: accepted, their completion not read yet
 * @param canceled operations that were in flight when this endpoint was closed
 * @param timesFull posts refused because the provider had no room ({@code -FI_EAGAIN}), each retry counted
 * @param latencies how long operations took while {@link io.ofi4j.Endpoint#recordLatencies} was on
 */
public record EndpointStatistics(int inFlight, int canceled, long timesFull, Latencies latencies) {
    /**
     * How long operations took, from the accepted post to the read of the completion, in nanoseconds. Receives and failures are left
     * out, as is what gives no completion, such as an inject. Percentiles are exact to a thirty-second part.
     *
     * @param count how many operations; if 0, all other numbers are 0
     * @param minimum the shortest time
     * @param mean the average
     * @param p50 what half of the operations did not exceed
     * @param p90 what 90 % did not exceed
     * @param p99 what 99 % did not exceed
     * @param p999 what 99.9 % did not exceed
     * @param maximum the longest time
     */
    public record Latencies(long count, long minimum, double mean, long p50, long p90, long p99, long p999,
            long maximum) {
        /** Of no operation. */
        public static final Latencies NONE = new Latencies(0, 0, 0, 0, 0, 0, 0, 0);
    }
}
