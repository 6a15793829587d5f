package io.ofi4j;

import io.ofi4j.EndpointBindings.Role;
import io.ofi4j.errors.FabricException;
import io.ofi4j.info.AttributeHints;
import io.ofi4j.info.EndpointAddress;
import io.ofi4j.info.EndpointAttributes;
import io.ofi4j.info.EndpointType;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.info.ProgressModel;
import io.ofi4j.info.ThreadingModel;
import io.ofi4j.internal.engine.NativeFabricInfo;
import io.ofi4j.internal.engine.StackRoom;
import io.ofi4j.internal.ffi.CmOps;
import io.ofi4j.internal.ffi.DomainOps;
import io.ofi4j.internal.ffi.EndpointOps;
import io.ofi4j.internal.ffi.FidOps;
import io.ofi4j.internal.ffi.Handle;
import io.ofi4j.internal.ffi.InfoHandle;
import io.ofi4j.internal.ffi.OpenResult;
import io.ofi4j.internal.observe.LockOrder;
import io.ofi4j.internal.quirks.Fact;
import io.ofi4j.internal.quirks.Status;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * An endpoint of one address and several contexts, each with a queue of its own; fi_scalable_ep, fi_endpoint(3). Opened
 * by {@link Domain#openScalableEndpoint}. It works after {@link #bind} and {@link #enable}. Its contexts are
 * {@link Endpoint}s: a program binds queues and counters to them and enables them. Each has one direction and no
 * address. {@link AttributeHints} ask for a number of contexts; {@link EndpointAttributes#transmitContexts} and
 * {@link EndpointAttributes#receiveContexts} of the info say how many there can be.
 *
 * <p>Peers send to receive context 0, or to another one through {@link AddressVector#receiveContext}. Few providers
 * have scalable endpoints; {@code core/guide/CALLS.md} says which.
 *
 * <p>The {@link ThreadingModel} of the domain decides which threads may call it; others get
 * {@link WrongThreadException}. Every method throws {@link IllegalStateException} once it is closed, and
 * {@link FabricException} if libfabric reports an error.
 */
public final class ScalableEndpoint implements AutoCloseable {
    private enum State {
        OPEN, ENABLED, CLOSED
    }

    private record Context(Endpoint endpoint, int index) {
        String name() { return endpoint.bindings.role + " " + index; }
    }

    private final Domain domain;
    private final Handle handle;
    private final FabricInfo info;
    /** Changed under the monitor, and read inside the vector's, too. */
    private final List<Context> contexts = new CopyOnWriteArrayList<>();
    /**
     * Contexts that were closed and not opened again. The provider may still visit them when it enables this endpoint.
     */
    private final Set<String> closedContexts = new TreeSet<>();
    private AddressVector vector;
    private State state = State.OPEN;

    ScalableEndpoint(Domain domain, Handle handle, FabricInfo info) {
        this.domain = domain;
        this.handle = handle;
        this.info = info;
    }

    static ScalableEndpoint open(Domain domain) {
        FabricInfo info = domain.info();
        boolean isOffered = info.domain().receiveContextsPerEndpoint() > 1
                || info.domain().transmitContextsPerEndpoint() > 1;
        domain.requireOffered(isOffered && info.endpoint().type() != EndpointType.MSG,
                "scalable endpoints without connections");
        if (info.domain().dataProgress() == ProgressModel.MANUAL) {
            domain.quirks.require(Fact.CLOSED_CONTEXTS_ARE_VISITED);
        }
        OpenResult out = domain.fabric().lock
                .locked(() -> DomainOps.fi_scalable_ep(domain.handle(), NativeFabricInfo.of(info).handle()));
        Status.checkOffered(out.status(), "fi_scalable_ep", info.provider());
        return out.adopt(handle -> new ScalableEndpoint(domain, handle, info), FidOps::fi_close);
    }

    /** {@return the info it was opened with} */
    public FabricInfo info() { return info; }

    /**
     * Binds the vector of the peers that its contexts reach; fi_ep_bind.
     *
     * @throws IllegalArgumentException if the vector is of another domain
     * @throws IllegalStateException if it already has one, or the vector is closed
     */
    public synchronized ScalableEndpoint bind(AddressVector peers) {
        requireOpen();
        if (peers.domain() != domain) {
            throw new IllegalArgumentException("an object bound to " + this + " must be of the same domain");
        }
        if (vector != null) { throw new IllegalStateException(this + " already has an address vector"); }
        peers.bind(this);
        int status = domain.fabric().lock.locked(() -> FidOps.fi_bind(handle, peers.handle(), 0));
        if (status < 0) { peers.endpoints().remove(this); }
        Status.check(status, "fi_scalable_ep_bind", info.provider());
        vector = peers;
        return this;
    }

    AddressVector vector() { return vector; }

    /**
     * Opens a transmit context, which has all operations but receives; fi_tx_context, fi_endpoint(3).
     *
     * @param index its number, from 0; each number can be open once at a time
     * @return the context, which the caller closes before this endpoint
     * @throws IndexOutOfBoundsException if there is no such context
     * @throws IllegalStateException if no address vector is bound, or the context is open
     */
    public synchronized Endpoint openTransmitContext(int index) {
        return open(Role.TRANSMIT, index, info.endpoint().transmitContexts(), "fi_tx_context",
                EndpointOps::fi_tx_context);
    }

    /** As {@link #openTransmitContext}, but opens a context for receives; fi_rx_context. */
    public synchronized Endpoint openReceiveContext(int index) {
        return open(Role.RECEIVE, index, info.endpoint().receiveContexts(), "fi_rx_context",
                EndpointOps::fi_rx_context);
    }

    private interface Opening {
        OpenResult open(Handle scalable, int index, InfoHandle info);
    }

    private Endpoint open(Role role, int index, long count, String call, Opening opening) {
        StackRoom.require();
        requireVector();
        Objects.checkIndex(index, count);
        if (contexts.stream().anyMatch(one -> one.index == index && one.endpoint.bindings.role == role)) {
            throw new IllegalStateException(role + " " + index + " of " + this + " is open");
        }
        OpenResult out = domain.fabric().lock
                .locked(() -> opening.open(handle, index, NativeFabricInfo.of(info).handle()));
        Status.check(out.status(), call, info.provider());
        Endpoint context = domain.adopt(Endpoint.context(domain, out.handle(), info, role, this));
        Context opened = new Context(context, index);
        contexts.add(opened);
        closedContexts.remove(opened.name());
        return context;
    }

    synchronized void forget(Endpoint context) {
        contexts.stream().filter(one -> one.endpoint == context).map(Context::name).forEach(closedContexts::add);
        contexts.removeIf(one -> one.endpoint == context);
    }

    /**
     * Enables the endpoint; fi_enable, fi_endpoint(3). The program enables the contexts separately, before or after.
     *
     * @throws IllegalStateException if no address vector is bound, it is enabled, or a context was closed and is not
     *         open again
     */
    public synchronized ScalableEndpoint enable() {
        requireVector();
        if (state == State.ENABLED) { throw new IllegalStateException(this + " is enabled already"); }
        if (!closedContexts.isEmpty()) {
            throw new IllegalStateException(
                    this + " cannot be enabled while contexts of it are closed: open these again, or enable"
                            + " it before closing them: " + String.join(", ", closedContexts));
        }
        Status.check(domain.fabric().lock.locked(this::enableNatively), "fi_enable", info.provider());
        state = State.ENABLED;
        return this;
    }

    private int enableNatively() {
        contexts.forEach(one -> one.endpoint.requireNotClosing());
        return FidOps.fi_enable(handle);
    }

    /**
     * {@return the address at which peers reach this endpoint; fi_getname, fi_cm(3)}
     *
     * @throws IllegalStateException if the endpoint is not enabled
     */
    public synchronized EndpointAddress address() {
        requireOpen();
        if (state != State.ENABLED) { throw new IllegalStateException("enable " + this + " first"); }
        CmOps.Name name = CmOps.fi_getname(handle);
        Status.check(name.status(), "fi_getname", info.provider());
        return EndpointAddress.of(name.address(), info.addressFormat());
    }

    private void requireVector() {
        requireOpen();
        if (vector == null) { throw new IllegalStateException("bind an address vector to " + this + " first"); }
    }

    private void requireOpen() {
        assert LockOrder.taken(LockOrder.Rank.CONTEXT, this);
        domain.checkThread();
        if (state == State.CLOSED) { throw new IllegalStateException(this + " is closed"); }
    }

    /** The open contexts. */
    Stream<Endpoint> contexts() { return contexts.stream().map(Context::endpoint); }

    synchronized boolean hasContexts() { return !contexts.isEmpty(); }

    /** Closes the open contexts for a scope. */
    void closeChildren(ScopeClose close) {
        List<AutoCloseable> open = new ArrayList<>();
        synchronized (this) {
            contexts.forEach(one -> open.add(one.endpoint));
        }
        close.closeAll(open);
    }

    /**
     * Closes the endpoint; fi_close, fi_endpoint(3). If contexts are open, it throws {@link IllegalStateException},
     * which names them, and stays open. After FabricException it is closed.
     */
    @Override
    public void close() {
        StackRoom.require();
        synchronized (this) {
            domain.checkThread();
            if (state == State.CLOSED) { return; }
            if (!contexts.isEmpty()) {
                throw new IllegalStateException("close these before " + this + ": "
                        + contexts.stream().map(Context::name).collect(Collectors.joining(", ")));
            }
            state = State.CLOSED;
        }
        int status = domain.fabric().lock.locked(() -> FidOps.fi_close(handle));
        if (vector != null) { vector.endpoints().remove(this); }
        domain.forget(this);
        Status.check(status, "fi_close(scalable endpoint)", info.provider());
    }

    @Override
    public String toString() { return "Scalable endpoint " + info.endpoint().type() + " of " + info.provider(); }
}
