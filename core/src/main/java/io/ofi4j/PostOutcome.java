package io.ofi4j;

import io.ofi4j.info.OperationFlag;
import io.ofi4j.internal.quirks.Fact;
import io.ofi4j.internal.engine.ContextSlab;
import io.ofi4j.internal.ffi.FabricConstants;

/** What becomes of an endpoint's operations that the provider does not take over. Used inside the queue's guard. */
final class PostOutcome {
    /** What a read's completion says. */
    private static final long READ_COMPLETION = FabricConstants.FI_RMA | FabricConstants.FI_READ;

    private final Endpoint endpoint;
    private final TransferChecks checks;
    private final CompletionQueue queue;
    /** Of operations without flags of their own. */
    private final long defaultFlags;
    /** Whether a write of no bytes that is to be delivered never completes. */
    private final boolean emptyDeliveriesHang;

    PostOutcome(Endpoint endpoint, TransferChecks checks) {
        this.endpoint = endpoint;
        this.checks = checks;
        this.queue = endpoint.transmitQueue();
        this.defaultFlags = endpoint.info().transmit().operationFlags();
        this.emptyDeliveriesHang = endpoint.quirks.has(Fact.EMPTY_DELIVERIES_HANG);
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

    /** Whether reads of no bytes never complete; then that is done here. */
    boolean emptyReadsHang() {
        return endpoint.quirks.has(Fact.EMPTY_READS_HANG);
    }

    /** As {@link #requireEmptyWriteCompletes(long)}, of a write without flags of its own. */
    void requireEmptyWriteCompletes() {
        requireEmptyWriteCompletes(defaultFlags);
    }

    /** @throws UnsupportedOperationException if a write of no bytes with such flags never completes */
    void requireEmptyWriteCompletes(long flags) {
        if (emptyDeliveriesHang && (flags & OperationFlag.DELIVERY_COMPLETE.bit()) != 0) {
            throw new UnsupportedOperationException(
                    "a write of no bytes with DELIVERY_COMPLETE never completes over " + endpoint.info().provider()
                            + " of this libfabric: leave the flag or the write out, or install libfabric 2");
        }
    }

    /** Completes a read of no bytes; false for want of room. */
    boolean readsNothing(long number, long token) {
        return (number & ContextSlab.SILENT) != 0 || queue.keep(token, READ_COMPLETION);
    }
}
