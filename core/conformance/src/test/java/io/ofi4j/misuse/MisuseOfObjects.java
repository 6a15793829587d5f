package io.ofi4j.misuse;

import static io.ofi4j.misuse.Misuse.refused;
import static io.ofi4j.misuse.MisuseStage.IGNORING;
import static io.ofi4j.misuse.MisuseStage.closed;

import io.ofi4j.Access;
import io.ofi4j.AddressVector;
import io.ofi4j.CompletionQueue;
import io.ofi4j.Counter;
import io.ofi4j.Domain;
import io.ofi4j.Endpoint;
import io.ofi4j.Fabric;
import io.ofi4j.Libfabric;
import io.ofi4j.MemoryRegion;
import io.ofi4j.MemoryRegionAttributes;
import io.ofi4j.Scope;
import io.ofi4j.Waiting;
import io.ofi4j.errors.FabricException;
import io.ofi4j.errors.FabricTimeoutException;
import io.ofi4j.info.CounterEvent;
import io.ofi4j.info.Direction;
import io.ofi4j.info.EndpointAddress;
import io.ofi4j.info.EndpointOption;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.info.ThreadingModel;
import io.ofi4j.support.Pair;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.reflect.Proxy;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Stream;

/** Objects that are closed, have open children, are bound wrongly, or are opened with what cannot be. */
final class MisuseOfObjects {
    private static final Class<? extends Throwable> ARGUMENT = IllegalArgumentException.class;
    private static final Class<? extends Throwable> STATE = IllegalStateException.class;
    private static final Duration SHORT = Duration.ofMillis(10);

    private MisuseOfObjects() {}

    static Stream<Misuse> cases() {
        return Stream.of(closedObjects(), scopes(), parents(), bindings(), memory(), counters())
                .flatMap(cases -> cases);
    }

    private static <T extends AutoCloseable> Misuse after(String name, java.util.function.Function<MisuseStage, T> open,
            Consumer<T> call) {
        return refused(name + " after close", STATE, "closed", s -> call.accept(closed(open.apply(s))));
    }

    private static CompletionQueue queue(MisuseStage s) { return s.pair.domain.openCompletionQueue(); }

    private static AddressVector vector(MisuseStage s) { return s.pair.domain.openAddressVector(); }

    private static Domain domain(MisuseStage s) {
        return s.opened(Libfabric.load().openFabric(s.pair.fabric.info())).openDomain();
    }

    private static Fabric fabric(MisuseStage s) { return Libfabric.load().openFabric(s.pair.fabric.info()); }

    private static FabricInfo ownInfo() {
        return (FabricInfo) Proxy.newProxyInstance(FabricInfo.class.getClassLoader(), new Class<?>[]{FabricInfo.class},
                (proxy, method, arguments) -> null);
    }

    private static Endpoint endpoint(MisuseStage s) { return s.pair.domain.openEndpoint(); }

    private static MemoryRegion region(MisuseStage s) { return s.pair.domain.allocate(8, Access.WRITE); }

    private static Counter counter(MisuseStage s) { return s.other("sockets").domain.openCounter(); }

    private static Stream<Misuse> closedObjects() {
        EndpointAddress address = EndpointAddress.of(new byte[16]);
        return Stream.of(after("poll", MisuseOfObjects::queue, queue -> queue.poll(IGNORING, 1)),
                after("await", MisuseOfObjects::queue, queue -> queue.await(IGNORING, 1, SHORT)),
                after("progress", MisuseOfObjects::queue, CompletionQueue::progress),
                after("signal", MisuseOfObjects::queue, CompletionQueue::signal),
                after("tryWait", MisuseOfObjects::queue, CompletionQueue::tryWait),
                after("waitDescriptor", MisuseOfObjects::queue, CompletionQueue::waitDescriptor),
                after("block on a queue", MisuseOfObjects::queue, queue -> Waiting.block(SHORT, queue)),
                after("insert", MisuseOfObjects::vector, vector -> vector.insert(address)),
                after("insertAll", MisuseOfObjects::vector, vector -> vector.insertAll(List.of(address))),
                after("insertService", MisuseOfObjects::vector, vector -> vector.insertService("127.0.0.1", "1")),
                after("insertSymmetric", MisuseOfObjects::vector,
                        vector -> vector.insertSymmetric("127.0.0.1", 1, "1", 1)),
                after("toText", MisuseOfObjects::vector, vector -> vector.toText(address)),
                after("openCompletionQueue", MisuseOfObjects::domain, Domain::openCompletionQueue),
                after("openCounter", MisuseOfObjects::domain, Domain::openCounter),
                after("openAddressVector", MisuseOfObjects::domain, Domain::openAddressVector),
                after("openEndpoint", MisuseOfObjects::domain, Domain::openEndpoint),
                after("allocate", MisuseOfObjects::domain, domain -> domain.allocate(8, Access.WRITE)),
                after("register", MisuseOfObjects::domain,
                        domain -> domain.register(Arena.global().allocate(8), Access.WRITE)),
                after("startProgress", MisuseOfObjects::domain, Domain::startProgress),
                after("openDomain", MisuseOfObjects::fabric, Fabric::openDomain),
                after("openEventQueue", MisuseOfObjects::fabric, Fabric::openEventQueue),
                after("rma", MisuseOfObjects::endpoint, Endpoint::rma),
                after("address", MisuseOfObjects::endpoint, Endpoint::address),
                after("enable", MisuseOfObjects::endpoint, Endpoint::enable),
                after("options", MisuseOfObjects::endpoint,
                        endpoint -> endpoint.options().get(EndpointOption.MINIMUM_MULTI_RECEIVE)),
                after("default flags", MisuseOfObjects::endpoint, endpoint -> endpoint.control().defaultFlags()),
                after("transmitSizeLeft", MisuseOfObjects::endpoint, endpoint -> endpoint.control().transmitSizeLeft()),
                after("alias", MisuseOfObjects::endpoint, endpoint -> endpoint.alias(Set.of())),
                after("refresh", MisuseOfObjects::region, MemoryRegion::refresh),
                after("rawKey", MisuseOfObjects::region, MemoryRegion::rawKey),
                after("counter read", MisuseOfObjects::counter, Counter::read),
                after("counter readErrors", MisuseOfObjects::counter, Counter::readErrors),
                after("counter add", MisuseOfObjects::counter, counter -> counter.add(1)),
                after("counter set", MisuseOfObjects::counter, counter -> counter.set(1)),
                after("counter await", MisuseOfObjects::counter, counter -> counter.await(1, SHORT)));
    }

    private static Scope scope() { return Libfabric.load().openScope(); }

    private static Stream<Misuse> scopes() {
        return Stream.of(
                refused("open a fabric in a closed scope", STATE, "the scope is closed",
                        s -> closed(scope()).openFabric(s.pair.fabric.info())),
                refused("openFabric with an info of the program's own", ARGUMENT, "Libfabric.info",
                        s -> Libfabric.load().openFabric(ownInfo())),
                refused("openFabric in a scope with an info of the program's own", ARGUMENT, "Libfabric.info",
                        s -> scope().openFabric(ownInfo())),
                refused("add to a closed scope", STATE, "the scope is closed", s -> closed(scope()).add(s.source)),
                refused("a scope without time for its close", ARGUMENT, "above zero",
                        s -> s.opened(scope()).closeTimeout(Duration.ZERO)),
                refused("close a scope with a queue that an endpoint outside needs", STATE, "close these before", s -> {
                    Scope scope = scope();
                    scope.add(s.pair.queue);
                    scope.close();
                }), refused("close a scope with another thread's domain", WrongThreadException.class, "DOMAIN", s -> {
                    Scope scope = scope();
                    scope.add(s.owned(ThreadingModel.DOMAIN).fabric);
                    MisuseStage.elsewhere(scope::close);
                }));
    }

    private static Stream<Misuse> parents() {
        return Stream.of(
                refused("close a fabric with a domain", STATE, "close these before", s -> s.pair.fabric.close()),
                refused("close a domain with children", STATE, "close these before", s -> s.pair.domain.close()),
                refused("close a queue with an endpoint", STATE, "close these before", s -> s.pair.queue.close()),
                refused("close a vector with an endpoint", STATE, "close these before", s -> s.pair.vector.close()),
                refused("close an endpoint with an alias", STATE, "close these before", s -> {
                    Pair sockets = s.other("sockets");
                    s.opened(sockets.endpoint.alias(Set.of()));
                    sockets.endpoint.close();
                }));
    }

    private static Stream<Misuse> bindings() {
        return Stream.of(
                refused("bind another domain's queue", ARGUMENT, "same domain",
                        s -> s.opened(endpoint(s)).bind(s.other("shm").queue)),
                refused("bind another domain's vector", ARGUMENT, "same domain",
                        s -> s.opened(endpoint(s)).bind(s.other("shm").vector)),
                refused("bind a vector twice", STATE, "already has",
                        s -> s.opened(endpoint(s)).bind(s.pair.vector).bind(s.pair.vector)),
                refused("bind a queue twice", STATE, "already has",
                        s -> s.opened(endpoint(s)).bind(s.pair.queue).bind(s.pair.queue)),
                refused("bind after enable", STATE, "is enabled", s -> s.pair.endpoint.bind(s.pair.vector)),
                refused("bind an event queue to an unconnected endpoint", UnsupportedOperationException.class,
                        "is not connected",
                        s -> s.opened(endpoint(s)).bind(s.opened(s.other("sockets").fabric.openEventQueue()))),
                refused("bind a closed queue", STATE, "closed", s -> s.opened(endpoint(s)).bind(closed(queue(s)))),
                refused("bind a closed vector", STATE, "closed", s -> s.opened(endpoint(s)).bind(closed(vector(s)))),
                refused("bind a queue without a direction twice", STATE, "already has",
                        s -> s.opened(endpoint(s)).bindSelective(s.pair.queue).bind(s.pair.queue, Direction.TRANSMIT)),
                refused("enable twice", STATE, "enabled", s -> s.pair.endpoint.enable()),
                refused("enable with nothing bound", STATE, "bind ", s -> s.opened(endpoint(s)).enable()),
                refused("enable without a queue", STATE, "bind ",
                        s -> s.opened(endpoint(s)).bind(s.pair.vector).enable()),
                refused("post before enable", STATE, "enable ",
                        s -> s.opened(endpoint(s)).bind(s.pair.vector).bind(s.pair.queue).rma()),
                refused("address before enable", STATE, "enable ", s -> s.opened(endpoint(s)).address()),
                refused("alias before enable", STATE, "enable ", s -> s.opened(endpoint(s)).alias(Set.of())),
                refused("a connection without a peer", UnsupportedOperationException.class, "not connected",
                        s -> s.pair.endpoint.connection()),
                refused("remove a peer twice", ARGUMENT, "not in this address vector", s -> {
                    s.pair.vector.remove(s.pair.far);
                    s.pair.vector.remove(s.pair.far);
                }),
                refused("remove another vector's peer", ARGUMENT, "not in this address vector",
                        s -> s.pair.vector.remove(s.other("shm").far)),
                refused("the address of another vector's peer", ARGUMENT, "not in this address vector",
                        s -> s.pair.vector.address(s.other("shm").far)),
                refused("insert another kind of address", ARGUMENT, "same provider",
                        s -> s.other("tcp;ofi_rxm").vector.insert(s.pair.endpoint.address())),
                refused("insert another kind of address into shm", ARGUMENT, "same provider",
                        s -> s.pair.vector.insert(s.other("tcp;ofi_rxm").endpoint.address())));
    }

    private static Misuse memory(String name, Class<? extends Throwable> expected, String words,
            Consumer<Domain> call) {
        return refused("memory: " + name, expected, words, s -> call.accept(s.pair.domain));
    }

    private static Misuse map(String name, Class<? extends Throwable> expected, String words, String file, long offset,
            long length) {
        return memory(name, expected, words, domain -> MisuseStage
                .unchecked(() -> domain.map(Path.of(file), MapMode.READ_WRITE, offset, length, Access.WRITE)).close());
    }

    @SuppressWarnings("restricted") // what a program may come with that made its segment itself
    private static MemorySegment atZero() { return MemorySegment.NULL.reinterpret(8); }

    private static Stream<Misuse> memory() {
        MemorySegment memory = Arena.global().allocate(64);
        return Stream.of(memory("of no length", ARGUMENT, "byte", domain -> domain.allocate(0, Access.WRITE)),
                memory("of negative length", ARGUMENT, "byte", domain -> domain.allocate(-1, Access.WRITE)),
                memory("of the least length", ARGUMENT, "byte",
                        domain -> domain.allocate(Long.MIN_VALUE, Access.WRITE)),
                memory("without access", ARGUMENT, "at least one access right", domain -> domain.allocate(8)),
                memory("registered without access", ARGUMENT, "at least one access right",
                        domain -> domain.register(memory)),
                memory("on the heap", ARGUMENT, "heap",
                        domain -> domain.register(MemorySegment.ofArray(new byte[8]), Access.WRITE)),
                memory("null", ARGUMENT, "byte", domain -> domain.register(MemorySegment.NULL, Access.WRITE)),
                memory("at address zero", ARGUMENT, "address", domain -> domain.register(atZero(), Access.WRITE)),
                memory("no segments", ARGUMENT, "at least one segment",
                        domain -> domain.register(List.<MemorySegment>of(), Access.WRITE)),
                memory("a segment that is null", NullPointerException.class, "one of the segments is null",
                        domain -> domain.register(Arrays.asList(memory, null), Access.WRITE)),
                memory("read-only for remote writes", ARGUMENT, "read-only",
                        domain -> domain.register(memory.asReadOnly(), Access.REMOTE_WRITE)),
                memory("of a closed arena", STATE, "arena", domain -> {
                    Arena arena = Arena.ofShared();
                    MemorySegment gone = arena.allocate(8);
                    arena.close();
                    domain.register(gone, Access.WRITE);
                }),
                memory("more than there is", OutOfMemoryError.class, "close regions, or raise its limits",
                        domain -> domain.allocate(1L << 60, Access.WRITE)),
                memory("a key that is none", ARGUMENT, "choose another",
                        domain -> MemoryRegionAttributes.of(memory).requestedKey(-1)),
                memory("force of what is no file", UnsupportedOperationException.class, "not mapped from a file",
                        domain -> {
                            try (MemoryRegion region = domain.allocate(8, Access.WRITE)) {
                                region.force();
                            }
                        }),
                map("a file that is not there", java.io.UncheckedIOException.class, "NoSuchFile", "/nonexistent", 0, 8),
                map("a file from a negative offset", ARGUMENT, "offset", "/dev/null", -1, 8),
                map("a file of negative length", ARGUMENT, "byte", "/dev/null", 0, -1),
                map("a folder", java.io.UncheckedIOException.class, "regular file", "/tmp", 0, 8));
    }

    private static Misuse counter(String name, Class<? extends Throwable> expected, String words,
            Consumer<Counter> call) {
        return refused("counter: " + name, expected, words,
                s -> call.accept(s.opened(s.other("sockets").domain.openCounter())));
    }

    private static Stream<Misuse> counters() {
        return Stream.of(counter("add less than nothing", ARGUMENT, "0 or more", counter -> counter.add(-1)),
                counter("set below nothing", ARGUMENT, "0 or more", counter -> counter.set(Long.MIN_VALUE)),
                counter("negative errors", ARGUMENT, "0 or more", counter -> counter.addErrors(-1)),
                counter("set negative errors", ARGUMENT, "0 or more", counter -> counter.setErrors(-1)),
                counter("what never comes", FabricTimeoutException.class, "stands at 0",
                        counter -> counter.await(5, SHORT)),
                counter("what never comes, for a negative time", FabricTimeoutException.class, "stands at 0",
                        counter -> counter.await(5, Duration.ofSeconds(Long.MIN_VALUE))),
                counter("an interrupted wait", FabricException.class, "interrupted",
                        counter -> MisuseStage.interrupted(() -> counter.await(5, Pair.DEADLINE))),
                refused("counter: bound to count nothing", ARGUMENT, "at least one event to count", s -> {
                    Pair sockets = s.other("sockets");
                    s.opened(sockets.domain.openEndpoint()).bind(s.opened(sockets.domain.openCounter()));
                }), refused("counter: bound in another domain", ARGUMENT, "same domain", s -> {
                    Counter theirs = s.opened(s.other("sockets").domain.openCounter());
                    s.opened(s.other("sockets").domain.openEndpoint()).bind(theirs, CounterEvent.WRITE);
                }), refused("counter: bound twice", STATE, "already has a counter", s -> {
                    Pair sockets = s.other("sockets");
                    Counter counter = s.opened(sockets.domain.openCounter());
                    s.opened(sockets.domain.openEndpoint()).bind(counter, CounterEvent.WRITE).bind(counter,
                            CounterEvent.WRITE);
                }));
    }
}
