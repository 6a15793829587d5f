package io.ofi4j.hostile;

import io.ofi4j.Access;
import io.ofi4j.InsertResult;
import io.ofi4j.Libfabric;
import io.ofi4j.MemoryRegion;
import io.ofi4j.MemoryRegionAttributes;
import io.ofi4j.Peer;
import io.ofi4j.ProgressThread;
import io.ofi4j.Waiting;
import io.ofi4j.info.EndpointAddress;
import io.ofi4j.info.OperationFlag;
import io.ofi4j.support.ForeignChannel;
import io.ofi4j.support.Pair;
import io.ofi4j.support.TestProviders;
import io.ofi4j.util.PollGroup;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.channels.SelectionKey;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Foreign implementations of every JDK type that is accepted, in its place; the memory beside what they name stays as
 * it was.
 */
final class HostileImplementations {
    private static final int LENGTH = 4096;
    private static final byte GUARD = 0x5a;
    private static final Duration SHORT = Duration.ofMillis(2);

    private final HostileRun run;
    private final Random random;
    private final Pair pair;
    private final Path file;
    private final FileChannel channel;
    private final MemorySegment memory;
    private final List<MemorySegment> segments;
    private final List<EndpointAddress> addresses;

    private HostileImplementations(HostileRun run, Pair pair, Path file, FileChannel channel, Arena arena) {
        this.run = run;
        this.random = run.random();
        this.pair = pair;
        this.file = file;
        this.channel = channel;
        this.memory = arena.allocate(16L * LENGTH, LENGTH);
        this.segments = IntStream.range(0, 8).mapToObj(i -> memory.asSlice(2L * i * LENGTH, LENGTH)).toList();
        this.addresses = List.of(pair.endpoint.address(), pair.farEndpoint.address());
    }

    static void run(HostileRun run) throws Exception {
        Path file = Files.write(Files.createTempFile("ofi4j", ".foreign"), new byte[2 * LENGTH]);
        try (Pair pair = new Pair(TestProviders.hints(run.provider));
                FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE);
                Arena arena = Arena.ofShared()) {
            HostileImplementations program = new HostileImplementations(run, pair, file, channel, arena);
            program.memory.fill(GUARD);
            while (run.goesOn()) {
                program.step();
            }
            program.requireWhole();
        } finally {
            Files.delete(file);
        }
    }

    private void step() {
        switch (random.nextInt(8)) {
            case 0 -> run.attempt("a list of segments", () -> close(
                    pair.domain.register(HostileForeign.list(random, segments), Access.READ, Access.WRITE)));
            case 1 -> run.attempt("attributes of a list of segments", () -> close(pair.domain
                    .register(MemoryRegionAttributes.of(HostileForeign.list(random, segments)).access(Access.WRITE))));
            case 2 -> run.attempt("a list of addresses",
                    () -> remove(pair.vector.insertAll(HostileForeign.list(random, addresses))));
            case 3 -> run.attempt("a path", () -> close(pair.domain.map(HostileForeign.path(random, file),
                    MapMode.READ_WRITE, 0, LENGTH, Access.REMOTE_WRITE)));
            case 4 -> run.attempt("a file channel", () -> close(pair.domain.map(new ForeignChannel(channel, memory),
                    MapMode.READ_WRITE, 0, LENGTH, Access.REMOTE_WRITE)));
            case 5 -> run.attempt("a selectable channel", this::pollGroup);
            case 6 -> run.attempt("maps and sets", this::flags);
            default -> run.attempt("a way to wait", this::progress);
        }
    }

    private static void close(MemoryRegion region) { region.close(); }

    private void remove(List<InsertResult> results) {
        Peer[] peers = results.stream().filter(InsertResult::succeeded).map(InsertResult::peer).toArray(Peer[]::new);
        Stream.of(peers).forEach(pair.vector::remove);
    }

    private void pollGroup() {
        try (PollGroup group = new PollGroup()) {
            group.add(pair.queue, (token, flags, length, data) -> {});
            group.add(HostileForeign.channel(random), SelectionKey.OP_READ, key -> {});
            group.await(SHORT);
        }
    }

    private void flags() {
        if (random.nextInt(4) == 0) { Libfabric.load(HostileForeign.map()); }
        pair.endpoint.control().defaultFlags(
                HostileForeign.set(random, List.of(OperationFlag.COMPLETION, OperationFlag.DELIVERY_COMPLETE)));
    }

    private void progress() {
        Waiting foreign = turn -> HostileForeign.pause(random);
        if (random.nextBoolean()) {
            foreign.tryUntil(() -> random.nextInt(64) == 0, SHORT);
            return;
        }
        try (ProgressThread thread = pair.domain.startProgress(foreign)) {
            Waiting.YIELD.tryUntil(() -> !thread.isRunning(), SHORT);
        }
    }

    private void requireWhole() {
        byte[] left = memory.toArray(ValueLayout.JAVA_BYTE);
        byte[] whole = new byte[left.length];
        Arrays.fill(whole, GUARD);
        if (!Arrays.equals(left, whole)) { run.fail(new AssertionError("memory was changed that nobody wrote")); }
    }
}
