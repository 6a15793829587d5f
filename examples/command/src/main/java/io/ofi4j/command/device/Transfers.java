package io.ofi4j.command.device;

import io.ofi4j.Libfabric;
import io.ofi4j.MemoryRegion;
import io.ofi4j.PreparedRma;
import io.ofi4j.RemoteRegion;
import io.ofi4j.command.device.Memory.Place;
import io.ofi4j.command.device.Rows.Result;
import io.ofi4j.errors.NoProviderException;
import io.ofi4j.info.AtomicForm;
import io.ofi4j.info.AtomicOperation;
import io.ofi4j.info.Capability;
import io.ofi4j.info.Datatype;
import io.ofi4j.info.OperationFlag;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Moves bytes between this process and another, of the host and of the device at either end, and looks whether every
 * byte is where it belongs. Where the provider knows no device, the program copies between it and registered memory of
 * the host itself.
 */
final class Transfers implements AutoCloseable {
    private static final Capability[] SHM = {Capability.RMA, Capability.MSG, Capability.TAGGED, Capability.HMEM};
    private static final Capability[] NETWORK = {Capability.RMA, Capability.MSG, Capability.TAGGED};

    private static final long[] SIZES = {8, 4096, 1 << 20, 256L << 20};
    private static final int VECTOR = 512;
    private static final long INITIAL = 40;
    private static final long OPERAND = 2;

    /**
     * How bytes of the device go: by another process's mapping of it, through the provider's buffers, or by the
     * program.
     */
    enum Path {
        direct, staged, program
    }

    private final Rows rows;
    private final String provider;
    private final long longest;
    private final Node node;
    private final Memory memory;
    private final OtherProcess other;
    private final boolean knowsDevice;
    private final boolean hasAtomics;
    private final PreparedRma message;
    private int seed;

    Transfers(Rows rows, String provider, String device, long longest) throws IOException {
        this.rows = rows;
        this.provider = provider;
        this.longest = longest;
        this.knowsDevice = provider.equals("shm");
        Capability[] capabilities = capabilities(provider);
        this.hasAtomics = List.of(capabilities).contains(Capability.ATOMIC);
        DeviceMemory opened = DeviceMemory.open(device);
        node = new Node(provider, capabilities);
        memory = new Memory(node, opened, longest, knowsDevice);
        if (!knowsDevice) { opened.pin(memory.host.segment()); }
        other = new OtherProcess(node, provider, device, longest, knowsDevice, capabilities);
        message = node.endpoint.rma().prepare().peer(other.peer);
    }

    /** {@return those of the transfers, with atomic operations where the provider has them beside the others} */
    static Capability[] capabilities(String provider) {
        Capability[] needed = provider.equals("shm") ? SHM : NETWORK;
        Capability[] all = Arrays.copyOf(needed, needed.length + 1);
        all[needed.length] = Capability.ATOMIC;
        try {
            Libfabric.load().info(Node.hints(provider, all));
            return all;
        } catch (NoProviderException e) {
            return needed;
        }
    }

    /** Every row of the provider. */
    void run() {
        if (!knowsDevice) {
            rows.refused(name("HMEM", "", 0), NoProviderException.class, "HMEM", () -> {
                new Node(provider, Capability.RMA, Capability.HMEM).close();
                return Result.good("has HMEM");
            });
        }
        for (long size : Arrays.stream(SIZES).filter(size -> size <= longest).toArray()) {
            for (Path path : knowsDevice ? new Path[]{Path.direct, Path.staged} : new Path[]{Path.program}) {
                move(path, size);
            }
        }
        if (!knowsDevice) { return; }
        if (hasAtomics) {
            atomics(Path.direct);
            atomics(Path.staged);
        }
        injects();
    }

    private static String name(String operation, String how, long size) {
        return operation + (how.isEmpty() ? "" : " " + how) + (size == 0 ? "" : " " + text(size));
    }

    static String text(long size) {
        return size < 1024 ? size + " B" : size < 1 << 20 ? (size >> 10) + " KiB" : (size >> 20) + " MiB";
    }

    private void move(Path path, long size) {
        for (Place here : Place.values()) {
            for (Place there : Place.values()) {
                if (here == Place.host && (there == Place.host || path == Path.direct)) { continue; }
                String how = here + "->" + there + " " + path;
                rows.row(name("write", how, size), () -> write(path, here, there, size));
                rows.row(name("send", how, size), () -> send(path, here, there, size, false));
                rows.row(name("tagged send", how, size), () -> send(path, here, there, size, true));
                how = there + "->" + here + " " + path;
                rows.row(name("read", how, size), () -> read(path, here, there, size));
            }
        }
    }

    private MemoryRegion local(Path path, Place place) {
        if (place == Place.host || path == Path.program) { return memory.host; }
        return path == Path.direct ? memory.direct : memory.staged;
    }

    private RemoteRegion remote(Path path, Place place) {
        return path == Path.program ? other.host : other.remote(place);
    }

    /**
     * Bytes of the device that the provider does not know go to the host before they leave, and to the device when they
     * have come.
     */
    private void beforeLeaving(Path path, Place place, long size) {
        if (path == Path.program && place == Place.gpu) { memory.toHost(size); }
    }

    private void afterArriving(Path path, Place place, long size) {
        if (path == Path.program && place == Place.gpu) { memory.toDevice(size); }
    }

    private void tellOther(Path path, Place place, String what, long size) {
        if (path == Path.program && place == Place.gpu) { other.tell(what + " gpu " + size); }
    }

    private Result write(Path path, Place here, Place there, long size) {
        prepare(here, there, size);
        message.clear().peer(other.peer).local(local(path, here), 0, size).remote(remote(path, there), 0, size)
                .flags(OperationFlag.DELIVERY_COMPLETE);
        beforeLeaving(path, here, size);
        message.write(1);
        node.await(1);
        tellOther(path, there, "to-device", size);
        String wrong = other.mismatch(there, size, seed);
        if (!wrong.isEmpty()) { return Result.bad(wrong); }
        String words = path == Path.program && there == Place.gpu ? "without the other end's copy" : "";
        return Result.timed(words, median(size, () -> {
            beforeLeaving(path, here, size);
            message.write(2);
            node.awaitOnly();
        }), size);
    }

    private Result read(Path path, Place here, Place there, long size) {
        seed++;
        other.tell("fill " + there + " " + size + " " + seed);
        memory.clear(here, size);
        message.clear().peer(other.peer).local(local(path, here), 0, size).remote(remote(path, there), 0, size);
        tellOther(path, there, "to-host", size);
        message.read(1);
        node.await(1);
        afterArriving(path, here, size);
        long wrong = memory.mismatch(here, size, seed);
        if (wrong >= 0) { return Result.bad("differs at " + wrong); }
        String words = path == Path.program && there == Place.gpu ? "without the other end's copy" : "";
        return Result.timed(words, median(size, () -> {
            message.read(2);
            node.awaitOnly();
            afterArriving(path, here, size);
        }), size);
    }

    private void prepare(Place here, Place there, long size) {
        seed++;
        memory.fill(here, size, seed);
        other.tell("clear " + there + " " + size);
    }

    private Result send(Path path, Place here, Place there, long size, boolean isTagged) {
        prepare(here, there, size);
        beforeLeaving(path, here, size);
        other.post((isTagged ? "tagged " : "receive ") + there + " " + size + " " + seed);
        if (isTagged) {
            node.endpoint.tagged().send(local(path, here).slice(0, size), other.peer, seed, 3);
        } else {
            node.endpoint.messages().send(local(path, here).slice(0, size), other.peer, 3);
        }
        node.await(3);
        other.received();
        tellOther(path, there, "to-device", size);
        String wrong = other.mismatch(there, size, seed);
        return wrong.isEmpty() ? Result.good("") : Result.bad(wrong);
    }

    /** {@return the median of so many repetitions, in microseconds} */
    static double median(long size, Runnable operation) {
        int count = repetitions(size);
        double[] times = new double[count];
        for (int done = 0; done < count; done++) {
            long start = System.nanoTime();
            operation.run();
            times[done] = (System.nanoTime() - start) / 1e3;
        }
        Arrays.sort(times);
        return times[count / 2];
    }

    static int repetitions(long size) { return size <= 4096 ? 201 : size <= 1 << 20 ? 41 : 3; }

    private void put(Path path, Place place, long value) {
        MemorySegment cell = Arena.ofAuto().allocate(ValueLayout.JAVA_LONG);
        cell.set(ValueLayout.JAVA_LONG, 0, value);
        if (place == Place.host || path == Path.program) {
            memory.hostBytes(Long.BYTES).copyFrom(cell);
        } else {
            memory.device.put(memory.gpu, cell);
        }
    }

    private void atomics(Path path) {
        List<Place> heres = new ArrayList<>(List.of(Place.gpu));
        if (path != Path.direct) { heres.add(Place.host); }
        for (Place here : heres) {
            for (Place there : List.of(Place.gpu, Place.host)) {
                if (here == Place.host && there == Place.host) { continue; }
                String how = here + "->" + there + " " + path;
                rows.row(name("atomic sum", how, Long.BYTES), () -> sum(path, here, there));
                rows.row(name("atomic fetch", how, Long.BYTES), () -> fetch(path, here, there));
                rows.row(name("atomic compare", how, Long.BYTES), () -> compare(path, here, there));
                rows.row(name("atomic sum", how, VECTOR * Long.BYTES), () -> vectorSum(path, here, there));
            }
        }
    }

    private long value(Place there) { return Long.parseLong(other.tell("get " + there)); }

    /** Of an operation without a result, the completion says only that the operands may change. */
    private Result expect(long wanted, Place there) {
        long start = System.nanoTime();
        long found;
        do {
            found = value(there);
        } while (found != wanted && System.nanoTime() - start < Node.deadline.toNanos() / 8);
        return found == wanted ? Result.good("") : Result.bad(found + " in place of " + wanted);
    }

    private Result sum(Path path, Place here, Place there) {
        other.tell("put " + there + " " + INITIAL);
        put(path, here, OPERAND);
        node.endpoint.atomics().execute(AtomicOperation.SUM, Datatype.INT64, local(path, here).slice(0, 8), other.peer,
                remote(path, there), 4);
        node.await(4);
        return expect(INITIAL + OPERAND, there);
    }

    private long local(Path path, Place here, long offset) {
        MemorySegment found = Arena.ofAuto().allocate(ValueLayout.JAVA_LONG);
        if (here == Place.host || path == Path.program) {
            found.copyFrom(memory.host.segment().asSlice(offset, Long.BYTES));
        } else {
            memory.device.get(found, memory.gpu + offset);
        }
        return found.get(ValueLayout.JAVA_LONG, 0);
    }

    private Result fetch(Path path, Place here, Place there) {
        other.tell("put " + there + " " + INITIAL);
        put(path, here, OPERAND);
        MemoryRegion region = local(path, here);
        node.endpoint.atomics().fetch(AtomicOperation.SUM, Datatype.INT64, region.slice(0, 8),
                region.slice(Long.BYTES, 8), other.peer, remote(path, there), 5);
        node.await(5);
        long before = local(path, here, Long.BYTES);
        return before == INITIAL ? expect(INITIAL + OPERAND, there) : Result.bad("fetched " + before);
    }

    private Result compare(Path path, Place here, Place there) {
        other.tell("put " + there + " " + INITIAL);
        MemorySegment both = Arena.ofAuto().allocate(ValueLayout.JAVA_LONG, 2);
        both.setAtIndex(ValueLayout.JAVA_LONG, 0, OPERAND);
        both.setAtIndex(ValueLayout.JAVA_LONG, 1, INITIAL);
        if (here == Place.host || path == Path.program) {
            memory.hostBytes(both.byteSize()).copyFrom(both);
        } else {
            memory.device.put(memory.gpu, both);
        }
        MemoryRegion region = local(path, here);
        node.endpoint.atomics().compare(AtomicOperation.CSWAP, Datatype.INT64, region.slice(0, 8),
                region.slice(Long.BYTES, 8), region.slice(2 * Long.BYTES, 8), other.peer, remote(path, there), 6);
        node.await(6);
        long before = local(path, here, 2 * Long.BYTES);
        return before == INITIAL ? expect(OPERAND, there) : Result.bad("fetched " + before);
    }

    /** Adds random numbers to zeros. */
    private Result vectorSum(Path path, Place here, Place there) {
        long bytes = VECTOR * Long.BYTES;
        if (node.endpoint.atomics().valid(AtomicForm.EXECUTE, AtomicOperation.SUM, Datatype.INT64) < VECTOR) {
            return Result.good("the provider takes fewer elements");
        }
        seed++;
        memory.fill(here, bytes, seed);
        other.tell("zero " + there + " " + bytes);
        node.endpoint.atomics().execute(AtomicOperation.SUM, Datatype.INT64,
                local(path, here).slice(0, VECTOR * Long.BYTES), other.peer, remote(path, there), 7);
        node.await(7);
        String wrong;
        long start = System.nanoTime();
        do {
            wrong = other.mismatch(there, bytes, seed);
        } while (!wrong.isEmpty() && System.nanoTime() - start < Node.deadline.toNanos() / 8);
        return wrong.isEmpty() ? Result.good("") : Result.bad(wrong);
    }

    /**
     * A domain with memory of devices takes no injects over shm, of any memory: it says that they have 0 bytes at most.
     */
    private void injects() {
        long size = Long.BYTES;
        for (Place here : Place.values()) {
            MemoryRegion region = here == Place.host ? memory.host : memory.staged;
            Place there = here == Place.host ? Place.gpu : Place.host;
            rows.row(name("inject", here + "->" + there, size), () -> {
                prepare(here, there, size);
                try {
                    node.endpoint.rma().injectWrite(region.slice(0, size), other.peer, other.remote(there));
                } catch (IllegalArgumentException e) {
                    boolean isRight = node.endpoint.rma().injectSize() < size;
                    return isRight ? Result.good(Rows.words(e)) : Result.bad(Rows.words(e));
                }
                return arrived(there, size);
            });
        }
    }

    private Result arrived(Place there, long size) {
        long start = System.nanoTime();
        String wrong;
        do {
            wrong = other.mismatch(there, size, seed);
        } while (!wrong.isEmpty() && System.nanoTime() - start < Node.deadline.toNanos() / 8);
        return wrong.isEmpty() ? Result.good("") : Result.bad(wrong);
    }

    @Override
    public void close() {
        other.close();
        memory.close();
        node.close();
        memory.device.close();
    }
}
