package io.ofi4j.command.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Whether somebody uses a file, and what becomes of those who want to meanwhile. */
class FileLeaseTest {
    private final FileLease lease = new FileLease(new SystemCalls());

    @TempDir
    private Path folder;

    private Path file;

    @BeforeEach
    void write() throws IOException { file = Files.writeString(folder.resolve("file"), "content"); }

    @Test
    void whoWantsAFileThatIsBeingLookedAtEndsNobody() {
        int[] exit = new int[1];

        boolean unused = lease.whileUnused(file, () -> {
            exit[0] = openWithoutWaiting();
            return true;
        });

        assertThat(unused).isTrue();
        assertThat(exit[0]).isNotZero();
        assertThat(openWithoutWaiting()).isZero();
    }

    /** The kernel signals whoever holds the lease: with SIGIO, which ends a process, unless told otherwise. */
    private int openWithoutWaiting() {
        try {
            return new ProcessBuilder("dd", "if=" + file, "of=/dev/null", "iflag=nonblock", "status=none").start()
                    .waitFor();
        } catch (IOException | InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void aFileThatNobodyHasOpenIsRemovedAndNoOther() throws IOException {
        try (InputStream open = Files.newInputStream(file)) {
            assertThat(open.available()).isPositive();
            assertThat(lease.isUnused(file)).isFalse();
            assertThat(lease.removeUnused(file)).isFalse();
            assertThat(file).exists();
        }
        assertThat(lease.isUnused(file)).isTrue();
        assertThat(lease.removeUnused(file)).isTrue();
        assertThat(file).doesNotExist();
        assertThat(lease.removeUnused(file)).isFalse();
    }

    @Test
    void foldersAndLinksAreNeverRemoved() throws IOException {
        Path link = Files.createSymbolicLink(folder.resolve("link"), file);

        assertThat(lease.removeUnused(link)).isFalse();
        assertThat(lease.removeUnused(folder)).isFalse();
        assertThat(link).exists();
    }
}
