package io.ofi4j.verbs;

import static io.ofi4j.verbs.WorkFlags.SIGNALED;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.util.ArrayDeque;
import java.util.Deque;

/** Where misuses are committed: two queue pairs that rdma_cm has connected, which must work afterwards as before. */
final class VerbsMisuseStage implements AutoCloseable {
    final VerbsLink link = new VerbsLink(8);
    final VerbsLink.VerbsSide near = link.near;
    final VerbsLink.VerbsSide far = link.far;
    /** The far side's memory, all of it. */
    final RemoteMemory there = far.region.remote();

    private final Deque<AutoCloseable> opened = new ArrayDeque<>();
    private long number;

    <T extends AutoCloseable> T opened(T object) {
        opened.push(object);
        return object;
    }

    QueuePairAttributes attributes() { return QueuePairAttributes.of(near.queue); }

    /** Bytes of the near side, with fewer rights than its region's. */
    VerbsMemoryRegion region(VerbsAccess... rights) {
        return opened(near.domain.allocate(64, rights));
    }

    VerbsCompletionQueue queue(int entries) { return opened(near.context.openCompletionQueue(entries)); }

    /** A queue pair that is connected by hand, and is not yet. */
    QueuePair unconnected() {
        return opened(near.domain.openQueuePair(QueuePairAttributes.of(queue(16)).sizes(8, 8)));
    }

    MemoryWindow window() { return opened(far.domain.openWindow(MemoryWindow.Type.TWO)); }

    MemoryWindow bound() {
        MemoryWindow window = window();
        far.pair.tryBind(window, far.region, 0, 64, 0, 1, VerbsAccess.REMOTE_WRITE);
        far.next();
        return window;
    }

    boolean write(VerbsMemoryRegion region, long offset, int length, RemoteMemory to, long toOffset, int flags) {
        return near.pair.tryWrite(region, offset, length, to, toOffset, flags, 1);
    }

    /** Closes what was opened, and writes something that must arrive. */
    void requireWorking() throws Exception {
        while (!opened.isEmpty()) {
            opened.pop().close();
        }
        near.region.segment().set(JAVA_LONG, 0, ++number);
        if (!near.pair.tryWrite(near.region, 0, 8, there, 8, SIGNALED, number) || near.next().token() != number
                || far.region.segment().get(JAVA_LONG, 8) != number) {
            throw new AssertionError("a write after it did not arrive");
        }
    }

    @Override
    public void close() { link.close(); }
}
