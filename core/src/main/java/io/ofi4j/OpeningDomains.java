package io.ofi4j;

import io.ofi4j.internal.FabricOps;
import io.ofi4j.internal.Handle;
import io.ofi4j.internal.InfoHandle;
import io.ofi4j.internal.Out;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.Supplier;

/**
 * Keeps those who walk through a fabric's domains away while one is opened. The provider net of libfabric 1.x does that wherever an
 * event queue is opened or read, and finds a domain from before it is complete: it calls what is not there yet, and ends the process.
 */
final class OpeningDomains {
    private final ReadWriteLock lock = new ReentrantReadWriteLock();
    private final Handle fabric;

    OpeningDomains(Handle fabric) {
        this.fabric = fabric;
    }

    Out open(InfoHandle info) {
        lock.writeLock().lock();
        try {
            return FabricOps.fi_domain(fabric, info);
        } finally {
            lock.writeLock().unlock();
        }
    }

    <T> T walk(Supplier<T> call) {
        lock.readLock().lock();
        try {
            return call.get();
        } finally {
            lock.readLock().unlock();
        }
    }
}
