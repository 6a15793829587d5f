package io.ofi4j.verbs;

import static io.ofi4j.verbs.VerbsAccess.LOCAL_WRITE;
import static io.ofi4j.verbs.VerbsAccess.REMOTE_WRITE;
import static io.ofi4j.verbs.VerbsMisuse.ARGUMENT;
import static io.ofi4j.verbs.VerbsMisuse.STATE;
import static io.ofi4j.verbs.VerbsMisuse.UNSUPPORTED;
import static io.ofi4j.verbs.VerbsMisuse.refused;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

/** Devices, domains, regions, queues, connections: sizes that cannot be, and what is closed or used out of turn. */
final class VerbsMisuseOfObjects {
    private static final WorkHandler IGNORING = (token, kind, length, flags, word) -> {};

    private VerbsMisuseOfObjects() {}

    static Stream<VerbsMisuse> cases() {
        return Stream.of(attributes(), queues(), regions(), queuePairs(), connections()).flatMap(cases -> cases);
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
                }), refused("close a queue in use", STATE, "close these before", s -> s.near.queue.close()),
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
                refused("connect a queue pair of rdma_cm by hand", STATE, "by rdma_cm",
                        s -> s.near.pair.connect(VerbsPathTest.SOMEWHERE)),
                refused("a queue pair of a closed domain", STATE, "is closed",
                        s -> closedDomain(s).openQueuePair(s.attributes())),
                refused("an XRC domain of a device without", UNSUPPORTED, "an XRC domain is not offered",
                        s -> s.near.context.openXrcDomain()),
                refused("a queue pair of XRC on a device without", UNSUPPORTED, "a queue pair of XRC is not offered",
                        s -> s.near.domain.openQueuePair(s.attributes().xrc(true))),
                refused("memory on demand on a device without", UNSUPPORTED, "on-demand paging is not offered",
                        s -> s.region(VerbsAccess.ON_DEMAND)));
    }

    private static VerbsCompletionQueue closedQueue(VerbsMisuseStage stage) {
        VerbsCompletionQueue queue = stage.near.context.openCompletionQueue(200);
        queue.close();
        return queue;
    }

    /** To a listener that does not answer. */
    private static VerbsConnection resolved(VerbsMisuseStage stage) {
        InetAddress near = new InetSocketAddress(VerbsLink.addresses().getLast(), 0).getAddress();
        ConnectionListener listener = stage.opened(Verbs.load().listen(new InetSocketAddress(near, 0), 1));
        return stage
                .opened(Verbs.load().resolve(new InetSocketAddress(near, 0), listener.address(), VerbsLink.DEADLINE));
    }

    private static Stream<VerbsMisuse> connections() {
        return Stream.of(
                refused("connect what is connected", STATE, "wrong state: CONNECTED",
                        s -> s.near.connection.connect(new byte[0], VerbsLink.DEADLINE)),
                refused("accept what is connected", STATE, "wrong state: CONNECTED",
                        s -> s.far.connection.accept(new byte[0], VerbsLink.DEADLINE)),
                refused("reject what is connected", STATE, "wrong state: CONNECTED",
                        s -> s.far.connection.reject(new byte[0])),
                refused("a second queue pair of a connection", STATE, "open a queue pair",
                        s -> s.near.connection.openQueuePair(s.near.domain, s.attributes())),
                refused("a queue pair of a connection with a closed queue", STATE, "is closed",
                        s -> resolved(s).openQueuePair(s.near.domain, QueuePairAttributes.of(closedQueue(s)))),
                refused("connect with a closed queue pair", STATE, "without a queue pair", s -> {
                    VerbsConnection connection = resolved(s);
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
                }));
    }
}
