package io.ofi4j.verbs;

import static io.ofi4j.verbs.WorkFlags.SIGNALED;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.ofi4j.errors.FabricTimeoutException;
import java.net.InetSocketAddress;
import java.time.Duration;
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

    /** A queue pair that is connected out of band, and is not yet. */
    QueuePair unconnected() {
        return opened(near.domain.openQueuePair(QueuePairAttributes.of(queue(16)).sizes(8, 8)));
    }

    /** Of this side's device, to an address of the same device. */
    VerbsConnection resolved(ConnectionListener listener) {
        return opened(Verbs.load().resolve(new InetSocketAddress(listener.address().getAddress(), 0),
                listener.address(), VerbsLink.DEADLINE));
    }

    ConnectionListener listener() {
        return opened(Verbs.load().listen(new InetSocketAddress(VerbsLink.addresses().getLast(), 0), 1));
    }

    /** To a listener that does not answer, without a queue pair. */
    VerbsConnection resolved() {
        return resolved(listener());
    }

    /** As {@link #resolved()}, with a queue pair. */
    VerbsConnection resolvedWithPair() { return withPair(resolved()); }

    private VerbsConnection withPair(VerbsConnection connection) {
        connection.openQueuePair(near.domain, attributes().sizes(8, 8));
        return connection;
    }

    /** A request that has not been answered, with a queue pair. The peer does not wait for the answer. */
    VerbsConnection requested() {
        ConnectionListener listener = listener();
        VerbsConnection peer = withPair(resolved(listener));
        assertThatExceptionOfType(FabricTimeoutException.class)
                .isThrownBy(() -> peer.connect(new byte[0], Duration.ofMillis(1)));
        return withPair(opened(listener.next(VerbsLink.DEADLINE)));
    }

    /** The device, as if it had a capability. */
    DeviceContext with(DeviceCapability capability) {
        return opened(AnsweredDevice.with(near.context.name(), capability)).context;
    }

    /** The device, as if it lacked a capability. */
    DeviceContext without(DeviceCapability capability) {
        return opened(AnsweredDevice.without(near.context.name(), capability)).context;
    }

    XrcDomain xrcDomain() { return opened(with(DeviceCapability.XRC).openXrcDomain()); }

    XrcTarget xrcTarget() { return opened(xrcDomain().openTarget(attributes())); }

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
