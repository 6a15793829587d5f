package io.ofi4j.misuse;

import static io.ofi4j.misuse.Misuse.refused;
import static io.ofi4j.misuse.MisuseStage.closed;

import io.ofi4j.Access;
import io.ofi4j.Connection;
import io.ofi4j.ConnectionRequest;
import io.ofi4j.Endpoint;
import io.ofi4j.Event;
import io.ofi4j.EventQueue;
import io.ofi4j.MemoryRegion;
import io.ofi4j.PassiveEndpoint;
import io.ofi4j.errors.ConnectionException;
import io.ofi4j.errors.FabricException;
import io.ofi4j.errors.FabricTimeoutException;
import io.ofi4j.info.EndpointAddress;
import io.ofi4j.info.EventQueueAttributes;
import io.ofi4j.info.WaitObject;
import io.ofi4j.support.Pair;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.function.Consumer;
import java.util.stream.Stream;

/** Connections, passive endpoints and event queues used out of turn. */
final class MisuseOfConnections {
    private static final Class<? extends Throwable> ARGUMENT = IllegalArgumentException.class;
    private static final Class<? extends Throwable> STATE = IllegalStateException.class;
    private static final Duration SHORT = Duration.ofMillis(10);

    private MisuseOfConnections() {}

    static Stream<Misuse> cases() { return Stream.concat(connections(), queues()); }

    private static Misuse connected(String name, Class<? extends Throwable> expected, String words,
            Consumer<Connected> call) {
        return refused("connection: " + name, expected, words, s -> call.accept(new Connected(s, s.other("MSG tcp"))));
    }

    private record Connected(MisuseStage s, Pair pair) {
        PassiveEndpoint passive() { return s.opened(pair.fabric.openPassiveEndpoint(pair.fabric.info())); }

        Endpoint fresh() { return s.opened(pair.domain.openEndpoint()).bind(pair.events).bind(pair.queue); }

        ConnectionRequest request() {
            fresh().enable().connection().connect(pair.passive.address());
            if (pair.events.read(Pair.DEADLINE) instanceof Event.ConnectionRequested(ConnectionRequest request)) {
                return s.opened(request);
            }
            throw new AssertionError("no request came");
        }
    }

    private static Stream<Misuse> connections() {
        return Stream.of(
                connected("connect twice", STATE, "connected only once",
                        c -> c.pair.endpoint.connection().connect(c.pair.passive.address())),
                connected("accept what was not asked for", STATE, "not opened for a connection request",
                        c -> c.pair.endpoint.connection().accept()),
                connected("connect where to accept", STATE, "accept it", c -> {
                    Endpoint accepting = c.s.opened(c.pair.domain.openEndpoint(c.request())).bind(c.pair.events)
                            .bind(c.pair.farQueue).enable();
                    accepting.connection().connect(c.pair.passive.address());
                }),
                connected("connect to another kind of address", ARGUMENT, "same provider",
                        c -> c.fresh().enable().connection().connect(c.s.pair.endpoint.address())),
                connected("too much data", ARGUMENT, "at most",
                        c -> c.fresh().enable().connection().connect(c.pair.passive.address(), new byte[1 << 20])),
                connected("await what was not begun", STATE, "first",
                        c -> c.fresh().enable().connection().awaitConnected(SHORT)),
                connected("shut down what was not begun", STATE, "not connected",
                        c -> c.fresh().enable().connection().shutdown()),
                connected("before enable", STATE, "enable",
                        c -> c.fresh().connection().connect(c.pair.passive.address())),
                connected("without an event queue", STATE, "bind an event queue",
                        c -> c.s.opened(c.pair.domain.openEndpoint()).connection()),
                connected("an address vector", UnsupportedOperationException.class, "no address vector",
                        c -> c.s.opened(c.pair.domain.openEndpoint())
                                .bind(c.s.opened(c.pair.domain.openAddressVector()))),
                connected("a transfer before it is there", STATE, "not connected", c -> {
                    Endpoint fresh = c.fresh().enable();
                    MemoryRegion region = c.s.region(c.pair, Access.WRITE, Access.REMOTE_WRITE);
                    fresh.rma().write(region.slice(0, 8), fresh.connection().peer(), region.remote(), 1);
                }), connected("a transfer after it was shut down", STATE, "", c -> {
                    MemoryRegion region = c.s.region(c.pair, Access.WRITE, Access.REMOTE_WRITE);
                    c.pair.endpoint.connection().shutdown();
                    c.pair.rma().write(region.slice(0, 8), c.pair.far, region.remote(), 1);
                }), connected("shut down on a closed endpoint", STATE, "closed", c -> {
                    Connection connection = c.pair.endpoint.connection();
                    closed(c.pair.endpoint);
                    connection.shutdown();
                }), connected("reject twice", STATE, "was accepted, rejected or closed", c -> {
                    ConnectionRequest request = c.request();
                    request.reject();
                    request.reject();
                }), connected("an endpoint for a request that was rejected", STATE, "rejected", c -> {
                    ConnectionRequest request = c.request();
                    request.reject();
                    c.pair.domain.openEndpoint(request);
                }),
                connected("reject with too much data", ARGUMENT, "at most", c -> c.request().reject(new byte[1 << 20])),
                connected("a request of another fabric", ARGUMENT, "another fabric",
                        c -> c.s.pair.domain.openEndpoint(c.request())),
                connected("accept with too much data", ARGUMENT, "at most", c -> {
                    Endpoint accepting = c.s.opened(c.pair.domain.openEndpoint(c.request())).bind(c.pair.events)
                            .bind(c.pair.farQueue).enable();
                    accepting.connection().accept(new byte[1 << 20]);
                }), connected("await what nobody accepts", ConnectionException.class, "within", c -> {
                    Endpoint fresh = c.fresh().enable();
                    fresh.connection().connect(c.pair.passive.address());
                    fresh.connection().awaitConnected(SHORT);
                }), connected("an interrupted wait for a connection", FabricException.class, "interrupted", c -> {
                    Endpoint fresh = c.fresh().enable();
                    fresh.connection().connect(c.pair.passive.address());
                    MisuseStage.interrupted(() -> fresh.connection().awaitConnected(Pair.DEADLINE));
                }), refused("connection: to nobody, where that is told at once", ConnectionException.class,
                        "is the peer running", s -> {
                            Pair pair = s.other("MSG sockets");
                            EndpointAddress nobody = EndpointAddress.of(new InetSocketAddress("127.0.0.1", 1));
                            s.opened(pair.domain.openEndpoint()).bind(pair.events).bind(pair.queue).enable()
                                    .connection().connect(nobody);
                        }),
                connected("the peer before there is one", STATE, "not connected",
                        c -> c.fresh().enable().connection().peer()),
                connected("the peer's address before there is one", STATE, "not connected",
                        c -> c.fresh().enable().connection().peerAddress()),
                connected("an address of another kind as destination", ARGUMENT, "same provider",
                        c -> c.pair.fabric.info().withDestination(c.s.pair.endpoint.address())),
                connected("an address for a passive endpoint that listens", STATE, "has its address",
                        c -> c.pair.passive.address(c.pair.passive.address())),
                connected("a backlog for a passive endpoint that listens", STATE, "listens already",
                        c -> c.pair.passive.backlog(5)),
                connected("a backlog of a provider without", UnsupportedOperationException.class, "a backlog",
                        c -> c.passive().backlog(5)),
                connected("close a passive endpoint before its request is accepted", STATE, "has not accepted", c -> {
                    c.s.opened(c.pair.domain.openEndpoint(c.request()));
                    c.pair.passive.close();
                }), connected("listen without an event queue", STATE, "bind an event queue", c -> c.passive().listen()),
                connected("listen twice", STATE, "listens already", c -> c.pair.passive.listen()),
                connected("a passive endpoint's address before it listens", STATE, "listen first",
                        c -> c.passive().address()),
                connected("a backlog of nothing", ARGUMENT, "at least 1", c -> c.passive().backlog(0)),
                connected("bind a passive endpoint twice", STATE, "already has",
                        c -> c.passive().bind(c.pair.events).bind(c.pair.events)),
                connected("bind a passive endpoint to another fabric's queue", ARGUMENT, "same fabric",
                        c -> c.passive().bind(c.s.other("MSG tcp").events)),
                connected("a closed passive endpoint", STATE, "closed", c -> closed(c.passive()).bind(c.pair.events)),
                connected("close an event queue in use", STATE, "close these before", c -> c.pair.events.close()));
    }

    private static Misuse queue(String name, Class<? extends Throwable> expected, String words,
            Consumer<EventQueue> call) {
        return refused("event queue: " + name, expected, words,
                s -> call.accept(s.opened(s.other("sockets").fabric.openEventQueue())));
    }

    private static Stream<Misuse> queues() {
        return Stream.of(queue("read after close", STATE, "closed", queue -> closed(queue).read()),
                queue("wait after close", STATE, "closed", queue -> closed(queue).read(SHORT)),
                queue("write after close", STATE, "closed", queue -> closed(queue).write(1, 1)),
                queue("progress after close", STATE, "closed", queue -> closed(queue).progress()),
                queue("tryWait after close", STATE, "closed", queue -> closed(queue).tryWait()),
                queue("descriptor after close", STATE, "closed", queue -> closed(queue).waitDescriptor()),
                queue("write where it may not", UnsupportedOperationException.class, "writable()",
                        queue -> queue.write(1, 1)),
                refused("event queue: a wait object that the provider does not have",
                        UnsupportedOperationException.class, "YIELD",
                        s -> s.opened(s.other("sockets").fabric
                                .openEventQueue(EventQueueAttributes.defaults().waitObject(WaitObject.YIELD)))),
                queue("an interrupted wait", FabricException.class, "interrupted",
                        queue -> MisuseStage.interrupted(() -> queue.read(Pair.DEADLINE))),
                queue("an interrupted await", FabricException.class, "interrupted",
                        queue -> MisuseStage.interrupted(() -> queue.await(Pair.DEADLINE))),
                queue("nothing comes", FabricTimeoutException.class, "reading an event", queue -> queue.read(SHORT)));
    }
}
