package io.ofi4j.verbs;

import io.ofi4j.verbs.internal.Opcodes;
import io.ofi4j.verbs.internal.WorkRequest;

/** Binds and invalidates windows. Used inside the guard of the queue for sends. */
final class WindowWork {
    private final QueuePair queuePair;
    private final WorkQueue workQueue;

    WindowWork(QueuePair queuePair, WorkQueue workQueue) {
        this.queuePair = queuePair;
        this.workQueue = workQueue;
    }

    boolean bind(MemoryWindow window, VerbsMemoryRegion region, long offset, long length, int flags, long token,
            int access) {
        check(window, region, offset, length, access);
        synchronized (window) {
            window.requireFree();
            WorkRequest.Binding binding = new WorkRequest.Binding(region.nativeRegion.pointer(), region.base + offset,
                    length, access);
            int key = window.nextKey();
            int position = workQueue.ring.next();
            boolean posted;
            if (window.type() == MemoryWindow.Type.TWO) {
                workQueue.request.window(window.pointer, key, binding);
                posted = workQueue.send(Opcodes.BIND, flags, 0, 0, WorkKind.BIND, window, token);
            } else {
                posted = workQueue.bind(flags, window.pointer, binding, WorkKind.BIND, window, token);
                key = window.key(); // the driver has chosen the key
            }
            if (posted) { window.binding(queuePair, position, region, offset, length, access, key); }
            return posted;
        }
    }

    private void check(MemoryWindow window, VerbsMemoryRegion region, long offset, long length, int access) {
        requireDomain(window);
        if ((access & ~VerbsAccess.REMOTE) != 0 || access == 0) {
            throw new IllegalArgumentException(access == 0
                    ? "a window needs at least one remote right, such as REMOTE_READ"
                    : "a window has remote rights only, not " + VerbsAccess.names(access & ~VerbsAccess.REMOTE));
        }
        if (length < 1) { throw new IllegalArgumentException("a window has at least 1 byte, not " + length); }
        int needed = VerbsAccess.WINDOW_BIND.bit()
                | ((access & VerbsAccess.REMOTE_CHANGES) == 0 ? 0 : VerbsAccess.LOCAL_WRITE.bit());
        region.require(queuePair.domain, offset, length, needed);
    }

    private void requireDomain(MemoryWindow window) {
        if (window.domain != queuePair.domain) {
            throw new IllegalArgumentException(window + " is of another protection domain than " + queuePair);
        }
    }

    boolean invalidate(MemoryWindow window, int flags, long token) {
        requireDomain(window);
        synchronized (window) {
            window.requireBound(queuePair);
            boolean posted = window.type() == MemoryWindow.Type.TWO
                    ? workQueue.send(Opcodes.INVALIDATE, flags, 0, window.key(), WorkKind.INVALIDATE, window, token)
                    : workQueue.bind(flags, window.pointer, window.emptyBinding(), WorkKind.INVALIDATE, window, token);
            if (posted) { window.invalidating(); }
            return posted;
        }
    }
}
