package io.ofi4j;

/**
 * What a completion queue has told since it was opened, and what it holds at one moment; see
 * {@link CompletionQueue#statistics}.
 *
 * @param completed how many operations were read as completed; those that peers caused, and those that nobody wants to know of,
 *        included
 * @param failed how many operations were read as failed
 * @param canceled how many operations were in flight when their endpoint was closed
 * @param timesFull how often an operation found as many in flight as the queue takes, and was not accepted
 * @param kept how many completions and errors are kept for the next poll
 * @param inFlight how many operations are in flight: accepted, their completion not read yet
 */
public record CompletionQueueStatistics(long completed, long failed, long canceled, long timesFull, int kept,
        int inFlight) {
}
