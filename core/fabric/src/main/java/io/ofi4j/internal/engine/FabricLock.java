package io.ofi4j.internal.engine;

import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

/**
 * One call at a time among those that manage the connections, endpoints and domains of a fabric. libfabric's event queues visit all
 * of them without a lock: calls beside each other corrupt the heap. Held for short native calls only, never in a wait.
 *
 * <p>It is taken after the monitors of fabrics, domains and endpoints, and before the guards of queues and the monitors of
 * connections and vectors.
 */
public final class FabricLock {
    /** Fair, because readers of events come again and again. */
    private final ReentrantLock lock = new ReentrantLock(true);

    public <T> T alone(Supplier<T> call) {
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
