package io.ofi4j.command;

import static org.assertj.core.api.Assertions.assertThat;

import io.ofi4j.Libfabric;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which libfabric the command loads: another file than the system's, by an option of every command. */
@Tag("gate")
@Tag("once")
class LibraryTest {
    @TempDir
    Path folder;

    /** A library that every JDK has. */
    private static final Path OTHER = Path.of(System.getProperty("java.home"), "lib", "libzip.so");

    /** The file of the libfabric that this process has loaded. */
    private static Path loaded() throws IOException {
        Libfabric.load();
        return Files.readAllLines(Path.of("/proc/self/maps")).stream().filter(line -> line.contains("/libfabric.so"))
                .map(line -> Path.of(line.substring(line.indexOf('/')))).findFirst().orElseThrow();
    }

    @ParameterizedTest
    @ValueSource(strings = {"--library=", "--library ", "-Dio.ofi4j.library="})
    void theNamedFileIsLoaded(String option) {
        for (String line : List.of(option + OTHER + " info", "info " + option + OTHER, "perf write " + option + OTHER,
                "soak " + option + OTHER)) {
            try (Forked command = Forked.start(line.split(" "))) {
                command.await().failed(1, "The library that --library names is not a libfabric", "Correct the option");
            }
        }
    }

    /** A link in another folder, with the name that the library was built with. */
    @Test
    void aFileInAnotherFolderIsLoaded() throws IOException {
        Path link = Files.createSymbolicLink(folder.resolve("libfabric.so.1"), loaded());

        try (Forked info = Forked.start("info", "-l", "--library", link.toString())) {
            assertThat(info.await().succeeded().lines()).anyMatch(line -> line.equals("shm:"));
        }
    }

    @Test
    void aFileThatIsNotThereIsNamed() {
        Run.of("info", "--library", "/nonexistent/libfabric.so.1").failed(2, "--library",
                "there is no file '/nonexistent/libfabric.so.1'");
    }

    @Test
    void adviceHasTheCommandsOption() {
        assertThat(Library.advice("name the file with -Dio.ofi4j.library=/path/to/libfabric.so.1."))
                .isEqualTo("name the file with --library /path/to/libfabric.so.1.");
    }
}
