package io.ofi4j;

import io.ofi4j.internal.ContextSlab;

/** What becomes of an endpoint's operations that the provider does not take over. Used inside the queue's guard. */
final class OperationSlots {
    private final Endpoint endpoint;
    private final TransferChecks checks;
    private final CompletionQueue queue;

    OperationSlots(Endpoint endpoint, TransferChecks checks) {
        this.endpoint = endpoint;
        this.checks = checks;
        this.queue = endpoint.transmitQueue();
    }

    /** The endpoint's number, which says whether operations with such flags give an entry. */
    long numberFor(long flags) {
        return ContextSlab.endpoint(endpoint.number) | (endpoint.isSilent(flags) ? ContextSlab.SILENT : 0);
    }

    /** Takes the slot of a call back that did not give 0. False for want of room; anything else is thrown. */
    boolean refused(long context, long status, String operation) {
        queue.contexts.release(context);
        return checks.isRefused(status, operation);
    }

    /** Completes an operation that has nothing to do; false for want of room. */
    boolean endsAtOnce(long number, long token, long flags) {
        return (number & ContextSlab.SILENT) != 0 || queue.keep(token, flags);
    }
}
