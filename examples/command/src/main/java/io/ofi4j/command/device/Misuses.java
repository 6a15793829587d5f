package io.ofi4j.command.device;

import io.ofi4j.Access;
import io.ofi4j.MemoryRegion;
import io.ofi4j.MemoryRegionAttributes;
import io.ofi4j.Peer;
import io.ofi4j.RemoteRegion;
import io.ofi4j.command.device.Memory.Place;
import io.ofi4j.command.device.Rows.Result;
import io.ofi4j.durable.Durability;
import io.ofi4j.durable.Saver;
import io.ofi4j.errors.FabricException;
import io.ofi4j.info.Capability;
import io.ofi4j.info.DeviceInterface;
import io.ofi4j.info.DevicePeerToPeer;
import io.ofi4j.info.EndpointOption;
import io.ofi4j.info.OperationFlag;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicReference;

/**
 * What is not meant to be done with memory of a device, and what is seldom done. Each runs in a process of its own, and
 * must end in an exception with a name, or in a result that can be written down: never in a signal.
 */
final class Misuses {
    private static final Duration DEADLINE = Duration.ofSeconds(5);
    private static final long LENGTH = 1 << 20;
    /** More than one page of the device: its driver gives smaller pieces of these away. */
    private static final long OWN_PAGES = 4L << 20;
    /** What the device itself takes a while to copy. */
    private static final long LONG = 256L << 20;
    private static final int FEW = 5;
    private static final int MANY = 50;
    /** The end of the names of those that run with io.ofi4j.quirks=none: what libfabric does alone. */
    static final String PLAIN = ", without remedies";
    private static final Capability[] CAPABILITIES = {Capability.RMA, Capability.MSG, Capability.HMEM};

    private final Rows rows;
    private final String device;
    private final Map<String, Runnable> all = new LinkedHashMap<>();

    Misuses(Rows rows, String device) {
        this.rows = rows;
        this.device = device;
        refusedRegistrations();
        freed();
        early("", this::row);
        early(PLAIN, this::recorded);
        contexts();
        options();
        others();
    }

    /** {@return the names of those that need a device, or of all} */
    Set<String> names() { return all.keySet(); }

    void run(String name) { all.get(name).run(); }

    private interface Body {
        Result run(Cuda cuda, Node node) throws Exception;
    }

    private Result with(Capability[] capabilities, Body body) throws Exception {
        Node.deadline = DEADLINE;
        Cuda cuda = Cuda.open(Integer.parseInt(device.split(":", 2)[1]));
        return body.run(cuda, new Node(DeviceRun.SHM, capabilities)); // closed by the end of the process
    }

    private void refused(String name, Class<? extends Throwable> by, String words, Capability[] capabilities,
            Body body) {
        all.put(name, () -> rows.refused(name, by, words, () -> with(capabilities, body)));
    }

    private void row(String name, Body body) { all.put(name, () -> rows.row(name, () -> with(CAPABILITIES, body))); }

    private void recorded(String name, Body body) {
        all.put(name, () -> rows.recorded(name, () -> with(CAPABILITIES, body)));
    }

    private static Result registered(MemoryRegion region) {
        region.close();
        return Result.good("registered");
    }

    private void refusedRegistrations() {
        refused("memory that was freed first is registered", IllegalArgumentException.class, "freed", CAPABILITIES,
                (cuda, node) -> {
                    long pointer = cuda.allocate(OWN_PAGES);
                    cuda.free(pointer);
                    return registered(node.domain.register(cuda.attributes(pointer, LENGTH).access(Access.WRITE)));
                });
        refused("a wrong device number", IllegalArgumentException.class, "belongs to CUDA device", CAPABILITIES,
                (cuda, node) -> {
                    long pointer = cuda.allocate(LENGTH);
                    return registered(node.domain.register(MemoryRegionAttributes
                            .ofDevice(DeviceInterface.CUDA, cuda.device + 7, pointer, LENGTH).access(Access.WRITE)));
                });
        refused("memory of the host as the device's", IllegalArgumentException.class, "not CUDA memory", CAPABILITIES,
                (cuda, node) -> registered(node.domain.register(
                        cuda.attributes(Arena.global().allocate(LENGTH).address(), LENGTH).access(Access.WRITE))));
        refused("memory of the device as the host's", IllegalArgumentException.class, "cannot read", CAPABILITIES,
                (cuda, node) -> registered(node.domain.register(asHosts(cuda.allocate(LENGTH)), Access.WRITE)));
        refused("memory of the device as the host's, without HMEM", IllegalArgumentException.class, "cannot read",
                new Capability[]{Capability.RMA},
                (cuda, node) -> registered(node.domain.register(asHosts(cuda.allocate(LENGTH)), Access.WRITE)));
        refused("memory of the device, without HMEM", UnsupportedOperationException.class, "Capability.HMEM",
                new Capability[]{Capability.RMA}, (cuda, node) -> registered(
                        node.domain.register(cuda.attributes(cuda.allocate(LENGTH), LENGTH).access(Access.WRITE))));
        refused("segment() of a device's region", UnsupportedOperationException.class, "on a device", CAPABILITIES,
                (cuda, node) -> Result
                        .good(node.domain.register(cuda.attributes(cuda.allocate(LENGTH), LENGTH).access(Access.WRITE))
                                .segment().toString()));
        refused("a range beyond a device's region", IndexOutOfBoundsException.class, "not inside", CAPABILITIES,
                (cuda, node) -> {
                    MemoryRegion region = node.domain
                            .register(cuda.attributes(cuda.allocate(LENGTH), LENGTH).access(Memory.ALL));
                    node.endpoint.rma().write(region.slice(1, LENGTH), node.vector.insert(node.endpoint.address()),
                            region.remote(), 1);
                    return Result.good("written");
                });
    }

    @SuppressWarnings("restricted")
    private static MemorySegment asHosts(long pointer) { return MemorySegment.ofAddress(pointer).reinterpret(LENGTH); }

    /** Two processes, with the device's memory registered in both. */
    private interface Move {
        Result run(Cuda cuda, Memory memory, OtherProcess other) throws Exception;
    }

    private Result between(Cuda cuda, Node node, Move move) throws Exception {
        return between(cuda, node, OWN_PAGES, move);
    }

    private Result between(Cuda cuda, Node node, long length, Move move) throws Exception {
        try (OtherProcess other = new OtherProcess(node, DeviceRun.SHM, device, length, true, CAPABILITIES)) {
            try {
                return move.run(cuda, new Memory(node, cuda, length, true), other);
            } catch (RuntimeException e) {
                String end = other.end();
                if (end.isEmpty()) { throw e; }
                throw new Rows.OtherEndedException(Rows.words(e) + "; the other process " + end, e);
            }
        }
    }

    private static Result write(Memory memory, MemoryRegion local, OtherProcess other, Place there, long length) {
        memory.node.endpoint.rma().prepare().peer(other.peer).local(local, 0, length)
                .remote(other.remote(there), 0, length).flags(OperationFlag.DELIVERY_COMPLETE).write(1);
        memory.node.await(1);
        return Result.good("completed without an error");
    }

    private static Result verified(Memory memory, MemoryRegion local, OtherProcess other, Place there, long length) {
        memory.fill(local == memory.host ? Place.host : Place.gpu, length, 77);
        other.tell("clear " + there + " " + length);
        write(memory, local, other, there, length);
        String wrong = other.mismatch(there, length, 77);
        return wrong.isEmpty() ? Result.good("the bytes are there") : Result.bad(wrong);
    }

    private void freed() {
        for (String how : new String[]{"staged", "direct"}) {
            refused("the source is freed while it is registered, " + how, IllegalStateException.class, "was freed",
                    CAPABILITIES, (cuda, node) -> between(cuda, node, (same, memory, other) -> {
                        MemoryRegion region = how.equals("direct") ? memory.direct : memory.staged;
                        verified(memory, region, other, Place.host, LENGTH);
                        cuda.free(memory.gpu);
                        return write(memory, region, other, Place.host, LENGTH);
                    }));
        }
        refused("the place of a read is freed while it is registered", IllegalStateException.class, "was freed",
                CAPABILITIES, (cuda, node) -> between(cuda, node, (same, memory, other) -> {
                    cuda.free(memory.gpu);
                    node.endpoint.rma().read(memory.staged.slice(0, LENGTH), other.peer, other.host, 2);
                    return Result.good("posted");
                }));
        refused("the place of a receive is freed while it is registered", IllegalStateException.class, "was freed",
                CAPABILITIES, (cuda, node) -> between(cuda, node, (same, memory, other) -> {
                    cuda.free(memory.gpu);
                    node.endpoint.messages().receive(memory.staged.slice(0, LENGTH), 2);
                    return Result.good("posted");
                }));
        for (long length : new long[]{8, 4096, LENGTH}) {
            recorded("the target is freed while it is registered, " + Transfers.text(length),
                    (cuda, node) -> between(cuda, node, (same, memory, other) -> {
                        other.tell("free gpu");
                        Result written = write(memory, memory.host, other, Place.gpu, length);
                        return Result.good(written.words() + "; the other process: " + other.tell("get host"));
                    }));
            recorded("the source of a read is freed while it is registered, " + Transfers.text(length),
                    (cuda, node) -> between(cuda, node, (same, memory, other) -> {
                        other.tell("free gpu");
                        node.endpoint.rma().read(memory.host.slice(0, length), other.peer, other.gpu, 2);
                        node.await(2);
                        return Result.good("completed without an error; the other process: " + other.tell("get host"));
                    }));
        }
        refused("a region is longer than what was allocated", IllegalArgumentException.class, "has fewer than",
                CAPABILITIES, (cuda, node) -> registered(node.domain
                        .register(cuda.attributes(cuda.allocate(OWN_PAGES), 1L << 40).access(Access.WRITE))));
        row("a region is closed with a write in flight, and its memory freed after that",
                (cuda, node) -> between(cuda, node, (same, memory, other) -> {
                    long pointer = cuda.allocate(OWN_PAGES);
                    MemoryRegion region = node.domain.register(Memory.directly(cuda, pointer, OWN_PAGES));
                    cuda.put(pointer, memory.contents.of(5, OWN_PAGES));
                    other.tell("clear host " + OWN_PAGES);
                    node.endpoint.rma().write(region.slice(0, OWN_PAGES), other.peer, other.host, 4);
                    region.close();
                    node.await(4);
                    region.close(Duration.ofSeconds(5));
                    cuda.free(pointer);
                    String wrong = other.mismatch(Place.host, OWN_PAGES, 5);
                    return wrong.isEmpty() ? Result.good("the bytes are there") : Result.bad(wrong);
                }));
    }

    private interface Adder {
        void add(String name, Body body);
    }

    /** Something between two processes that is done again and again; what is wrong with it, or nothing. */
    private interface Once {
        String run(Memory memory, OtherProcess other, long length, int seed);
    }

    /**
     * Between two places of the device: a completion says that the source may be changed, and of a read that the bytes
     * are there.
     */
    private void early(String how, Adder adder) {
        for (long length : new long[]{LENGTH, LONG}) {
            String end = ", direct, " + Transfers.text(length) + how;
            adder.add("the source is overwritten once a write to the device has completed" + end,
                    again(length, Misuses::writeAndOverwrite));
            adder.add("the source is overwritten once a message to the device has been sent" + end,
                    again(length, Misuses::sendAndOverwrite));
            adder.add("bytes are looked at once a read from the device has completed" + end,
                    again(length, Misuses::readAndLook));
        }
    }

    private Body again(long length, Once once) {
        return (cuda, node) -> between(cuda, node, length, (same, memory, other) -> {
            List<String> wrong = new ArrayList<>();
            int count = length > LENGTH ? FEW : MANY;
            for (int seed = 1; seed <= count; seed++) {
                String found = once.run(memory, other, length, seed);
                if (!found.isEmpty()) { wrong.add(found); }
            }
            return wrong.isEmpty()
                    ? Result.good("right " + count + " times")
                    : Result.bad("wrong " + wrong.size() + " times of " + count + ", first: " + wrong.getFirst());
        });
    }

    private static String writeAndOverwrite(Memory memory, OtherProcess other, long length, int seed) {
        memory.fill(Place.gpu, length, seed);
        other.tell("clear gpu " + length);
        write(memory, memory.direct, other, Place.gpu, length);
        memory.clear(Place.gpu, length);
        return other.mismatch(Place.gpu, length, seed);
    }

    private static String sendAndOverwrite(Memory memory, OtherProcess other, long length, int seed) {
        memory.fill(Place.gpu, length, seed);
        other.tell("clear gpu " + length);
        other.post("receive gpu " + length);
        memory.node.endpoint.messages().send(memory.direct.slice(0, length), other.peer, 1);
        memory.node.await(1);
        memory.clear(Place.gpu, length);
        other.received();
        return other.mismatch(Place.gpu, length, seed);
    }

    private static String readAndLook(Memory memory, OtherProcess other, long length, int seed) {
        other.tell("fill gpu " + length + " " + seed);
        memory.clear(Place.gpu, length);
        memory.node.endpoint.rma().read(memory.direct.slice(0, length), other.peer, other.gpu, 1);
        memory.node.await(1);
        long first = memory.mismatch(Place.gpu, length, seed);
        if (first < 0) { return ""; }
        long start = System.nanoTime();
        long still = first;
        while (still >= 0 && System.nanoTime() - start < Node.deadline.toNanos()) {
            still = memory.mismatch(Place.gpu, length, seed);
        }
        return "differs at " + first + ", and "
                + (still < 0 ? "was there " + (System.nanoTime() - start) / 1000 + " us later" : "never came");
    }

    private static Result onThread(Callable<Result> body) throws Exception {
        AtomicReference<Object> came = new AtomicReference<>();
        Thread thread = new Thread(() -> {
            try {
                came.set(body.call());
            } catch (Exception e) {
                came.set(e);
            }
        });
        thread.start();
        thread.join(Node.deadline);
        switch (came.get()) {
            case Result result -> {
                return result;
            }
            case Exception e -> throw e;
            case null, default -> throw new IllegalStateException("the thread did not end");
        }
    }

    private void contexts() {
        for (String how : new String[]{"staged", "direct"}) {
            row("a thread without a context writes, " + how,
                    (cuda, node) -> between(cuda, node, (same, memory, other) -> {
                        memory.fill(Place.gpu, LENGTH, 9);
                        other.tell("clear host " + LENGTH);
                        onThread(() -> write(memory, how.equals("direct") ? memory.direct : memory.staged, other,
                                Place.host, LENGTH));
                        String wrong = other.mismatch(Place.host, LENGTH, 9);
                        return wrong.isEmpty() ? Result.good("the bytes are there") : Result.bad(wrong);
                    }));
            recorded("a thread with another context of the device writes, " + how,
                    (cuda, node) -> between(cuda, node, (same, memory, other) -> {
                        memory.fill(Place.gpu, LENGTH, 10);
                        other.tell("clear host " + LENGTH);
                        onThread(() -> {
                            MemorySegment context = cuda.createContext();
                            try {
                                return write(memory, how.equals("direct") ? memory.direct : memory.staged, other,
                                        Place.host, LENGTH);
                            } finally {
                                cuda.destroyContext(context);
                            }
                        });
                        String wrong = other.mismatch(Place.host, LENGTH, 10);
                        return wrong.isEmpty() ? Result.good("the bytes are there") : Result.bad(wrong);
                    }));
            recorded("memory of another context than the primary one, " + how,
                    (cuda, node) -> between(cuda, node, (same, memory, other) -> {
                        MemorySegment context = cuda.createContext();
                        long pointer = cuda.allocate(LENGTH);
                        cuda.put(pointer, memory.contents.of(11, LENGTH));
                        cuda.useContext();
                        MemoryRegionAttributes attributes = cuda.attributes(pointer, LENGTH).access(Memory.ALL);
                        MemoryRegion region = node.domain
                                .register(how.equals("direct") ? attributes.deviceOnly() : attributes);
                        other.tell("clear host " + LENGTH);
                        write(memory, region, other, Place.host, LENGTH);
                        String wrong = other.mismatch(Place.host, LENGTH, 11);
                        region.close();
                        cuda.free(pointer);
                        cuda.destroyContext(context);
                        cuda.useContext();
                        return wrong.isEmpty() ? Result.good("the bytes are there") : Result.bad(wrong);
                    }));
            refused("the context of the memory is destroyed while it is registered, " + how,
                    IllegalStateException.class, "was freed", CAPABILITIES,
                    (cuda, node) -> between(cuda, node, (same, memory, other) -> {
                        MemorySegment context = cuda.createContext();
                        long pointer = cuda.allocate(LENGTH);
                        cuda.forget(pointer);
                        MemoryRegionAttributes attributes = cuda.attributes(pointer, LENGTH).access(Memory.ALL);
                        MemoryRegion region = node.domain
                                .register(how.equals("direct") ? attributes.deviceOnly() : attributes);
                        cuda.destroyContext(context);
                        cuda.useContext();
                        return write(memory, region, other, Place.host, LENGTH);
                    }));
        }
    }

    private void options() {
        for (DevicePeerToPeer value : DevicePeerToPeer.values()) {
            recorded("DEVICE_PEER_TO_PEER " + value, (cuda, node) -> {
                String set;
                try {
                    node.endpoint.options().set(EndpointOption.DEVICE_PEER_TO_PEER, value);
                    set = "set; " + node.endpoint.options().get(EndpointOption.DEVICE_PEER_TO_PEER);
                } catch (UnsupportedOperationException | FabricException e) {
                    set = Rows.words(e);
                }
                String said = set;
                return between(cuda, node, (same, memory, other) -> Result
                        .good(said + "; then " + verified(memory, memory.direct, other, Place.gpu, LENGTH).words()));
            });
        }
        for (boolean value : new boolean[]{true, false}) {
            recorded("CUDA_API_PERMITTED " + value, (cuda, node) -> {
                String set;
                try {
                    node.endpoint.options().set(EndpointOption.CUDA_API_PERMITTED, value);
                    set = "set";
                } catch (UnsupportedOperationException | FabricException e) {
                    set = Rows.words(e);
                }
                String said = set;
                return between(cuda, node, (same, memory, other) -> Result
                        .good(said + "; then " + verified(memory, memory.direct, other, Place.gpu, LENGTH).words()));
            });
        }
    }

    private void others() {
        for (String how : new String[]{"staged", "direct"}) {
            recorded("both endpoints in one process, " + how, (cuda, node) -> {
                try (Node far = new Node(DeviceRun.SHM, CAPABILITIES)) {
                    Memory memory = new Memory(node, cuda, LENGTH, true);
                    MemoryRegion target = far.domain.allocate(LENGTH, Memory.ALL);
                    memory.fill(Place.gpu, LENGTH, 12);
                    target.segment().fill((byte) 0);
                    Peer peer = node.vector.insert(far.endpoint.address());
                    far.vector.insert(node.endpoint.address());
                    Thread progress = new Thread(() -> {
                        while (!Thread.interrupted()) {
                            far.poll();
                        }
                    });
                    progress.start();
                    try {
                        node.endpoint.rma().prepare().peer(peer)
                                .local(how.equals("direct") ? memory.direct : memory.staged, 0, LENGTH)
                                .remote(target.remote(), 0, LENGTH).flags(OperationFlag.DELIVERY_COMPLETE).write(1);
                        node.await(1);
                    } finally {
                        progress.interrupt();
                        progress.join();
                    }
                    long wrong = memory.contents.mismatch(target.segment(), 12);
                    memory.close();
                    target.close();
                    return wrong < 0 ? Result.good("the bytes are there") : Result.bad("differs at " + wrong);
                }
            });
            row("a mapped file is filled from the device by a peer, " + how,
                    (cuda, node) -> between(cuda, node, (same, memory, other) -> {
                        Path file = Files.createTempFile(Path.of("").toAbsolutePath(), "device-check", ".file");
                        try {
                            Files.write(file, new byte[(int) LENGTH]);
                            RemoteRegion mapped = other.map(file.toString());
                            memory.fill(Place.gpu, LENGTH, 13);
                            node.endpoint.rma().prepare().peer(other.peer)
                                    .local(how.equals("direct") ? memory.direct : memory.staged, 0, LENGTH)
                                    .remote(mapped, 0, LENGTH).flags(OperationFlag.DELIVERY_COMPLETE).write(1);
                            node.await(1);
                            other.tell("force");
                            long wrong = memory.contents.mismatch(MemorySegment.ofArray(Files.readAllBytes(file)), 13);
                            return wrong < 0
                                    ? Result.good("the bytes are in the file")
                                    : Result.bad("differs at " + wrong);
                        } finally {
                            Files.delete(file);
                        }
                    }));
        }
        row("a save to the device at DELIVERED", (cuda, node) -> between(cuda, node, (same, memory, other) -> {
            memory.fill(Place.host, LENGTH, 14);
            try (Saver saver = new Saver(node.domain, node.endpoint, node.queue)) {
                saver.saveThrough(other.peer, other.saveService());
                node.endpoint.rma().write(memory.host.slice(0, LENGTH), other.peer, other.gpu, 1);
                saver.save(other.peer, other.gpu, Durability.DELIVERED, 2);
                node.await(1, saver);
                node.await(2, saver);
            }
            String wrong = other.mismatch(Place.gpu, LENGTH, 14);
            return wrong.isEmpty() ? Result.good("the bytes are there") : Result.bad(wrong);
        }));
        for (Durability level : new Durability[]{Durability.PROCESS_SAFE, Durability.POWER_SAFE}) {
            refused("a save to the device at " + level, UnsupportedOperationException.class,
                    "reaches at most DELIVERED", CAPABILITIES,
                    (cuda, node) -> between(cuda, node, (same, memory, other) -> {
                        try (Saver saver = new Saver(node.domain, node.endpoint, node.queue)) {
                            saver.saveThrough(other.peer, other.saveService());
                            saver.save(other.peer, other.gpu, level, 2);
                            return Result.good("saved");
                        }
                    }));
        }
        recorded("a DMA-buf of the device", this::dmaBuf);
        recorded("a DMA-buf whose descriptor was closed", (cuda, node) -> {
            long pointer = cuda.allocate(OWN_PAGES);
            int descriptor = cuda.exportDmaBuf(pointer, OWN_PAGES);
            if (descriptor < 0) { return Result.good("the driver exports none: " + cuda.error(-descriptor)); }
            closeDescriptor(descriptor);
            return registered(node.domain
                    .register(cuda.attributes(pointer, OWN_PAGES).dmaBuf(descriptor, 0).access(Access.WRITE)));
        });
    }

    @SuppressWarnings("restricted")
    private static void closeDescriptor(int descriptor) {
        Linker linker = Linker.nativeLinker();
        try {
            int status = (int) linker.downcallHandle(linker.defaultLookup().find("close").orElseThrow(),
                    FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT)).invokeExact(descriptor);
            if (status != 0) { throw new IllegalStateException("close: " + status); }
        } catch (Throwable t) {
            throw new IllegalStateException(t);
        }
    }

    private Result dmaBuf(Cuda cuda, Node node) throws Exception {
        String supported = "the device says " + cuda.attribute(Cuda.DMA_BUF_SUPPORTED) + " to DMA_BUF_SUPPORTED; ";
        long pointer = cuda.allocate(OWN_PAGES);
        int descriptor = cuda.exportDmaBuf(pointer, OWN_PAGES);
        if (descriptor < 0) { return Result.good(supported + "the driver exports none: " + cuda.error(-descriptor)); }
        return between(cuda, node, (same, memory, other) -> {
            cuda.put(pointer, memory.contents.of(15, OWN_PAGES));
            MemoryRegion region;
            try {
                region = node.domain
                        .register(cuda.attributes(pointer, OWN_PAGES).dmaBuf(descriptor, 0).access(Memory.ALL));
            } catch (RuntimeException e) {
                return Result.good(supported + "exported; " + Rows.words(e));
            }
            other.tell("clear host " + LENGTH);
            write(memory, region, other, Place.host, LENGTH);
            String wrong = other.mismatch(Place.host, LENGTH, 15);
            region.close();
            return wrong.isEmpty()
                    ? Result.good(supported + "exported, registered, and the bytes are there")
                    : Result.bad(wrong);
        });
    }
}
