package io.ofi4j;

import static io.ofi4j.internal.observe.EventRecorder.RECORDER;

import io.ofi4j.info.AttributeHints;
import io.ofi4j.info.Capability;
import io.ofi4j.info.CounterEvent;
import io.ofi4j.info.Direction;
import io.ofi4j.info.EndpointAddress;
import io.ofi4j.info.EndpointStatistics;
import io.ofi4j.info.EndpointType;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.info.OperationFlag;
import io.ofi4j.info.ThreadingModel;
import io.ofi4j.internal.engine.Deadlines;
import io.ofi4j.internal.engine.NativeFabricInfo;
import io.ofi4j.internal.engine.OpenChildren;
import io.ofi4j.internal.ffi.Handle;
import io.ofi4j.internal.observe.LockOrder;
import io.ofi4j.internal.quirks.Fact;
import io.ofi4j.internal.quirks.Quirks;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;

/**
 * One end of communication; fi_endpoint(3). Opened by {@link Domain#openEndpoint()}; works after {@link #bind(AddressVector)},
 * {@link #bind(CompletionQueue, Direction...)} and {@link #enable}. An endpoint of type {@link EndpointType#MSG} needs
 * {@link #bind(EventQueue)} instead of the address vector, and works once its {@link #connection} is established. A context is an
 * endpoint of one direction, without vector and address: what it lacks throws {@link UnsupportedOperationException}.
 *
 * <p>The {@link ThreadingModel} of the domain decides which threads may call it; others get {@link WrongThreadException}.
 * Except for accessors, every method throws {@link IllegalStateException} once the endpoint is closed, and
 * {@link FabricException} if libfabric reports an error. The {@code bind} methods take effect in {@link #enable}; they throw
 * {@link IllegalArgumentException} for an object of another domain, or an event queue of another fabric, and
 * {@link IllegalStateException} if the endpoint is enabled, already has such an object, or the object is closed.
 *
 * <p><b>Closing</b> completes every operation in flight with {@code ECANCELED} on its queue. On {@code tcp;ofi_rxm}, libfabric
 * then keeps, until the process ends, the sockets of connections that peers have started and this endpoint has not accepted.
 */
public final class Endpoint implements AutoCloseable {
    /** The {@link #reachableVector} that no peer has. */
    static final Object NO_VECTOR = new Object();

    final Domain domain;
    final Handle handle;
    final int number;
    final Quirks quirks;
    private final FabricInfo info;
    /** An alias shares its original's. */
    final EndpointBindings bindings;
    final EndpointLifeCycle lifeCycle;
    /** The endpoint that this is an alias of, or null. */
    final Endpoint original;
    final OpenChildren aliases = OpenChildren.owned();
    private Duration postTimeout = PostRetry.DEFAULT_TIMEOUT;
    /**
     * The {@link Peer#reachableVector} of the peers it reaches, or {@link #NO_VECTOR} unless it is enabled and open: one
     * comparison tells the data path both. Set by {@link EndpointLifeCycle} alone, inside the transmit queue's guard,
     * as posting threads read it.
     */
    Object reachableVector;
    /**
     * Whether it takes receives: it is enabled and open, and has receives of its own. Set as {@link #reachableVector}, inside the
     * guards of both queues.
     */
    boolean mayReceive;
    /** Counted inside the transmit queue's guard, off the path of accepted operations; an alias has its own count. */
    long timesFull;
    int canceled;
    // Made on first use, because enabling may replace the tables of functions.
    private Rma rma;
    private Messages messages;
    private Tagged tagged;
    private Atomics atomics;
    private Collectives collectives;

    Endpoint(Domain domain, Handle handle, FabricInfo info, Function<Endpoint, EndpointBindings> bindings) {
        this.domain = domain;
        this.handle = handle;
        this.info = info;
        this.number = domain.nextNumber();
        this.quirks = NativeFabricInfo.of(info).chosenQuirks();
        this.original = null;
        this.bindings = bindings.apply(this);
        this.lifeCycle = new EndpointLifeCycle(this, this.bindings, null);
    }

    /**
     * An alias, which shares everything but the handle and the life; its operations in flight belong to the original.
     */
    private Endpoint(Endpoint original, Handle handle) {
        this.domain = original.domain;
        this.handle = handle;
        this.info = original.info;
        this.number = original.number;
        this.quirks = original.quirks;
        this.original = original;
        this.bindings = original.bindings;
        this.postTimeout = original.postTimeout;
        this.lifeCycle = new EndpointLifeCycle(this, bindings, original.lifeCycle);
    }

    /** {@return the info it was opened with} */
    public FabricInfo info() { return info; }

    /**
     * Binds the vector of the peers that this endpoint reaches; fi_ep_bind.
     *
     * @throws UnsupportedOperationException if this endpoint is connected (MSG)
     */
    public synchronized Endpoint bind(AddressVector peers) {
        bindings.bind(peers);
        return this;
    }

    /**
     * Binds the queue that reports events of the connection; fi_ep_bind.
     *
     * @throws UnsupportedOperationException if this endpoint is not connected (MSG)
     */
    public synchronized Endpoint bind(EventQueue events) {
        bindings.bind(events);
        return this;
    }

    /**
     * Has this endpoint receive through a context that it shares: its receives are posted there; fi_ep_bind. It closes first.
     *
     * @param context enabled, and opened by {@link Domain#openSharedReceiveContext}; its queue is bound to this endpoint, too
     * @throws IllegalStateException also if this endpoint's info has no {@link AttributeHints#sharedReceiveContext}
     */
    public synchronized Endpoint bind(Endpoint context) {
        bindings.bind(context);
        return this;
    }

    /** As {@link #bind(Endpoint)}, to transmit through a shared context; its operations are posted to this endpoint nevertheless. */
    public synchronized Endpoint bind(SharedTransmitContext context) {
        bindings.bind(context);
        return this;
    }

    /**
     * Binds the queue that receives a completion of every operation of this endpoint; fi_ep_bind.
     *
     * @param directions the operations it serves; both directions if omitted
     */
    public synchronized Endpoint bind(CompletionQueue queue, Direction... directions) {
        bindings.bind(queue, directions);
        return this;
    }

    /**
     * Binds a queue for transmit operations that reports only requested completions: those of messages with
     * {@link OperationFlag#COMPLETION}, or all if the endpoint's default flags have it. Other operations are reported only if
     * they fail or are canceled. Polling is still needed: it ends operations, frees their places in the queue, and releases
     * closing regions. FI_SELECTIVE_COMPLETION, fi_endpoint(3).
     *
     * <p>libfabric still reports every completion, and polling drops the others: until then their regions are in use.
     */
    public synchronized Endpoint bindSelective(CompletionQueue queue) {
        bindings.bindSelective(queue);
        return this;
    }

    /**
     * {@return the queue that is bound for a direction; empty if none is, and for a direction that a context lacks}
     *
     * @param direction of the operations that complete in it: RMA, atomics and sends transmit
     */
    public synchronized Optional<CompletionQueue> completionQueue(Direction direction) {
        return bindings.completionQueue(direction);
    }

    /**
     * {@return counts of this endpoint's operations} With SAFE and COMPLETION any thread may call it, also after close.
     *
     * @throws IllegalStateException if no transmit queue is bound
     */
    public EndpointStatistics statistics() { return bindings.requireTransmitQueue().statisticsOf(this); }

    /** Begins anew to record how long operations take, or ends that; as {@link #statistics}, but not after close. */
    public void recordLatencies(boolean on) {
        bindings.requireTransmitQueue().recordLatencies(this, on);
    }

    /**
     * Binds a counter of this endpoint's operations; fi_ep_bind.
     *
     * @param events the events it counts, at least one; each event has at most one counter
     * @throws UnsupportedOperationException if the endpoint cannot count an event
     */
    public synchronized Endpoint bind(Counter counter, CounterEvent... events) {
        bindings.bind(counter, events);
        return this;
    }

    /**
     * Enables the endpoint; fi_ep_bind and fi_enable. Needs completion queues for both directions, and an address vector or, if
     * connected, an event queue. If an object is missing, it can be bound, and this called again. If the provider
     * refuses, the endpoint is closed.
     *
     * @throws IllegalStateException if an object is missing, or this endpoint is enabled; with {@code tcp} of libfabric 2.x and
     *         {@link ThreadingModel#COMPLETION}, also if its directions have different queues, or peers were inserted before an
     *         endpoint with this queue was enabled
     * @throws FabricException if libfabric reports an error, such as an address that is in use
     * @throws UnsupportedOperationException if an address was chosen and the provider does not support that
     */
    public Endpoint enable() {
        synchronized (this) {
            requireOpen();
            lifeCycle.beginEnable();
        }
        try {
            synchronized (this) {
                lifeCycle.enable();
            }
        } catch (Throwable t) { // it may be half bound
            close();
            throw t;
        }
        RECORDER.enabled(info.provider(), info.endpoint().type());
        return this;
    }

    /**
     * {@return the address at which peers reach this endpoint; fi_getname, fi_cm(3)} The address of a connected endpoint is
     * complete once its connection is established.
     *
     * @throws IllegalStateException if the endpoint is not enabled
     */
    public synchronized EndpointAddress address() {
        if (!wasEnabled()) { requireEnabled(); }
        return lifeCycle.currentAddress();
    }

    /**
     * Chooses the address of this endpoint instead of that of the hints or the provider; fi_setname, fi_cm(3). It takes effect
     * in {@link #enable}; then {@link #address()} returns the actual address: for port 0, the system chooses a port.
     *
     * @param chosen an address of this machine, such as {@link EndpointAddress#of(InetSocketAddress)}, or with {@code shm}
     *         {@link EndpointAddress#ofName}
     * @throws IllegalArgumentException if the address has another format than the provider's
     * @throws IllegalStateException also if this endpoint is enabled
     * @throws UnsupportedOperationException if the provider assigns addresses itself ({@code ofi_rxd}, {@code verbs}). For
     *         connected endpoints of {@code tcp} and {@code net}, {@link #enable} throws it
     */
    public synchronized Endpoint address(EndpointAddress chosen) {
        requireOpen();
        lifeCycle.choose(chosen);
        return this;
    }

    /**
     * {@return the connection to this endpoint's one peer; fi_cm(3)}
     *
     * @throws UnsupportedOperationException if this endpoint is not of type {@link EndpointType#MSG}
     * @throws IllegalStateException if no event queue is bound
     */
    public synchronized Connection connection() { return bindings.requireConnection(); }

    /** The native endpoint stays open while the fabric's lock is held. */
    void requireNotClosing() {
        if (isClosed()) { throw closed(); }
    }

    /** Whether a close has begun: nothing else is let through. */
    boolean isClosed() { return lifeCycle.isClosed(); }

    /**
     * {@return the one-sided operations of this endpoint; fi_rma(3)}
     *
     * @throws IllegalStateException also if the endpoint is not enabled, or of type MSG and not connected
     * @throws UnsupportedOperationException if the provider has none
     */
    public synchronized Rma rma() {
        requireFamily(Capability.RMA);
        if (rma == null) { rma = new Rma(this); }
        return rma;
    }

    /**
     * {@return the messages of this endpoint; fi_msg(3)} An endpoint of type MSG that is not connected takes receives already.
     *
     * @throws IllegalStateException also if the endpoint is not enabled
     * @throws UnsupportedOperationException if it was opened without {@link Capability#MSG}, or the provider has no messages
     */
    public synchronized Messages messages() {
        requireFamily(Capability.MSG);
        if (messages == null) { messages = new Messages(this); }
        return messages;
    }

    /** As {@link #messages}, with tags, which need {@link Capability#TAGGED}; refused over connections of tcp 2.x and net; fi_tagged(3). */
    public synchronized Tagged tagged() {
        requireFamily(Capability.TAGGED);
        if (collectives != null) { quirks.require(Fact.COLLECTIVES_USE_TAGS); }
        quirks.require(Fact.CONNECTED_TAGS_CRASH);
        if (tagged == null) { tagged = new Tagged(this); }
        return tagged;
    }

    /** As {@link #rma}, for atomic operations, which need {@link Capability#ATOMIC}; fi_atomic(3). */
    public synchronized Atomics atomics() {
        requireFamily(Capability.ATOMIC);
        if (atomics == null) { atomics = new Atomics(this); }
        return atomics;
    }

    /** As {@link #atomics}, for collective operations, which need {@link Capability#COLLECTIVE}; fi_collective(3). */
    public synchronized Collectives collectives() {
        requireFamily(Capability.COLLECTIVE);
        if (tagged != null) { quirks.require(Fact.COLLECTIVES_USE_TAGS); }
        if (collectives == null) { collectives = new Collectives(this, lifeCycle.joinEvents()); }
        return collectives;
    }

    /** Without the capability, providers crash, or do what they like. */
    private void requireFamily(Capability needed) {
        requireEnabled();
        if (needed == Capability.RMA || needed == Capability.ATOMIC) {
            bindings.requireSending();
            if (bindings.isConnectionOriented()) { connection().requireConnected(); }
        }
        lifeCycle.requireNotLost();
        if ((info.capabilityBits() & domain.info().capabilityBits() & needed.bit()) == 0) {
            throw new UnsupportedOperationException(this + " was opened without Capability." + needed
                    + ": ask for it with FabricHints.capabilities, and open the domain with that info");
        }
    }

    /** Before the endpoint closes. */
    void closeFlush() { if (rma != null) { rma.closeFlush(); } }

    /** {@return the options of this endpoint; fi_getopt and fi_setopt} */
    public EndpointOptions options() {
        return new EndpointOptions(this);
    }

    /** {@return the settings of this endpoint that work once it is enabled; fi_control} */
    public EndpointControl control() {
        return new EndpointControl(this);
    }

    /**
     * Makes an alias: the same endpoint with other default flags; fi_ep_alias. The caller closes it before this endpoint. Its operations
     * use the same queues, and outlast it. Of the software providers only {@code sockets} offers it.
     *
     * @param levels the default flags, as in {@link EndpointControl#defaultFlags(Set)}
     * @throws IllegalArgumentException if there are other flags
     * @throws UnsupportedOperationException if the provider has no aliases
     * @throws IllegalStateException also if this endpoint is not enabled
     */
    public synchronized Endpoint alias(Set<OperationFlag> levels) {
        Endpoint alias = new Endpoint(this, control().alias(levels));
        aliases.add(alias);
        return alias;
    }

    /** Runs an action with the handle, which stays open meanwhile. */
    synchronized <T> T whileOpen(boolean enabledOnly, Function<Handle, T> action) {
        requireOpen();
        if (enabledOnly) { requireEnabled(); }
        lifeCycle.requireNotLost();
        return action.apply(handle);
    }

    /**
     * Sets the longest time that waiting operations, such as {@link Rma#write}, wait for room; initially 10 seconds.
     *
     * @param timeout above zero
     * @throws IllegalArgumentException if the timeout is not above zero
     */
    public synchronized Endpoint postTimeout(Duration timeout) {
        postTimeout = Deadlines.requireSome(timeout);
        return this;
    }

    /** {@return the longest time that waiting operations wait for room} */
    public synchronized Duration postTimeout() {
        return postTimeout;
    }

    /** Whether it is enabled, or was when it was closed. */
    boolean wasEnabled() { return lifeCycle.wasEnabled(); }

    void requireOpen() {
        assert LockOrder.takenIfHeld(lifeCycle.rank(), this);
        domain.checkThread();
        if (isClosed()) { throw closed(); }
    }

    synchronized void requireEnabled() {
        requireOpen();
        if (!wasEnabled()) { throw new IllegalStateException("enable " + this + " first"); }
    }

    IllegalStateException closed() { return new IllegalStateException(this + " is closed"); }

    /**
     * Closes the endpoint; fi_close. Operations in flight complete with {@code ECANCELED} (125) on their queue, each exactly
     * once, and regions that wait for them are deregistered. Does nothing if it is closed, or another thread is closing
     * it.
     *
     * <p>Closing first waits for operations in flight, two seconds at most: on {@code sockets} for all, which would otherwise
     * occupy the domain's 128 slots for ever; on {@code tcp} and {@code net} of libfabric 1.x, and {@code ofi_rxm} above them,
     * for reads, which they would free twice.
     *
     * <p><b>If it throws.</b> After IllegalStateException that names open aliases or sharers, and WrongThreadException,
     * the endpoint works on. After FabricException of the operation {@code fi_close(endpoint)} it is closed, and
     * libfabric keeps what it could not close. After anything else, such as another thread's call that hangs, it takes
     * no operations any more, and is closed by another call.
     */
    @Override
    public void close() { lifeCycle.close(); }

    @Override
    public String toString() {
        return (original == null ? bindings.role : "Alias of endpoint") + " " + info.endpoint().type() + " of "
                + info.provider();
    }
}
