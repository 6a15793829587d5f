package io.ofi4j;

import io.ofi4j.errors.FabricException;
import io.ofi4j.info.AttributeHints;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.info.ThreadingModel;
import io.ofi4j.internal.engine.NativeFabricInfo;
import io.ofi4j.internal.engine.OpenChildren;
import io.ofi4j.internal.engine.StackRoom;
import io.ofi4j.internal.ffi.DomainOps;
import io.ofi4j.internal.ffi.FidOps;
import io.ofi4j.internal.ffi.Handle;
import io.ofi4j.internal.ffi.OpenResult;
import io.ofi4j.internal.quirks.Status;

/**
 * A transmit context that several endpoints share, and with it the provider's queue of operations; fi_stx_context,
 * fi_endpoint(3). Opened by {@link Domain#openSharedTransmitContext}. A program binds it, with
 * {@link Endpoint#bind(SharedTransmitContext)}, to endpoints whose info was requested with
 * {@link AttributeHints#sharedTransmitContext}. Operations are posted to the endpoints. The domain's
 * {@link ThreadingModel} decides which threads may close it; others get {@link WrongThreadException}.
 */
public final class SharedTransmitContext implements AutoCloseable {
    private final Domain domain;
    private final Handle handle;
    private final OpenChildren endpoints = new OpenChildren();
    private boolean closed;

    SharedTransmitContext(Domain domain, Handle handle) {
        this.domain = domain;
        this.handle = handle;
    }

    static SharedTransmitContext open(Domain domain) {
        FabricInfo info = domain.info();
        domain.requireOffered(info.domain().sharedTransmitContexts() > 0, "shared transmit contexts");
        OpenResult out = DomainOps.fi_stx_context(domain.handle(), NativeFabricInfo.of(info).handle());
        Status.checkOffered(out.status(), "fi_stx_context", info.provider());
        return out.adopt(handle -> new SharedTransmitContext(domain, handle), FidOps::fi_close);
    }

    Domain domain() { return domain; }

    Handle handle() { return handle; }

    OpenChildren endpoints() { return endpoints; }

    synchronized void bind(Endpoint endpoint) {
        if (closed) { throw new IllegalStateException(this + " is closed"); }
        endpoints.add(endpoint);
    }

    /**
     * Closes the context; fi_close, fi_endpoint(3). If endpoints bound to it are open, it throws
     * {@link IllegalStateException}, which names them, and stays open. After FabricException it is closed.
     */
    @Override
    public void close() {
        StackRoom.require();
        synchronized (this) {
            domain.checkThread();
            if (closed) { return; }
            endpoints.requireNone(this);
            closed = true;
        }
        int status = domain.fabric().lock.locked(() -> FidOps.fi_close(handle));
        domain.forget(this);
        Status.check(status, "fi_close(shared transmit context)", handle.provider());
    }

    @Override
    public String toString() { return "Shared transmit context of " + handle.provider(); }
}
