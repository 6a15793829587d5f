package io.ofi4j.info;

/**
 * Counts since a completion queue was opened, and what it holds now; see {@link io.ofi4j.CompletionQueue#statistics}.
 *
 * @param completed operations read as completed, including peers' operations and those whose completion is not reported
 * @param failed operations read as failed
 * @param canceled operations that were in flight when their endpoint was closed
 * @param timesFull posts refused because as many operations were in flight as the queue takes
 * @param buffered completions and errors kept for the next poll
 * @param inFlight operations in flight: accepted, their completion not read yet
 */
public record CompletionQueueStatistics(long completed, long failed, long canceled, long timesFull, int buffered,
        int inFlight) {}
