package io.ofi4j.internal.engine;

import io.ofi4j.internal.ffi.FabricOps;
import io.ofi4j.internal.ffi.FidOps;
import io.ofi4j.internal.ffi.Handle;
import io.ofi4j.internal.ffi.InfoHandle;
import io.ofi4j.internal.ffi.Opened;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.Supplier;

/**
 * Keeps the domains of a fabric unchanged while libfabric iterates over them. The net provider of libfabric 1.x does so when an
 * event queue is opened, read or closed: it crashes on a half-opened domain, and cannot close the queue beside a half-closed one.
 */
public final class DomainListLock {
    private final ReadWriteLock lock = new ReentrantReadWriteLock();
    private final Handle fabric;

    public DomainListLock(Handle fabric) { this.fabric = fabric; }

    public Opened open(InfoHandle info) { return change(() -> FabricOps.fi_domain(fabric, info)); }

    public int close(Handle domain) { return change(() -> FidOps.fi_close(domain)); }

    private <T> T change(Supplier<T> call) {
        lock.writeLock().lock();
        try {
            return call.get();
        } finally {
            lock.writeLock().unlock();
        }
    }

    /** For calls on event queues, one of which may block for up to 10 ms. */
    public <T> T walk(Supplier<T> call) {
        lock.readLock().lock();
        try {
            return call.get();
        } finally {
            lock.readLock().unlock();
        }
    }
}
