package io.ofi4j;

import io.ofi4j.errors.FabricException;
import io.ofi4j.info.EndpointAddress;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.internal.engine.ChosenAddress;
import io.ofi4j.internal.engine.FabricLock;
import io.ofi4j.internal.engine.NativeFabricInfo;
import io.ofi4j.internal.engine.StackRoom;
import io.ofi4j.internal.ffi.CmOps;
import io.ofi4j.internal.ffi.DomainOps;
import io.ofi4j.internal.ffi.EndpointOps;
import io.ofi4j.internal.ffi.FabricConstants;
import io.ofi4j.internal.ffi.FabricOps;
import io.ofi4j.internal.ffi.FidOps;
import io.ofi4j.internal.ffi.Handle;
import io.ofi4j.internal.ffi.InfoHandle;
import io.ofi4j.internal.ffi.OpenResult;
import io.ofi4j.internal.os.Errno;
import io.ofi4j.internal.quirks.Fact;
import io.ofi4j.internal.quirks.Quirks;
import io.ofi4j.internal.quirks.Status;
import java.net.InetSocketAddress;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

/**
 * An endpoint that listens for connections; fi_passive_ep, fi_endpoint(3). Opened by
 * {@link Fabric#openPassiveEndpoint}. After {@link #bind} and {@link #listen} its event queue reports each
 * {@link ConnectionRequest}. Any thread may call any method. Methods that make a C call throw IllegalStateException
 * once this is closed, and FabricException if libfabric reports an error. Setters return this endpoint.
 */
public final class PassiveEndpoint implements AutoCloseable {
    private enum State {
        OPEN,
        LISTENING,
        /** An active endpoint has taken over its address, or has failed to. */
        TAKEN_OVER,
        CLOSED
    }

    /** Keeps infos reachable: threads of a provider may read them as long as the endpoint is open. */
    private static final Set<PassiveEndpoint> OPEN = ConcurrentHashMap.newKeySet();
    private static final byte[] NO_REASON = {};

    /** The fabric's lock: held wherever the state is used, and in every native call. */
    final FabricLock lock;
    final Fabric fabric;

    private final Handle handle;
    private final FabricInfo info;
    private final int maximumDataSize;
    private final ChosenAddress chosen;
    /** Whether the provider uses the endpoint after its close, so that it is freed with the fabric. */
    private final boolean staysAfterClose;
    /** Whether an endpoint that takes over its address gets that alone: with the handle it would free this one. */
    private final boolean passesAddress;
    private final Set<ConnectionRequest> requests = new HashSet<>();
    private EventQueue queue;
    private State state = State.OPEN;

    private PassiveEndpoint(Fabric fabric, Handle handle, FabricInfo info) {
        this.fabric = fabric;
        this.lock = fabric.lock;
        this.handle = handle;
        this.info = info;
        this.maximumDataSize = EndpointOps.connectionDataSize(handle);
        Quirks quirks = NativeFabricInfo.of(info).chosenQuirks();
        this.chosen = new ChosenAddress(info, quirks);
        this.staysAfterClose = quirks.has(Fact.PASSIVE_ENDPOINTS_STAY);
        this.passesAddress = quirks.has(Fact.PASSIVE_ENDPOINTS_FREED_BY_OTHERS);
    }

    static PassiveEndpoint open(Fabric fabric, FabricInfo info) {
        NativeFabricInfo found = NativeFabricInfo.requireSameFabric(info, fabric.info());
        OpenResult out = fabric.lock.locked(() -> FabricOps.fi_passive_ep(fabric.handle(), found.handle()));
        Status.check(out.status(), "fi_passive_ep", info.provider());
        PassiveEndpoint endpoint = out.adopt(opened -> new PassiveEndpoint(fabric, opened, info), FidOps::fi_close);
        OPEN.add(endpoint);
        return endpoint;
    }

    /** {@return the info that it was opened with} */
    public FabricInfo info() { return info; }

    /**
     * {@return the largest number of bytes of data for a rejection; fi_getopt with FI_OPT_CM_DATA_SIZE, fi_endpoint(3)}
     */
    public int maximumDataSize() { return maximumDataSize; }

    /**
     * Binds the queue that reports connection requests; fi_pep_bind.
     *
     * @param events a queue of the same fabric
     * @throws IllegalStateException if an event queue is bound already, or an active endpoint has taken over the
     *         address
     */
    public PassiveEndpoint bind(EventQueue events) {
        return lock.locked(() -> {
            requireNotTaken();
            if (events.fabric != fabric) {
                throw new IllegalArgumentException("the event queue and " + this + " must be of the same fabric");
            }
            if (queue != null) { throw new IllegalStateException(this + " already has " + queue); }
            events.bind(this, handle, () -> queue = events);
            int status = FidOps.fi_bind(handle, events.handle(), 0);
            if (status != 0) {
                events.closing(this, handle, false, () -> 0);
                queue = null;
                throw Status.exception(status, "fi_pep_bind", info.provider());
            }
            return this;
        });
    }

    /**
     * Sets the largest number of pending connections; fi_control with FI_BACKLOG, fi_endpoint(3). Call it before
     * {@link #listen}.
     *
     * @param connections at least 1
     * @throws IllegalArgumentException if the number is below 1
     * @throws IllegalStateException if this endpoint listens already, or an active endpoint has taken over its address
     * @throws UnsupportedOperationException if the provider does not offer it
     */
    public PassiveEndpoint backlog(int connections) {
        return lock.locked(() -> {
            requireNotTaken();
            if (connections < 1) { throw new IllegalArgumentException("a backlog is at least 1, not " + connections); }
            if (isListening()) { throw new IllegalStateException(this + " listens already"); }
            int status = FidOps.fi_control(handle, FabricConstants.FI_BACKLOG, connections);
            if (status == -Errno.ENOSYS || status == -Errno.EOPNOTSUPP) {
                throw new UnsupportedOperationException("a backlog is not offered by the provider " + info.provider());
            }
            Status.check(status, "fi_control(FI_BACKLOG)", info.provider());
            return this;
        });
    }

    /**
     * Chooses the address to listen at, instead of that of the hints or the provider; fi_setname, fi_cm(3).
     * {@link #listen} sets it. For port 0 the system chooses a port, which {@link #address()} then has.
     *
     * @param address an address of this machine, such as {@link EndpointAddress#of(InetSocketAddress)}
     * @throws IllegalStateException if this endpoint listens already, or an active endpoint has taken over its address
     * @throws UnsupportedOperationException if the provider gives its endpoints an address when they are opened
     */
    public PassiveEndpoint address(EndpointAddress address) {
        return lock.locked(() -> {
            requireNotTaken();
            if (isListening()) {
                throw new IllegalStateException(this + " listens, and has its address: set one before it listens");
            }
            chosen.choose(address);
            return this;
        });
    }

    /**
     * Starts listening: from now on peers can connect; fi_listen, fi_cm(3). If it throws FabricException, for example
     * because the address is in use, close this endpoint.
     *
     * @throws IllegalStateException if no event queue is bound, this endpoint listens already, or an active endpoint
     *         has taken over its address
     */
    public PassiveEndpoint listen() {
        return lock.locked(() -> {
            requireNotTaken();
            if (queue == null || isListening()) {
                throw new IllegalStateException(queue == null
                        ? "bind an event queue to " + this + " before it listens"
                        : this + " listens already");
            }
            chosen.apply(handle);
            Status.check(CmOps.fi_listen(handle), "fi_listen", info.provider());
            state = State.LISTENING;
            return this;
        });
    }

    /**
     * {@return the address that peers connect to; fi_getname, fi_cm(3)}
     *
     * @throws IllegalStateException if it does not listen
     */
    public EndpointAddress address() {
        return lock.locked(() -> {
            requireOpen();
            if (!isListening()) {
                throw new IllegalStateException("let " + this + " listen first: it may have no address before");
            }
            CmOps.Name name = CmOps.fi_getname(handle);
            Status.check(name.status(), "fi_getname", info.provider());
            return EndpointAddress.of(name.address());
        });
    }

    /**
     * Adds a request that has arrived, or rejects it if this endpoint is closed; inside the lock, like the methods
     * below.
     */
    boolean admit(ConnectionRequest request) {
        if (isClosed()) {
            fi_reject(request, NO_REASON);
        } else {
            requests.add(request);
        }
        return !isClosed();
    }

    /**
     * Opens an active endpoint that takes over the address of this one, which can then only be closed; inside the lock.
     * Also where that fails: the provider may have taken it, and freed it.
     *
     * @param open opens it with a native info
     */
    <R> R handOver(Function<InfoHandle, R> open) {
        requireNotTaken();
        if (isListening()) { throw new IllegalStateException(this + " listens: open another endpoint to connect"); }
        InfoHandle its = NativeFabricInfo.of(info).handle();
        if (passesAddress) {
            its = chosen.asSource(its);
        } else {
            chosen.apply(handle);
            its = its.withHandle(handle);
        }
        state = State.TAKEN_OVER;
        return open.apply(its);
    }

    void forget(ConnectionRequest request) { requests.remove(request); }

    /** Rejects a finished request. */
    void reject(ConnectionRequest request, byte[] reason) {
        forget(request);
        Status.check(fi_reject(request, reason), "fi_reject", info.provider());
    }

    /**
     * Rejects a request that has no endpoint, or whose endpoint was closed before it accepted. Closing that endpoint
     * has ended the connection, and with most providers has freed the request.
     */
    void abandon(ConnectionRequest request, boolean owned) {
        forget(request);
        if (!owned || staysAfterClose) { fi_reject(request, NO_REASON); }
    }

    /** Rejects a request, unless the close of the native endpoint has ended it. */
    private int fi_reject(ConnectionRequest request, byte[] reason) {
        return isClosed() && !staysAfterClose ? 0 : CmOps.fi_reject(handle, request.identity(), reason);
    }

    /** Whether an endpoint that was opened for a request is open and has not accepted it. */
    boolean hasTakenRequests() {
        return lock.locked(() -> requests.stream().anyMatch(ConnectionRequest::isTaken));
    }

    private boolean isListening() { return state == State.LISTENING; }

    private boolean isClosed() { return state == State.CLOSED; }

    private void requireOpen() { if (isClosed()) { throw new IllegalStateException(this + " is closed"); } }

    private void requireNotTaken() {
        requireOpen();
        if (state == State.TAKEN_OVER) {
            throw new IllegalStateException("an active endpoint has taken over the address of " + this
                    + ", or has failed to: close this one, and open another");
        }
    }

    /**
     * Closes the endpoint, and rejects requests that were neither accepted nor rejected; fi_close, fi_endpoint(3).
     * Accepted connections stay. Over {@code tcp} and {@code net} its memory, and the 3 to 6 descriptors of its event
     * queue, are freed with the fabric: bind further listeners to the same queue.
     *
     * <p><b>If it throws.</b> After FabricException of the operation {@code fi_close} it is closed. After any other
     * one, where {@code tcp} or {@code net} had no descriptors to close its socket with, it still listens: call
     * {@code close} again.
     *
     * @throws IllegalStateException if an endpoint that was opened for a request is open and has not accepted; the
     *         message names it, and the passive endpoint stays open
     */
    @Override
    public void close() {
        StackRoom.require();
        int status = lock.locked(this::closeNatively);
        OPEN.remove(this);
        fabric.forget(this);
        Status.check(status, "fi_close(passive endpoint)", info.provider());
    }

    private int closeNatively() {
        if (isClosed()) { return 0; }
        if (isListening()) { queue.drainQuietly(); } // frees the infos of requests that nobody has read
        requests.stream().filter(ConnectionRequest::isTaken).findAny().ifPresent(request -> {
            throw new IllegalStateException("an endpoint opened for " + request
                    + " has not accepted it and is not closed: close it before this passive endpoint");
        });
        List.copyOf(requests).forEach(ConnectionRequest::end);
        if (queue == null) { return free(); }
        queue.discard(
                event -> event instanceof Event.ConnectionRequested(var request) && request.passiveEndpoint() == this);
        boolean retires = isListening() && staysAfterClose;
        return queue.closing(this, handle, retires, retires ? this::retire : this::free);
    }

    private int free() {
        state = State.CLOSED;
        return FidOps.fi_close(handle);
    }

    /** Stops listening. The native endpoint is freed with the fabric: connections without a request yet may use it. */
    private int retire() {
        closeSocket();
        state = State.CLOSED;
        fabric.retired.addFirst(handle);
        return 0;
    }

    /**
     * Opens an active endpoint that takes the socket over, and closes that; inside the fabric's lock. If it throws, the
     * passive endpoint listens as before.
     */
    private void closeSocket() {
        InfoHandle its = NativeFabricInfo.of(info).handle();
        OpenResult domain = FabricOps.fi_domain(fabric.handle(), its);
        Status.check(domain.status(), "fi_domain", info.provider());
        OpenResult endpoint = DomainOps.fi_endpoint(domain.handle(), its.withHandle(handle));
        if (endpoint.status() == 0) {
            FidOps.fi_bind(endpoint.handle(), queue.handle(), 0); // so that the queue no longer polls the socket
            FidOps.fi_close(endpoint.handle());
        }
        FidOps.fi_close(domain.handle());
        Status.check(endpoint.status(), "fi_endpoint", info.provider());
    }

    @Override
    public String toString() { return "PassiveEndpoint of " + info.provider(); }
}
