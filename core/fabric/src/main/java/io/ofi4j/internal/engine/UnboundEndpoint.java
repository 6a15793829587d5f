package io.ofi4j.internal.engine;

import io.ofi4j.info.CompletionFormat;
import io.ofi4j.info.Direction;
import io.ofi4j.info.WaitObject;
import io.ofi4j.internal.ffi.DomainOps;
import io.ofi4j.internal.ffi.FabricConstants;
import io.ofi4j.internal.ffi.FidOps;
import io.ofi4j.internal.ffi.Handle;
import io.ofi4j.internal.ffi.OpenResult;
import io.ofi4j.internal.quirks.Status;
import java.util.function.IntSupplier;

/**
 * Closes an endpoint that was never bound to a vector, for a provider whose fi_close uses the vector. An empty vector
 * is bound first.
 */
public final class UnboundEndpoint {
    private UnboundEndpoint() {}

    /**
     * Closes the endpoint.
     *
     * @param needsQueue whether it must be enabled first, with a queue
     * @param close calls fi_close of the endpoint
     * @return the status of fi_close
     */
    public static int close(Handle domain, Handle endpoint, boolean needsQueue, String provider, IntSupplier close) {
        OpenResult vector = DomainOps.fi_av_open(domain, FabricConstants.FI_AV_TABLE, 0);
        Status.check(vector.status(), "fi_av_open", provider);
        try {
            FidOps.fi_bind(endpoint, vector.handle(), 0);
            return needsQueue ? enableAndClose(domain, endpoint, provider, close) : close.getAsInt();
        } finally {
            FidOps.fi_close(vector.handle());
        }
    }

    private static int enableAndClose(Handle domain, Handle endpoint, String provider, IntSupplier close) {
        OpenResult queue = DomainOps.fi_cq_open(domain, 1, CompletionFormat.DATA.value(), WaitObject.NONE.value(), -1);
        Status.check(queue.status(), "fi_cq_open", provider);
        try {
            FidOps.fi_bind(endpoint, queue.handle(), Direction.TRANSMIT.bit() | Direction.RECEIVE.bit());
            FidOps.fi_enable(endpoint);
            return close.getAsInt();
        } finally {
            FidOps.fi_close(queue.handle());
        }
    }
}
