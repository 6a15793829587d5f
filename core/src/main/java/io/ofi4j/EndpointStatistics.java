package io.ofi4j;

/**
 * Counts of an endpoint's operations; see {@link Endpoint#statistics}. Completed operations are counted by
 * {@link CompletionQueue#statistics its queue}, or by a {@link Counter}.
 *
 * @param inFlight operations in flight: accepted, their completion not read yet
 * @param canceled operations that were in flight when this endpoint was closed
 * @param timesFull posts refused because the provider had no room ({@code -FI_EAGAIN}), each retry counted
 */
public record EndpointStatistics(int inFlight, int canceled, long timesFull) {}
