package io.ofi4j.misuse;

import static io.ofi4j.misuse.Misuse.refused;
import static io.ofi4j.misuse.MisuseStage.IGNORING;

import io.ofi4j.Access;
import io.ofi4j.Libfabric;
import io.ofi4j.MemoryRegion;
import io.ofi4j.PackagePrivate;
import io.ofi4j.RawKey;
import io.ofi4j.RemoteRegion;
import io.ofi4j.Rma;
import io.ofi4j.Waiting;
import io.ofi4j.errors.FabricTimeoutException;
import io.ofi4j.errors.NoProviderException;
import io.ofi4j.info.AddressFormat;
import io.ofi4j.info.AddressVectorAttributes;
import io.ofi4j.info.AddressVectorType;
import io.ofi4j.info.AttributeHints;
import io.ofi4j.info.CompletionQueueAttributes;
import io.ofi4j.info.CounterAttributes;
import io.ofi4j.info.EndpointAddress;
import io.ofi4j.info.EndpointOption;
import io.ofi4j.info.EventQueueAttributes;
import io.ofi4j.info.FabricHints;
import io.ofi4j.info.Hook;
import io.ofi4j.info.Limit;
import io.ofi4j.info.OperationFlag;
import io.ofi4j.info.Protocol;
import io.ofi4j.info.ThreadingModel;
import io.ofi4j.info.TrafficClass;
import io.ofi4j.info.VersionRange;
import io.ofi4j.info.WaitObject;
import io.ofi4j.support.Pair;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/** Numbers, names, durations and flags that are out of range, and bytes that are not what they should be. */
final class MisuseOfValues {
    private static final Class<? extends Throwable> ARGUMENT = IllegalArgumentException.class;
    private static final Class<? extends Throwable> TIME = FabricTimeoutException.class;
    private static final Duration MIN_DURATION = Duration.ofSeconds(Long.MIN_VALUE);

    private MisuseOfValues() {}

    static Stream<Misuse> cases() {
        return Stream.of(attributes(), limits(), durations(), bytes(), discovery()).flatMap(cases -> cases);
    }

    private static Misuse value(String name, String words, Runnable call) {
        return refused(name, ARGUMENT, words, s -> call.run());
    }

    private static Stream<Misuse> attributes() {
        AddressVectorAttributes vectors = AddressVectorAttributes.defaults();
        CompletionQueueAttributes queues = CompletionQueueAttributes.defaults();
        EventQueueAttributes events = EventQueueAttributes.defaults();
        AttributeHints hints = AttributeHints.none();
        return Stream.of(
                refused("a queue with a wait object for several objects", UnsupportedOperationException.class, "SET",
                        s -> queues.waitObject(WaitObject.SET)),
                refused("an event queue with a wait object for several objects", UnsupportedOperationException.class,
                        "SET", s -> events.waitObject(WaitObject.SET)),
                refused("a counter with a wait object for several objects", UnsupportedOperationException.class, "SET",
                        s -> CounterAttributes.defaults().waitObject(WaitObject.SET)),
                value("a queue of no size", "entries, not 0", () -> queues.size(0)),
                value("a queue of the least size", "entries, not -", () -> queues.size(Integer.MIN_VALUE)),
                value("a queue too large", "1 to 1048576 entries", () -> queues.size((1 << 20) + 1)),
                value("a negative signaling vector", "0 or more", () -> queues.signalingVector(-1)),
                value("a wait threshold of nothing", "at least 1", () -> queues.waitThreshold(0)),
                value("an event queue of no size", "at least 1 event", () -> events.size(0)),
                value("an event queue of negative size", "at least 1 event", () -> events.size(-5)),
                value("addresses below 0", "not -1", () -> vectors.count(-1)),
                value("too many addresses", "not 9223372036854775807", () -> vectors.count(Long.MAX_VALUE)),
                value("endpoints per node below 0", "not -1", () -> vectors.endpointsPerNode(-1)),
                value("context bits below 0", "not -1", () -> vectors.receiveContextBits(-1)),
                value("too many context bits", "not 65", () -> vectors.receiveContextBits(65)),
                value("a vector's name with a slash", "unlike '../x'", () -> vectors.name("../x")),
                value("a vector's name of nothing", "unlike ''", () -> vectors.name("")),
                value("a vector of type OTHER", "OTHER cannot be asked for",
                        () -> vectors.type(AddressVectorType.OTHER)),
                value("a transmit size below 0", "0 or more, not -1", () -> hints.atLeast(Limit.TRANSMIT_SIZE, -1)),
                value("a receive size below 0", "0 or more, not -1", () -> hints.atLeast(Limit.RECEIVE_SIZE, -1)),
                value("an inject size below 0", "0 or more, not -",
                        () -> hints.atLeast(Limit.INJECT_SIZE, Long.MIN_VALUE)),
                value("a protocol of no name", "OTHER cannot be asked for", () -> hints.protocol(Protocol.OTHER)),
                value("a code point above all", "0 to 63, not 64", () -> TrafficClass.ofCodePoint(64)),
                value("a code point below 0", "0 to 63, not -1", () -> TrafficClass.ofCodePoint(-1)),
                value("a number of a group with 33 bits", "32 bits",
                        () -> hints.atLeast(Limit.MAXIMUM_GROUP_ID, 1L << 32)),
                value("a number of endpoints below 0", "0 or more, not -1", () -> hints.atLeast(Limit.ENDPOINTS, -1)),
                value("an address format of no name", "OTHER cannot be asked for",
                        () -> FabricHints.any().addressFormat(AddressFormat.OTHER)),
                value("a default flag of sends for receives", "cannot be a default of receives",
                        () -> FabricHints.any().receiveOperationFlags(OperationFlag.DELIVERY_COMPLETE)),
                value("a provider without a name", "must be a name", () -> FabricHints.any().provider("")),
                value("a provider's name with a zero", "must be a name", () -> FabricHints.any().provider("shm\0tcp")),
                value("a domain without a name", "must be a name", () -> FabricHints.any().domain("")),
                value("a host name with a zero", "must be a name", () -> FabricHints.any().source("a\0b", null)),
                value("a default flag that is for single operations", "cannot be a default",
                        () -> FabricHints.any().operationFlags(OperationFlag.FENCE)),
                value("an option of a provider with a common number", "below 0",
                        () -> EndpointOption.flagOfProvider("x", 0)));
    }

    private static Stream<Misuse> limits() {
        return Stream.of(refused("poll for none", ARGUMENT, "at least 1, not 0", s -> s.pair.queue.poll(IGNORING, 0)),
                refused("poll for less than none", ARGUMENT, "at least 1, not -2147483648",
                        s -> s.pair.queue.poll(IGNORING, Integer.MIN_VALUE)),
                refused("await none", ARGUMENT, "at least 1, not 0",
                        s -> s.pair.queue.await(IGNORING, 0, Duration.ofMillis(1))),
                refused("a message size below 0 as option", ARGUMENT, "0 or more",
                        s -> s.pair.endpoint.options().set(EndpointOption.MINIMUM_MULTI_RECEIVE, -1L)),
                refused("default flags that are for single operations", ARGUMENT, "cannot be a default",
                        s -> s.pair.endpoint.control().defaultFlags(Set.of(OperationFlag.FENCE))),
                refused("an alias with flags for single operations", ARGUMENT, "cannot be a default",
                        s -> s.other("sockets").endpoint.alias(Set.of(OperationFlag.FENCE))),
                refused("a symmetric insert of no nodes", ARGUMENT, "not 0",
                        s -> s.other("sockets").vector.insertSymmetric("127.0.0.1", 0, "5000", 1)),
                refused("a symmetric insert of negative services", ARGUMENT, "not 1 x -1",
                        s -> s.other("sockets").vector.insertSymmetric("127.0.0.1", 1, "5000", -1)),
                refused("a symmetric insert of more than all", ARGUMENT, "not 2147483647",
                        s -> s.other("sockets").vector.insertSymmetric("127.0.0.1", Integer.MAX_VALUE, "5000",
                                Integer.MAX_VALUE)),
                refused("a service with a zero in it", ARGUMENT, "service",
                        s -> s.other("sockets").vector.insertService("127.0.0.1", "50\0000")),
                refused("a node of nothing", ARGUMENT, "node",
                        s -> s.other("sockets").vector.insertService("", "5000")),
                refused("a node longer than any", ARGUMENT, "node",
                        s -> s.other("sockets").vector.insertService("x".repeat(10_000), "5000")));
    }

    private static Stream<Misuse> durations() {
        return Stream.of(
                refused("a post timeout of nothing", ARGUMENT, "above zero",
                        s -> s.pair.endpoint.postTimeout(Duration.ZERO)),
                refused("a negative post timeout", ARGUMENT, "above zero",
                        s -> s.pair.endpoint.postTimeout(MIN_DURATION)),
                value("a backoff of negative spins", "-1",
                        () -> Waiting.backoff(-1, 0, Duration.ofNanos(1), Duration.ofNanos(2))),
                value("a range of versions that ends before it begins", "before 2.0",
                        () -> VersionRange.from(2, 0).to(1, 9)),
                refused("wait for a negative time", TIME, "within -",
                        s -> Waiting.YIELD.until(() -> false, MIN_DURATION)),
                refused("spin for no time", TIME, "within 0 ms", s -> Waiting.SPIN.until(() -> false, Duration.ZERO)),
                refused("wait for ever with a condition that fails", IllegalStateException.class, "no more",
                        s -> Waiting.YIELD.until(failingAfter(1000), ChronoUnit.FOREVER.getDuration())),
                refused("read an event for a negative time", TIME, "within -",
                        s -> s.opened(s.other("sockets").fabric.openEventQueue()).read(MIN_DURATION)),
                refused("close a region in use for a negative time", TIME, "still in flight", s -> {
                    Pair tcp = s.other("tcp;ofi_rxm");
                    MemoryRegion large = s.opened(tcp.domain.allocate(8 << 20, Access.WRITE, Access.REMOTE_WRITE));
                    tcp.rma().write(large.slice(0, 8 << 20), tcp.far, large.remote(), 1);
                    large.close(MIN_DURATION);
                }),
                refused("a progress thread that pauses for ever", ARGUMENT, "0 to 1 second",
                        s -> s.pair.domain.startProgress(ChronoUnit.FOREVER.getDuration())),
                refused("a progress thread with a negative pause", ARGUMENT, "0 to 1 second",
                        s -> s.pair.domain.startProgress(MIN_DURATION)),
                refused("a post that waits longer than any clock", IllegalStateException.class, "closed", s -> {
                    s.pair.endpoint.postTimeout(ChronoUnit.FOREVER.getDuration());
                    s.write(1);
                    Rma rma = s.rma();
                    s.pair.endpoint.close();
                    rma.write(s.source.slice(0, 8), s.pair.far, s.target.remote(), 1);
                }));
    }

    private static java.util.function.BooleanSupplier failingAfter(int times) {
        int[] asked = new int[1];
        return () -> {
            if (++asked[0] > times) { throw new IllegalStateException("no more"); }
            return false;
        };
    }

    private static Stream<Misuse> bytes() {
        return Stream.of(value("a region of negative length", "cannot have -1", () -> new RemoteRegion(0, -1, 0, 0)),
                value("a region with unknown access flags", "not access flags", () -> new RemoteRegion(0, 1, 0, 1)),
                value("no bytes as region", "40 bytes, not 0", () -> RemoteRegion.decode(new byte[0])),
                value("zeros as region", "not an encoded region", () -> RemoteRegion.decode(new byte[40])),
                value("a damaged region", "checksum", () -> {
                    byte[] bytes = new RemoteRegion(0, 8, 1, PackagePrivate.ALL_RIGHTS).encode();
                    bytes[12]++;
                    RemoteRegion.decode(bytes);
                }), value("an address of no bytes", "1 to 65535", () -> EndpointAddress.of(new byte[0])),
                value("an address of 65,536 bytes", "not 65536", () -> EndpointAddress.of(new byte[65_536])),
                value("no bytes as address", "not an encoded address", () -> EndpointAddress.decode(new byte[0])),
                value("zeros as address", "not an encoded address", () -> EndpointAddress.decode(new byte[40])),
                value("a damaged address", "checksum", () -> {
                    byte[] bytes = EndpointAddress.of(new byte[]{1, 2, 3, 4}).encode();
                    bytes[bytes.length - 6]++;
                    EndpointAddress.decode(bytes);
                }), value("no bytes as raw key", "bytes, not 0", () -> RawKey.decode(new byte[0])),
                value("a region as raw key", "are they a RemoteRegion",
                        () -> RawKey.decode(new RemoteRegion(0, 8, 1, PackagePrivate.ALL_RIGHTS).encode())),
                value("a raw key as region", "RawKey.decode",
                        () -> RemoteRegion
                                .decode(PackagePrivate.rawKey(8, PackagePrivate.ALL_RIGHTS, new byte[4]).encode())),
                refused("a raw key where there are none", UnsupportedOperationException.class,
                        "fi_mr_map_raw is not offered", s -> s.pair.domain
                                .mapRawKey(PackagePrivate.rawKey(8, PackagePrivate.ALL_RIGHTS, new byte[4]))));
    }

    private static Stream<Misuse> discovery() {
        return Stream.of(
                refused("a provider that is not there", NoProviderException.class, "No provider 'nonsense'",
                        s -> Libfabric.load().info(FabricHints.any().provider("nonsense"))),
                refused("a domain that is not there", NoProviderException.class, "no domain 'nonsense'",
                        s -> Libfabric.load().info(FabricHints.any().provider("shm").domain("nonsense"))),
                value("hints with a source that is cut off", "15 bytes are no address",
                        () -> Libfabric.load().info(
                                FabricHints.any().source(EndpointAddress.of(new byte[15], AddressFormat.SOCKADDR_IN)))),
                value("a name of the environment with =", "without '='", () -> Libfabric.load(Map.of("A=B", "c"))),
                refused("providers after loading", IllegalStateException.class, "loaded already",
                        s -> Libfabric.load(List.of(Hook.TRACE))),
                refused("the environment after loading", IllegalStateException.class, "loaded already",
                        s -> Libfabric.load(Map.of("FI_LOG_LEVEL", "warn"))),
                refused("a passive endpoint that is not of type MSG", ARGUMENT, "of type MSG",
                        s -> s.pair.fabric.openPassiveEndpoint(s.pair.fabric.info())),
                refused("a progress thread without ThreadingModel.SAFE", IllegalStateException.class, "SAFE",
                        s -> s.owned(ThreadingModel.DOMAIN).domain.startProgress()),
                refused("two progress threads", IllegalStateException.class, "already has", s -> {
                    s.opened(s.pair.domain.startProgress());
                    s.pair.domain.startProgress();
                }));
    }
}
