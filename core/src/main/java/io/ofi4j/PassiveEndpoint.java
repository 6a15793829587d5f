package io.ofi4j;

import io.ofi4j.info.EndpointAddress;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.internal.engine.ChosenAddress;
import io.ofi4j.internal.engine.FoundInfo;
import io.ofi4j.internal.engine.ListeningSocket;
import io.ofi4j.internal.quirks.Quirks;
import io.ofi4j.internal.quirks.Fact;
import io.ofi4j.internal.quirks.Status;
import io.ofi4j.internal.ffi.CmOps;
import io.ofi4j.internal.ffi.EpOps;
import io.ofi4j.internal.os.Errno;
import io.ofi4j.internal.ffi.FabricConstants;
import io.ofi4j.internal.ffi.FabricOps;
import io.ofi4j.internal.ffi.FidOps;
import io.ofi4j.internal.ffi.Handle;
import io.ofi4j.internal.ffi.Opened;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Where peers ask for connections; fi_passive_ep, fi_endpoint(3). Opened by {@link Fabric#openPassiveEndpoint}; after
 * {@link #bind} and {@link #listen} its event queue tells of each {@link ConnectionRequest}. Threads: any, as for its event
 * queue.
 */
public final class PassiveEndpoint implements AutoCloseable {
    /** The sockets provider looks at the info from threads of its own as long as the endpoint is open. */
    private static final Set<PassiveEndpoint> OPEN = ConcurrentHashMap.newKeySet();

    final Fabric fabric;

    private final Handle handle;
    private final FabricInfo info;
    private final int maximumDataSize;
    private final ChosenAddress chosen;
    /** Whether the provider looks into it after its close, so that it is freed with the fabric. */
    private final boolean staysAfterClose;
    private final Set<ConnectionRequest> requests = new LinkedHashSet<>();
    private EventQueue queue;
    private boolean listening;
    private boolean closed;

    private PassiveEndpoint(Fabric fabric, Handle handle, FabricInfo info) {
        this.fabric = fabric;
        this.handle = handle;
        this.info = info;
        this.maximumDataSize = EpOps.connectionDataSize(handle);
        Quirks quirks = FoundInfo.of(info).chosenQuirks();
        this.chosen = new ChosenAddress(info, quirks);
        this.staysAfterClose = quirks.has(Fact.PASSIVE_ENDPOINTS_STAY);
    }

    static PassiveEndpoint open(Fabric fabric, FabricInfo info) {
        Opened out = FabricOps.fi_passive_ep(fabric.handle(), FoundInfo.of(info).handle());
        Status.check(out.status(), "fi_passive_ep", info.provider());
        PassiveEndpoint endpoint = new PassiveEndpoint(fabric, out.handle(), info);
        OPEN.add(endpoint);
        return endpoint;
    }

    /** {@return what it was opened with} */
    public FabricInfo info() {
        return info;
    }

    /** {@return how many bytes may go with a rejection; fi_getopt of FI_OPT_CM_DATA_SIZE} */
    public int maximumDataSize() {
        return maximumDataSize;
    }

    /**
     * Binds the queue that tells of connection requests; fi_pep_bind.
     *
     * @param events a queue of the same fabric
     * @return this endpoint
     * @throws IllegalArgumentException if the queue is another fabric's
     * @throws IllegalStateException if this endpoint has a queue or is closed, or the queue is closed
     * @throws FabricException if the provider refuses
     */
    public synchronized PassiveEndpoint bind(EventQueue events) {
        requireOpen();
        if (events.fabric != fabric) {
            throw new IllegalArgumentException("what is bound to " + this + " must be of the same fabric");
        }
        if (queue != null) {
            throw new IllegalStateException(this + " already has " + queue);
        }
        events.bind(this, handle);
        int status = FidOps.fi_bind(handle, events.handle(), 0);
        if (status != 0) {
            events.closing(this, handle, false, () -> 0);
            throw Status.exception(status, "fi_pep_bind", info.provider());
        }
        queue = events;
        return this;
    }

    /**
     * Sets how many connections may be pending; fi_control with FI_BACKLOG.
     *
     * @param connections how many, at least 1; to be said before {@link #listen}
     * @return this endpoint
     * @throws IllegalArgumentException if it is below 1
     * @throws UnsupportedOperationException if the provider has its own mind about that
     * @throws IllegalStateException if this endpoint listens or is closed
     * @throws FabricException if the provider refuses
     */
    public synchronized PassiveEndpoint backlog(int connections) {
        requireOpen();
        if (connections < 1) {
            throw new IllegalArgumentException("a backlog is at least 1, not " + connections);
        }
        if (listening) {
            throw new IllegalStateException(this + " listens already");
        }
        int status = FidOps.fi_control(handle, FabricConstants.FI_BACKLOG, connections);
        if (status == -Errno.ENOSYS || status == -Errno.EOPNOTSUPP) {
            throw new UnsupportedOperationException("a backlog is not offered by the provider " + info.provider());
        }
        Status.check(status, "fi_control(FI_BACKLOG)", info.provider());
        return this;
    }

    /**
     * Chooses where peers shall reach this endpoint, rather than where the hints or the provider put it; fi_setname, fi_cm(3). The
     * provider is told in {@link #listen}, and {@link #address()} says then what became of it: a port of 0 is one that the system
     * chooses.
     *
     * @param address of this machine, such as {@link EndpointAddress#of(InetSocketAddress)}
     * @return this endpoint
     * @throws IllegalArgumentException if the address is none of the provider's
     * @throws IllegalStateException if this endpoint listens or is closed
     * @throws UnsupportedOperationException if the provider is {@code verbs}, whose endpoints have an address from the start
     */
    public synchronized PassiveEndpoint address(EndpointAddress address) {
        requireOpen();
        if (listening) {
            throw new IllegalStateException(this + " listens, and has its address: choose one before");
        }
        chosen.choose(address);
        return this;
    }

    /**
     * Lets peers ask for connections from now on; fi_listen.
     *
     * @return this endpoint
     * @throws IllegalStateException if no event queue is bound, or this endpoint listens or is closed
     * @throws FabricException if the provider refuses, as an address that somebody else has; close this endpoint then
     */
    public synchronized PassiveEndpoint listen() {
        requireOpen();
        if (queue == null || listening) {
            throw new IllegalStateException(queue == null
                    ? "bind an event queue to " + this + " before it listens"
                    : this + " listens already");
        }
        chosen.tell(handle);
        Status.check(CmOps.fi_listen(handle), "fi_listen", info.provider());
        listening = true;
        return this;
    }

    /**
     * {@return where peers reach this endpoint: what they connect to; fi_getname, fi_cm(3)}
     *
     * @throws IllegalStateException if it does not listen, or is closed
     * @throws FabricException if the provider does not say
     */
    public synchronized EndpointAddress address() {
        requireOpen();
        if (!listening) {
            throw new IllegalStateException("let " + this + " listen first: it may have no address before");
        }
        CmOps.Name name = CmOps.fi_getname(handle);
        Status.check(name.status(), "fi_getname", info.provider());
        return EndpointAddress.of(name.address());
    }

    /** Takes a request that arrived; rejected at once where this endpoint is closed. */
    boolean admit(ConnectionRequest request) {
        synchronized (this) {
            if (!closed) {
                requests.add(request);
                return true;
            }
        }
        request.close();
        return false;
    }

    synchronized void forget(ConnectionRequest request) {
        requests.remove(request);
    }

    /** Rejects a request that is over, while its provider's endpoint is there. */
    void reject(ConnectionRequest request, byte[] reason) {
        forget(request);
        Status.check(CmOps.fi_reject(handle, request.identity(), reason), "fi_reject", info.provider());
    }

    /**
     * Rejects a request that no endpoint could be opened for, or whose endpoint was closed without accepting. Closing that has
     * ended the connection, and mostly freed what the request was known by.
     */
    void abandon(ConnectionRequest request, boolean owned) {
        forget(request);
        if (!owned || staysAfterClose) {
            CmOps.fi_reject(handle, request.identity(), new byte[0]);
        }
    }

    private void requireOpen() {
        if (closed) {
            throw new IllegalStateException(this + " is closed");
        }
    }

    /**
     * Closes the endpoint; fi_close. Requests that are neither accepted nor rejected are rejected. Connections that were
     * accepted stay.
     *
     * @throws IllegalStateException if an endpoint that was opened for a request has neither accepted nor is closed; it is named
     * @throws FabricException if libfabric reports an error; the endpoint counts as closed all the same
     */
    @Override
    public void close() {
        if (queue == null) {
            finish(closeOnce() ? FidOps.fi_close(handle) : 0);
            return;
        }
        boolean retires = listening && staysAfterClose;
        finish(queue.closing(this, handle, retires, () -> {
            if (listening && !isClosed()) {
                queue.drain();
            }
            if (!closeOnce()) {
                return 0;
            }
            rejectAll();
            return retires ? retire() : FidOps.fi_close(handle);
        }));
    }

    private synchronized boolean isClosed() {
        return closed;
    }

    /** Whether it was open until now. */
    private synchronized boolean closeOnce() {
        if (closed) {
            return false;
        }
        for (ConnectionRequest request : requests) {
            if (request.isTaken()) {
                throw new IllegalStateException("an endpoint for " + request
                        + " has neither accepted nor is closed: do so before closing this");
            }
        }
        closed = true;
        return true;
    }

    private void rejectAll() {
        List<ConnectionRequest> pending;
        synchronized (this) {
            pending = new ArrayList<>(requests);
        }
        pending.forEach(ConnectionRequest::close);
        queue.discard(event -> event instanceof Event.ConnectionRequested(var request) && pending.contains(request));
    }

    /**
     * Some providers take up connections that have not said yet what they want, and look into the passive endpoint when they do, be it
     * freed or not. So it only stops listening now, and is freed with the fabric.
     */
    private int retire() {
        ListeningSocket.close(fabric.domainList(), handle, queue.handle(), info);
        fabric.retired().passiveEndpoint(handle);
        return 0;
    }

    private void finish(int status) {
        OPEN.remove(this);
        fabric.forget(this);
        Status.check(status, "fi_close(passive endpoint)", info.provider());
    }

    @Override
    public String toString() {
        return "PassiveEndpoint of " + info.provider();
    }
}
