package io.ofi4j.verbs;

import static io.ofi4j.verbs.VerbsAccess.LOCAL_WRITE;
import static io.ofi4j.verbs.VerbsAccess.REMOTE_WRITE;
import static io.ofi4j.verbs.VerbsMisuse.ARGUMENT;
import static io.ofi4j.verbs.VerbsMisuse.STATE;
import static io.ofi4j.verbs.VerbsMisuse.TIMEOUT;
import static io.ofi4j.verbs.VerbsMisuse.UNSUPPORTED;
import static io.ofi4j.verbs.VerbsMisuse.refused;

import io.ofi4j.errors.FabricException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

/** Devices, domains, regions, queues, connections: sizes that cannot be, and what is closed or used out of turn. */
final class VerbsMisuseOfObjects {
    private static final WorkHandler IGNORING = (token, kind, length, flags, word) -> {};

    private VerbsMisuseOfObjects() {}

    static Stream<VerbsMisuse> cases() {
        return Stream.of(attributes(), queues(), regions(), queuePairs(), capabilities(), connections(), establishing())
                .flatMap(cases -> cases);
    }

    private static VerbsMisuse attribute(String name, String words, UnaryOperator<QueuePairAttributes> change) {
        return refused(name, ARGUMENT, words, s -> change.apply(s.attributes()));
    }

    private static Stream<VerbsMisuse> attributes() {
        return Stream.of(attribute("no operations in flight", "sends is 1 to", a -> a.sizes(0, 1)),
                attribute("too many operations in flight", "sends is 1 to 1048576", a -> a.sizes((1 << 20) + 1, 1)),
                attribute("no receives in flight", "receives is 1 to", a -> a.sizes(1, 0)),
                attribute("negative inline bytes", "inline is 0 to 65536, not -1", a -> a.inline(-1)),
                attribute("too many inline bytes", "not 65537", a -> a.inline(65537)),
                attribute("negative reads", "reads is 0 to 255", a -> a.reads(-1)),
                attribute("too many reads", "not 256", a -> a.reads(256)),
                attribute("port 0", "port is 1 to 255, not 0", a -> a.address(0, 0)),
                attribute("an address before the first", "gidIndex is -1 to 255", a -> a.address(1, -2)),
                attribute("a timeout of six bits", "timeout is 0 to 31", a -> a.retries(32, 0, 0)),
                attribute("eight retries", "retries is 0 to 7", a -> a.retries(0, 8, 0)),
                attribute("eight retries of a receiver", "receiverRetries is 0 to 7", a -> a.retries(0, 0, 8)),
                refused("no queue for sends", NullPointerException.class, "sendQueue",
                        s -> QueuePairAttributes.of(null)),
                refused("no queue for receives", NullPointerException.class, "receiveQueue",
                        s -> s.attributes().receiveQueue(null)));
    }

    private static Stream<VerbsMisuse> queues() {
        return Stream.of(refused("port 0 of a device", ARGUMENT, "no port 0", s -> s.near.context.port(0)),
                refused("a port that a device lacks", ARGUMENT, "no port 200", s -> s.near.context.port(200)),
                refused("a queue of no size", ARGUMENT, "entries, not 0", s -> s.near.context.openCompletionQueue(0)),
                refused("a queue too large", ARGUMENT, "entries, not 2147483647",
                        s -> s.near.context.openCompletionQueue(Integer.MAX_VALUE)),
                refused("poll for none", ARGUMENT, "at least 1, not 0", s -> s.near.queue.poll(IGNORING, 0)),
                refused("poll for less than none", ARGUMENT, "not -2147483648",
                        s -> s.near.queue.poll(IGNORING, Integer.MIN_VALUE)),
                refused("poll for nobody", NullPointerException.class, "handler", s -> s.near.queue.poll(null, 1)),
                refused("a notification without a channel", STATE, "has no channel",
                        s -> s.queue(1).requestNotification(false)),
                refused("a queue with the channel of another device", ARGUMENT, "another device context", s -> {
                    DeviceContext other = s.opened(Verbs.load().open(s.near.context.name()));
                    other.openCompletionQueue(1, s.near.channel);
                }), refused("a queue with a closed channel", STATE, "is closed", s -> {
                    CompletionChannel channel = s.near.context.openCompletionChannel();
                    channel.close();
                    s.near.context.openCompletionQueue(1, channel);
                }),
                refused("wait on a channel with the interrupt status set", FabricException.class, "was interrupted",
                        VerbsMisuseOfObjects::awaitInterrupted),
                refused("close a queue in use", STATE, "close these before", s -> s.near.queue.close()),
                refused("close a channel in use", STATE, "close these before", s -> s.near.channel.close()),
                refused("close a domain in use", STATE, "close these before", s -> s.near.domain.close()),
                refused("close a device in use", STATE, "close these before", s -> {
                    DeviceContext other = s.opened(Verbs.load().open(s.near.context.name()));
                    s.opened(other.openCompletionQueue(1));
                    other.close();
                }), refused("poll a closed queue", STATE, "is closed", s -> {
                    VerbsCompletionQueue queue = s.queue(1);
                    queue.close();
                    queue.poll(IGNORING, 1);
                }), refused("a domain of a closed device", STATE, "is closed", s -> {
                    DeviceContext other = Verbs.load().open(s.near.context.name());
                    other.close();
                    other.openProtectionDomain();
                }));
    }

    private static void awaitInterrupted(VerbsMisuseStage stage) {
        Thread.currentThread().interrupt();
        try {
            stage.near.channel.await(VerbsLink.DEADLINE);
        } finally {
            if (!Thread.interrupted()) { throw new AssertionError("the interrupt status was cleared"); }
        }
    }

    private static Stream<VerbsMisuse> regions() {
        return Stream
                .of(refused("a region of no bytes", ARGUMENT, "at least 1 byte", s -> s.near.domain.allocate(0)),
                        refused("a region of negative length", ARGUMENT, "not -8", s -> s.near.domain.allocate(-8)),
                        refused("memory on the heap", ARGUMENT, "heap",
                                s -> s.near.domain.register(MemorySegment.ofArray(new byte[8]))),
                        refused("memory of no bytes", ARGUMENT, "empty",
                                s -> s.near.domain.register(MemorySegment.NULL)),
                        refused("memory that was freed", ARGUMENT, "freed", s -> s.near.domain.register(freed())),
                        refused("read-only memory to write to", ARGUMENT, "read-only",
                                s -> s.near.domain.register(Arena.ofAuto().allocate(8).asReadOnly(), LOCAL_WRITE)),
                        refused("peers write where this side cannot", ARGUMENT, "REMOTE_WRITE needs LOCAL_WRITE",
                                s -> s.near.domain.allocate(8, REMOTE_WRITE)),
                        refused("peers add where this side cannot write", ARGUMENT, "REMOTE_ATOMIC needs LOCAL_WRITE",
                                s -> s.near.domain.allocate(8, VerbsAccess.REMOTE_ATOMIC)),
                        refused("a zero-based region that begins within a page", ARGUMENT, "begins at a page",
                                s -> s.near.domain.register(Arena.ofAuto().allocate(8192, 4096).asSlice(8),
                                        VerbsAccess.ZERO_BASED)),
                        refused("a key of a closed region", STATE, "is closed", s -> {
                            VerbsMemoryRegion region = s.region(LOCAL_WRITE);
                            region.close();
                            region.remote();
                        }),
                        refused("a region of a closed domain", STATE, "is closed", s -> closedDomain(s).allocate(8)),
                        refused("a window of a closed domain", STATE, "is closed",
                                s -> closedDomain(s).openWindow(MemoryWindow.Type.ONE)));
    }

    private static MemorySegment freed() {
        try (Arena arena = Arena.ofConfined()) {
            return arena.allocate(8);
        }
    }

    private static ProtectionDomain closedDomain(VerbsMisuseStage stage) {
        ProtectionDomain domain = stage.near.context.openProtectionDomain();
        domain.close();
        return domain;
    }

    private static Stream<VerbsMisuse> queuePairs() {
        return Stream.of(
                refused("a queue pair for which its queue has no room", ARGUMENT, "open a larger one",
                        s -> s.near.domain.openQueuePair(QueuePairAttributes.of(s.queue(15)).sizes(8, 8))),
                refused("a queue pair on a port that the device lacks", ARGUMENT, "no port 200",
                        s -> s.near.domain.openQueuePair(s.attributes().address(200, -1))),
                refused("a queue pair at an address that the port lacks", ARGUMENT, "no address at index 255",
                        s -> s.near.domain.openQueuePair(s.attributes().address(1, 255))),
                refused("a queue pair with the queue of another device", ARGUMENT, "another device context", s -> {
                    DeviceContext other = s.opened(Verbs.load().open(s.near.context.name()));
                    s.near.domain.openQueuePair(QueuePairAttributes.of(s.opened(other.openCompletionQueue(200))));
                }),
                refused("a queue pair with a closed queue", STATE, "is closed",
                        s -> s.near.domain.openQueuePair(QueuePairAttributes.of(closedQueue(s)))),
                refused("a queue pair with a closed queue for receives", STATE, "is closed",
                        s -> s.near.domain.openQueuePair(s.attributes().sizes(8, 8).receiveQueue(closedQueue(s)))),
                refused("the address of a queue pair of rdma_cm", STATE, "by rdma_cm", s -> s.near.pair.address()),
                refused("connect a queue pair of rdma_cm out of band", STATE, "by rdma_cm",
                        s -> s.near.pair.connect(VerbsPathTest.SOMEWHERE)),
                refused("a queue pair of a closed domain", STATE, "is closed",
                        s -> closedDomain(s).openQueuePair(s.attributes())),
                refused("an XRC domain of a device without", UNSUPPORTED, "an XRC domain is not offered",
                        s -> s.near.context.openXrcDomain()),
                refused("a queue pair of XRC on a device without", UNSUPPORTED, "a queue pair of XRC is not offered",
                        s -> s.near.domain.openQueuePair(s.attributes().xrc(true))),
                refused("memory on demand on a device without", UNSUPPORTED, "on-demand paging is not offered",
                        s -> s.region(VerbsAccess.ON_DEMAND)),
                refused("memory of the caller on demand on a device without", UNSUPPORTED,
                        "on-demand paging is not offered",
                        s -> s.opened(s.near.domain.register(Arena.ofAuto().allocate(64), VerbsAccess.ON_DEMAND))));
    }

    /** Where the device says that it has something or lacks it. */
    private static Stream<VerbsMisuse> capabilities() {
        return Stream.of(
                refused("a window of type 1 of a device without", UNSUPPORTED, "lacks MEM_WINDOW",
                        s -> s.opened(s.without(DeviceCapability.MEM_WINDOW).openProtectionDomain())
                                .openWindow(MemoryWindow.Type.ONE)),
                refused("a window of type 2 of a device without", UNSUPPORTED, "lacks MEM_WINDOW_TYPE_2B",
                        s -> s.opened(s.without(DeviceCapability.MEM_WINDOW_TYPE_2B).openProtectionDomain())
                                .openWindow(MemoryWindow.Type.TWO)),
                refused("take a window back by a send of a device without", UNSUPPORTED, "lacks MEM_MGT_EXTENSIONS",
                        s -> {
                            DeviceContext context = s.without(DeviceCapability.MEM_MGT_EXTENSIONS);
                            QueuePairAttributes attributes = QueuePairAttributes
                                    .of(s.opened(context.openCompletionQueue(16))).sizes(8, 8);
                            ProtectionDomain domain = s.opened(context.openProtectionDomain());
                            s.opened(domain.openQueuePair(attributes)).trySendInvalidate(s.near.region, 0, 8, s.there,
                                    WorkFlags.SIGNALED, 1);
                        }),
                refused("an XRC target on a port that the device lacks", ARGUMENT, "no port 200",
                        s -> s.xrcDomain().openTarget(s.attributes().address(200, -1))),
                refused("an XRC target at an address that the port lacks", ARGUMENT, "no address at index 255",
                        s -> s.xrcDomain().openTarget(s.attributes().address(1, 255))),
                refused("connect an XRC target twice", STATE, "connected already", s -> {
                    XrcTarget target = s.xrcTarget();
                    target.connect(target.address());
                    target.connect(target.address());
                }), refused("connect a closed XRC target", STATE, "is closed", s -> {
                    XrcTarget target = s.xrcTarget();
                    target.close();
                    target.connect(target.address());
                }), refused("a target of a closed XRC domain", STATE, "is closed", s -> {
                    XrcDomain domain = s.xrcDomain();
                    domain.close();
                    domain.openTarget(s.attributes());
                }), refused("close an XRC domain in use", STATE, "close these before", s -> {
                    XrcDomain domain = s.xrcDomain();
                    s.opened(domain.openTarget(s.attributes()));
                    domain.close();
                }));
    }

    private static VerbsCompletionQueue closedQueue(VerbsMisuseStage stage) {
        VerbsCompletionQueue queue = stage.near.context.openCompletionQueue(200);
        queue.close();
        return queue;
    }

    private static Stream<VerbsMisuse> connections() {
        return Stream.of(
                refused("connect what is connected", STATE, "in state CONNECTED",
                        s -> s.near.connection.connect(new byte[0], VerbsLink.DEADLINE)),
                refused("accept what is connected", STATE, "in state CONNECTED",
                        s -> s.far.connection.accept(new byte[0], VerbsLink.DEADLINE)),
                refused("reject what is connected", STATE, "in state CONNECTED",
                        s -> s.far.connection.reject(new byte[0])),
                refused("a second queue pair of a connection", STATE, "open a queue pair",
                        s -> s.near.connection.openQueuePair(s.near.domain, s.attributes())),
                refused("a queue pair of a connection in a domain of another device context", ARGUMENT,
                        "another device context", s -> {
                            DeviceContext other = s.opened(Verbs.load().open(s.near.context.name()));
                            s.resolved().openQueuePair(s.opened(other.openProtectionDomain()), s.attributes());
                        }),
                refused("a queue pair of a connection for which its queue has no room", ARGUMENT, "open a larger one",
                        s -> s.resolved().openQueuePair(s.near.domain,
                                QueuePairAttributes.of(s.queue(15)).sizes(8, 8))),
                refused("a queue pair of a connection that blocks loopback", UNSUPPORTED, "connected out of band",
                        s -> s.resolved().openQueuePair(s.near.domain, s.attributes().blockLoopback(true))),
                refused("a queue pair of a connection with XRC", UNSUPPORTED, "connected out of band",
                        s -> s.resolved().openQueuePair(s.near.domain, s.attributes().xrc(true))),
                refused("a queue pair of a connection with a closed queue", STATE, "is closed",
                        s -> s.resolved().openQueuePair(s.near.domain, QueuePairAttributes.of(closedQueue(s)))),
                refused("connect with a closed queue pair", STATE, "without a queue pair", s -> {
                    VerbsConnection connection = s.resolved();
                    connection.openQueuePair(s.near.domain, s.attributes().sizes(8, 8)).close();
                    connection.connect(new byte[0], VerbsLink.DEADLINE);
                }), refused("a listener that is closed", STATE, "is closed", s -> {
                    ConnectionListener listener = Verbs.load()
                            .listen(new InetSocketAddress(VerbsLink.addresses().getFirst(), 0), 1);
                    listener.close();
                    listener.next(VerbsLink.DEADLINE);
                }), refused("close a region with a window bound to it", STATE, "MemoryWindow", s -> {
                    s.bound();
                    s.far.region.close();
                }), refused("close a queue pair with a window bound on it", STATE, "MemoryWindow", s -> {
                    s.bound();
                    s.far.pair.close();
                }), refused("close a connection with a window bound on its queue pair", STATE, "MemoryWindow", s -> {
                    s.bound();
                    s.far.connection.close();
                }));
    }

    private static Stream<VerbsMisuse> establishing() {
        return Stream.of(
                refused("a wait for a connection that nobody asks for", TIMEOUT, "the wait for a connection",
                        s -> s.listener().next(Duration.ofMillis(1))),
                refused("connect to a listener that does not answer", TIMEOUT, "rdma_connect",
                        s -> s.resolvedWithPair().connect(new byte[0], Duration.ofMillis(1))),
                refused("connect with too much private data", ARGUMENT, "at most 56 bytes, not 57",
                        s -> s.resolvedWithPair().connect(new byte[57], VerbsLink.DEADLINE)),
                refused("accept with too much private data", ARGUMENT, "at most 148 bytes, not 149",
                        s -> s.requested().accept(new byte[149], VerbsLink.DEADLINE)),
                refused("accept who does not confirm", TIMEOUT, "rdma_accept",
                        s -> s.requested().accept(new byte[148], Duration.ofMillis(1))),
                refused("reject with too much private data", ARGUMENT, "at most 148 bytes, not 149",
                        s -> s.requested().reject(new byte[149])));
    }
}
