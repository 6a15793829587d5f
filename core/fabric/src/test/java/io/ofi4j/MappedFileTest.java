package io.ofi4j;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIOException;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.ofi4j.errors.FabricException;
import io.ofi4j.info.Capability;
import io.ofi4j.info.MemoryKind;
import io.ofi4j.internal.engine.FileMapping;
import io.ofi4j.internal.os.Errno;
import io.ofi4j.support.FaultPeer;
import io.ofi4j.support.ForEachProvider;
import io.ofi4j.support.ForeignChannel;
import io.ofi4j.support.Pair;
import io.ofi4j.support.Patience;
import io.ofi4j.support.TestProviders;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.reflect.Proxy;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.provider.MethodSource;

/** Files as memory regions: what peers write is in the file, and a file may be larger than 4 GiB. */
@Timeout(600)
class MappedFileTest {
    private static final int LENGTH = 10_000;
    /** Neither on a page. */
    private static final int OFFSET = 4_097;
    private static final int PART = 3_001;
    private static final long HUGE = (4L << 30) + (1 << 20);

    @TempDir
    private Path folder;

    private Path file;

    @BeforeEach
    void write() throws IOException {
        file = folder.resolve("file");
        byte[] bytes = new byte[LENGTH];
        Arrays.fill(bytes, (byte) 3);
        Files.write(file, bytes);
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void whatAPeerWritesIsInTheFile(String provider) throws IOException {
        try (Pair pair = new Pair(provider); MemoryRegion source = pair.domain.allocate(PART, Access.WRITE)) {
            MemoryRegion mapped = pair.domain.map(file, MapMode.READ_WRITE, OFFSET, PART, Access.REMOTE_WRITE);
            assertThat(mapped.kind()).isIn(MemoryKind.FILE, MemoryKind.MEMORY_FILE); // as the folder is
            assertThat(source.kind()).isEqualTo(MemoryKind.ANONYMOUS);
            source.segment().fill((byte) 8);

            pair.rma().write(source.slice(0, PART), pair.far, mapped.remote(), 1);
            pair.awaitToken(1);
            Waiting.YIELD.until(() -> {
                pair.poll();
                return mapped.segment().mismatch(source.segment()) == -1;
            }, Pair.DEADLINE);
            mapped.force();
            mapped.force(1, 2);

            byte[] expected = new byte[LENGTH];
            Arrays.fill(expected, (byte) 3);
            Arrays.fill(expected, OFFSET, OFFSET + PART, (byte) 8);
            assertThat(Files.readAllBytes(file)).isEqualTo(expected);
            mapped.close();
            assertThatIllegalStateException().isThrownBy(mapped::force);
            assertThatIllegalStateException().isThrownBy(() -> mapped.segment().get(JAVA_BYTE, 0));
            assertThat(Files.readAllBytes(file)).isEqualTo(expected);
        }
    }

    /** Its pages may have to stay for peers, and what the program writes there reaches no file. */
    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void theSegmentOfAClosedRegionCanNeitherBeReadNorWritten(String provider) throws IOException {
        try (Pair pair = new Pair(provider)) {
            MemoryRegion mapped = pair.domain.map(file, MapMode.READ_WRITE, OFFSET, PART, Access.REMOTE_READ,
                    Access.REMOTE_WRITE);
            MemorySegment segment = mapped.segment();
            segment.set(JAVA_BYTE, 0, (byte) 9);
            mapped.close();

            assertThatIllegalStateException().isThrownBy(() -> segment.get(JAVA_BYTE, 0));
            assertThatIllegalStateException().isThrownBy(() -> segment.set(JAVA_BYTE, 0, (byte) 1));
            assertThat(Files.readAllBytes(file)[OFFSET]).isEqualTo((byte) 9);
        }
    }

    @Test
    void aMappingThatIsReadOnlyCannotBeWritten() throws IOException {
        try (Pair pair = new Pair("shm");
                MemoryRegion mapped = pair.domain.map(file, MapMode.READ_ONLY, OFFSET, PART, Access.REMOTE_READ)) {
            assertThatThrownBy(() -> mapped.segment().set(JAVA_BYTE, 0, (byte) 1))
                    .isInstanceOfAny(UnsupportedOperationException.class, IllegalArgumentException.class);
        }
    }

    @Test
    void theChangesOfAPrivateMappingCannotBeMadeDurable() throws IOException {
        try (Pair pair = new Pair("shm");
                MemoryRegion mapped = pair.domain.map(file, MapMode.PRIVATE, 0, LENGTH, Access.REMOTE_WRITE)) {
            mapped.segment().set(JAVA_BYTE, 0, (byte) 9);

            assertThatThrownBy(mapped::force).isInstanceOf(UnsupportedOperationException.class)
                    .hasMessageContaining("private mapping");
        }
    }

    @Test
    void aFileThatWasMadeShorterDoesNotSeemToHaveItsBytes() throws IOException {
        try (Pair pair = new Pair("shm");
                MemoryRegion mapped = pair.domain.map(file, MapMode.READ_WRITE, 0, LENGTH, Access.REMOTE_WRITE)) {
            assumeTrue(mapped.kind() == MemoryKind.FILE, "the folder of the tests is on no disk");
            mapped.force();
            try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
                channel.truncate(LENGTH - 100); // inside a page: no access ends the process
            }
            mapped.segment().set(JAVA_BYTE, LENGTH - 1, (byte) 1);

            assertThatThrownBy(mapped::force).isInstanceOf(UncheckedIOException.class).hasMessageContaining("shorter");
            assertThatThrownBy(mapped::force).isInstanceOf(UncheckedIOException.class);
        }
        for (int i = 0; i < 3; i++) { // one of the new files mostly has the number of the old one
            Files.delete(file);
            write();
            try (Pair pair = new Pair("shm");
                    MemoryRegion mapped = pair.domain.map(file, MapMode.READ_WRITE, 0, LENGTH, Access.REMOTE_WRITE)) {
                mapped.force();
            }
        }
    }

    @Test
    void aRegionOfSeveralKindsOfMemoryHasTheOneThatSurvivesLeast() throws IOException {
        try (Pair pair = new Pair(TestProviders.hints("shm").capabilities(Capability.RMA, Capability.MSG));
                Arena arena = Arena.ofShared();
                FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            MemorySegment inFile = channel.map(MapMode.READ_WRITE, 0, LENGTH, arena);
            try (MemoryRegion region = pair.domain
                    .register(MemoryRegionAttributes.of(inFile, arena.allocate(LENGTH)).access(Access.RECEIVE))) {
                assertThat(region.kind()).isEqualTo(MemoryKind.ANONYMOUS);
                assertThat(region.parts().getFirst().kind()).isIn(MemoryKind.FILE, MemoryKind.MEMORY_FILE);
                assertThat(region.parts().getLast().kind()).isEqualTo(MemoryKind.ANONYMOUS);
            }
        }
    }

    @Test
    void anInterruptDoesNotChangeTheKindOfAMapping() throws IOException {
        try (Arena arena = Arena.ofConfined();
                FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            MemorySegment shared = channel.map(MapMode.READ_WRITE, 0, LENGTH, arena);
            MemorySegment own = channel.map(MapMode.PRIVATE, 0, LENGTH, arena);
            MemoryKind kind = FileMapping.kindOf(shared);

            Thread.currentThread().interrupt();

            assertThat(FileMapping.kindOf(shared)).isEqualTo(kind);
            assertThat(FileMapping.kindOf(own)).isEqualTo(MemoryKind.ANONYMOUS);
            assertThat(Thread.interrupted()).isTrue();
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void aFileIsReadByPeersAndSentFrom(String provider) throws IOException {
        try (Pair pair = new Pair(provider);
                MemoryRegion mapped = mapThroughChannel(pair.domain);
                MemoryRegion here = pair.domain.allocate(PART, Access.READ, Access.REMOTE_WRITE)) {
            pair.rma().read(here.slice(0, PART), pair.far, mapped.remote(), 1);
            pair.awaitToken(1);
            assertThat(here.segment().mismatch(mapped.segment())).isEqualTo(-1);
            here.segment().fill((byte) 0);

            pair.rma().write(mapped.slice(0, PART), pair.far, here.remote(), 2);
            pair.awaitToken(2);
            Waiting.YIELD.until(() -> {
                pair.poll();
                return here.segment().mismatch(mapped.segment()) == -1;
            }, Pair.DEADLINE);
        }
    }

    /**
     * The channel is closed when this returns. Before Linux 6.2 a device's driver takes memory only that may be written
     * to.
     */
    private MemoryRegion mapThroughChannel(Domain domain) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            try {
                return domain.map(channel, MapMode.READ_ONLY, OFFSET, PART, Access.REMOTE_READ, Access.WRITE);
            } catch (FabricException e) {
                assertThat(domain.info().provider()).startsWith("verbs");
                assertThat(e.errno()).isEqualTo(Errno.EFAULT);
                assertThat(e).hasMessageContainingAll("READ_WRITE", "PRIVATE");
                return domain.map(channel, MapMode.PRIVATE, OFFSET, PART, Access.REMOTE_READ, Access.WRITE);
            }
        }
    }

    @Test
    void misuseIsRefusedBeforeTheFileIsTouched() throws IOException {
        try (Pair pair = new Pair("shm")) {
            for (Access right : new Access[]{Access.READ, Access.RECEIVE, Access.REMOTE_WRITE}) {
                assertThatIllegalArgumentException()
                        .isThrownBy(() -> pair.domain.map(file, MapMode.READ_ONLY, 0, 8, right))
                        .withMessageContaining("read-only");
            }
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> pair.domain.map(file, MapMode.READ_WRITE, 0, 2 * LENGTH))
                    .withMessageContaining("at least one access right");
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> pair.domain.map(file, MapMode.READ_WRITE, 0, 0, Access.WRITE));
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> pair.domain.map(file, MapMode.READ_WRITE, -1, 8, Access.WRITE));
            assertThatIOException()
                    .isThrownBy(() -> pair.domain.map(folder.resolve("none"), MapMode.READ_WRITE, 0, 8, Access.WRITE));
            assertThatIOException()
                    .isThrownBy(() -> pair.domain.map(file, MapMode.READ_ONLY, 0, 2 * LENGTH, Access.WRITE));
            assertThat(Files.size(file)).isEqualTo(LENGTH);
            try (MemoryRegion anonymous = pair.domain.allocate(8, Access.WRITE)) {
                assertThatExceptionOfType(UnsupportedOperationException.class).isThrownBy(anonymous::force)
                        .withMessageContaining("Domain.map");
            }
        }
    }

    @Test
    void aChannelOfAnotherClassThanTheJdksIsRefused() throws IOException {
        try (Pair pair = new Pair("shm");
                Arena arena = Arena.ofShared();
                FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            for (MemorySegment memory : Arrays.asList(arena.allocate(LENGTH), null)) {
                assertThatIllegalArgumentException()
                        .isThrownBy(() -> pair.domain.map(new ForeignChannel(channel, memory), MapMode.READ_WRITE, 0,
                                LENGTH, Access.REMOTE_WRITE))
                        .withMessageContaining(ForeignChannel.class.getName())
                        .withMessageContaining("FileChannel.open");
            }
        }
    }

    @Test
    void aFileInsideAnArchiveIsRefused() throws IOException {
        Path archive = folder.resolve("archive.zip");
        try (Pair pair = new Pair("shm");
                FileSystem inside = FileSystems.newFileSystem(archive, Map.of("create", "true"))) {
            Path inner = Files.write(inside.getPath("/file"), new byte[LENGTH]);

            assertThatIllegalArgumentException()
                    .isThrownBy(() -> pair.domain.map(inner, MapMode.READ_ONLY, 0, LENGTH, Access.WRITE))
                    .withMessageContaining("default file system");
        }
    }

    @Test
    void aPathOfAnotherClassThanTheJdksIsRefused() throws IOException {
        Path foreign = (Path) Proxy.newProxyInstance(Path.class.getClassLoader(), new Class<?>[]{Path.class},
                (path, method, arguments) -> method.invoke(file, arguments));
        try (Pair pair = new Pair("shm")) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> pair.domain.map(foreign, MapMode.READ_ONLY, 0, 8, Access.WRITE))
                    .withMessageContaining(foreign.getClass().getName()).withMessageContaining("use Path.of");
        }
    }

    @Test
    void aPipeIsRefusedAtOnce() throws IOException {
        Path pipe = folder.resolve("pipe");
        assertThat(FaultPeer.exit(List.of("mkfifo", pipe.toString()), new ArrayList<>())).isZero();
        try (Pair pair = new Pair("shm")) {
            CompletableFuture<MemoryRegion> mapped = new CompletableFuture<>();
            Thread.ofPlatform().daemon().start(() -> {
                try {
                    mapped.complete(pair.domain.map(pipe, MapMode.READ_ONLY, 0, 8, Access.WRITE));
                } catch (Throwable t) {
                    mapped.completeExceptionally(t);
                }
            });
            try {
                assertThat(mapped).failsWithin(Patience.seconds(5)).withThrowableOfType(ExecutionException.class)
                        .withMessageContaining("not a regular file");
            } finally {
                FileChannel.open(pipe, StandardOpenOption.READ, StandardOpenOption.WRITE).close(); // ends a wait for it
            }
        }
    }

    @Test
    void othersUseTheDomainWhileAFileIsOpened() throws IOException {
        List<Boolean> waits = new ArrayList<>();
        try (Pair pair = new Pair("shm")) {
            Path slow = (Path) Proxy.newProxyInstance(Path.class.getClassLoader(), new Class<?>[]{Path.class},
                    (path, method, arguments) -> {
                        waits.add(Thread.holdsLock(pair.domain));
                        throw new UncheckedIOException(new IOException("gone"));
                    });

            assertThatThrownBy(() -> pair.domain.map(slow, MapMode.READ_ONLY, 0, 8, Access.WRITE))
                    .isInstanceOf(UncheckedIOException.class);
            assertThat(waits).containsOnly(false);
        }
    }

    @Test
    void aPrivateMappingNeverChangesTheFileAndAWritableOneGrowsIt() throws IOException {
        try (Pair pair = new Pair("shm")) {
            try (MemoryRegion region = pair.domain.map(file, MapMode.PRIVATE, 0, LENGTH, Access.READ)) {
                region.segment().fill((byte) 1);
            }
            assertThat(Files.readAllBytes(file)).containsOnly(3);
            pair.domain.map(file, MapMode.READ_WRITE, LENGTH, 10, Access.READ).close();
            assertThat(Files.size(file)).isEqualTo(LENGTH + 10);
        }
    }

    @Test
    void theCallersOwnMappingIsAFileToo() throws IOException {
        try (Pair pair = new Pair("shm");
                Arena arena = Arena.ofShared();
                FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE);
                MemoryRegion region = pair.domain.register(channel.map(MapMode.READ_WRITE, 0, 8, arena), Access.READ)) {
            region.segment().set(JAVA_BYTE, 0, (byte) 77);
            region.force();
            assertThat(region.kind()).isIn(MemoryKind.FILE, MemoryKind.MEMORY_FILE);
            assertThatThrownBy(() -> region.force(8, 1)).isInstanceOf(IndexOutOfBoundsException.class);
            assertThat(Files.readAllBytes(file)[0]).isEqualTo((byte) 77);
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void aRegionMayBeLargerThanFourGibibytes(String provider) throws IOException {
        assumeTrue(!provider.startsWith("verbs") || freeMemory() > 2 * HUGE,
                "a device has all of the region in memory, and this machine has not as much");
        Path sparse = folder.resolve("sparse");
        try (Pair pair = new Pair(provider);
                MemoryRegion huge = mapSparse(pair.domain, sparse);
                MemoryRegion small = pair.domain.allocate(2 * Long.BYTES, Access.WRITE, Access.READ,
                        Access.REMOTE_WRITE)) {
            for (long offset : new long[]{0, (1L << 31) - 8, 1L << 31, (3L << 30) + 1, (1L << 32) - 8, 1L << 32,
                    HUGE - 16}) {
                small.segment().set(JAVA_LONG, 0, ~offset);
                small.segment().set(JAVA_LONG, 8, offset);
                write(pair, small, 0, huge, offset);
                small.segment().fill((byte) 0);
                pair.rma().read(small.slice(0, 16), pair.far, huge.remote().slice(offset, 16), 2);
                pair.awaitToken(2);
                assertThat(small.segment().get(JAVA_LONG, 8)).isEqualTo(offset);
                small.segment().fill((byte) 0);
                write(pair, huge, offset, small, 0);
            }
            assertThatThrownBy(() -> pair.rma().tryWrite(small, 0, 16, pair.far, huge.remote(), HUGE - 15, 1))
                    .isInstanceOf(IndexOutOfBoundsException.class);
        }
        assertThat(Files.size(sparse)).isEqualTo(HUGE);
        Files.delete(sparse);
    }

    /** Through a channel, which leaves it sparse. */
    private static MemoryRegion mapSparse(Domain domain, Path sparse) throws IOException {
        try (FileChannel channel = FileChannel.open(sparse, StandardOpenOption.CREATE_NEW, StandardOpenOption.READ,
                StandardOpenOption.WRITE)) {
            return domain.map(channel, MapMode.READ_WRITE, 0, HUGE, Access.REMOTE_WRITE, Access.REMOTE_READ,
                    Access.WRITE, Access.READ);
        }
    }

    /** {@return how many bytes nobody uses} */
    private static long freeMemory() throws IOException {
        String line = Files.readAllLines(Path.of("/proc/meminfo")).stream()
                .filter(one -> one.startsWith("MemAvailable:")).findFirst().orElseThrow();
        return Long.parseLong(line.replaceAll("\\D", "")) << 10;
    }

    private static void write(Pair pair, MemoryRegion source, long offset, MemoryRegion target, long targetOffset) {
        pair.rma().write(source.slice(offset, 16), pair.far, target.remote().slice(targetOffset, 16), 1);
        pair.awaitToken(1);
        MemorySegment sent = source.segment().asSlice(offset, 16);
        Waiting.YIELD.until(() -> {
            pair.poll();
            return target.segment().asSlice(targetOffset, 16).mismatch(sent) == -1;
        }, Pair.DEADLINE);
    }
}
