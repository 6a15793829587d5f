package io.ofi4j;

/**
 * What has become of an endpoint's operations; see {@link Endpoint#statistics}. Those that have completed are counted by
 * {@link CompletionQueue#statistics its queue}, or by a {@link Counter}.
 *
 * @param inFlight how many are in flight: accepted, their completion not read yet
 * @param canceled how many were in flight when this endpoint was closed
 * @param timesFull how often the provider had no room for one ({@code -FI_EAGAIN}), each try counted
 */
public record EndpointStatistics(int inFlight, int canceled, long timesFull) {
}
