package io.ofi4j;

import static org.assertj.core.api.Assertions.assertThat;

import io.ofi4j.info.MemoryKind;
import io.ofi4j.internal.os.Downcalls;
import io.ofi4j.internal.os.LibC;
import io.ofi4j.internal.os.Machine;
import io.ofi4j.internal.os.NativeMemory;
import io.ofi4j.support.Forked;
import io.ofi4j.support.Pair;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A force that has failed is not made up for by the next one: the system takes the bytes for written from then on.
 * {@code FailingDiskTest} has a disk that fails; here msync(2) fails because a page is missing, and later is there.
 */
@Tag("gate")
@Timeout(600)
class FailedForceTest {
    @Test
    void afterAFailedForceEachLaterOneFailsUntilTheFileIsMappedAnew() {
        Forked.Result result = Forked.run(Forces.class);

        assertThat(result.exit()).as(result.output()).isZero();
        assertThat(result.output()).contains("all as expected");
    }

    static final class Forces {
        private static final long LENGTH = 8 * Machine.PAGE;
        private static final int READ_AND_WRITE = 3;
        private static final int SHARED_AND_FIXED = 0x11;
        private static final int O_RDWR = 2;

        private Forces() {}

        public static void main(String[] arguments) throws Throwable {
            Path file = Files.write(Path.of("target", "failed-force-" + ProcessHandle.current().pid()),
                    new byte[(int) LENGTH]);
            try (Pair pair = new Pair("sockets")) {
                try (MemoryRegion region = map(pair, file); MemoryRegion other = map(pair, file)) {
                    require(region.kind() == MemoryKind.FILE, "the test needs a file on a disk: " + region.kind());
                    region.segment().fill((byte) 1);
                    region.force();
                    other.force();
                    long page = region.segment().address() + 4 * Machine.PAGE;
                    unmap(page);
                    requireFailure(region, 0, LENGTH, "");
                    mapAgain(page, file);
                    require(NativeMemory.sync(region.segment().address(), LENGTH) == 0, "all is well, says the system");

                    requireFailure(region, 0, LENGTH, "map the file anew");
                    requireFailure(region, 0, 1, "map the file anew");
                    requireFailure(other, 0, 1, "map the file anew");
                    try (MemoryRegion early = map(pair, file)) { // of pages that the first region still holds
                        requireFailure(early, 0, 1, "map the file anew");
                    }
                }
                try (MemoryRegion anew = map(pair, file)) {
                    anew.segment().fill((byte) 2);
                    anew.force();
                }
            } finally {
                Files.delete(file);
            }
            System.out.println("all as expected");
        }

        private static MemoryRegion map(Pair pair, Path file) throws IOException {
            return pair.domain.map(file, MapMode.READ_WRITE, 0, LENGTH, Access.REMOTE_WRITE);
        }

        private static void requireFailure(MemoryRegion region, long offset, long bytes, String words) {
            try {
                region.force(offset, bytes);
            } catch (UncheckedIOException e) {
                require(e.getMessage().contains(words), e.getMessage());
                return;
            }
            throw new AssertionError("bytes that may be lost were said to be written");
        }

        private static void unmap(long page) {
            require(Downcalls.callForInt(LibC.function("munmap"), page, Machine.PAGE) == 0, "munmap");
        }

        private static void mapAgain(long page, Path file) {
            try (Arena arena = Arena.ofConfined()) {
                MemorySegment name = arena.allocateFrom(file.toString());
                int descriptor = Downcalls.callForInt(LibC.function("open"), name, O_RDWR);
                require(descriptor >= 0, "open");
                long address = Downcalls.callForLong(LibC.function("mmap"), page, Machine.PAGE, READ_AND_WRITE,
                        SHARED_AND_FIXED, descriptor, 4 * Machine.PAGE);
                require(address == page, "mmap");
            }
        }

        private static void require(boolean holds, String otherwise) {
            if (!holds) { throw new AssertionError(otherwise); }
        }
    }
}
