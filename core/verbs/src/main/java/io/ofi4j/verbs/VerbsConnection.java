package io.ofi4j.verbs;

import io.ofi4j.errors.FabricException;
import io.ofi4j.internal.engine.OpenChildren;
import io.ofi4j.internal.engine.StackRoom;
import io.ofi4j.internal.os.Errno;
import io.ofi4j.verbs.internal.CmCalls;
import io.ofi4j.verbs.internal.CmEvents;
import io.ofi4j.verbs.internal.DeviceCalls;
import io.ofi4j.verbs.internal.Rollback;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/**
 * A connection of rdma_cm; {@code struct rdma_cm_id}, rdma_cm(7). {@link Verbs#resolve} and
 * {@link ConnectionListener#next} make it. Then open a queue pair with it, and connect or accept. Any thread may call
 * the methods; one thread waits at a time. Except for accessors, methods throw {@link IllegalStateException} once it is
 * closed or if it is in the wrong state, and {@link FabricException} if the library reports an error.
 */
public final class VerbsConnection implements AutoCloseable {
    /** The largest number of bytes of private data of a request. */
    public static final int MAXIMUM_REQUEST_DATA = 56;
    /** The largest number of bytes of private data of an answer. */
    public static final int MAXIMUM_ANSWER_DATA = 148;

    private static final Map<Long, DeviceContext> CONTEXTS = new ConcurrentHashMap<>();
    private static final OpenChildren ALL = OpenChildren.owned();

    enum State {
        RESOLVED, REQUESTED, CONNECTING, CONNECTED, DISCONNECTED, REJECTED, CLOSED
    }

    private final CmCalls.Id id;
    private final DeviceContext context;
    private final int port;
    private State state;
    private byte[] data;
    private QueuePair queuePair;

    private VerbsConnection(CmCalls.Id id, State state, byte[] data) {
        this.id = id;
        this.state = state;
        this.data = data;
        this.port = CmCalls.devicePort(id);
        this.context = CONTEXTS.computeIfAbsent(CmCalls.context(id).address(), address -> opened(id));
    }

    /** {@return the context of the device} librdmacm opens a device once, and keeps it open. */
    private static DeviceContext opened(CmCalls.Id id) {
        MemorySegment pointer = CmCalls.context(id);
        return new DeviceContext(pointer, DeviceCalls.nameOf(pointer), false);
    }

    static VerbsConnection resolve(InetSocketAddress source, InetSocketAddress peer, Duration deadline) {
        StackRoom.require();
        long start = System.nanoTime();
        CmCalls.Id id = CmCalls.rdma_create_id();
        return ALL.adopt(Rollback.ifFails(() -> CmCalls.destroy(id), () -> {
            CmCalls.rdma_resolve_addr(id, source, peer, millisecondsLeft(start, deadline));
            CmEventWait.expect(() -> CmCalls.next(id), id, CmEvents.ADDRESS_RESOLVED, "rdma_resolve_addr", start,
                    deadline);
            CmCalls.rdma_resolve_route(id, millisecondsLeft(start, deadline));
            CmEventWait.expect(() -> CmCalls.next(id), id, CmEvents.ROUTE_RESOLVED, "rdma_resolve_route", start,
                    deadline);
            return new VerbsConnection(id, State.RESOLVED, new byte[0]);
        }));
    }

    private static int millisecondsLeft(long start, Duration deadline) {
        return Math.clamp(TimeUnit.NANOSECONDS.toMillis(CmEventWait.left(start, deadline)), 1, Integer.MAX_VALUE);
    }

    static VerbsConnection requested(CmCalls.Id id, byte[] data) {
        return ALL.adopt(
                Rollback.ifFails(() -> CmCalls.destroy(id), () -> new VerbsConnection(id, State.REQUESTED, data)));
    }

    /** {@return the device of the connection, in which the domain and the queues of its queue pair must be opened} */
    public DeviceContext context() {
        return context;
    }

    /** {@return the device's port} */
    public int port() { return port; }

    /** {@return the private data of the peer's request or answer; zeros may follow it} */
    public synchronized byte[] privateData() {
        return data.clone();
    }

    /**
     * Opens the queue pair of this connection, to which receives can be posted at once; rdma_create_qp(3). Closing the
     * connection closes it too.
     *
     * @param domain a domain of {@link #context}
     * @param attributes the attributes of the queue pair
     * @throws IllegalArgumentException if the domain or a queue is of another device context, a queue has too few
     *         entries left, or the device takes fewer operations
     * @throws UnsupportedOperationException if the attributes block loopback or ask for XRC, which rdma_cm does not
     *         have
     */
    public synchronized QueuePair openQueuePair(ProtectionDomain domain, QueuePairAttributes attributes) {
        StackRoom.require();
        require(state == State.RESOLVED || state == State.REQUESTED, "open a queue pair");
        require(!hasQueuePair(), "open a second queue pair");
        if (domain.context != context) {
            throw new IllegalArgumentException(domain + " is of another device context than the connection's");
        }
        if (attributes.blockLoopback() || attributes.xrc()) {
            throw new UnsupportedOperationException((attributes.xrc() ? "XRC" : "blocking loopback")
                    + " is for queue pairs that are connected out of band");
        }
        synchronized (domain) { // which close() holds, too
            domain.requireOpen();
            queuePair = new QueuePairOpening(domain, attributes).openForConnection(
                    () -> CmCalls.rdma_create_qp(id, domain.pointer, attributes.nativeSizes()),
                    ignored -> CmCalls.destroyQueuePair(id), this);
        }
        return queuePair;
    }

    /**
     * Connects to the listener; rdma_connect(3). If it fails after the request was sent, close the connection.
     *
     * @param request private data for the listener, at most {@value #MAXIMUM_REQUEST_DATA} bytes
     * @param deadline the longest wait
     * @throws IllegalArgumentException if the data is longer
     * @throws FabricException with errno {@code ECONNREFUSED} (111) if the peer rejects the connection or does not
     *         listen
     * @throws io.ofi4j.errors.FabricTimeoutException if the peer does not answer in time
     */
    public void connect(byte[] request, Duration deadline) {
        StackRoom.require();
        long start = System.nanoTime();
        synchronized (this) {
            require(state == State.RESOLVED && hasQueuePair(), "connect");
            requireLength(request, MAXIMUM_REQUEST_DATA);
            CmCalls.rdma_connect(id, parameters(request));
            state = State.CONNECTING;
        }
        byte[] answer = established("rdma_connect", start, deadline);
        synchronized (this) {
            data = answer;
        }
    }

    /**
     * Accepts a request, and waits until the connection is established; rdma_accept(3). If it fails after the answer
     * was sent, close the connection.
     *
     * @param answer private data for the peer, at most {@value #MAXIMUM_ANSWER_DATA} bytes
     * @param deadline the longest wait
     * @throws IllegalArgumentException if the data is longer
     * @throws io.ofi4j.errors.FabricTimeoutException if the peer does not confirm in time
     */
    public void accept(byte[] answer, Duration deadline) {
        StackRoom.require();
        long start = System.nanoTime();
        synchronized (this) {
            require(state == State.REQUESTED && hasQueuePair(), "accept");
            requireLength(answer, MAXIMUM_ANSWER_DATA);
            CmCalls.rdma_accept(id, parameters(answer));
            state = State.CONNECTING;
        }
        established("rdma_accept", start, deadline);
    }

    /** Waits without the monitor, so that a close need not wait, and returns the peer's private data. */
    private byte[] established(String call, long start, Duration deadline) {
        return CmEventWait.expect(() -> connectingEvent(call), id, CmEvents.ESTABLISHED, call, start, deadline).data();
    }

    private synchronized CmCalls.Event connectingEvent(String call) {
        require(state == State.CONNECTING && hasQueuePair(), "go on with " + call);
        CmCalls.Event event = CmCalls.next(id);
        if (event != null && event.type() == CmEvents.ESTABLISHED) {
            state = State.CONNECTED;
            queuePair.connected();
        }
        return event;
    }

    private CmCalls.Parameters parameters(byte[] bytes) {
        QueuePairAttributes attributes = queuePair.attributes();
        DeviceAttributes limits = context.attributes();
        return new CmCalls.Parameters(bytes, Math.min(attributes.reads(), limits.maximumReadsAsTarget()),
                Math.min(attributes.reads(), limits.maximumReadsAsInitiator()), attributes.retries(),
                attributes.receiverRetries());
    }

    /**
     * Rejects a request; rdma_reject(3).
     *
     * @param answer private data for the peer, at most {@value #MAXIMUM_ANSWER_DATA} bytes
     * @throws IllegalArgumentException if the data is longer
     */
    public synchronized void reject(byte[] answer) {
        StackRoom.require();
        require(state == State.REQUESTED, "reject");
        requireLength(answer, MAXIMUM_ANSWER_DATA);
        CmCalls.rdma_reject(id, answer);
        state = State.REJECTED;
    }

    private static void requireLength(byte[] bytes, int max) {
        if (bytes.length > max) {
            throw new IllegalArgumentException("private data has at most " + max + " bytes, not " + bytes.length);
        }
    }

    private boolean hasQueuePair() { return queuePair != null && !queuePair.isClosed(); }

    private void require(boolean condition, String what) {
        if (!condition) {
            throw new IllegalStateException("this connection cannot " + what + " in state " + state
                    + (hasQueuePair() ? ", with a queue pair" : ", without a queue pair"));
        }
    }

    /** {@return whether the peer has disconnected or its process has ended} It reads the events that are there. */
    public synchronized boolean isDisconnected() {
        StackRoom.require();
        require(state == State.CONNECTED || state == State.DISCONNECTED, "tell whether it is disconnected");
        CmCalls.Event event;
        while (state == State.CONNECTED && (event = CmCalls.next(id)) != null) {
            if (CmEvents.endsConnection(event.type())) { markDisconnected(); }
        }
        return state == State.DISCONNECTED;
    }

    private void markDisconnected() {
        state = State.DISCONNECTED;
        queuePair.failed();
    }

    /**
     * Waits until the peer disconnects or its process ends.
     *
     * @param deadline the longest wait
     * @return whether it has, in time
     */
    public boolean awaitDisconnected(Duration deadline) {
        // without the monitor, so that a close need not wait
        return CmEventWait.until(this::isDisconnected, id, System.nanoTime(), deadline);
    }

    /**
     * Ends the connection on both sides; rdma_disconnect(3). Operations in flight come back as
     * {@link WorkStatus#FLUSHED}.
     */
    public synchronized void disconnect() {
        StackRoom.require();
        require(state == State.CONNECTED || state == State.DISCONNECTED, "disconnect");
        int errno = CmCalls.rdma_disconnect(id);
        if (errno != 0 && errno != Errno.EINVAL) { // EINVAL says that the connection has ended already
            throw new FabricException("rdma_disconnect failed (errno " + errno + ").", "rdma_disconnect", errno);
        }
        markDisconnected();
    }

    /**
     * Closes the queue pair and the connection; rdma_destroy_id(3). It ends a call that connects, accepts or waits,
     * which throws {@link IllegalStateException}.
     *
     * @throws IllegalStateException if windows are bound on the queue pair; the message names them
     */
    @Override
    public synchronized void close() {
        StackRoom.require();
        if (state == State.CLOSED) { return; }
        if (queuePair != null) { queuePair.close(); }
        state = State.CLOSED;
        ALL.remove(this);
        CmCalls.destroy(id);
    }

    @Override
    public String toString() { return "VerbsConnection over " + context.name(); }
}
