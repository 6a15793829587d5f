package io.ofi4j.verbs;

import io.ofi4j.errors.FabricTimeoutException;
import io.ofi4j.internal.engine.Interrupts;
import io.ofi4j.internal.engine.OpenChildren;
import io.ofi4j.internal.engine.StackRoom;
import io.ofi4j.internal.os.Deadlines;
import io.ofi4j.verbs.internal.CmCalls;
import io.ofi4j.verbs.internal.CmEvents;
import io.ofi4j.verbs.internal.Rollback;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Listens for connections; rdma_listen(3). Any thread may call the methods; one thread waits at a time. Methods throw
 * {@link IllegalStateException} once it is closed.
 */
public final class ConnectionListener implements AutoCloseable {
    private static final OpenChildren ALL = OpenChildren.owned();
    private static final String OPERATION = "the wait for a connection";

    private final InetSocketAddress address;
    private final CmCalls.Id id;
    /** Held by the thread that waits. */
    private final ReentrantLock waiting = new ReentrantLock();
    /** Whether it is closed; a waiting thread sees it at once. */
    private volatile boolean closed;
    private boolean destroyed;

    private ConnectionListener(CmCalls.Id id, InetSocketAddress address) {
        this.id = id;
        this.address = address;
    }

    static ConnectionListener open(InetSocketAddress address, int backlog) {
        StackRoom.require();
        CmCalls.Id id = CmCalls.rdma_create_id();
        return ALL.adopt(Rollback.ifFails(() -> CmCalls.destroy(id), () -> {
            CmCalls.listen(id, address, backlog);
            return new ConnectionListener(id, new InetSocketAddress(address.getAddress(), CmCalls.port(id)));
        }));
    }

    /** {@return the address at which it listens, with the actual port} */
    public InetSocketAddress address() {
        return address;
    }

    /**
     * Waits for a request. Answer it with {@link VerbsConnection#accept} or {@link VerbsConnection#reject}.
     *
     * @param deadline the longest wait
     * @return the connection, with the peer's private data
     * @throws FabricTimeoutException if none comes in time
     */
    public VerbsConnection next(Duration deadline) {
        StackRoom.require();
        long start = System.nanoTime();
        requireOpen();
        lock(deadline);
        try {
            CmCalls.Event event = CmEventWait.expect(this::nextEvent, id, CmEvents.CONNECT_REQUEST, OPERATION, start,
                    deadline);
            return VerbsConnection.requested(CmCalls.adopt(event.id()), event.data());
        } finally {
            waiting.unlock();
        }
    }

    private void lock(Duration deadline) {
        try {
            if (waiting.tryLock() || waiting.tryLock(Deadlines.nanos(deadline), TimeUnit.NANOSECONDS)) { return; }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            Interrupts.check(OPERATION);
        }
        throw CmEventWait.timeout(OPERATION, deadline);
    }

    private CmCalls.Event nextEvent() {
        requireOpen();
        return CmCalls.next(id);
    }

    private void requireOpen() { if (closed) { throw new IllegalStateException(this + " is closed"); } }

    /** Stops listening, and rejects requests that wait; rdma_destroy_id(3). */
    @Override
    public void close() {
        StackRoom.require();
        closed = true;
        waiting.lock();
        try {
            if (destroyed) { return; }
            destroyed = true;
            ALL.remove(this);
            CmCalls.destroy(id);
        } finally {
            waiting.unlock();
        }
    }

    @Override
    public String toString() { return "ConnectionListener at " + address; }
}
