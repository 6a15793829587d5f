package io.ofi4j;

import static io.ofi4j.Recorder.RECORDER;

import io.ofi4j.internal.CmOps;
import io.ofi4j.internal.DomainOps;
import io.ofi4j.internal.Errno;
import io.ofi4j.internal.FabricConstants;
import io.ofi4j.internal.FidOps;
import io.ofi4j.internal.Handle;
import io.ofi4j.internal.Out;
import io.ofi4j.internal.RmaOps;
import io.ofi4j.internal.ShmFiles;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * One end of communication; fi_endpoint(3). Opened by {@link Domain#openEndpoint()}; works after {@link #bind(AddressVector)},
 * {@link #bind(CompletionQueue, Direction...)} and {@link #enable}. One of type {@link EndpointType#MSG} has
 * {@link #bind(EventQueue)} in the place of the address vector, and works once its {@link #connection} is there. Threads: as
 * the domain's {@link ThreadingModel} says.
 *
 * <p><b>Closing</b> completes every operation that is still in flight with {@code ECANCELED} on its queue.
 */
public final class Endpoint implements AutoCloseable {
    private static final Duration DEFAULT_POST_TIMEOUT = Duration.ofSeconds(10);

    final Domain domain;
    final int number;

    private final Handle handle;
    private final FabricInfo info;
    private final ConnectionRequest request;
    /** Of a connected endpoint one of its own, which libfabric does not know: that its peer is nobody else's. */
    private AddressVector vector;
    private EventQueue eventQueue;
    private Connection connection;
    private CompletionQueue transmitQueue;
    private CompletionQueue receiveQueue;
    private EndpointAddress address;
    /** Whether the provider knows a vector of this endpoint. */
    private boolean hasNativeVector;
    private boolean enabled;
    private Handle writeCounter;
    private final BoundCounters counters = new BoundCounters();
    private Path shmFile;
    private Rma rma;
    /** Whose alias this is, or null. */
    private final Endpoint original;
    private final Children aliases = Children.owned();
    private Duration postTimeout = DEFAULT_POST_TIMEOUT;
    /** What {@link Peer#realm} of those it reaches is; written inside the transmit queue's guard, read there by posting threads. */
    Object realm;
    boolean closed;
    private boolean closeBegun;
    private boolean selective;
    private boolean closedNatively;
    /** Counted inside the transmit queue's guard, off the path of an operation that is accepted; an alias counts its own. */
    long timesFull;
    int canceled;

    Endpoint(Domain domain, Handle handle, FabricInfo info, int number, ConnectionRequest request) {
        this.domain = domain;
        this.handle = handle;
        this.info = info;
        this.number = number;
        this.request = request;
        this.original = null;
    }

    /** An alias, which has all but its handle in common: operations in flight are the original's. */
    private Endpoint(Endpoint original, Handle handle) {
        this.domain = original.domain;
        this.handle = handle;
        this.info = original.info;
        this.number = original.number;
        this.original = original;
        this.vector = original.vector;
        this.transmitQueue = original.transmitQueue;
        this.receiveQueue = original.receiveQueue;
        this.address = original.address;
        this.postTimeout = original.postTimeout;
        this.request = null;
        this.realm = original.realm;
        this.selective = original.selective;
        this.enabled = true;
        this.eventQueue = original.eventQueue;
        this.connection = original.connection;
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
        if (isMsg()) {
            throw new UnsupportedOperationException(this + " has one peer and no address vector: bind an event queue");
        }
        requireUnbound(peers.domain(), vector);
        peers.bind(this);
        vector = peers;
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
        if (!isMsg()) {
            throw new UnsupportedOperationException(this + " is not connected: bind an address vector");
        }
        if (events.fabric != domain.fabric()) {
            throw new IllegalArgumentException("the event queue of " + this + " must be of the same fabric");
        }
        requireUnbound(domain, eventQueue);
        events.bind(this, handle);
        eventQueue = events;
        vector = new AddressVector(domain, null, AddressVectorAttributes.defaults());
        realm = vector;
        connection = new Connection(this, handle, events, request, vector);
        return this;
    }

    private boolean isMsg() {
        return info.endpoint().type() == EndpointType.MSG;
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
        Set<Direction> wanted = EnumSet.noneOf(Direction.class);
        wanted.addAll(List.of(directions.length == 0 ? Direction.values() : directions));
        for (Direction direction : wanted) {
            requireUnbound(queue.domain(), direction == Direction.TRANSMIT ? transmitQueue : receiveQueue);
        }
        queue.bind(this);
        if (wanted.contains(Direction.TRANSMIT)) {
            transmitQueue = queue;
        }
        if (wanted.contains(Direction.RECEIVE)) {
            receiveQueue = queue;
        }
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
        bind(queue, Direction.TRANSMIT);
        queue.dropSilent();
        selective = true;
        return this;
    }

    /**
     * {@return what has become of this endpoint's operations so far} With {@link ThreadingModel#SAFE} and
     * {@link ThreadingModel#COMPLETION} any thread may ask.
     *
     * @throws IllegalStateException if no completion queue for transmitting is bound
     * @throws WrongThreadException if the domain's threading model is DOMAIN and this is not its thread
     */
    public EndpointStatistics statistics() {
        CompletionQueue queue;
        synchronized (this) {
            queue = transmitQueue;
        }
        if (queue == null) {
            throw new IllegalStateException("bind a completion queue to " + this + " first");
        }
        return queue.statisticsOf(this);
    }

    /** Whether an operation with such flags gives no entry when it goes well. */
    boolean isSilent(long operationFlags) {
        return selective && (operationFlags & OperationFlag.COMPLETION.bit()) == 0;
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
        requireUnbound(counter.domain(), null);
        if (events.length == 0) {
            throw new IllegalArgumentException("say what the counter counts, such as CounterEvent.WRITE");
        }
        counters.add(this, counter, EnumSet.copyOf(List.of(events)));
        return this;
    }

    private void requireUnbound(Domain theirs, Object bound) {
        requireOpen();
        if (theirs != domain) {
            throw new IllegalArgumentException("what is bound to " + this + " must be of the same domain");
        }
        if (bound != null || enabled) {
            throw new IllegalStateException(this + (enabled ? " is enabled" : " already has " + bound));
        }
    }

    /**
     * Makes the endpoint work; fi_ep_bind and fi_enable. A queue for both directions, or one for each, and an address vector,
     * or the event queue of a connected endpoint, must be bound.
     *
     * @return this endpoint
     * @throws IllegalStateException if something is not bound, or this endpoint is enabled or closed; with {@code tcp} of libfabric
     *         2.x and {@link ThreadingModel#COMPLETION}, also if its directions have different queues, or its vector has peers
     *         already and no endpoint with this queue
     * @throws FabricException if the provider refuses; the endpoint is closed then
     */
    public Endpoint enable() {
        try {
            enableOrThrow();
            RECORDER.enabled(this);
            return this;
        } catch (FabricException | UnsupportedOperationException e) { // it may be bound, and would be no good to its vector
            close();
            throw e;
        }
    }

    private synchronized void enableOrThrow() {
        requireOpen();
        if (vector == null || transmitQueue == null || receiveQueue == null) {
            throw new IllegalStateException("bind "
                    + (vector == null
                            ? isMsg() ? "an event queue" : "an address vector"
                            : "completion queues for transmitting and receiving")
                    + " to " + this + " before enabling it");
        }
        if (enabled) {
            throw new IllegalStateException(this + " is enabled already");
        }
        if (domain.hasQueuesOfTheirOwn()) {
            if (transmitQueue != receiveQueue) {
                throw new IllegalStateException("with threading model COMPLETION on provider " + info.provider()
                        + ", one completion queue serves both directions of an endpoint");
            }
            counters.requireServe(transmitQueue);
            vector.prepare(transmitQueue);
        }
        receiveQueue.requireRoomForReceives(this, Verbs.receives(info));
        queues().forEach(queue -> counters.requireOwnerOf(queue.guard));
        if (ShmNeighbours.concerns(info) && !ShmFiles.hasRoom()) {
            throw FabricException.of(-Errno.ENOSPC, "fi_enable", info.provider());
        }
        domain.undisturbed(vector, queues(), () -> counters.undisturbed(this::bindAndEnable));
        if (isMsg()) {
            return; // it gets its address as it is connected
        }
        CmOps.Name name = CmOps.fi_getname(handle);
        FabricException.check(name.status(), "fi_getname", info.provider());
        address = EndpointAddress.of(name.address(), info.addressFormat());
        if (ShmNeighbours.concerns(info)) {
            shmFile = ShmFiles.remember(name.address()).orElse(null);
            ShmNeighbours.OF_THIS_PROCESS.opened(this);
        }
        synchronized (domain) {
            domain.endpointRegions().enabled(this);
        }
    }

    /**
     * In one go: shm's insertions and rxm's texts of errors visit every endpoint that is bound, and end the JVM at one that is
     * not enabled.
     */
    private void bindAndEnable() {
        if (isMsg()) {
            bind(eventQueue.handle(), 0, "fi_ep_bind(event queue)");
        } else {
            bind(vector.handle(), 0, "fi_ep_bind(address vector)");
            hasNativeVector = true;
        }
        for (CompletionQueue queue : queues()) {
            long flags = (queue == transmitQueue ? Direction.TRANSMIT.bit() : 0)
                    | (queue == receiveQueue ? Direction.RECEIVE.bit() : 0);
            bind(queue.handle(), flags, "fi_ep_bind(completion queue)");
        }
        counters.forEach((counter, flags) -> bind(counter.handle(), flags, "fi_ep_bind(counter)"));
        if (info.provider().contains("ofi_rxm") && !counters.has(CounterEvent.WRITE)) {
            bindWriteCounter();
        }
        int status = FidOps.fi_enable(handle);
        if (status < 0 && hasNativeVector) { // before the queue is polled: ofi_rxm looks for its own queue, which it did not get
            closedNatively = true;
            FidOps.fi_close(handle);
            closeWriteCounter();
        }
        FabricException.check(status, "fi_enable", info.provider());
        enabled = true;
        queues().forEach(CompletionQueue::enabled);
        counters.enabled(transmitQueue);
        if (Verbs.receives(info) > 0) {
            receiveQueue.dataReceives().post(this, handle, Verbs.receives(info));
        }
    }

    /**
     * With a counter of writes, ofi_rxm gives an inject a context of its own. Otherwise tcp reports one that has failed, such
     * as to a peer that has ended, with none, and rxm_handle_comp_error ends the JVM.
     */
    private void bindWriteCounter() {
        Out counter = DomainOps.fi_cntr_open(domain.handle(), WaitObject.NONE.value());
        FabricException.check(counter.status(), "fi_cntr_open", info.provider());
        writeCounter = counter.handle();
        bind(writeCounter, Access.WRITE.bit(), "fi_ep_bind(counter)");
    }

    private void bind(Handle other, long flags, String operation) {
        FabricException.check(FidOps.fi_bind(handle, other, flags), operation, info.provider());
    }

    /**
     * {@return where peers reach this endpoint; fi_getname, fi_cm(3)} That of a connected endpoint is complete when its
     * connection is there.
     *
     * @throws IllegalStateException if it is not enabled
     * @throws FabricException if the provider does not say
     */
    public synchronized EndpointAddress address() {
        if (!enabled) {
            requireOpen();
            throw new IllegalStateException("enable " + this + " first: it has no address before");
        }
        if (isMsg() && !closedNatively) {
            CmOps.Name name = CmOps.fi_getname(handle);
            FabricException.check(name.status(), "fi_getname", info.provider());
            address = EndpointAddress.of(name.address(), info.addressFormat());
        }
        return address;
    }

    /**
     * {@return how this endpoint comes to its one peer; fi_cm(3)}
     *
     * @throws UnsupportedOperationException if this endpoint is not of type {@link EndpointType#MSG}
     * @throws IllegalStateException if no event queue is bound
     */
    public synchronized Connection connection() {
        if (!isMsg()) {
            throw new UnsupportedOperationException(this + " is not connected: its peers are in an address vector");
        }
        if (connection == null) {
            throw new IllegalStateException("bind an event queue to " + this + " first");
        }
        return connection;
    }

    /**
     * {@return the one-sided operations of this endpoint; fi_rma(3)}
     *
     * @throws IllegalStateException if it is not enabled, closed, or of type MSG and not connected
     * @throws UnsupportedOperationException if the provider has none
     */
    public synchronized Rma rma() {
        requireEnabled();
        if (isMsg()) {
            connection.requireConnected();
        }
        if (rma == null) {
            rma = new Rma(this, new RmaOps(handle)); // only now: enabling may have replaced the table
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
     * @throws FabricException if the provider refuses
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
        if (timeout.isNegative() || timeout.isZero()) {
            throw new IllegalArgumentException("the timeout must be longer than nothing, not " + timeout);
        }
        postTimeout = timeout;
        return this;
    }

    /** {@return how long operations that wait for room wait at most} */
    public synchronized Duration postTimeout() {
        return postTimeout;
    }

    Handle handle() {
        return handle;
    }

    AddressVector vector() {
        return vector;
    }

    CompletionQueue transmitQueue() {
        return transmitQueue;
    }

    /** The queues that make progress for this endpoint. */
    List<CompletionQueue> queues() {
        return Stream.of(transmitQueue, receiveQueue).filter(Objects::nonNull).distinct().toList();
    }

    private void requireOpen() {
        domain.checkThread();
        if (closeBegun) {
            throw closed();
        }
    }

    synchronized void requireEnabled() {
        requireOpen();
        if (!enabled) {
            throw new IllegalStateException("enable " + this + " first");
        }
    }

    /** @throws WrongThreadException if the threading model gives this endpoint, or a queue of it, to another thread */
    void checkThread() {
        domain.checkThread();
        queues().forEach(queue -> queue.guard.checkThread());
    }

    /** From now on no operations are taken for this peer. */
    void refuse(Peer peer) {
        List<CompletionQueue> posting = transmitQueue == null ? List.of() : List.of(transmitQueue);
        posting.forEach(queue -> queue.guard.enterAsAnyone());
        peer.refuse();
        posting.forEach(queue -> queue.guard.exit());
    }

    IllegalStateException closed() {
        return new IllegalStateException(this + " is closed");
    }

    /**
     * Closes the endpoint; fi_close. Operations in flight complete with {@code ECANCELED} (125) on their queue, each exactly
     * once; regions that wait for them are deregistered.
     *
     * @throws IllegalStateException if it has aliases that are open; they are named
     * @throws WrongThreadException if the threading model gives this endpoint to another thread
     * @throws FabricException if libfabric reports an error; the endpoint counts as closed all the same
     */
    @Override
    public void close() {
        synchronized (this) {
            if (closeBegun) {
                return;
            }
            domain.checkThread();
            if (transmitQueue != null) {
                transmitQueue.guard.checkThread();
            }
            aliases.requireNone(this);
            closeBegun = true;
        }
        if (original != null) {
            closeAlias();
            return;
        }
        Object recording = RECORDER.closing();
        if (transmitQueue != null) {
            refusePosts();
            transmitQueue.drain();
        }
        if (address != null && ShmNeighbours.concerns(info)) {
            ShmNeighbours.OF_THIS_PROCESS.beforeClose(this);
        }
        if (hasNativeVector && address != null && NetConnections.concern(info)) {
            NetConnections.end(this);
        }
        int status = closeNatively();
        release();
        RECORDER.closed(recording, this);
        FabricException.check(status, "fi_close(endpoint)", info.provider());
    }

    /** Closes what the provider has of a connection that has ended; operations in flight complete. */
    void closeEarly() {
        transmitQueue.drain();
        FabricException.check(closeNatively(), "fi_close(endpoint)", info.provider());
    }

    private int closeNatively() {
        synchronized (this) {
            if (closedNatively) {
                return 0;
            }
            closedNatively = true;
        }
        if (enabled) {
            queues().forEach(queue -> queue.endpoints().disabled());
        }
        synchronized (domain) {
            domain.endpointRegions().closing(this);
        }
        int status;
        if (eventQueue != null) {
            status = eventQueue.closing(this, handle, () -> FidOps.fi_close(handle));
            connection.endpointClosed();
        } else {
            status = hasNativeVector ? closeUndisturbed() : isMsg() ? FidOps.fi_close(handle) : closeWithoutVector();
        }
        if (status == 0) {
            closeWriteCounter();
        }
        if (transmitQueue != null) {
            transmitQueue.cancel(this);
        }
        if (enabled && Verbs.receives(info) > 0 && status == 0) {
            receiveQueue.forgetReceives(this);
        }
        return status;
    }

    private void closeWriteCounter() {
        if (writeCounter != null) {
            FidOps.fi_close(writeCounter);
        }
    }

    private void closeAlias() {
        refusePosts();
        int status = FidOps.fi_close(handle);
        original.aliases.remove(this);
        FabricException.check(status, "fi_close(alias)", info.provider());
    }

    /** ofi_rxm and ofi_rxd make progress on an endpoint while they close it, and end the JVM at what is gone of it already. */
    private int closeUndisturbed() {
        int[] status = new int[1];
        domain.undisturbed(vector, queues(), () -> status[0] = FidOps.fi_close(handle));
        return status[0];
    }

    /**
     * ofi_rxm and net of libfabric 1.x look into the vector when they close, and end the JVM where there is none; so does tcp of
     * libfabric 2.x with COMPLETION at an endpoint that was not enabled.
     */
    private int closeWithoutVector() {
        Out none = DomainOps.fi_av_open(domain.handle(), FabricConstants.FI_AV_TABLE, 0);
        FabricException.check(none.status(), "fi_av_open", info.provider());
        FidOps.fi_bind(handle, none.handle(), 0);
        int status = domain.hasQueuesOfTheirOwn() ? enableAndClose() : FidOps.fi_close(handle);
        FidOps.fi_close(none.handle());
        return status;
    }

    private int enableAndClose() {
        Out queue = DomainOps.fi_cq_open(domain.handle(), 1, CompletionFormat.DATA.value(), WaitObject.NONE.value(),
                -1);
        FabricException.check(queue.status(), "fi_cq_open", info.provider());
        FidOps.fi_bind(handle, queue.handle(), Direction.TRANSMIT.bit() | Direction.RECEIVE.bit());
        FidOps.fi_enable(handle);
        int status = FidOps.fi_close(handle);
        FidOps.fi_close(queue.handle());
        return status;
    }

    private void refusePosts() {
        transmitQueue.guard.enter();
        closed = true;
        realm = this; // no peer's: so whether this is closed needs no look of its own
        transmitQueue.guard.exit();
    }

    private void release() {
        if (shmFile != null) {
            ShmFiles.forget(shmFile);
        }
        if (vector != null) {
            vector.endpoints().remove(this);
        }
        queues().forEach(queue -> queue.endpoints().closed(this));
        counters.released(this);
        domain.forget(this);
    }

    @Override
    public String toString() {
        return (original == null ? "Endpoint " : "Alias of endpoint ") + info.endpoint().type() + " of "
                + info.provider();
    }
}
