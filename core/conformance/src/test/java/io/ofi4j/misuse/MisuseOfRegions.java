package io.ofi4j.misuse;

import static io.ofi4j.misuse.Misuse.refused;

import io.ofi4j.Access;
import io.ofi4j.MemoryRegion;
import io.ofi4j.MemoryRegionAttributes;
import io.ofi4j.RemoteRegion;
import io.ofi4j.info.Capability;
import io.ofi4j.info.Datatype;
import io.ofi4j.info.DeviceInterface;
import io.ofi4j.support.ForeignChannel;
import io.ofi4j.support.Pair;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;

/** Memory that a domain cannot register, and what a region and its memory cannot do. */
final class MisuseOfRegions {
    private static final Class<? extends Throwable> RANGE = IndexOutOfBoundsException.class;
    private static final Class<? extends Throwable> ARGUMENT = IllegalArgumentException.class;
    private static final Class<? extends Throwable> STATE = IllegalStateException.class;
    private static final Class<? extends Throwable> NOT_OFFERED = UnsupportedOperationException.class;
    private static final long SOMEWHERE = 1 << 20;
    private static final int LENGTH = MisuseStage.LENGTH;

    private MisuseOfRegions() {}

    static Stream<Misuse> cases() {
        return Stream.of(attributes(), registrations(), files(), regions(), elements()).flatMap(cases -> cases);
    }

    private static MemorySegment memory() { return Arena.ofAuto().allocate(64); }

    private static MemoryRegionAttributes segments(int count) {
        return MemoryRegionAttributes.of(Stream.generate(MisuseOfRegions::memory).limit(count).toList())
                .access(Access.WRITE);
    }

    private static Stream<Misuse> attributes() {
        return Stream.of(
                refused("attributes: memory of the system as a device's", ARGUMENT, "of(...)",
                        s -> MemoryRegionAttributes.ofDevice(DeviceInterface.SYSTEM, 0, SOMEWHERE, 8)),
                refused("attributes: a device below 0", ARGUMENT, "not -1",
                        s -> MemoryRegionAttributes.ofDevice(DeviceInterface.CUDA, -1, SOMEWHERE, 8)),
                refused("attributes: only a device's, of memory of the system", ARGUMENT, "ofDevice",
                        s -> MemoryRegionAttributes.of(memory()).deviceOnly()),
                refused("attributes: a DMA-buf of a negative descriptor", ARGUMENT, "not -1",
                        s -> MemoryRegionAttributes.of(memory()).dmaBuf(-1, 0)),
                refused("attributes: a DMA-buf of several segments", ARGUMENT, "not 2", s -> segments(2).dmaBuf(1, 0)));
    }

    private static Stream<Misuse> registrations() {
        return Stream.of(refused("memory: another thread's", WrongThreadException.class, "confined arena", s -> {
            try (Arena arena = Arena.ofConfined()) {
                MemorySegment confined = arena.allocate(8);
                MisuseStage.elsewhere(() -> s.pair.domain.register(confined, Access.WRITE));
            }
        }), refused("memory: several segments for peers", NOT_OFFERED, "only the first of 2 segments",
                s -> s.pair.domain.register(List.of(memory(), memory()), Access.REMOTE_WRITE)),
                refused("memory: more segments than a region has", ARGUMENT, "segments, not 1000",
                        s -> s.pair.domain.register(segments(1000))),
                refused("memory: of a device without the capability", NOT_OFFERED, "Capability.HMEM",
                        s -> s.pair.domain.register(MemoryRegionAttributes
                                .ofDevice(DeviceInterface.CUDA, 0, SOMEWHERE, 8).access(Access.WRITE))),
                refused("memory: persistent of a provider without", NOT_OFFERED, "persistent memory",
                        s -> s.pair.domain.register(
                                MemoryRegionAttributes.of(memory()).access(Access.REMOTE_WRITE).persistent())),
                refused("memory: a key that is taken", io.ofi4j.errors.FabricException.class, "266", s -> {
                    MemoryRegionAttributes wanted = MemoryRegionAttributes.of(memory()).access(Access.REMOTE_WRITE)
                            .requestedKey(77);
                    s.opened(s.pair.domain.register(wanted));
                    s.pair.domain.register(wanted);
                }));
    }

    private static Misuse file(String name, Class<? extends Throwable> expected, String words,
            java.util.function.BiConsumer<MisuseStage, Path> call) {
        return refused("file: " + name, expected, words, s -> {
            Path file = MisuseStage.unchecked(() -> Files.createTempFile("ofi4j", ".misuse"));
            s.opened((AutoCloseable) () -> Files.deleteIfExists(file));
            call.accept(s, file);
        });
    }

    private static MemoryRegion map(MisuseStage s, FileChannel channel) {
        return MisuseStage.unchecked(() -> s.pair.domain.map(channel, MapMode.READ_WRITE, 0, 8, Access.WRITE));
    }

    private static FileChannel open(MisuseStage s, Path file) {
        return s.opened(
                MisuseStage.unchecked(() -> FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)));
    }

    private static Stream<Misuse> files() {
        return Stream.of(
                file("a channel that is closed", UncheckedIOException.class, "Closed",
                        (s, file) -> map(s, MisuseStage.closed(open(s, file)))),
                file("a channel of another class", ARGUMENT, "FileChannel.open",
                        (s, file) -> map(s, new ForeignChannel(open(s, file), memory()))),
                file("a mapping that is closed", STATE, "closed",
                        (s, file) -> MisuseStage.closed(map(s, open(s, file))).segment()));
    }

    private static Misuse region(String name, Class<? extends Throwable> expected, String words,
            Consumer<MemoryRegion> call) {
        return refused("region: " + name, expected, words, s -> call.accept(s.target));
    }

    private static Stream<Misuse> regions() {
        return Stream.of(region("a raw key where there are none", NOT_OFFERED, "fi_mr_raw_attr", MemoryRegion::rawKey),
                region("a refresh where there is none", NOT_OFFERED, "fi_mr_refresh", MemoryRegion::refresh),
                region("a slice past the end", RANGE, "Range", region -> region.slice(1, LENGTH)),
                region("a number past the end", RANGE, "Out of bound", region -> region.getLongAcquire(LENGTH)),
                region("a number that is not aligned", ARGUMENT, "align", region -> region.getLongAcquire(4)),
                region("set a number past the end", RANGE, "Out of bound", region -> region.setLongRelease(LENGTH, 1)),
                region("set a number that is not aligned", ARGUMENT, "align", region -> region.setLongRelease(4, 1)),
                region("a slice of the remote region past the end", RANGE, "Range",
                        region -> region.remote().slice(1, LENGTH)),
                refused("region: the memory of several segments", STATE, "parts()",
                        s -> s.opened(s.pair.domain.register(segments(2))).segment()),
                refused("region: the buffer of several segments", STATE, "parts()",
                        s -> s.opened(s.pair.domain.register(segments(2))).asByteBuffer()));
    }

    private static Stream<Misuse> elements() {
        return Stream.of(
                refused("element: a fraction as an integer", ARGUMENT, "INT64 has no element 0.5",
                        s -> Datatype.INT64.put(memory(), 0, 0.5)),
                refused("element: past the end", RANGE, "Out of bound", s -> Datatype.INT64.put(memory(), 64, 1)));
    }
}
