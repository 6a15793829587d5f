package io.ofi4j;

import io.ofi4j.internal.ContextSlab;
import io.ofi4j.internal.FabricConstants;

/** What becomes of an endpoint's operations that the provider does not take over. Used inside the queue's guard. */
final class OperationSlots {
    /** What a read's completion says. */
    private static final long READ_COMPLETION = FabricConstants.FI_RMA | FabricConstants.FI_READ;

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

    /** Whether reads of no bytes never complete, as with the utility provider ofi_rxd; then that is done here. */
    boolean emptyReadsHang() {
        return endpoint.info().provider().contains("ofi_rxd");
    }

    /**
     * Whether a write of no bytes never completes where its flags say DELIVERY_COMPLETE: shm of libfabric 1.x cuts such a write
     * into pieces, here into none.
     */
    boolean emptyWritesHang(long flags) {
        return (flags & OperationFlag.DELIVERY_COMPLETE.bit()) != 0 && ShmNeighbours.concerns(endpoint.info())
                && Libfabric.load().version().major() < 2;
    }

    UnsupportedOperationException emptyWriteHangs() {
        return new UnsupportedOperationException(
                "a write of no bytes with DELIVERY_COMPLETE never completes over shm of"
                        + " libfabric 1.x: leave the flag or the write out, or install libfabric 2");
    }

    /** Completes a read of no bytes; false for want of room. */
    boolean readsNothing(long number, long token) {
        return (number & ContextSlab.SILENT) != 0 || queue.keep(token, READ_COMPLETION);
    }
}
