package io.ofi4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.ofi4j.support.FaultPeer;
import io.ofi4j.support.Forked;
import io.ofi4j.support.Pair;
import java.io.IOException;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A file is mapped whose disk has no room for it: an exception, where the first write beyond would end the process. */
@Timeout(600)
class MappedFileRoomTest {
    @TempDir
    private Path folder;

    @Test
    void aFileThatTheDiskHasNoRoomForIsNotMapped() {
        List<String> output = new ArrayList<>();
        boolean able = FaultPeer.exit(List.of("unshare", "-m", "true"), output) == 0;
        assumeTrue(able, () -> "mounting needs root: " + output);
        Forked.Result result = Forked.startBehind(
                List.of("unshare", "-m", "sh", "-c",
                        "mount -t tmpfs -o size=8m tmpfs " + folder + "; exec \"$0\" \"$@\""),
                Maps.class, folder.toString()).await();

        assertThat(result.exit()).as(result.output()).isZero();
    }

    /** In a folder with room for 8 MB. */
    static final class Maps {
        private static final int SMALL = 10_000;
        private static final long FITS = 6 << 20;
        private static final long LARGE = 64 << 20;

        private Maps() {}

        public static void main(String[] arguments) throws IOException {
            byte[] bytes = new byte[SMALL];
            Arrays.fill(bytes, (byte) 3);
            Path file = Files.write(Path.of(arguments[0], "file"), bytes);
            try (Pair pair = new Pair("sockets")) {
                requireRefusal(pair.domain, file);
                require(Arrays.equals(Files.readAllBytes(file), bytes), "refused, and changed");
                try (MemoryRegion region = pair.domain.map(file, MapMode.READ_WRITE, SMALL - 1, FITS,
                        Access.REMOTE_WRITE)) {
                    fill(Path.of(arguments[0], "filler"));
                    region.segment().fill((byte) 5);
                }
                require(Files.size(file) == SMALL - 1 + FITS, "the length is " + Files.size(file));
                require(Files.readAllBytes(file)[SMALL - 2] == 3, "what was there has changed");
            }
        }

        private static void requireRefusal(Domain domain, Path file) throws IOException {
            try {
                domain.map(file, MapMode.READ_WRITE, 1, LARGE, Access.REMOTE_WRITE);
            } catch (FileSystemException e) {
                require(e.getMessage().contains("no room for " + LARGE), e.getMessage());
                return;
            }
            throw new AssertionError("mapped");
        }

        private static void fill(Path filler) {
            try {
                Files.write(filler, new byte[(int) FITS]);
            } catch (IOException e) {
                return; // full
            }
            throw new AssertionError("there was room");
        }

        private static void require(boolean holds, String otherwise) {
            if (!holds) { throw new AssertionError(otherwise); }
        }
    }
}
