package io.ofi4j.internal;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** What a process leaves that is killed after it has made the file of an endpoint, and before the provider has. */
class ShmFileHeaderTest {
    private static final Path FOLDER = Path.of("/dev/shm");
    private static final long SIZE = 1 << 20;

    @Test
    void aFileThatIsHalfMadeIsNobodysEndpoint() throws IOException {
        Path file = FOLDER.resolve("ofi4j-half-" + ProcessHandle.current().pid());
        byte[] address = ("fi_shm://" + file.getFileName() + "\0").getBytes();
        try {
            try (NativeFile made = NativeFile.unnamed(FOLDER)) {
                assertThat(made.reserve(0, SIZE, true)).isZero();
                ShmFileHeader.write(made, SIZE, file);
                assertThat(made.link(file)).isZero();

                assertThat(made.missing()).isZero();
                assertThat(ShmFiles.isReady(address)).isFalse();
                assertThat(ShmFiles.isForeign(address)).isFalse();
                assertThat(made.link(file)).isEqualTo(NativeFile.EEXIST);
            }
        } finally {
            Files.deleteIfExists(file);
        }
    }
}
