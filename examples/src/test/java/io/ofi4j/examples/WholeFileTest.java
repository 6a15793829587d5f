package io.ofi4j.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is in a folder after a file was written, or could not be. */
class WholeFileTest {
    @TempDir
    Path folder;

    private List<String> names() throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.map(file -> file.getFileName().toString()).sorted().toList();
        }
    }

    @Test
    void aFileIsReplacedAndNothingElseIsLeft() throws IOException {
        Path file = folder.resolve("file");
        WholeFile.write(file, "first");
        WholeFile.write(file, "second");

        assertThat(file).hasContent("second");
        assertThat(names()).containsExactly("file");
    }

    @Test
    void whoReadsTheOldFileReadsItToItsEnd() throws IOException {
        Path file = folder.resolve("file");
        WholeFile.write(file, "first");
        try (var reader = Files.newInputStream(file)) {
            WholeFile.write(file, "second");

            assertThat(reader.readAllBytes()).asString().isEqualTo("first");
        }
    }

    @Test
    void aLinkStaysALink() throws IOException {
        Path file = Files.createDirectory(folder.resolve("there")).resolve("file");
        WholeFile.write(file, "first");
        Path link = Files.createSymbolicLink(folder.resolve("link"), file);
        WholeFile.write(link, "second");

        assertThat(file).hasContent("second");
        assertThat(link).isSymbolicLink();
    }

    @Test
    void aFileThatCannotGetItsNameLeavesNothing() throws IOException {
        Path taken = Files.createDirectories(folder.resolve("taken/full")).getParent();

        assertThatThrownBy(() -> WholeFile.write(taken, "text")).isInstanceOf(IOException.class);
        assertThat(names()).containsExactly("taken");
    }

    @Test
    void aFolderThatIsNotThereIsNamedByTheFile() {
        assertThatThrownBy(() -> WholeFile.write(folder.resolve("nowhere/file"), "text"))
                .isInstanceOf(IOException.class).hasMessage(folder + "/nowhere/file");
    }

    @Test
    void whatIsNoFileIsWrittenTo() throws IOException {
        WholeFile.write(Path.of("/dev/null"), "text");

        assertThat(Files.isRegularFile(Path.of("/dev/null"))).isFalse();
    }
}
