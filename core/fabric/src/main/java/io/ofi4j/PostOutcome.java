package io.ofi4j;

import io.ofi4j.info.OperationFlag;
import io.ofi4j.internal.engine.ContextSlab;
import io.ofi4j.internal.ffi.FabricConstants;
import io.ofi4j.internal.os.Errno;
import io.ofi4j.internal.quirks.Fact;
import io.ofi4j.internal.quirks.Status;

/** Handles operations that the provider does not accept or complete. Used inside the queue's guard. */
final class PostOutcome {
    private static final long READ_COMPLETION = FabricConstants.FI_RMA | FabricConstants.FI_READ;

    private final Endpoint endpoint;
    private final CompletionQueue queue;
    /** Whether a write of no bytes with DELIVERY_COMPLETE never completes. */
    private final boolean emptyDeliveriesHang;

    PostOutcome(Endpoint endpoint) { this(endpoint, endpoint.bindings.transmitQueue()); }

    PostOutcome(Endpoint endpoint, CompletionQueue queue) {
        this.endpoint = endpoint;
        this.queue = queue;
        this.emptyDeliveriesHang = endpoint.quirks.has(Fact.EMPTY_DELIVERIES_HANG);
    }

    /** The endpoint's number, marked if operations with these flags give no completion entry. */
    long numberFor(long flags) {
        return ContextSlab.endpoint(endpoint.number) | (endpoint.bindings.isSilent(flags) ? ContextSlab.SILENT : 0);
    }

    /** Releases the context of a call that failed. False if there is no room; any other status is thrown, with the peer that may be null. */
    boolean refused(long context, long status, String operation, Peer peer) {
        queue.contexts.release(context);
        return isRefused(status, operation, peer);
    }

    /** As {@link #refused}, without a context. */
    boolean isRefused(long status, String operation, Peer peer) {
        if (status == -Errno.EAGAIN) {
            endpoint.timesFull++;
            return false;
        }
        throw Status.exception(status, operation, peer == null ? "" : " to " + peer, endpoint.info().provider());
    }

    /** @throws UnsupportedOperationException if a write of no bytes with these flags never completes */
    void requireEmptyWriteCompletes(long flags) {
        if (emptyDeliveriesHang && (flags & OperationFlag.DELIVERY_COMPLETE.bit()) != 0) {
            throw new UnsupportedOperationException(
                    "a write of no bytes with DELIVERY_COMPLETE never completes over " + endpoint.info().provider()
                            + " of this libfabric: leave the flag or the write out, or install libfabric 2");
        }
    }

    /** Completes a read of no bytes, where the provider never does; false if there is no room. */
    boolean readsNothing(long number, long token) {
        return (number & ContextSlab.SILENT) != 0 || queue.keep(token, READ_COMPLETION, 0);
    }
}
