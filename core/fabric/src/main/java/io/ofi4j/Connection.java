package io.ofi4j;

import static io.ofi4j.internal.observe.EventRecorder.RECORDER;

import io.ofi4j.errors.ConnectionException;
import io.ofi4j.errors.FabricException;
import io.ofi4j.info.EndpointAddress;
import io.ofi4j.info.EndpointType;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.info.ThreadingModel;
import io.ofi4j.internal.engine.AddressFormats;
import io.ofi4j.internal.engine.ConnectionData;
import io.ofi4j.internal.engine.StackRoom;
import io.ofi4j.internal.ffi.CmOps;
import io.ofi4j.internal.ffi.EndpointOps;
import io.ofi4j.internal.ffi.Handle;
import io.ofi4j.internal.observe.LockOrder;
import io.ofi4j.internal.os.Deadlines;
import io.ofi4j.internal.os.Descriptors;
import io.ofi4j.internal.os.Errno;
import io.ofi4j.internal.quirks.Fact;
import io.ofi4j.internal.quirks.Status;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * The connection of an endpoint of type {@link EndpointType#MSG} to its one peer; fi_cm(3). Returned by
 * {@link Endpoint#connection}. One side calls {@link #connect}. The other side opens an endpoint for the
 * {@link ConnectionRequest} and calls {@link #accept}. A side is connected once its event queue has reported
 * {@link Event.Connected}. An endpoint can connect only once.
 *
 * <p>The {@link ThreadingModel} of the domain decides which threads may call it; others get
 * {@link WrongThreadException}. Methods that call libfabric throw {@link IllegalStateException} if the endpoint is
 * closed or not enabled, and {@link FabricException} if libfabric reports an error.
 */
public final class Connection {
    /** The state of a connection. */
    public enum State {
        /** Neither connected nor accepted yet. */
        IDLE,
        /**
         * Requested or accepted; the event queue will report the outcome. Receives may complete with messages of the
         * peer before that event is read. Sends to the peer are possible only after it.
         */
        CONNECTING,
        /** Established; transfers may be posted. */
        CONNECTED,
        /** Ended by this side or by the peer. */
        SHUT_DOWN,
        /** It could not be established. */
        FAILED;

        private boolean canBecome(State next) {
            return this == IDLE && next != CONNECTED && next != IDLE
                    || this == CONNECTING && next.compareTo(CONNECTING) > 0 || this == CONNECTED && next == SHUT_DOWN;
        }

        private boolean isEnd() { return this == SHUT_DOWN || this == FAILED; }
    }

    private static final byte[] NO_DATA = {};

    private final Endpoint endpoint;
    private final Handle handle;
    private final EventQueue queue;
    private final ConnectionRequest request;
    private final int maximumDataSize;
    /** Written in {@link #become} alone. */
    private volatile State state = State.IDLE;
    /** Whether it was established once. Written there, too. */
    private volatile boolean wasConnected;
    private byte[] peerData = NO_DATA;
    private EventError failure;
    private volatile EndpointAddress peerAddress;
    private final Peer peer;

    Connection(Endpoint endpoint, Handle handle, EventQueue queue, ConnectionRequest request, AddressVector vector) {
        this.endpoint = endpoint;
        this.handle = handle;
        this.queue = queue;
        this.request = request;
        this.maximumDataSize = EndpointOps.connectionDataSize(handle);
        this.peer = new Peer(vector, new Peer.Entry(null, 0, false));
    }

    /** {@return the state, as of the last event that was read from the event queue} */
    public State state() {
        return state;
    }

    /**
     * {@return the largest number of bytes of data for connect and accept; fi_getopt with FI_OPT_CM_DATA_SIZE,
     * fi_endpoint(3)}
     */
    public int maximumDataSize() { return maximumDataSize; }

    /**
     * Requests a connection without waiting; fi_connect, fi_cm(3). The event queue reports the outcome. With some
     * providers it waits all the same until the peer's machine answers, or the kernel gives up after minutes;
     * {@code core/guide/CONNECTIONS.md} names them. Only the close of this endpoint by another thread waits meanwhile:
     * calls on other endpoints, and reads of event queues, go on.
     *
     * @param address where the peer listens: its {@link PassiveEndpoint#address}, or
     *         {@link FabricInfo#destinationAddress}
     * @param data passed to the peer, at most {@link #maximumDataSize} bytes
     * @throws IllegalArgumentException if the address has another format than the provider's, the data is too long, or
     *         the provider opened the endpoint for another destination ({@link FabricInfo#withDestination})
     * @throws IllegalStateException if the endpoint has connected before, or was opened for a request
     * @throws ConnectionException if it fails at once
     */
    public void connect(EndpointAddress address, byte... data) {
        AddressFormats.require(endpoint.info(), address);
        if (request != null) {
            throw new IllegalStateException(endpoint + " was opened for a connection request: accept it");
        }
        String destinations = endpoint.quirks.refusal(Fact.ONE_DESTINATION); // the provider ignores the address
        if (destinations != null && !endpoint.info().destinationAddress().equals(Optional.of(address))) {
            throw new IllegalArgumentException(address + ": " + destinations);
        }
        byte[] bytes = address.toBytes();
        if (endpoint.quirks.has(Fact.CONNECTS_WAIT)) {
            endpoint.lifeCycle.whileNotClosed(() -> {
                begin(data, () -> {});
                orFail(() -> {
                    int status = CmOps.fi_connect(handle, bytes, data); // outside the fabric's lock
                    queue.fabric.lock.locked(() -> requireStarted(status, "fi_connect"));
                });
            });
        } else {
            begin(data, () -> requireStarted(CmOps.fi_connect(handle, bytes, data), "fi_connect"));
        }
    }

    /** As {@link #connect(EndpointAddress, byte...)}, then {@link #awaitConnected}. */
    public byte[] connect(EndpointAddress address, Duration deadline, byte... data) {
        connect(address, data);
        return awaitConnected(deadline);
    }

    /**
     * Accepts the request that the endpoint was opened for, without waiting; fi_accept, fi_cm(3). The event queue
     * reports the outcome.
     *
     * @param data passed to the peer, at most {@link #maximumDataSize} bytes
     * @throws IllegalArgumentException if the data is too long
     * @throws IllegalStateException if the endpoint has accepted before, or was not opened for a request
     * @throws ConnectionException if it fails at once
     */
    public void accept(byte... data) {
        if (request == null) { throw new IllegalStateException(endpoint + " was not opened for a connection request"); }
        begin(data, () -> {
            requireStarted(CmOps.fi_accept(handle, data), "fi_accept");
            request.accepted();
        });
    }

    /** As {@link #accept(byte...)}, then {@link #awaitConnected}. */
    public void accept(Duration deadline, byte... data) {
        accept(data);
        awaitConnected(deadline);
    }

    private void begin(byte[] data, Runnable call) {
        StackRoom.require();
        endpoint.requireEnabled();
        ConnectionData.require(data, maximumDataSize, endpoint);
        whileOpen(() -> {
            if (state != State.IDLE) {
                throw new IllegalStateException(
                        endpoint + " is " + state + ": an endpoint is connected only once, so open another");
            }
            become(State.CONNECTING);
            orFail(call);
            return null;
        });
    }

    /** Where a call ends in an Error, no event will tell the outcome. */
    private void orFail(Runnable call) {
        try {
            call.run();
        } catch (Throwable t) {
            queue.fabric.lock.locked(() -> become(State.FAILED));
            throw t;
        }
    }

    /** Runs an action inside the fabric's lock, so that the native endpoint stays open meanwhile. */
    private <T> T whileOpen(Supplier<T> action) {
        return queue.fabric.lock.locked(() -> {
            endpoint.requireNotClosing();
            endpoint.lifeCycle.requireNotLost();
            return action.get();
        });
    }

    private void requireStarted(int status, String operation) {
        if (status != 0) {
            become(State.FAILED);
            RECORDER.refused(endpoint.info().provider(), -status);
            throw failure(-status, operation, endpoint.info().provider(), NO_DATA);
        }
    }

    /**
     * Reads the event queue until the connection is established. Other events are buffered for the queue's next reader.
     * It may be called again after the deadline or an interrupt.
     *
     * @param deadline the longest time to wait
     * @return the data the peer passed to accept, possibly empty
     * @throws IllegalStateException if neither connect nor accept was called, or the endpoint is closed meanwhile
     * @throws ConnectionException if the connection failed, has ended before it was established, or is not established
     *         in time
     * @throws FabricException if the thread is interrupted: errno {@code EINTR} (4), with the interrupt status still
     *         set
     */
    public byte[] awaitConnected(Duration deadline) {
        endpoint.requireEnabled();
        if (state == State.IDLE) {
            throw new IllegalStateException("call connect or accept on " + endpoint + " first");
        }
        if (!queue.awaitUntil(() -> state != State.CONNECTING, deadline)) {
            throw new ConnectionException(
                    endpoint + " was not connected within " + Deadlines.text(deadline)
                            + ". Does the peer read its event queue, and accept?" + Descriptors.shortage(1),
                    "connecting", Errno.ETIMEDOUT, NO_DATA);
        }
        queue.discard(this::isOutcome);
        synchronized (this) {
            if (failure != null) { throw failure.toException(); }
            if (state == State.FAILED) {
                throw new IllegalStateException(endpoint + " failed to connect: open another");
            }
            if (!wasConnected) { throw endedEarly(); }
            return peerData.clone();
        }
    }

    private RuntimeException endedEarly() {
        return endpoint.isClosed()
                ? endpoint.closed()
                : new ConnectionException(endpoint + " was shut down before it was connected.", "connecting",
                        Errno.ECONNABORTED, NO_DATA);
    }

    private boolean isOutcome(Event event) {
        return event instanceof Event.Connected connected && connected.endpoint() == endpoint
                || event instanceof Event.Failed failed && failed.error().endpoint().orElse(null) == endpoint;
    }

    /**
     * Ends the connection; fi_shutdown, fi_cm(3). Operations in flight complete with an error, and new ones are
     * refused. Does nothing if the connection has ended.
     *
     * @throws IllegalStateException if the connection is not established yet. Where the provider closes the endpoint
     *         with its connection, aliases that are open and deferred work that waits for its counter throw it too; the
     *         message names them
     */
    public void shutdown() {
        endpoint.requireEnabled();
        if (state == State.SHUT_DOWN || state == State.FAILED) { return; }
        requireConnected();
        if (endpoint.quirks.has(Fact.SHUTDOWN_CLOSES)) {
            endpoint.children.requireNone(endpoint); // before the wait
            endpoint.lifeCycle.awaitDeferredWork(EndpointLifeCycle.DRAIN_TIMEOUT);
            endpoint.lifeCycle.lose();
            Event event = receiveShutdown();
            endpoint.lifeCycle.closeWithConnection();
            queue.buffer(event);
            return;
        }
        int status = whileOpen(() -> {
            int shut = state == State.CONNECTED ? CmOps.fi_shutdown(handle) : 0;
            become(State.SHUT_DOWN);
            return shut;
        });
        Status.check(status, "fi_shutdown", endpoint.info().provider());
    }

    /**
     * {@return the peer, for use in operations of this endpoint only}
     *
     * @throws IllegalStateException if it was never connected
     */
    public Peer peer() {
        if (!wasConnected) { throw notConnected(); }
        return peer;
    }

    /**
     * {@return the peer's address; fi_getpeer}
     *
     * @throws IllegalStateException if it was never connected
     */
    public EndpointAddress peerAddress() {
        if (peerAddress == null) {
            endpoint.requireEnabled();
            requireConnected();
            peerAddress = whileOpen(() -> {
                CmOps.Name name = CmOps.fi_getpeer(handle);
                Status.check(name.status(), "fi_getpeer", endpoint.info().provider());
                return EndpointAddress.of(name.address());
            });
        }
        return peerAddress;
    }

    /** {@return a copy of the data the peer passed to accept, possibly empty} */
    public synchronized byte[] peerData() {
        return peerData.clone();
    }

    /** {@return the exception for a connection that failed with this error number} */
    static ConnectionException failure(int errno, String operation, String provider, byte[] data) {
        if (errno == Errno.ECONNREFUSED && data.length > 0) {
            return new ConnectionException(operation + " failed on provider " + provider
                    + ": the peer rejected the connection, with " + data.length + " bytes of data.", operation, errno,
                    data);
        }
        Status.Failure said = Status.failure(-errno, operation, "", provider); // its errno may be more precise
        return new ConnectionException(said.message(), operation, said.errno(), data);
    }

    void requireConnected() { if (state != State.CONNECTED) { throw notConnected(); } }

    IllegalStateException notConnected() {
        return new IllegalStateException(endpoint + " is not connected, but " + state
                + (state == State.CONNECTING ? ": read its event queue, or call awaitConnected" : ""));
    }

    /** Handles an event; inside the fabric's lock, like the next two methods. */
    synchronized Event connected(byte[] received) {
        // the accepting side gets no data, though some providers fill the event
        byte[] data = request == null ? received : NO_DATA;
        if (become(State.CONNECTED)) { peerData = data; }
        return new Event.Connected(endpoint, data);
    }

    Event receiveShutdown() {
        boolean byPeer = state == State.CONNECTED;
        become(State.SHUT_DOWN);
        if (byPeer && endpoint.quirks.has(Fact.SHUTDOWN_NEEDS_ANSWER)) { CmOps.fi_shutdown(handle); }
        return new Event.ShutDown(endpoint);
    }

    synchronized void failed(EventError error) {
        if (state == State.IDLE || state == State.CONNECTING) {
            failure = error;
            become(State.FAILED);
            RECORDER.refused(endpoint.info().provider(), error.errno());
        } else {
            become(State.SHUT_DOWN);
        }
    }

    /**
     * Changes the state if that transition exists; inside the fabric's lock. Returns whether it did. When the
     * connection has ended, operations to the peer are refused.
     */
    private synchronized boolean become(State next) {
        assert LockOrder.taken(LockOrder.Rank.CONNECTION, this);
        State before = state;
        boolean moves = before.canBecome(next);
        wasConnected |= moves && next == State.CONNECTED; // before the state: who reads that reads this next
        if (moves) { state = next; }
        if (state.isEnd()) { refusePosts(); }
        if (moves && next == State.CONNECTED) {
            RECORDER.connected(endpoint.info().provider());
        } else if (moves && before == State.CONNECTED) { RECORDER.disconnected(endpoint.info().provider()); }
        return moves;
    }

    /** A thread that owns the endpoint may be inside a post meanwhile: the provider tells it the same. */
    private void refusePosts() {
        if (endpoint.bindings.admitsCaller()) {
            endpoint.bindings.betweenPosts(peer::refuse);
        } else {
            peer.refuse();
        }
    }

    /**
     * Rejects a request that was not accepted, and removes unread events, after the endpoint was closed: by its owner,
     * or before that with its connection. A second call does nothing.
     */
    void endpointClosed() {
        become(State.SHUT_DOWN);
        queue.forget(endpoint);
        if (request != null) { request.release(true); }
    }
}
