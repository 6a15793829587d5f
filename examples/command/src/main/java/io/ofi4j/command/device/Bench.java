package io.ofi4j.command.device;

import io.ofi4j.MemoryRegion;
import io.ofi4j.PreparedRma;
import io.ofi4j.command.device.Memory.Place;
import io.ofi4j.command.device.Rows.Result;
import io.ofi4j.info.OperationFlag;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * How long one operation over shm takes, in turns: in Java, in a C program that makes the same calls, and a copy by the
 * driver alone. One operation is in flight, and a write is over when its bytes are in the target (DELIVERY_COMPLETE).
 */
final class Bench implements AutoCloseable {
    private static final long[] SIZES = {8, 4096, 1 << 20, 256L << 20};
    private static final int ROUNDS = 5;
    private static final int WARM_UPS = 20_000;

    /** Which way bytes go. */
    private record Way(boolean isWrite, Place here, Place there, String how) {
        @Override
        public String toString() {
            return (isWrite ? "write " + here + "->" + there : "read " + there + "->" + here) + " " + how;
        }
    }

    private static final List<Way> WAYS = List.of(new Way(true, Place.host, Place.gpu, "staged"),
            new Way(true, Place.gpu, Place.host, "staged"), new Way(true, Place.gpu, Place.host, "direct"),
            new Way(true, Place.gpu, Place.gpu, "staged"), new Way(true, Place.gpu, Place.gpu, "direct"),
            new Way(false, Place.host, Place.gpu, "staged"), new Way(false, Place.gpu, Place.gpu, "direct"));

    private final Rows rows;
    private final long longest;
    private final Node node;
    private final Memory memory;
    private final OtherProcess other;
    private final PreparedRma message;
    private final MemorySegment copied;
    private final long copiedOnDevice;
    private final Process program;
    private final PrintStream commands;
    private final BufferedReader answers;

    Bench(Rows rows, String device, long longest, String program) throws IOException {
        this.rows = rows;
        this.longest = longest;
        node = new Node("shm", Transfers.capabilities("shm"));
        DeviceMemory opened = DeviceMemory.open(device);
        memory = new Memory(node, opened, longest, true);
        copied = Arena.ofAuto().allocate(longest);
        copiedOnDevice = opened.allocate(longest);
        other = new OtherProcess(node, "shm", device, longest, true, Transfers.capabilities("shm"));
        message = node.endpoint.rma().prepare();
        this.program = new ProcessBuilder(program, "bench", libfabric(), device, Long.toString(longest))
                .redirectError(ProcessBuilder.Redirect.INHERIT).start();
        commands = new PrintStream(this.program.getOutputStream(), true);
        answers = this.program.inputReader();
        String ready = answers.readLine();
        if (!"ready".equals(ready)) { throw new IllegalStateException("the C program: " + ready); }
    }

    /** The one that this process has loaded. */
    private static String libfabric() {
        return System.getProperty("io.ofi4j.library", "libfabric.so.1");
    }

    void run() {
        warmUp();
        for (long size : Arrays.stream(SIZES).filter(size -> size <= longest).toArray()) {
            for (Way way : WAYS) {
                rows.row("bench " + way + " " + Transfers.text(size), () -> measure(way, size));
            }
        }
    }

    private MemoryRegion local(Way way) {
        return way.here == Place.host ? memory.host : way.how.equals("direct") ? memory.direct : memory.staged;
    }

    private void set(Way way, long size) {
        message.clear().peer(other.peer).local(local(way), 0, size).remote(other.remote(way.there), 0, size);
        if (way.isWrite) { message.flags(OperationFlag.DELIVERY_COMPLETE); }
    }

    private void once(Way way) {
        if (way.isWrite) {
            message.write(1);
        } else {
            message.read(1);
        }
        node.awaitOnly();
    }

    /** Until the compilers have done their work, whatever a device adds to an operation. */
    private void warmUp() {
        long start = System.nanoTime();
        for (int done = 0; done < WARM_UPS && System.nanoTime() - start < 2_000_000_000L; done++) {
            Way way = WAYS.get(done % WAYS.size());
            set(way, Long.BYTES);
            once(way);
        }
    }

    private Result measure(Way way, long size) throws IOException {
        double[] java = new double[ROUNDS];
        double[] c = new double[ROUNDS];
        double[] copy = new double[ROUNDS];
        set(way, size);
        once(way);
        for (int round = 0; round < ROUNDS; round++) {
            if (round % 2 == 0) { java[round] = Transfers.median(size, () -> once(way)); }
            c[round] = inC(way, size);
            if (round % 2 != 0) { java[round] = Transfers.median(size, () -> once(way)); }
            copy[round] = Transfers.median(size, () -> copy(way, size));
        }
        double inJava = middle(java);
        double inC = middle(c);
        double byDriver = middle(copy);
        return Result.timed(String.format(Locale.ROOT, "C %.3f us, Java/C %.3f; cuMemcpy %.3f us, Java/cuMemcpy %.3f",
                inC, inJava / inC, byDriver, inJava / byDriver), inJava, size);
    }

    private double inC(Way way, long size) throws IOException {
        commands.println((way.isWrite ? "write " : "read ") + way.here + " " + way.there + " " + way.how + " " + size
                + " " + Transfers.repetitions(size));
        String line = answers.readLine();
        if (line == null || !line.startsWith("ok ")) { throw new IllegalStateException("the C program: " + line); }
        return Double.parseDouble(line.substring(3));
    }

    /** The copy that the driver makes for the same way, with no other process. */
    private void copy(Way way, long size) {
        boolean fromDevice = (way.isWrite ? way.here : way.there) == Place.gpu;
        boolean toDevice = (way.isWrite ? way.there : way.here) == Place.gpu;
        if (fromDevice && toDevice) {
            memory.device.copy(copiedOnDevice, memory.gpu, size);
        } else if (fromDevice) {
            memory.device.get(copied.asSlice(0, size), memory.gpu);
        } else {
            memory.device.put(memory.gpu, copied.asSlice(0, size));
        }
    }

    private static double middle(double[] values) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        return sorted[sorted.length / 2];
    }

    @Override
    public void close() {
        commands.close();
        program.descendants().forEach(ProcessHandle::destroy);
        program.destroy();
        other.close();
        memory.close();
        node.close();
        memory.device.close();
    }
}
