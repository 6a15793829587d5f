package io.ofi4j;

import io.ofi4j.info.OperationFlag;
import io.ofi4j.internal.engine.ContextSlab;
import io.ofi4j.internal.ffi.FabricConstants;
import io.ofi4j.internal.quirks.Fact;

/** Handles operations that the provider does not accept or complete. Used inside the queue's guard. */
final class PostOutcome {
    /** The flags of a read's completion. */
    private static final long READ_COMPLETION = FabricConstants.FI_RMA | FabricConstants.FI_READ;

    private final Endpoint endpoint;
    private final TransferChecks checks;
    private final CompletionQueue queue;
    /** For operations without flags of their own. */
    private final long defaultFlags;
    /** Whether a write of no bytes with DELIVERY_COMPLETE never completes. */
    private final boolean emptyDeliveriesHang;

    PostOutcome(Endpoint endpoint, TransferChecks checks) {
        this.endpoint = endpoint;
        this.checks = checks;
        this.queue = endpoint.transmitQueue();
        this.defaultFlags = endpoint.info().transmit().operationFlags();
        this.emptyDeliveriesHang = endpoint.quirks.has(Fact.EMPTY_DELIVERIES_HANG);
    }

    /** The endpoint's number, marked if operations with these flags give no completion entry. */
    long numberFor(long flags) {
        return ContextSlab.endpoint(endpoint.number) | (endpoint.isSilent(flags) ? ContextSlab.SILENT : 0);
    }

    /** Releases the context of a call that failed. False if there is no room; any other status is thrown. */
    boolean refused(long context, long status, String operation) {
        queue.contexts.release(context);
        return checks.isRefused(status, operation);
    }

    /** Whether reads of no bytes never complete; then ofi4j completes them. */
    boolean emptyReadsHang() {
        return endpoint.quirks.has(Fact.EMPTY_READS_HANG);
    }

    /** As {@link #requireEmptyWriteCompletes(long)}, for a write without flags of its own. */
    void requireEmptyWriteCompletes() {
        requireEmptyWriteCompletes(defaultFlags);
    }

    /** @throws UnsupportedOperationException if a write of no bytes with these flags never completes */
    void requireEmptyWriteCompletes(long flags) {
        if (emptyDeliveriesHang && (flags & OperationFlag.DELIVERY_COMPLETE.bit()) != 0) {
            throw new UnsupportedOperationException(
                    "a write of no bytes with DELIVERY_COMPLETE never completes over " + endpoint.info().provider()
                            + " of this libfabric: leave the flag or the write out, or install libfabric 2");
        }
    }

    /** Completes a read of no bytes; false if there is no room. */
    boolean readsNothing(long number, long token) {
        return (number & ContextSlab.SILENT) != 0 || queue.keep(token, READ_COMPLETION);
    }
}
