package io.ofi4j;

import io.ofi4j.info.EndpointAddress;
import io.ofi4j.info.EndpointType;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.info.OperationFlag;
import io.ofi4j.info.ThreadingModel;
import io.ofi4j.internal.engine.Deadlines;
import io.ofi4j.internal.engine.FoundInfo;
import io.ofi4j.internal.engine.OpenChildren;
import io.ofi4j.internal.quirks.Quirks;
import io.ofi4j.internal.quirks.Status;
import static io.ofi4j.internal.observe.EventRecorder.RECORDER;

import io.ofi4j.internal.ffi.FidOps;
import io.ofi4j.internal.engine.ThreadGuard;
import io.ofi4j.internal.ffi.Handle;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.function.Function;

/**
 * One end of communication; fi_endpoint(3). Opened by {@link Domain#openEndpoint()}; works after {@link #bind(AddressVector)},
 * {@link #bind(CompletionQueue, Direction...)} and {@link #enable}. One of type {@link EndpointType#MSG} has
 * {@link #bind(EventQueue)} in the place of the address vector, and works once its {@link #connection} is there. Threads: as
 * the domain's {@link ThreadingModel} says.
 *
 * <p><b>Closing</b> completes every operation that is still in flight with {@code ECANCELED} on its queue. On
 * {@code tcp;ofi_rxm}, libfabric keeps the socket of a connection that a peer has begun and this endpoint has not accepted by then,
 * one each, until the process ends.
 */
public final class Endpoint implements AutoCloseable {
    final Domain domain;
    final Handle handle;
    final int number;
    /** What is known of the provider. */
    final Quirks quirks;

    private final FabricInfo info;
    /** What is bound, and what the provider makes of it: of an alias, the original's. */
    private final EndpointBindings bindings;
    private final NativeEndpoint atProvider;
    /** Whose alias this is, or null. */
    private final Endpoint original;
    private final OpenChildren aliases = OpenChildren.owned();
    private Rma rma;
    private Duration postTimeout = PostRetry.DEFAULT_TIMEOUT;
    /** What {@link Peer#realm} of those it reaches is; written inside the transmit queue's guard, read there by posting threads. */
    Object realm;
    boolean closed;
    private boolean closeBegun;
    /** Counted inside the transmit queue's guard, off the path of an operation that is accepted; an alias counts its own. */
    long timesFull;
    int canceled;

    Endpoint(Domain domain, Handle handle, FabricInfo info, int number, ConnectionRequest request) {
        this.domain = domain;
        this.handle = handle;
        this.info = info;
        this.number = number;
        this.quirks = FoundInfo.of(info).quirks();
        this.original = null;
        this.bindings = new EndpointBindings(this, handle, request);
        this.atProvider = new NativeEndpoint(this, handle, bindings);
    }

    /** An alias, which has all but its handle in common: operations in flight are the original's. */
    private Endpoint(Endpoint original, Handle handle) {
        this.domain = original.domain;
        this.handle = handle;
        this.info = original.info;
        this.number = original.number;
        this.quirks = original.quirks;
        this.original = original;
        this.bindings = original.bindings;
        this.atProvider = original.atProvider;
        this.postTimeout = original.postTimeout;
        this.realm = original.realm;
    }

    /** {@return what it was opened with} */
    public FabricInfo info() {
        return info;
    }

    /**
     * Binds the vector whose peers this endpoint reaches; fi_ep_bind. The provider is told in {@link #enable}.
     *
     * @param peers a vector of the same domain
     * @return this endpoint
     * @throws IllegalArgumentException if the vector is another domain's
     * @throws IllegalStateException if this endpoint has a vector, is enabled, or is closed, or the vector is closed
     * @throws UnsupportedOperationException if this endpoint is connected (MSG)
     */
    public synchronized Endpoint bind(AddressVector peers) {
        bindings.bind(peers);
        realm = peers;
        return this;
    }

    /**
     * Binds the queue that tells what becomes of the connection; fi_ep_bind. The provider is told in {@link #enable}.
     *
     * @param events a queue of the same fabric
     * @return this endpoint
     * @throws IllegalArgumentException if the queue is another fabric's
     * @throws IllegalStateException if this endpoint has an event queue, is enabled, or is closed, or the queue is closed
     * @throws UnsupportedOperationException if this endpoint is not connected (MSG)
     */
    public synchronized Endpoint bind(EventQueue events) {
        bindings.bind(events);
        realm = bindings.vector();
        return this;
    }

    /**
     * Binds the queue that takes this endpoint's completions; fi_ep_bind. Every operation gives one. The provider is told in
     * {@link #enable}.
     *
     * @param queue a queue of the same domain
     * @param directions whose completions; both where nothing is said
     * @return this endpoint
     * @throws IllegalArgumentException if the queue is another domain's
     * @throws IllegalStateException if this endpoint has a queue for that, is enabled, or is closed, or the queue is closed
     */
    public synchronized Endpoint bind(CompletionQueue queue, Direction... directions) {
        bindings.bind(queue, directions);
        return this;
    }

    /**
     * Binds the queue that takes the completions of operations which this endpoint starts, but only of those that ask for one:
     * messages with {@link OperationFlag#COMPLETION}, and every operation where the endpoint's default operation flags have it.
     * Others give an entry only if they fail or are canceled. Polling is needed all the same: it is what ends an operation,
     * frees its place in the queue, and lets a closing region go. FI_SELECTIVE_COMPLETION of fi_endpoint(3).
     *
     * <p>libfabric is asked for every completion, and those that nobody wants are dropped when they are polled: without an entry it
     * could not be known when an operation no longer uses its region.
     *
     * @param queue a queue of the same domain
     * @return this endpoint
     * @throws IllegalArgumentException if the queue is another domain's
     * @throws IllegalStateException if this endpoint has a queue for that, is enabled, or is closed, or the queue is closed
     */
    public synchronized Endpoint bindSelective(CompletionQueue queue) {
        bindings.bindSelective(queue);
        return this;
    }

    /**
     * {@return what has become of this endpoint's operations so far} With {@link ThreadingModel#SAFE} and
     * {@link ThreadingModel#COMPLETION} any thread may ask.
     *
     * @throws IllegalStateException if no completion queue for transmitting is bound
     */
    public EndpointStatistics statistics() {
        return bindings.requireTransmitQueue().statisticsOf(this);
    }

    /** Whether an operation with such flags gives no entry when it goes well. */
    boolean isSilent(long operationFlags) {
        return bindings.isSelective() && (operationFlags & OperationFlag.COMPLETION.bit()) == 0;
    }

    /**
     * Binds a counter of this endpoint's operations; fi_ep_bind. The provider is told in {@link #enable}.
     *
     * @param counter a counter of the same domain
     * @param events what it counts, at least one; each has one counter at most
     * @return this endpoint
     * @throws IllegalArgumentException if the counter is another domain's, or no event is named
     * @throws IllegalStateException if this endpoint has a counter for that, is enabled, or is closed, or the counter is closed
     * @throws UnsupportedOperationException if the endpoint cannot count that
     */
    public synchronized Endpoint bind(Counter counter, CounterEvent... events) {
        bindings.bind(counter, events);
        return this;
    }

    /**
     * Makes the endpoint work; fi_ep_bind and fi_enable. A queue for both directions, or one for each, and an address vector,
     * or the event queue of a connected endpoint, must be bound.
     *
     * @return this endpoint
     * @throws IllegalStateException if something is not bound, or this endpoint is enabled or closed; with {@code tcp} of libfabric
     *         2.x and {@link ThreadingModel#COMPLETION}, also if its directions have different queues, or its vector has peers
     *         already and no endpoint with this queue
     * @throws FabricException if the provider refuses, as an address that somebody else has; the endpoint is closed then
     * @throws UnsupportedOperationException if an address was chosen, and the provider takes none; the endpoint is closed then
     */
    public Endpoint enable() {
        try {
            synchronized (this) {
                requireOpen();
                atProvider.enable();
            }
            RECORDER.enabled(info.provider(), info.endpoint().type());
            return this;
        } catch (FabricException | UnsupportedOperationException e) { // it may be bound, and would be no good to its vector
            close();
            throw e;
        }
    }

    /**
     * {@return where peers reach this endpoint; fi_getname, fi_cm(3)} That of a connected endpoint is complete when its
     * connection is there.
     *
     * @throws IllegalStateException if it is not enabled
     */
    public synchronized EndpointAddress address() {
        if (!isEnabled()) {
            requireOpen();
            throw new IllegalStateException("enable " + this + " first: it has no address before");
        }
        return atProvider.address();
    }

    /**
     * Chooses where peers shall reach this endpoint, rather than where the hints or the provider put it; fi_setname, fi_cm(3). The
     * provider is told in {@link #enable}, and {@link #address()} says then what became of it: a port of 0 is one that the system
     * chooses.
     *
     * @param chosen an address of this machine, such as {@link EndpointAddress#of(InetSocketAddress)}, or with {@code shm}
     *        {@link EndpointAddress#ofName}
     * @return this endpoint
     * @throws IllegalStateException if this endpoint is enabled or closed
     * @throws UnsupportedOperationException if the provider's endpoints have an address from the start ({@code ofi_rxd}, {@code verbs}). For
     *         connected endpoints of {@code tcp} and {@code net}, which have none of their own, {@link #enable} says so
     */
    public synchronized Endpoint address(EndpointAddress chosen) {
        requireOpen();
        atProvider.choose(chosen);
        return this;
    }

    /**
     * {@return how this endpoint comes to its one peer; fi_cm(3)}
     *
     * @throws UnsupportedOperationException if this endpoint is not of type {@link EndpointType#MSG}
     * @throws IllegalStateException if no event queue is bound
     */
    public synchronized Connection connection() {
        return bindings.requireConnection();
    }

    /**
     * {@return the one-sided operations of this endpoint; fi_rma(3)}
     *
     * @throws IllegalStateException if it is not enabled, closed, or of type MSG and not connected
     * @throws UnsupportedOperationException if the provider has none
     */
    public synchronized Rma rma() {
        requireEnabled();
        if (bindings.isOfConnection()) {
            connection().requireConnected();
        }
        if (rma == null) {
            rma = new Rma(this, atProvider.rmaOps(handle)); // only now: enabling may have replaced the table
        }
        return rma;
    }

    /** {@return the options of this endpoint; fi_getopt and fi_setopt} */
    public EndpointOptions options() {
        return new EndpointOptions(this);
    }

    /** {@return what this endpoint tells of itself once it is enabled, and lets be changed; fi_control} */
    public EndpointControl control() {
        return new EndpointControl(this);
    }

    /**
     * Makes an alias: the same endpoint with other default flags; fi_ep_alias. Its operations go through the same queues, and
     * are in flight until they complete or this endpoint is closed, even where the alias is closed before. Of the software
     * providers only {@code sockets} offers it.
     *
     * @param levels the default flags, as {@link EndpointControl#defaultFlags(Set)} takes them
     * @return the alias, to be closed by the caller before this endpoint
     * @throws IllegalArgumentException if there are other flags
     * @throws UnsupportedOperationException if the provider has no aliases
     * @throws IllegalStateException if this endpoint is not enabled, or closed
     */
    public synchronized Endpoint alias(Set<OperationFlag> levels) {
        Endpoint alias = new Endpoint(this, control().alias(levels));
        aliases.add(alias);
        return alias;
    }

    /** Does something with the handle, which is not closed meanwhile. */
    synchronized <T> T whileOpen(boolean enabledOnly, Function<Handle, T> action) {
        requireOpen();
        if (enabledOnly) {
            address();
        }
        atProvider.requireThere();
        return action.apply(handle);
    }

    /**
     * Sets how long operations that wait for room, such as {@link Rma#write}, wait at most; 10 seconds at first.
     *
     * @param timeout more than nothing
     * @return this endpoint
     * @throws IllegalArgumentException if it is nothing or less
     */
    public synchronized Endpoint postTimeout(Duration timeout) {
        postTimeout = Deadlines.requireSome(timeout);
        return this;
    }

    /** {@return how long operations that wait for room wait at most} */
    public synchronized Duration postTimeout() {
        return postTimeout;
    }

    AddressVector vector() {
        return bindings.vector();
    }

    CompletionQueue transmitQueue() {
        return bindings.transmitQueue();
    }

    /** The queues that make progress for this endpoint. */
    List<CompletionQueue> queues() {
        return bindings.queues();
    }

    boolean isEnabled() {
        return atProvider.isEnabled();
    }

    void requireOpen() {
        domain.checkThread();
        if (closeBegun) {
            throw closed();
        }
    }

    synchronized void requireEnabled() {
        requireOpen();
        if (!isEnabled()) {
            throw new IllegalStateException("enable " + this + " first");
        }
    }

    void checkThread() {
        bindings.checkThread();
    }

    /** From now on no operations are taken for this peer. */
    void refuse(Peer peer) {
        bindings.betweenPosts(peer::refuse);
    }

    IllegalStateException closed() {
        return new IllegalStateException(this + " is closed");
    }

    /**
     * Closes the endpoint; fi_close. Operations in flight complete with {@code ECANCELED} (125) on their queue, each exactly
     * once; regions that wait for them are deregistered. On {@code sockets}, closing waits for them first, for two seconds at most:
     * the provider would never take back their places in the domain, of which there are 128. On {@code tcp} and {@code net} of
     * libfabric 1.x, and {@code ofi_rxm} above them, it waits as long for reads, which they would free twice.
     *
     * @throws IllegalStateException if it has aliases that are open; they are named
     */
    @Override
    public void close() {
        synchronized (this) {
            if (closeBegun) {
                return;
            }
            bindings.checkPostingThread();
            aliases.requireNone(this);
            closeBegun = true;
        }
        if (original == null) {
            closeOriginal();
        } else {
            closeAlias();
        }
    }

    private void closeOriginal() {
        Object recording = RECORDER.closing();
        if (transmitQueue() != null) {
            refusePosts();
            transmitQueue().drain();
            CloseDrain.await(this);
        }
        int status = atProvider.close();
        bindings.release();
        domain.forget(this);
        RECORDER.closed(recording, info.provider(), info.endpoint().type());
        Status.check(status, "fi_close(endpoint)", info.provider());
    }

    /** Closes what the provider has of a connection that has ended; operations in flight complete. */
    void closeEarly() {
        transmitQueue().drain();
        CloseDrain.await(this);
        Status.check(atProvider.close(), "fi_close(endpoint)", info.provider());
    }

    private void closeAlias() {
        refusePosts();
        int status = FidOps.fi_close(handle);
        original.aliases.remove(this);
        Status.check(status, "fi_close(alias)", info.provider());
    }

    private void refusePosts() {
        ThreadGuard guard = transmitQueue().guard;
        guard.enter();
        try {
            closed = true;
            realm = this; // no peer's: so whether this is closed needs no look of its own
        } finally {
            guard.exit();
        }
    }

    @Override
    public String toString() {
        return (original == null ? "Endpoint " : "Alias of endpoint ") + info.endpoint().type() + " of "
                + info.provider();
    }
}
