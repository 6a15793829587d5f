package io.ofi4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import io.ofi4j.info.MemoryKind;
import io.ofi4j.internal.os.NativeMemory;
import io.ofi4j.support.Forked;
import io.ofi4j.support.Pair;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A region knows how long its bytes can last, and tells its peers. */
class MemoryKindTest {
    private static final int LENGTH = 10_000;
    private static final int KIND_AT = 32;

    @TempDir
    private Path folder;

    private Path file;
    private Path inMemory;
    private Pair pair;

    @BeforeEach
    void open() throws IOException {
        file = Files.write(folder.resolve("file"), new byte[LENGTH]);
        inMemory = Files.write(Files.createTempFile(Path.of("/dev/shm"), "ofi4j-kind", ""), new byte[LENGTH]);
        pair = new Pair("shm");
    }

    @AfterEach
    void close() throws IOException {
        pair.close();
        Files.delete(inMemory);
    }

    @Test
    void memoryOfTheProcessIsAnonymous() {
        try (MemoryRegion allocated = pair.domain.allocate(8, Access.REMOTE_WRITE);
                Arena arena = Arena.ofShared();
                MemoryRegion registered = pair.domain.register(arena.allocate(8), Access.REMOTE_WRITE)) {
            assertThat(allocated.remote().kind()).isEqualTo(MemoryKind.ANONYMOUS);
            assertThat(registered.remote().kind()).isEqualTo(MemoryKind.ANONYMOUS);
        }
    }

    @Test
    void aFileOnADiskMayOutliveTheMachinesPower() throws IOException {
        assumeFalse(isInMemory(file), "the folder of temporary files is in memory");
        try (MemoryRegion mapped = pair.domain.map(file, MapMode.READ_WRITE, 0, LENGTH, Access.REMOTE_WRITE)) {
            assertThat(mapped.kind()).isEqualTo(MemoryKind.FILE);
            assertThat(mapped.remote().kind()).isEqualTo(MemoryKind.FILE);
        }
    }

    private static boolean isInMemory(Path file) {
        try {
            return Files.getFileStore(file).type().equals("tmpfs");
        } catch (IOException e) {
            return false; // the root is no mount, but a folder of a disk
        }
    }

    @Test
    void aFileInMemoryOutlivesItsProcessOnly() throws IOException {
        try (MemoryRegion mapped = pair.domain.map(inMemory, MapMode.READ_WRITE, 0, LENGTH, Access.REMOTE_WRITE)) {
            assertThat(mapped.remote().kind()).isEqualTo(MemoryKind.MEMORY_FILE);
        }
    }

    @Test
    void aFileThatWasDeletedAfterItWasMappedKeepsItsKind() throws IOException {
        Path doomed = Files.write(Files.createTempFile(Path.of("/dev/shm"), "ofi4j-kind", ""), new byte[LENGTH]);
        try (FileChannel channel = FileChannel.open(doomed, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            Files.delete(doomed);
            try (MemoryRegion mapped = pair.domain.map(channel, MapMode.READ_WRITE, 0, LENGTH, Access.READ)) {
                assertThat(mapped.kind()).isEqualTo(MemoryKind.MEMORY_FILE);
            }
        }
    }

    @Test
    void aPrivateMappingEndsWithTheProcess() throws IOException {
        try (MemoryRegion mapped = pair.domain.map(file, MapMode.PRIVATE, 0, LENGTH, Access.REMOTE_WRITE)) {
            assertThat(mapped.kind()).isEqualTo(MemoryKind.ANONYMOUS);
        }
    }

    @Test
    void aSynchronousMappingIsRefusedWhereTheFileSystemHasNone() throws IOException {
        assumeFalse(Files.readString(Path.of("/proc/self/mountinfo")).contains("dax"), "a file system here has DAX");
        Forked.Result result = Forked.run(SynchronousMapping.class, file.toString());
        assertThat(result.output()).contains("refused: java.io.IOException");
        assertThat(result.exit()).isZero();
        assertThat(Files.size(file)).isEqualTo(LENGTH);
    }

    /** Argument: the file. On the class path, where the module of the mode is there. */
    static final class SynchronousMapping {
        public static void main(String[] arguments) throws ReflectiveOperationException {
            MapMode mode = (MapMode) Class.forName("jdk.nio.mapmode.ExtendedMapMode").getField("READ_WRITE_SYNC")
                    .get(null);
            try (Pair pair = new Pair("shm")) {
                pair.domain.map(Path.of(arguments[0]), mode, 0, LENGTH, Access.REMOTE_WRITE);
            } catch (IOException e) {
                System.out.println("refused: " + e);
            }
        }
    }

    /** What makes persistent memory durable; without such memory it is tried on a file. */
    @Test
    void msyncTakesAnyPlaceOfAMapping() throws IOException {
        try (Arena arena = Arena.ofConfined();
                FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            MemorySegment memory = channel.map(MapMode.READ_WRITE, 0, LENGTH, arena);
            assertThat(NativeMemory.sync(memory.address() + 4_099, 5_000)).isZero();
            assertThat(NativeMemory.sync(memory.address() + (1L << 40), 1)).as("ENOMEM: nothing there").isEqualTo(12);
        }
    }

    @Test
    void theKindIsEncodedAndASliceHasIt() {
        for (MemoryKind kind : MemoryKind.values()) {
            RemoteRegion region = new RemoteRegion(4096, 100, 7, Access.REMOTE_WRITE.bit(), kind);
            assertThat(RemoteRegion.decode(region.encode())).isEqualTo(region);
            assertThat(region.slice(10, 20).kind()).isEqualTo(kind);
        }
    }

    @Test
    void anUnknownKindIsRefused() {
        byte[] encoded = new RemoteRegion(4096, 100, 7, Access.REMOTE_WRITE.bit()).encode();
        ByteBuffer buffer = ByteBuffer.wrap(encoded).putInt(KIND_AT, MemoryKind.values().length);
        CRC32C sum = new CRC32C();
        sum.update(encoded, 0, encoded.length - Integer.BYTES);
        buffer.putInt(encoded.length - Integer.BYTES, (int) sum.getValue());
        assertThatIllegalArgumentException().isThrownBy(() -> RemoteRegion.decode(encoded))
                .withMessageContaining("kind of memory");
    }
}
