package io.ofi4j;

import io.ofi4j.info.EndpointAddress;
import io.ofi4j.info.EndpointType;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.info.ThreadingModel;
import io.ofi4j.internal.engine.AddressFormats;
import io.ofi4j.internal.engine.ConnectionData;
import io.ofi4j.internal.quirks.Fact;
import io.ofi4j.internal.quirks.Status;
import static io.ofi4j.internal.observe.EventRecorder.RECORDER;

import io.ofi4j.internal.ffi.CmOps;
import io.ofi4j.internal.ffi.EpOps;
import io.ofi4j.internal.ffi.Handle;
import java.time.Duration;
import java.util.Optional;

/**
 * How an endpoint of type {@link EndpointType#MSG} comes to its one peer; fi_cm(3). Handed out by {@link Endpoint#connection}.
 * One end calls {@link #connect}, the other, whose endpoint was opened for the {@link ConnectionRequest}, calls {@link #accept};
 * each is connected when its event queue says so. An endpoint is connected once in its life.
 *
 * <p>Threads: as the domain's {@link ThreadingModel} says.
 */
public final class Connection {
    /** What has become of a connection. */
    public enum State {
        /** Neither connected nor accepted yet. */
        IDLE,
        /** Begun; the event queue will tell how it ended. */
        CONNECTING,
        /** There; transfers may be posted. */
        CONNECTED,
        /** Ended by this end or the other. */
        SHUT_DOWN,
        /** It did not come about. */
        FAILED
    }

    private static final byte[] NO_DATA = {};

    private final Endpoint endpoint;
    private final Handle handle;
    private final EventQueue queue;
    private final ConnectionRequest request;
    private final int maximumDataSize;
    private volatile State state = State.IDLE;
    private byte[] peerData = NO_DATA;
    private EventError failure;
    private EndpointAddress peerAddress;
    private final Peer peer;

    Connection(Endpoint endpoint, Handle handle, EventQueue queue, ConnectionRequest request, AddressVector vector) {
        this.endpoint = endpoint;
        this.handle = handle;
        this.queue = queue;
        this.request = request;
        this.maximumDataSize = EpOps.connectionDataSize(handle);
        this.peer = new Peer(vector, new AddressVector.Entry(null, 0));
    }

    /** {@return what has become of it, as far as the event queue was read} */
    public State state() {
        return state;
    }

    /** {@return how many bytes may go with a call here; fi_getopt of FI_OPT_CM_DATA_SIZE} */
    public int maximumDataSize() {
        return maximumDataSize;
    }

    /**
     * Asks a peer for a connection, and does not wait; fi_connect. The event queue tells how it ended. The sockets provider does
     * wait until the network has found the peer.
     *
     * @param address where the peer listens: its {@link PassiveEndpoint#address}, or {@link FabricInfo#destinationAddress}
     * @param data what the peer is told, at most {@link #maximumDataSize} bytes
     * @throws IllegalArgumentException if the address is none of this provider's, or there is too much data
     * @throws IllegalStateException if the endpoint is not enabled or closed, was connected before, or is to accept
     * @throws ConnectionException if it fails at once
     * @throws WrongThreadException if the threading model gives the endpoint's domain to another thread
     */
    public void connect(EndpointAddress address, byte... data) {
        byte[] bytes = address.toBytes();
        AddressFormats.require(endpoint.info(), address);
        if (request != null) {
            throw new IllegalStateException(endpoint + " was opened for a connection request: accept it");
        }
        requireReachable(address);
        begin(data);
        ended(CmOps.fi_connect(handle, bytes, data), "fi_connect");
    }

    /** Some providers connect to the destination that the endpoint was opened for, whatever address they are given. */
    private void requireReachable(EndpointAddress address) {
        if (endpoint.quirks.has(Fact.ONE_DESTINATION)
                && !endpoint.info().destinationAddress().equals(Optional.of(address))) {
            throw new IllegalArgumentException(endpoint + " was opened for another destination than " + address
                    + ": open an endpoint with FabricInfo.withDestination(address)");
        }
    }

    /**
     * Asks a peer for a connection, and reads the event queue until it is there; fi_connect.
     *
     * @param address where the peer listens
     * @param deadline how long at most
     * @param data what the peer is told, at most {@link #maximumDataSize} bytes
     * @return what the peer said when it accepted, perhaps no bytes
     * @throws IllegalArgumentException if the address is none of this provider's, or there is too much data
     * @throws IllegalStateException if the endpoint is not enabled or closed, was connected before, or is to accept
     * @throws ConnectionException if it fails, or takes longer
     * @throws FabricException if the thread is interrupted, with errno {@code EINTR} (4); its status stays set, and
     *         {@link #awaitConnected} may wait on
     * @throws WrongThreadException if the threading model gives the endpoint's domain to another thread
     */
    public byte[] connect(EndpointAddress address, Duration deadline, byte... data) {
        connect(address, data);
        return awaitConnected(deadline);
    }

    /**
     * Accepts the request that the endpoint was opened for, and does not wait; fi_accept. The event queue tells how it ended.
     *
     * @param data what the peer is told, at most {@link #maximumDataSize} bytes
     * @throws IllegalArgumentException if there is too much data
     * @throws IllegalStateException if the endpoint is not enabled or closed, has accepted before, or was not opened for a request
     * @throws ConnectionException if it fails at once
     * @throws WrongThreadException if the threading model gives the endpoint's domain to another thread
     */
    public void accept(byte... data) {
        if (request == null) {
            throw new IllegalStateException(endpoint + " was not opened for a connection request");
        }
        begin(data);
        ended(CmOps.fi_accept(handle, data), "fi_accept");
        request.accepted();
    }

    /**
     * Accepts the request that the endpoint was opened for, and reads the event queue until the connection is there; fi_accept.
     *
     * @param deadline how long at most
     * @param data what the peer is told, at most {@link #maximumDataSize} bytes
     * @throws IllegalArgumentException if there is too much data
     * @throws IllegalStateException if the endpoint is not enabled or closed, has accepted before, or was not opened for a request
     * @throws ConnectionException if it fails, or takes longer
     * @throws FabricException if the thread is interrupted, with errno {@code EINTR} (4); its status stays set, and
     *         {@link #awaitConnected} may wait on
     * @throws WrongThreadException if the threading model gives the endpoint's domain to another thread
     */
    public void accept(Duration deadline, byte... data) {
        accept(data);
        awaitConnected(deadline);
    }

    private void begin(byte[] data) {
        endpoint.requireEnabled();
        ConnectionData.require(data, maximumDataSize, endpoint);
        synchronized (this) {
            if (state != State.IDLE) {
                throw new IllegalStateException(
                        endpoint + " is " + state + ": an endpoint is connected once, open another");
            }
            state = State.CONNECTING;
        }
    }

    private void ended(int status, String operation) {
        if (status != 0) {
            synchronized (this) {
                state = State.FAILED;
            }
            RECORDER.refused(endpoint.info().provider(), -status);
            throw ConnectionException.of(-status, operation, endpoint.info().provider(), NO_DATA);
        }
    }

    /**
     * Reads the event queue until the connection that was begun is there. Events that are not about it stay for the queue's
     * next reader. After a deadline has passed, it may be waited for again.
     *
     * @param deadline how long at most
     * @return what the peer said when it accepted, perhaps no bytes
     * @throws IllegalStateException if it was not begun, or the endpoint is closed
     * @throws ConnectionException if it failed, or is not there in time
     * @throws FabricException if the thread is interrupted, with errno {@code EINTR} (4); its status stays set, and it may be waited
     *         for again
     * @throws WrongThreadException if the threading model gives the endpoint's domain to another thread
     */
    public byte[] awaitConnected(Duration deadline) {
        endpoint.requireEnabled();
        if (state == State.IDLE) {
            throw new IllegalStateException("connect or accept with " + endpoint + " first");
        }
        if (!queue.await(() -> state != State.CONNECTING, deadline)) {
            throw ConnectionException.timedOut(endpoint, deadline);
        }
        queue.discard(this::isOutcome);
        synchronized (this) {
            if (failure != null) {
                throw failure.toException();
            }
            if (state == State.FAILED) {
                throw new IllegalStateException(endpoint + " failed to connect: open another");
            }
            return peerData.clone();
        }
    }

    private boolean isOutcome(Event event) {
        return switch (event) {
            case Event.Connected connected -> connected.endpoint() == endpoint;
            case Event.Failed failed -> failed.error().endpoint().orElse(null) == endpoint;
            default -> false;
        };
    }

    /**
     * Ends the connection; fi_shutdown. Transfers in flight complete with an error, and none are taken any more. Does nothing
     * where the connection has ended already.
     *
     * @throws IllegalStateException if it is not connected yet, or the endpoint is closed
     * @throws FabricException if the provider refuses
     * @throws WrongThreadException if the threading model gives the endpoint's domain to another thread
     */
    public void shutdown() {
        endpoint.requireEnabled();
        if (state == State.SHUT_DOWN || state == State.FAILED) {
            return;
        }
        requireConnected();
        if (endpoint.quirks.has(Fact.SHUTDOWN_CLOSES)) {
            Event event = wasShutDown();
            endpoint.closeEarly();
            queue.tell(event);
            return;
        }
        int status = CmOps.fi_shutdown(handle);
        disconnect();
        Status.check(status, "fi_shutdown", endpoint.info().provider());
    }

    /**
     * {@return the peer, to be named in operations of this endpoint, and of no other}
     *
     * @throws IllegalStateException if it was never connected
     */
    public Peer peer() {
        if (state != State.SHUT_DOWN) {
            requireConnected();
        }
        return peer;
    }

    /**
     * {@return the peer's address; fi_getpeer}
     *
     * @throws IllegalStateException if it was never connected
     * @throws FabricException if the provider does not say
     */
    public synchronized EndpointAddress peerAddress() {
        if (peerAddress == null) {
            requireConnected();
            CmOps.Name name = CmOps.fi_getpeer(handle);
            Status.check(name.status(), "fi_getpeer", endpoint.info().provider());
            peerAddress = EndpointAddress.of(name.address());
        }
        return peerAddress;
    }

    /** {@return a copy of what the peer said when it accepted, perhaps no bytes} */
    public synchronized byte[] peerData() {
        return peerData.clone();
    }

    /** @throws IllegalStateException if there is no connection */
    void requireConnected() {
        if (state != State.CONNECTED) {
            throw notConnected();
        }
    }

    IllegalStateException notConnected() {
        return new IllegalStateException(endpoint + " is not connected, but " + state
                + (state == State.CONNECTING ? ": read its event queue, or call awaitConnected" : ""));
    }

    /** What the event queue tells; inside its lock, like the next two. */
    synchronized Event connected(byte[] told) {
        byte[] data = request == null ? told : NO_DATA; // the side that accepts is told nothing, and some providers fill the event
        if (state == State.CONNECTING) {
            peerData = data;
            state = State.CONNECTED;
            RECORDER.connected(endpoint.info().provider());
        }
        return new Event.Connected(endpoint, data);
    }

    Event wasShutDown() {
        boolean byPeer = state == State.CONNECTED;
        disconnect();
        if (byPeer && endpoint.quirks.has(Fact.SHUTDOWN_NEEDS_ANSWER)) {
            CmOps.fi_shutdown(handle);
        }
        return new Event.ShutDown(endpoint);
    }

    synchronized void failed(EventError error) {
        boolean wasConnected = state == State.CONNECTED;
        disconnect();
        if (!wasConnected) {
            failure = error;
            state = State.FAILED;
            RECORDER.refused(endpoint.info().provider(), error.errno());
        }
    }

    private synchronized void disconnect() {
        if (state == State.CONNECTED) {
            RECORDER.disconnected(endpoint.info().provider());
        }
        state = state == State.FAILED ? State.FAILED : State.SHUT_DOWN;
        endpoint.refuse(peer);
    }

    /** The endpoint is closed: what was not accepted is rejected. */
    void endpointClosed() {
        disconnect();
        if (request != null && request.isTaken()) {
            request.giveBack(true);
        }
    }
}
