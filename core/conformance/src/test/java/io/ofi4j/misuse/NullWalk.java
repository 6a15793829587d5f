package io.ofi4j.misuse;

import io.ofi4j.Access;
import io.ofi4j.CompletionError;
import io.ofi4j.CompletionHandler;
import io.ofi4j.CompletionQueue;
import io.ofi4j.ConnectionRequest;
import io.ofi4j.Counter;
import io.ofi4j.DeferredWork;
import io.ofi4j.Domain;
import io.ofi4j.Endpoint;
import io.ofi4j.Event;
import io.ofi4j.EventError;
import io.ofi4j.Fabric;
import io.ofi4j.Libfabric;
import io.ofi4j.MemoryRegion;
import io.ofi4j.MemoryRegionAttributes;
import io.ofi4j.MulticastGroup;
import io.ofi4j.PackagePrivate;
import io.ofi4j.RawKey;
import io.ofi4j.ScalableEndpoint;
import io.ofi4j.Scope;
import io.ofi4j.SharedReceiveContext;
import io.ofi4j.SharedTransmitContext;
import io.ofi4j.Waitable;
import io.ofi4j.Waiting;
import io.ofi4j.durable.SaveService;
import io.ofi4j.durable.Saver;
import io.ofi4j.errors.FabricException;
import io.ofi4j.info.AddressVectorAttributes;
import io.ofi4j.info.AtomicOperation;
import io.ofi4j.info.AttributeHints;
import io.ofi4j.info.Capability;
import io.ofi4j.info.CompletionQueueAttributes;
import io.ofi4j.info.CounterAttributes;
import io.ofi4j.info.Datatype;
import io.ofi4j.info.DomainAttributes;
import io.ofi4j.info.EndpointAttributes;
import io.ofi4j.info.EndpointOption;
import io.ofi4j.info.EndpointStatistics;
import io.ofi4j.info.EventQueueAttributes;
import io.ofi4j.info.FabricAttributes;
import io.ofi4j.info.FabricHints;
import io.ofi4j.info.NetworkDevice;
import io.ofi4j.info.OpenObjectsMXBean;
import io.ofi4j.info.OperationFlag;
import io.ofi4j.info.Parameter;
import io.ofi4j.info.ReceiveAttributes;
import io.ofi4j.info.TrafficClass;
import io.ofi4j.info.TransmitAttributes;
import io.ofi4j.info.VersionRange;
import io.ofi4j.job.Doorbell;
import io.ofi4j.job.Job;
import io.ofi4j.job.JobCollectives;
import io.ofi4j.job.PeerHello;
import io.ofi4j.job.PeerLink;
import io.ofi4j.job.PeerServer;
import io.ofi4j.job.Ranks;
import io.ofi4j.job.SymmetricMemory;
import io.ofi4j.job.Reduction;
import io.ofi4j.job.RemoteDoorbell;
import io.ofi4j.job.Rendezvous;
import io.ofi4j.support.Member;
import io.ofi4j.support.Pair;
import io.ofi4j.support.TestProviders;
import io.ofi4j.test.TestFabric;
import io.ofi4j.test.TestSide;
import io.ofi4j.util.FutureThread;
import io.ofi4j.util.Pipeline;
import io.ofi4j.util.PipelineHandler;
import io.ofi4j.util.PollGroup;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.reflect.Array;
import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.channels.FileChannel;
import java.nio.channels.Pipe;
import java.nio.channels.SelectableChannel;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import java.util.function.IntSupplier;
import java.util.function.LongPredicate;
import java.util.stream.Stream;

/**
 * Calls every public method and constructor of the library as often as it has references among its arguments, each time
 * with null in the place of one, and once more for an array that has null in it. Prints what refused it.
 */
final class NullWalk {
    private static final String NOT_FOUND = "LibfabricNotFoundException."
            + "io.ofi4j.errors.LibfabricNotFoundException(String, Version, Throwable), argument ";
    /** Where null means any, or is not looked at. */
    private static final Set<String> TAKEN = Set.of("FabricHints.source(String, String), argument 0",
            "FabricHints.source(String, String), argument 1", "FabricHints.destination(String, String), argument 1",
            NOT_FOUND + "1", NOT_FOUND + "2", "Capability.setOf(long, Version), argument 1",
            "Pipeline.submit(Object, LongConsumer), argument 0",
            "Pipeline.write(Slice, Peer, RemoteRegion, Object), argument 3",
            "Pipeline.read(Slice, Peer, RemoteRegion, Object), argument 3",
            "Pipeline.recordLatencies(LongConsumer), argument 0",
            "PipelineHandler.onCompletion(Object, long, long), argument 0");
    /** What the library makes, and takes nowhere: as it was made, with whatever is in it. */
    private static final Set<Class<?>> MADE_BY_THE_LIBRARY = Set.of(CompletionError.class, EventError.class,
            Event.Connected.class, Event.ConnectionRequested.class, Event.Failed.class, Event.ShutDown.class,
            DomainAttributes.class, EndpointAttributes.class, ReceiveAttributes.class, TransmitAttributes.class,
            EndpointStatistics.class, FabricAttributes.class, Parameter.class, NetworkDevice.class,
            NetworkDevice.Device.class, NetworkDevice.Link.class, OpenObjectsMXBean.OpenDomain.class,
            OpenObjectsMXBean.OpenQueue.class, OpenObjectsMXBean.OpenEndpoint.class);

    private static final List<Class<? extends Throwable>> NAMED = List.of(NullPointerException.class,
            IllegalArgumentException.class, IllegalStateException.class, UnsupportedOperationException.class,
            FabricException.class);

    private static final String SECRET = Rendezvous.newSecret();

    private final Map<Class<?>, Object> samples = new HashMap<>();
    private final List<Endpoint> opened = new ArrayList<>();
    private final Pipe pipe = openPipe();
    private int wrong;

    private NullWalk() {}

    private static Pipe openPipe() {
        try {
            Pipe pipe = Pipe.open();
            pipe.source().configureBlocking(false);
            return pipe;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public static void main(String[] arguments) throws Exception {
        NullWalk walk = new NullWalk();
        Path file = Files.createTempFile("ofi4j", ".null");
        try (Pair pair = new Pair(
                TestProviders.hints("shm").capabilities(Capability.RMA, Capability.MSG, Capability.TAGGED));
                Pair connected = new Pair("MSG tcp");
                Pair atomic = new Pair(TestProviders.atomicHints("shm"));
                Pair collective = new Pair(FabricHints.collectives().provider("tcp;ofi_rxm").source("127.0.0.1", null));
                Counter counter = pair.domain.openCounter();
                MemoryRegion region = pair.domain.allocate(64, Access.values());
                SaveService service = new SaveService(pair.domain);
                Saver saver = new Saver(pair.domain, pair.endpoint, pair.queue);
                FileChannel channel = FileChannel.open(file);
                PollGroup group = new PollGroup();
                FutureThread futures = new FutureThread(connected.endpoint, connected.queue);
                Rendezvous rendezvous = Rendezvous.serve(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                        Rendezvous.newSecret());
                PeerServer server = PeerServer.listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                        SECRET);
                PeerLink link = link(server, PeerHello.of(pair.endpoint));
                Doorbell bell = Doorbell.open();
                RemoteDoorbell remoteBell = RemoteDoorbell.open(bell.address());
                Job job = Job.join(); // of one
                JobCollectives collectives = new JobCollectives(job, pair.domain);
                Pair delivering = new Pair(TestProviders.hints("shm").operationFlags(OperationFlag.DELIVERY_COMPLETE));
                SymmetricMemory memory = SymmetricMemory.allocate(job.group(), delivering.domain, 64);
                Member member = Member.at(0);
                MulticastGroup all = Member.obstacle().isEmpty() ? member.join(member.groupAtPort(0)) : null;
                Fabric sockets = Libfabric.load().openFabric(TestProviders.info(TestProviders.hints("sockets")));
                Domain domain = sockets.openDomain();
                Counter first = domain.openCounter();
                Counter second = domain.openCounter();
                SharedReceiveContext receives = domain.openSharedReceiveContext();
                SharedTransmitContext shared = domain.openSharedTransmitContext();
                ScalableEndpoint scalable = domain.openScalableEndpoint();
                Scope scope = Libfabric.load().openScope();
                TestFabric fabric = TestFabric.open("shm");
                Arena arena = Arena.ofShared()) {
            walk.add(scope, receives, shared, scalable, EndpointStatistics.Latencies.NONE, pair.domain.statistics(),
                    pair.queue.statistics(), pair.endpoint.statistics());
            DeferredWork.When when = domain.deferredWork().when(first, 0);
            walk.add(domain.deferredWork(), when, when.add(second, 1));
            walk.add(pair.fabric, pair.domain, pair.queue, pair.vector, pair.endpoint, pair.far, counter, region,
                    channel, arena.allocate(64), file, pair.endpoint.rma(), pair.endpoint.rma().prepare(),
                    pair.endpoint.messages(), pair.endpoint.tagged(), pair.endpoint.tagged().prepare(),
                    pair.endpoint.options(), pair.endpoint.control(), pair.endpoint.address(), region.remote(),
                    region.slice(0, 8), service, service.ticket(), saver, pair.fabric.info(),
                    TestProviders.hints("shm"), Libfabric.load(), Libfabric.load().version());
            walk.add(atomic.endpoint.atomics(), atomic.endpoint.atomics().prepare(Datatype.INT64));
            walk.add(collective.endpoint.collectives(), collective.endpoint.collectives()
                    .join(List.of(collective.vector.insert(collective.endpoint.address()))).awaitJoined(Pair.DEADLINE));
            if (all != null) { walk.add(all); }
            walk.add(connected.events, connected.passive, connected.endpoint.connection(), walk.request(connected));
            walk.addValues();
            Reduction sum = Reduction.of(AtomicOperation.SUM, Datatype.INT64);
            walk.add(job, Ranks.exchange(job, pair.endpoint, pair.vector), collectives, sum, job.group(), memory);
            walk.samples.put(Reduction.Combination.class, sum.combination());
            walk.add(fabric, fabric.client());
            walk.add(group, futures, futures.submit(token -> {}), rendezvous, server, link, link.hello(), bell,
                    remoteBell, new Pipeline<>(pair.endpoint, pair.queue, 8, walk.handler()));
            for (Class<?> type : publicTypes()) {
                if (type != MulticastGroup.class || all != null) { walk.walk(type); } // where groups can be reached
            }
            walk.opened.forEach(Endpoint::close);
        }
        Files.delete(file);
        System.out.println("done");
        System.exit(walk.wrong == 0 ? 0 : 1);
    }

    private static PeerLink link(PeerServer server, PeerHello hello) {
        CompletableFuture<PeerLink> client = CompletableFuture.supplyAsync(
                () -> PeerLink.connect(server.address(), SECRET, hello, Pair.DEADLINE),
                task -> Thread.ofVirtual().start(task));
        server.await(link -> link.accept(hello), link -> {}, Pair.DEADLINE);
        return client.join();
    }

    private ConnectionRequest request(Pair pair) {
        Endpoint another = pair.domain.openEndpoint(pair.fabric.info().withDestination(pair.passive.address()))
                .bind(pair.events).bind(pair.queue).enable();
        another.connection().connect(pair.passive.address());
        ConnectionRequest request = ((Event.ConnectionRequested) pair.events.read(Pair.DEADLINE)).request();
        opened.add(another);
        return request;
    }

    private PipelineHandler<Object> handler() {
        PipelineHandler<Object> handler = new PipelineHandler<>() {
            @Override
            public void onCompletion(Object context, long length, long data) {
                // what was posted with null as its object
            }

            @Override
            public void onError(Object context, CompletionError error) { throw error.toException(); }
        };
        samples.put(PipelineHandler.class, handler);
        samples.put(SelectableChannel.class, pipe.source());
        samples.put(Consumer.class, (Consumer<Object>) object -> {});
        samples.put(LongConsumer.class, (LongConsumer) number -> {});
        samples.put(Runnable.class, (Runnable) () -> {});
        return handler;
    }

    private void add(Object... objects) {
        for (Object object : objects) {
            Class<?> type = object.getClass();
            while (!Modifier.isPublic(type.getModifiers())) {
                type = type.getSuperclass() == Object.class ? type.getInterfaces()[0] : type.getSuperclass();
            }
            samples.put(type, object);
        }
    }

    private void addValues() {
        samples.put(OptionalLong.class, OptionalLong.of(1));
        samples.put(OptionalInt.class, OptionalInt.of(1));
        samples.put(Object.class, "object");
        samples.put(Waiting.class, Waiting.YIELD);
        samples.put(String.class, "lo");
        samples.put(byte[].class, new byte[16]);
        samples.put(Duration.class, Duration.ofMillis(1));
        samples.put(Thread.class, Thread.currentThread());
        samples.put(List.class, List.of());
        samples.put(Set.class, Set.of());
        samples.put(Map.class, Map.of());
        samples.put(Optional.class, Optional.empty());
        samples.put(Path.class, Path.of("/nonexistent"));
        samples.put(InetSocketAddress.class, new InetSocketAddress("127.0.0.1", 1));
        samples.put(FileChannel.class, samples.remove(
                samples.keySet().stream().filter(FileChannel.class::isAssignableFrom).findFirst().orElseThrow()));
        samples.put(FileChannel.MapMode.class, FileChannel.MapMode.READ_ONLY);
        samples.put(MemorySegment.class, Arena.ofAuto().allocate(64));
        samples.put(BooleanSupplier.class, (BooleanSupplier) () -> true);
        samples.put(IntSupplier.class, (IntSupplier) () -> 0);
        samples.put(LongPredicate.class, (LongPredicate) number -> true);
        samples.put(CompletionHandler.class, (CompletionHandler) (token, flags, length, data) -> {});
        samples.put(Waitable.class, samples.get(CompletionQueue.class));
        samples.put(VersionRange.class, VersionRange.from(1, 15));
        samples.put(EndpointOption.class, EndpointOption.MINIMUM_MULTI_RECEIVE);
        samples.put(CompletionError.class,
                new CompletionError(1, true, 0, 0, 0, 0, 5, 0, 0, 0, "", new byte[0], "some"));
        samples.put(EventError.class, new EventError(Optional.empty(), 0, 0, 5, 5, "text", new byte[0], "some"));
        samples.put(Throwable.class, new UnsatisfiedLinkError());
        samples.put(TrafficClass.class, TrafficClass.BULK_DATA);
        samples.put(RawKey.class, PackagePrivate.rawKey(8, Access.REMOTE_READ.bit(), new byte[9]));
        samples.put(MemoryRegionAttributes.class,
                MemoryRegionAttributes.of((MemorySegment) samples.get(MemorySegment.class)));
        add(AddressVectorAttributes.defaults(), CompletionQueueAttributes.defaults(), CounterAttributes.defaults(),
                EventQueueAttributes.defaults(), AttributeHints.none());
    }

    /** Of the exported packages, wherever their classes are. */
    private static List<Class<?>> publicTypes() throws Exception {
        List<Class<?>> types = new ArrayList<>(
                publicTypes(Libfabric.class, "io/ofi4j", "io/ofi4j/errors", "io/ofi4j/info", "io/ofi4j/util"));
        types.addAll(publicTypes(Job.class, "io/ofi4j/job"));
        types.addAll(publicTypes(Saver.class, "io/ofi4j/durable"));
        types.addAll(List.of(TestFabric.class, TestSide.class)); // the others need JUnit, which is not here
        return types;
    }

    /** Those of packages that are where a class is. */
    private static List<Class<?>> publicTypes(Class<?> one, String... packages) throws Exception {
        Path place = Path.of(one.getProtectionDomain().getCodeSource().getLocation().toURI());
        if (Files.isDirectory(place)) { return publicTypes(place, packages); }
        try (FileSystem jar = FileSystems.newFileSystem(URI.create("jar:" + place.toUri()), Map.of())) {
            return publicTypes(jar.getPath("/"), packages);
        }
    }

    private static List<Class<?>> publicTypes(Path root, String... packages) throws ClassNotFoundException {
        List<Class<?>> types = new ArrayList<>();
        for (String name : Stream.of(packages).flatMap(one -> list(root.resolve(one)))
                .map(file -> root.relativize(file).toString()).sorted().toList()) {
            if (name.endsWith(".class") && !name.endsWith("package-info.class")) {
                Class<?> type = Class.forName(name.substring(0, name.length() - 6).replace('/', '.'));
                if (isPublic(type)) { types.add(type); }
            }
        }
        return types;
    }

    private static Stream<Path> list(Path folder) {
        try (Stream<Path> files = Files.list(folder)) {
            return files.toList().stream();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static boolean isPublic(Class<?> type) {
        return Modifier.isPublic(type.getModifiers())
                && (type.getEnclosingClass() == null || isPublic(type.getEnclosingClass()));
    }

    private void walk(Class<?> type) {
        Stream.concat(Stream.of(type.getConstructors()), Stream.of(type.getMethods()))
                .filter(one -> one.getDeclaringClass() == type && !one.getName().equals("equals"))
                .filter(one -> !(one instanceof Method method && hasOtherResult(method))).forEach(this::walk);
    }

    /**
     * Whether it is there only because an override returns a subtype; a method of a hidden superclass is a bridge, too.
     */
    private static boolean hasOtherResult(Method bridge) {
        return bridge.isBridge() && Stream.of(bridge.getDeclaringClass().getDeclaredMethods())
                .anyMatch(one -> !one.isBridge() && one.getName().equals(bridge.getName())
                        && Arrays.equals(one.getParameterTypes(), bridge.getParameterTypes()));
    }

    private void walk(Executable call) {
        Class<?>[] types = call.getParameterTypes();
        for (int at = 0; at < types.length; at++) {
            if (!types[at].isPrimitive()) { refuses(call, at, null, ""); }
            if (types[at].isArray() && !types[at].getComponentType().isPrimitive()) {
                refuses(call, at, Array.newInstance(types[at].getComponentType(), 1), " with null in it");
            }
        }
    }

    private void refuses(Executable call, int at, Object value, String how) {
        String name = name(call) + ", argument " + at + how;
        Object[] arguments = Stream.of(call.getParameterTypes()).map(this::sample).toArray();
        arguments[at] = value;
        try {
            invoke(call, arguments);
            boolean made = call instanceof Constructor && MADE_BY_THE_LIBRARY.contains(call.getDeclaringClass());
            if (!made && !TAKEN.contains(name)) {
                System.out.println("taken: " + name);
                wrong++;
            }
        } catch (InvocationTargetException e) {
            Throwable thrown = e.getCause();
            System.out.println(name + " refused by " + thrown);
            if (NAMED.stream().noneMatch(type -> type.isInstance(thrown))) {
                wrong++;
                System.out.println("not named: " + name);
            }
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(name, e);
        }
    }

    private static String name(Executable call) {
        return call.getDeclaringClass().getSimpleName() + "." + call.getName() + "("
                + String.join(", ", Stream.of(call.getParameterTypes()).map(Class::getSimpleName).toList()) + ")";
    }

    private void invoke(Executable call, Object[] arguments) throws ReflectiveOperationException {
        if (call instanceof Constructor<?> constructor) {
            constructor.newInstance(arguments);
            return;
        }
        Object target = Modifier.isStatic(call.getModifiers()) ? null : sample(call.getDeclaringClass());
        Object result = ((Method) call).invoke(target, arguments);
        if (result instanceof AutoCloseable opened && result != target) { close(opened); }
    }

    private static void close(AutoCloseable opened) {
        try {
            opened.close();
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    private Object sample(Class<?> type) {
        if (type.isPrimitive()) { return Array.get(Array.newInstance(type, 1), 0); }
        if (type.isEnum()) { return type.getEnumConstants()[0]; }
        if (samples.containsKey(type)) { return samples.get(type); }
        if (type.isArray()) {
            Object array = Array.newInstance(type.getComponentType(), 1);
            Array.set(array, 0, sample(type.getComponentType()));
            return array;
        }
        return samples.values().stream().filter(type::isInstance).findFirst()
                .orElseThrow(() -> new AssertionError("no sample of " + type));
    }
}
