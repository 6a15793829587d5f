package io.ofi4j;

import static io.ofi4j.internal.observe.EventRecorder.RECORDER;
import static java.util.stream.Collectors.toList;

import io.ofi4j.EndpointBindings.Role;
import io.ofi4j.errors.FabricException;
import io.ofi4j.errors.FabricTimeoutException;
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
import io.ofi4j.internal.engine.DataReceiveCount;
import io.ofi4j.internal.engine.NativeFabricInfo;
import io.ofi4j.internal.engine.OpenChildren;
import io.ofi4j.internal.engine.StackRoom;
import io.ofi4j.internal.ffi.DomainOps;
import io.ofi4j.internal.ffi.FidOps;
import io.ofi4j.internal.ffi.Handle;
import io.ofi4j.internal.ffi.InfoHandle;
import io.ofi4j.internal.ffi.OpenResult;
import io.ofi4j.internal.observe.LockOrder;
import io.ofi4j.internal.os.Deadlines;
import io.ofi4j.internal.quirks.Fact;
import io.ofi4j.internal.quirks.Quirks;
import io.ofi4j.internal.quirks.Status;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import java.util.function.Function;

/**
 * One end of communication; fi_endpoint(3). Opened by {@link Domain#openEndpoint()}. It takes operations after {@link
 * #bind(AddressVector)}, {@link #bind(CompletionQueue, Direction...)} or a counter, and {@link #enable}. An endpoint of
 * type {@link EndpointType#MSG} needs {@link #bind(EventQueue)} instead of the address vector, and takes operations
 * once its {@link #connection} is established. A context is an endpoint of one direction, without a vector and an
 * address: methods for what it lacks throw {@link UnsupportedOperationException}.
 *
 * <p>The {@link ThreadingModel} of the domain decides which threads may call it; others get
 * {@link WrongThreadException}. Except for accessors, every method throws {@link IllegalStateException} once the
 * endpoint is closed, and {@link FabricException} if libfabric reports an error. The {@code bind} methods return this
 * endpoint and take effect in {@link #enable}. They throw {@link IllegalArgumentException} for an object of another
 * domain, or an event queue of another fabric, and {@link IllegalStateException} if the endpoint is enabled, already
 * has such an object, or the object is closed. What ofi4j refuses because of the provider is listed in the table of
 * refusals in {@code core/guide/REFUSALS.md}.
 *
 * <p><b>Closing</b> completes every operation in flight with {@code ECANCELED} (125) on its queue.
 */
public final class Endpoint implements AutoCloseable {
    /** The {@link #reachableVector} that no peer has. */
    static final Object NO_VECTOR = new Object();

    private static final Duration DEFAULT_POST_TIMEOUT = Duration.ofSeconds(10);
    private static final int POSTS_PER_CLOCK = 64;
    private static final int POST_SPINS = 16;
    /** About a millisecond: nobody who only waits for completions of this domain comes so far. */
    private static final int POSTS_PER_OTHER_DOMAINS = 1024;
    private static final long SLOW_POST_NANOS = 1_000_000;
    /** Yields soon: the thread that makes room may need this processor. */
    private static final Waiting POST_WAITING = Waiting.backoff(POST_SPINS, Integer.MAX_VALUE, Duration.ofNanos(1),
            Duration.ofNanos(1));
    /** What makes an endpoint receive messages. */
    private static final long RECEIVING = Capability.MSG.bit() | Capability.TAGGED.bit() | Capability.COLLECTIVE.bit();

    final Domain domain;
    final Handle handle;
    final int number;
    final Quirks quirks;
    private final FabricInfo info;
    /** Shared with the aliases of this endpoint. */
    final EndpointBindings bindings;
    final EndpointLifeCycle lifeCycle;
    /** The endpoint that this is an alias of, or null. */
    final Endpoint original;
    /** Its open aliases and multicast groups. */
    final OpenChildren children = OpenChildren.owned();
    private Duration postTimeout = DEFAULT_POST_TIMEOUT;
    /**
     * The {@link Peer#reachableVector} of the peers that this endpoint reaches, while it is enabled and open and can
     * send; otherwise {@link #NO_VECTOR}. The data path therefore checks the endpoint's state and the peer with one
     * comparison. Set by {@link EndpointLifeCycle} alone, inside the transmit queue's guard, where posting threads read
     * it.
     */
    Object reachableVector;
    /**
     * Whether it takes receives: it is enabled and open, and has receives of its own. Set as {@link #reachableVector},
     * inside the guards of both queues.
     */
    boolean mayReceive;
    /**
     * The number of posts that found no room, counted inside the transmit queue's guard. An alias has its own count.
     */
    long timesFull;
    /** The number of posts that waited for room for a millisecond or longer. An alias has its own count. */
    final AtomicLong slowPosts = new AtomicLong();
    int canceled;
    // Made on first use, because enabling may replace the tables of functions
    private Rma rma;
    private Messages messages;
    private Tagged tagged;
    private Atomics atomics;
    private Collectives collectives;

    Endpoint(Domain domain, Handle handle, FabricInfo info, Function<Endpoint, EndpointBindings> bindings) {
        this.domain = domain;
        this.handle = handle;
        this.info = info;
        this.number = domain.endpointNumbers.take();
        this.quirks = NativeFabricInfo.of(info).chosenQuirks();
        this.original = null;
        this.bindings = bindings.apply(this);
        this.lifeCycle = new EndpointLifeCycle(this, this.bindings, null);
    }

    /**
     * An alias, which shares everything with the original but the handle and the life cycle. Its operations in flight
     * belong to the original.
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

    /** Opens an endpoint. Refuses types that this library or the provider does not support. */
    static Endpoint open(Domain domain, FabricInfo info) {
        NativeFabricInfo found = NativeFabricInfo.requireSameDomain(info, domain.info());
        EndpointType type = info.endpoint().type();
        if (type == EndpointType.OTHER) {
            throw new UnsupportedOperationException("this release does not know the endpoint type in this info of the"
                    + " provider " + info.provider() + ": request EndpointType.RDM, MSG or DGRAM");
        }
        requireDestination(found);
        return open(domain, info, found.handle(), null);
    }

    private static void requireDestination(NativeFabricInfo info) {
        String destinations = info.chosenQuirks().refusal(Fact.ONE_DESTINATION);
        if (destinations != null && info.destinationAddress().isEmpty()) {
            throw new IllegalArgumentException(destinations);
        }
    }

    /** Opens an endpoint to accept a request. */
    static Endpoint open(Domain domain, ConnectionRequest request) {
        if (request.passiveEndpoint().fabric != domain.fabric()) {
            throw new IllegalArgumentException(request + " came to a passive endpoint of another fabric");
        }
        return domain.fabric().lock.locked(() -> {
            InfoHandle taken = request.take();
            try {
                return open(domain, request.info(), taken, request);
            } catch (Throwable t) {
                request.release(false);
                throw t;
            }
        });
    }

    /** Opens an endpoint that connects from the address of a passive one. */
    static Endpoint open(Domain domain, PassiveEndpoint passive) {
        if (passive.fabric != domain.fabric()) {
            throw new IllegalArgumentException(passive + " is of another fabric");
        }
        NativeFabricInfo found = NativeFabricInfo.requireSameDomain(passive.info(), domain.info());
        requireDestination(found);
        return passive.lock.locked(() -> passive.handOver(its -> open(domain, passive.info(), its, null)));
    }

    private static Endpoint open(Domain domain, FabricInfo info, InfoHandle handle, ConnectionRequest request) {
        InfoHandle reserved = DataReceiveCount.reserved(info, handle);
        boolean needsMore = (info.capabilityBits() & RECEIVING) != 0
                && domain.quirks.has(Fact.INSERTS_NEED_DIRECTED_RECEIVES);
        InfoHandle asked = needsMore ? reserved.withCapabilities(Capability.DIRECTED_RECV.bit()) : reserved;
        OpenResult out = domain.fabric().lock.locked(() -> DomainOps.fi_endpoint(domain.handle(), asked));
        Status.check(out.status(), "fi_endpoint", info.provider());
        return adopt(domain, out.handle(), info, Role.WHOLE, request, null);
    }

    /** Wraps a native endpoint or context; closes it if that fails. */
    private static Endpoint adopt(Domain domain, Handle handle, FabricInfo info, Role role, ConnectionRequest request,
            ScalableEndpoint scalable) {
        try {
            Endpoint endpoint = new Endpoint(domain, handle, info,
                    one -> new EndpointBindings(one, role, request, scalable));
            domain.regions.quarantine.endpointOpened();
            return endpoint;
        } catch (Throwable t) {
            closeAfter(t, domain, handle, info, role);
            if (request != null) { request.release(true); } // with most providers the close has freed it
            throw t;
        }
    }

    private static void closeAfter(Throwable cause, Domain domain, Handle handle, FabricInfo info, Role role) {
        boolean hasPeers = role == Role.WHOLE && info.endpoint().type() != EndpointType.MSG;
        try {
            EndpointLifeCycle.closeUnbound(domain, handle, NativeFabricInfo.of(info).chosenQuirks(), hasPeers,
                    () -> FidOps.fi_close(handle));
        } catch (RuntimeException e) { // libfabric keeps it
            cause.addSuppressed(e);
        }
    }

    /** A context of a scalable endpoint. */
    static Endpoint context(Domain domain, Handle handle, FabricInfo info, Role role, ScalableEndpoint scalable) {
        return adopt(domain, handle, info, role, null, scalable);
    }

    /** Opens a receive context that endpoints share. */
    static Endpoint openSharedReceive(Domain domain) {
        FabricInfo info = domain.info();
        domain.requireOffered(info.domain().sharedReceiveContexts() > 0, "shared receive contexts");
        OpenResult out = DomainOps.fi_srx_context(domain.handle(), NativeFabricInfo.of(info).handle());
        Status.checkOffered(out.status(), "fi_srx_context", info.provider());
        return adopt(domain, out.handle(), info, Role.SHARED_RECEIVE, null, null);
    }

    /** {@return the info that this endpoint was opened with} */
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
     * Has this endpoint receive through a shared context; fi_ep_bind. Receives are posted to the context. Close this
     * endpoint before the context.
     *
     * @param context an enabled context; bind its completion queue to this endpoint too
     * @throws IllegalStateException if this endpoint's info has no {@link AttributeHints#sharedReceiveContext}
     */
    public synchronized Endpoint bind(SharedReceiveContext context) {
        bindings.bind(context);
        return this;
    }

    /**
     * Has this endpoint transmit through a shared context; fi_ep_bind. Operations are posted to this endpoint as
     * before. Close this endpoint before the context.
     *
     * @throws IllegalStateException if this endpoint's info has no {@link AttributeHints#sharedTransmitContext}
     */
    public synchronized Endpoint bind(SharedTransmitContext context) {
        bindings.bind(context);
        return this;
    }

    /**
     * Binds the queue that receives a completion of every operation of this endpoint; fi_ep_bind.
     *
     * @param queue the queue
     * @param directions the operations whose completions it receives; both directions if omitted
     */
    public synchronized Endpoint bind(CompletionQueue queue, Direction... directions) {
        bindings.bind(queue, directions);
        return this;
    }

    /**
     * Binds a queue for transmit operations that reports only requested completions; fi_ep_bind with
     * FI_SELECTIVE_COMPLETION, fi_endpoint(3). Requested are those of prepared operations with
     * {@link OperationFlag#COMPLETION}, or all if the endpoint's default flags have it. Other operations are reported
     * only if they fail or are canceled.
     *
     * <p>The queue must be polled nevertheless: libfabric reports every completion, and a poll drops those that were
     * not requested. Until then the operation occupies a slot of the queue, and its regions are in use.
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
     * {@return counts of this endpoint's operations} It works after close. With SAFE and COMPLETION any thread may call
     * it.
     *
     * @throws IllegalStateException if no transmit queue is bound
     */
    public EndpointStatistics statistics() { return bindings.requireTransmitQueue().statisticsOf(this); }

    /**
     * Starts recording how long operations take, from zero, or stops. {@link #statistics} returns the result.
     *
     * @param on whether to record
     */
    public void recordLatencies(boolean on) { bindings.requireTransmitQueue().recordLatencies(this, on); }

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
     * Says how long the longest message is that peers send to this endpoint, before {@link #enable}. Its receives must
     * have at least this length. A receive of many messages ends as soon as it has less room than that, so that each
     * message finds room; fi_setopt with FI_OPT_MIN_MULTI_RECV, fi_endpoint(3).
     *
     * <p>Some providers write a longer message beyond the end of the receive: with them,
     * {@link Messages#tryReceiveMany} is refused without this. With others a poll that meets a message longer than its
     * receive may never return. Polls and receives then are plain calls, each of which takes some nanoseconds more than
     * a {@code critical} one. They are critical if every endpoint of the queue has this limit.
     *
     * <p><b>It is a promise</b>: over these providers a peer that sends a longer message overwrites memory of this
     * process, or stops this JVM. Have senders keep to it with {@link Peer#longestMessage}.
     *
     * @param bytes the length of the longest message in bytes, 1 or more
     * @return this endpoint
     * @throws IllegalArgumentException if it is less than 1
     * @throws IllegalStateException if this endpoint is enabled
     * @throws UnsupportedOperationException if this endpoint receives no messages, or is a context
     */
    public synchronized Endpoint longestMessage(long bytes) {
        requireOpen();
        if (bytes < 1) { throw new IllegalArgumentException("the longest message has at least 1 byte, not " + bytes); }
        if ((info.capabilityBits() & (Capability.MSG.bit() | Capability.TAGGED.bit())) == 0) {
            throw new UnsupportedOperationException(
                    this + " receives no messages: ask for Capability.MSG or TAGGED in FabricHints");
        }
        lifeCycle.longestMessage(bytes);
        return this;
    }

    /** The length that each of its receives has at least, or 0 if the longest message is not known. */
    long shortestReceive() {
        return bindings.role == EndpointBindings.Role.WHOLE && bindings.sharedReceive() == null
                ? lifeCycle.longestMessage()
                : 0;
    }

    /**
     * Enables the endpoint; fi_ep_bind and fi_enable, fi_endpoint(3). It needs an address vector or, if connected, an
     * event queue, and at least one completion queue or counter. If one of them is missing, bind it and call this
     * again. If libfabric reports an error, the endpoint is closed.
     *
     * <p>Operations of a direction without a queue give no completions: only their counters count them, and a failure
     * has no details. Reading a bound counter, or {@link Domain#progress}, frees the places of operations that have
     * completed; without that, posts find no room after as many as a completion queue of the default size holds.
     *
     * @return this endpoint
     * @throws IllegalStateException if an object is missing, or this endpoint is enabled; where the provider makes each
     *         queue a domain of its own, also if the two directions have different queues, or if peers were inserted
     *         before an endpoint with this queue was enabled;
     *         where the provider keeps a file for it, also while the JVM exits
     * @throws FabricException if libfabric reports an error, such as an address that is in use
     * @throws UnsupportedOperationException if an address was chosen and the provider does not support that
     */
    public Endpoint enable() {
        StackRoom.require();
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
     * {@return the address at which peers reach this endpoint; fi_getname, fi_cm(3)} The address of a connected
     * endpoint is complete once its connection is established.
     *
     * @throws IllegalStateException if the endpoint is not enabled, or the provider gives it an address only when it
     *         connects
     */
    public synchronized EndpointAddress address() {
        if (!wasEnabled()) { requireEnabled(); }
        return lifeCycle.currentAddress();
    }

    /**
     * Chooses the address of this endpoint instead of that of the hints or the provider; fi_setname, fi_cm(3). It takes
     * effect in {@link #enable}. After that, {@link #address()} returns the actual address: for port 0, the system
     * chooses a port.
     *
     * @param chosen an address of this machine, such as {@link EndpointAddress#of(InetSocketAddress)}, or, for a
     *         provider with named endpoints, {@link FabricInfo#addressNamed}
     * @return this endpoint
     * @throws IllegalArgumentException if the address has another format than the provider's
     * @throws IllegalStateException if this endpoint is enabled
     * @throws UnsupportedOperationException if the provider assigns addresses itself. Some providers notice this only
     *         in {@link #enable}, which throws it then
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

    /** Called with the fabric's lock: while it is held, the native endpoint stays open. */
    void requireNotClosing() {
        if (isClosed()) { throw closed(); }
    }

    /** Whether a close has begun. Then no other call is accepted. */
    boolean isClosed() { return lifeCycle.isClosed(); }

    /**
     * {@return the one-sided operations of this endpoint; fi_rma(3)}
     *
     * @throws IllegalStateException if the endpoint is not enabled, or of type MSG and not connected
     * @throws UnsupportedOperationException if the endpoint was opened without {@link Capability#RMA} or with
     *         {@link OperationFlag#INJECT} as a default flag, or the provider has no one-sided operations
     */
    public synchronized Rma rma() {
        requireFamily(Capability.RMA);
        if (rma == null) {
            StackRoom.require();
            rma = domain.withOwner(new Rma(this));
        }
        return rma;
    }

    /**
     * {@return the messages of this endpoint; fi_msg(3)} An enabled endpoint of type MSG takes receives before it is
     * connected.
     *
     * @throws IllegalStateException if the endpoint is not enabled
     * @throws UnsupportedOperationException if it was opened without {@link Capability#MSG}, or the provider has no
     *         messages
     */
    public synchronized Messages messages() {
        requireFamily(Capability.MSG);
        if (messages == null) {
            StackRoom.require();
            messages = domain.withOwner(new Messages(this));
        }
        return messages;
    }

    /**
     * {@return the messages with tags of this endpoint; fi_tagged(3)}
     *
     * @throws IllegalStateException if the endpoint is not enabled
     * @throws UnsupportedOperationException if it was opened without {@link Capability#TAGGED}, the provider has no
     *         messages with tags, or would do them wrong over connections or beside collective operations of the same
     *         endpoint
     */
    public synchronized Tagged tagged() {
        requireFamily(Capability.TAGGED);
        if (collectives != null) { quirks.require(Fact.COLLECTIVES_USE_TAGS); }
        quirks.require(Fact.CONNECTED_TAGS_CRASH);
        if (tagged == null) {
            StackRoom.require();
            tagged = domain.withOwner(new Tagged(this));
        }
        return tagged;
    }

    /**
     * {@return the atomic operations of this endpoint; fi_atomic(3)}
     *
     * @throws IllegalStateException if the endpoint is not enabled, or of type MSG and not connected
     * @throws UnsupportedOperationException if it was opened without {@link Capability#ATOMIC} or with
     *         {@link OperationFlag#INJECT} as a default flag, or the provider has no atomic operations
     */
    public synchronized Atomics atomics() {
        requireFamily(Capability.ATOMIC);
        if (atomics == null) {
            StackRoom.require();
            atomics = domain.withOwner(new Atomics(this));
        }
        return atomics;
    }

    /**
     * {@return the collective operations of this endpoint; fi_collective(3)}
     *
     * @throws IllegalStateException if the endpoint is not enabled
     * @throws UnsupportedOperationException if it was opened without {@link Capability#COLLECTIVE} or with
     *         {@link OperationFlag#INJECT} as a default flag, or the provider has no collective operations
     */
    public synchronized Collectives collectives() {
        requireFamily(Capability.COLLECTIVE);
        if (tagged != null) { quirks.require(Fact.COLLECTIVES_USE_TAGS); }
        if (collectives == null) { collectives = domain.withOwner(new Collectives(this, lifeCycle.joinEvents())); }
        return collectives;
    }

    /**
     * Joins a multicast group: this endpoint receives what is sent to the group, and sends to it with
     * {@link MulticastGroup#trySend}; fi_join, fi_cm(3). It needs {@link Capability#MULTICAST}. Which of the group's
     * messages an endpoint receives may depend on its own address; {@code core/guide/MESSAGES.md} says how to choose
     * it.
     *
     * @param group the address of the group, such as {@link EndpointAddress#of(InetSocketAddress)}
     * @param deadline the longest time to wait for the join, FI_JOIN_COMPLETE
     * @return the group, which must be closed before this endpoint
     * @throws IllegalArgumentException if the address has another format than the provider's, or is not that of a group
     * @throws IllegalStateException if this endpoint is not enabled, or is a member of the group already
     * @throws UnsupportedOperationException if this endpoint was opened without {@link Capability#MULTICAST} or
     *         {@link Capability#MSG}, or with {@link OperationFlag#INJECT} as a default flag, the provider cannot join
     *         such a group, or this endpoint only sends and the provider could not leave the group
     * @throws FabricException if the join fails, for example with {@code ENODEV} (19) where there is no route to the
     *         group, or with {@code ENOBUFS} (105) after too many joins. If libfabric cannot give up the failed join,
     *         the exception of {@code fi_close(multicast group)} is suppressed in this one, and this endpoint cannot be
     *         closed as long as its {@code close}, which tries that again, fails
     * @throws FabricTimeoutException if the join is not reported in time; it is given up
     */
    public MulticastGroup joinMulticast(EndpointAddress group, Duration deadline) {
        synchronized (this) {
            requireFamily(Capability.MULTICAST);
        }
        return MulticastGroup.join(messages(), group, deadline);
    }

    /** Whether INJECT is a flag of every operation without flags of its own. */
    boolean injectsByDefault() {
        return info.transmit().operationFlags().contains(OperationFlag.INJECT);
    }

    /** Requires a capability: without it the behaviour of providers is undefined, and some crash. */
    private void requireFamily(Capability needed) {
        requireEnabled();
        if (injectsByDefault() && needed != Capability.MSG && needed != Capability.TAGGED) {
            throw new UnsupportedOperationException("INJECT is a default flag of " + this
                    + ", which therefore has messages alone: set the flag for single operations, with "
                    + "PreparedRma.flags");
        }
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

    /** Closes the open aliases and multicast groups for a scope. */
    void closeChildren(ScopeClose close) {
        close.closeAll(children.all(AutoCloseable.class).collect(toList()));
    }

    /** Closes the flush, before the endpoint closes. */
    void closeFlush() { if (rma != null) { rma.closeFlush(); } }

    /** {@return the options of this endpoint; fi_getopt and fi_setopt, fi_endpoint(3)} */
    public EndpointOptions options() {
        return new EndpointOptions(this);
    }

    /** {@return the settings of this endpoint that can be used once it is enabled; fi_control, fi_endpoint(3)} */
    public EndpointControl control() {
        return new EndpointControl(this);
    }

    /**
     * {@return the provider's own operations of this endpoint, by the name in the provider's man page; fi_open_ops,
     * fi_domain(3)} It is a table of function pointers, a struct that the provider owns and that its headers declare.
     * The segment has length 0: give it the struct's length with {@link MemorySegment#reinterpret(long)}, a restricted
     * method, and call the functions with a {@link java.lang.foreign.Linker}. ofi4j checks nothing of these calls. The
     * table must not be used once this endpoint is closed.
     *
     * @param name as the provider's header defines it
     * @throws IllegalArgumentException if the name is empty or has a zero character
     * @throws UnsupportedOperationException if the provider has no operations of that name
     */
    public MemorySegment operations(String name) {
        return whileOpen(false, its -> ProviderOperations.open(its, name));
    }

    /**
     * Opens an alias: the same endpoint with other default flags; fi_ep_alias, fi_endpoint(3). Operations posted to the
     * alias use the same queues, and stay in flight when the alias is closed. Few providers have aliases.
     *
     * @param levels the default flags, as in {@link EndpointControl#defaultFlags(Set)}
     * @return the alias; the caller closes it before this endpoint
     * @throws IllegalArgumentException if there are other flags
     * @throws UnsupportedOperationException if the provider has no aliases
     * @throws IllegalStateException if this endpoint is not enabled
     */
    public synchronized Endpoint alias(Set<OperationFlag> levels) {
        StackRoom.require();
        return children.adopt(new Endpoint(this, control().alias(levels)));
    }

    /** Runs an action with the handle, which stays open meanwhile. */
    synchronized <T> T whileOpen(boolean enabledOnly, Function<Handle, T> action) {
        requireOpen();
        if (enabledOnly) { requireEnabled(); }
        lifeCycle.requireNotLost();
        return action.apply(handle);
    }

    /**
     * Sets the longest time that waiting operations, such as {@link Rma#write}, wait for room. The default is 10
     * seconds. Such a wait makes progress on the queues of its own domain. From about its first millisecond on it also
     * makes progress on those of the provider's other domains in this process that this thread may use and no other
     * thread is in: the peer may be one of them.
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

    /**
     * Repeats an attempt that found no room, and makes progress in between, until the provider accepts the operation.
     *
     * @param queue the queue on which the operation completes
     * @param peer its peer, or null
     * @throws FabricTimeoutException after the post timeout
     */
    void awaitRoom(CompletionQueue queue, String operation, Peer peer, BooleanSupplier attempt) {
        Duration timeout = postTimeout();
        String provider = info.provider();
        Object recording = RECORDER.posting(); // begins before the clock is read, so that it covers the whole timeout
        long start = System.nanoTime();
        int turns = 0;
        while (!attempt.getAsBoolean()) {
            domain.queues.progress();
            if (turns % POSTS_PER_OTHER_DOMAINS == POSTS_PER_OTHER_DOMAINS - 1) { progressOtherDomains(); }
            if (++turns % POSTS_PER_CLOCK == 0 && System.nanoTime() - start >= Deadlines.nanos(timeout)) {
                RECORDER.posted(recording, provider, operation, turns, false);
                slowPosts.incrementAndGet();
                throw new FabricTimeoutException(operation, timeout, timeoutReason(queue, peer));
            }
            POST_WAITING.pause(turns);
        }
        RECORDER.posted(recording, provider, operation, turns, true);
        if (turns > POST_SPINS && System.nanoTime() - start >= SLOW_POST_NANOS) { slowPosts.incrementAndGet(); }
    }

    /** The peer may be of another domain that only this thread polls, as in most tests. */
    private void progressOtherDomains() {
        for (Domain other : OpenObjects.domains(info.provider())) {
            if (other != domain) { other.queues.progressFree(); }
        }
    }

    private String timeoutReason(CompletionQueue queue, Peer peer) {
        if (queue.isBufferFull()) { return queue + " is full, with " + queue.size() + " completions: poll it."; }
        if (queue.inFlight() == queue.size()) {
            return queue.size() + " operations are in flight on " + queue
                    + ", as many as it has room for: poll it, or open a larger one with"
                    + " Domain.openCompletionQueue(int).";
        }
        String elsewhere = peer == null ? "" : OpenObjects.servedElsewhere(this, peer);
        if (!elsewhere.isEmpty()) { return elsewhere; }
        return "The provider " + info.provider() + " has no room: is " + (peer == null ? "the peer" : peer)
                + " there and polling its queue, and does this side poll for its completions?";
    }

    /** Whether this endpoint is enabled, or was enabled before it was closed. */
    boolean wasEnabled() {
        return lifeCycle.wasEnabled();
    }

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
     * Closes the endpoint; fi_close, fi_endpoint(3). Operations in flight complete with {@code ECANCELED} (125) on
     * their queue, each exactly once, and regions that wait for them are deregistered. Does nothing if the endpoint is
     * closed, or another thread is closing it.
     *
     * <p><b>How long it takes.</b> With nothing in flight, milliseconds. It makes progress and waits for
     * <ul>
     * <li>operations in flight that the provider cannot cancel, and deferred work: two seconds at most,
     * <li>connections that are being made, over {@code tcp;ofi_rxm}: five milliseconds,
     * <li>operations of other endpoints of this process to this one, over {@code shm}: 200 ms at most. Endpoints of one
     * process use each other's memory, which the close unmaps. Several that are closed one after the other with
     * operations between them wait one after the other,
     * <li>messages that nobody has received, over {@code shm} of 1.20 to 2.4: half a second at most.
     * </ul>
     * The notes in {@code core/guide/providers} say where that is so, and what libfabric keeps after the close.
     *
     * <p><b>An event loop that must not wait</b> calls {@link #tryClose}; or it has another thread call this method,
     * after it has {@linkplain Domain#handOver handed over} what the threading model gives to one thread.
     *
     * <p><b>If it throws.</b> After IllegalStateException, which names open aliases, multicast groups, endpoints that
     * share this context, or deferred work, and after WrongThreadException, the endpoint is still open. After
     * FabricException of the operation {@code fi_close(endpoint)} it is closed, and libfabric keeps what it could not
     * close. After any other exception, such as for another thread's call that hangs, it takes no operations; call
     * {@code close} again, which continues.
     */
    @Override
    public void close() { lifeCycle.close(EndpointLifeCycle.DRAIN_TIMEOUT); }

    /**
     * As {@link #close}, but does not wait for operations, and returns false where {@code close} would. The first call
     * refuses new operations. Those in flight complete meanwhile, also by polls of their queues: call it again after
     * each, or after a while. The limits of {@code close} count from the first call, so that calls which come later
     * than two seconds after it return true, whatever is in flight. A {@code close} after it waits, and ends what it
     * has begun. Until then the endpoint keeps the objects that are bound to it open.
     *
     * @return whether the endpoint is closed, as after {@code close}
     */
    public boolean tryClose() { return lifeCycle.tryClose(); }

    @Override
    public String toString() {
        return (original == null ? bindings.role : "Alias of endpoint") + " " + info.endpoint().type() + " of "
                + info.provider();
    }
}
