package io.ofi4j.internal.engine;

import io.ofi4j.internal.observe.LockOrder;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

/**
 * One call at a time among those that manage the connections, endpoints and domains of a fabric. libfabric's event
 * queues visit all of them without a lock: calls beside each other corrupt the heap. Held for short native calls only,
 * never in a wait.
 */
public final class FabricLock {
    /** Fair, because readers of events come again and again. */
    private final ReentrantLock lock = new ReentrantLock(true);

    public <T> T alone(Supplier<T> call) {
        assert LockOrder.taken(LockOrder.Rank.FABRIC_LOCK, lock);
        lock.lock();
        try {
            return call.get();
        } finally {
            lock.unlock();
        }
    }

    public void alone(Runnable call) {
        alone(() -> {
            call.run();
            return null;
        });
    }
}
