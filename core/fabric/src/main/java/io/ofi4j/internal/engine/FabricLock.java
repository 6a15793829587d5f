package io.ofi4j.internal.engine;

import io.ofi4j.internal.observe.LockOrder;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

/**
 * Serialises the calls that manage the connections, endpoints and domains of a fabric. libfabric's event queues visit
 * all of these without a lock, so that concurrent calls would corrupt the heap. Held for short native calls only, never
 * during a wait.
 */
public final class FabricLock {
    /** Fair, because threads that read events take it again and again. */
    private final ReentrantLock lock = new ReentrantLock(true);

    public <T> T locked(Supplier<T> call) {
        lock();
        try {
            return call.get();
        } finally {
            unlock();
        }
    }

    /** For calls that must not allocate; {@link #unlock} follows. */
    public void lock() {
        assert LockOrder.taken(LockOrder.Rank.FABRIC_LOCK, lock);
        lock.lock();
    }

    public void unlock() { lock.unlock(); }

    public void locked(Runnable call) {
        locked(() -> {
            call.run();
            return null;
        });
    }
}
