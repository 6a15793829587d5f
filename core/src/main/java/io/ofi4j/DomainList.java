package io.ofi4j;

import io.ofi4j.internal.FabricOps;
import io.ofi4j.internal.FidOps;
import io.ofi4j.internal.Handle;
import io.ofi4j.internal.InfoHandle;
import io.ofi4j.internal.Out;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.Supplier;

/**
 * A fabric's domains, which change while nobody walks through them. The provider net of libfabric 1.x does that wherever an event queue
 * is opened, read or closed. Where a domain is half opened it calls what is not there yet, and ends the process; where one is half
 * closed, an event queue cannot be closed.
 */
final class DomainList {
    private final ReadWriteLock lock = new ReentrantReadWriteLock();
    private final Handle fabric;

    DomainList(Handle fabric) {
        this.fabric = fabric;
    }

    Out open(InfoHandle info) {
        return change(() -> FabricOps.fi_domain(fabric, info));
    }

    int close(Handle domain) {
        return change(() -> FidOps.fi_close(domain));
    }

    private <T> T change(Supplier<T> call) {
        lock.writeLock().lock();
        try {
            return call.get();
        } finally {
            lock.writeLock().unlock();
        }
    }

    /** For calls on event queues, one of which may wait, for a little. */
    <T> T walk(Supplier<T> call) {
        lock.readLock().lock();
        try {
            return call.get();
        } finally {
            lock.readLock().unlock();
        }
    }
}
