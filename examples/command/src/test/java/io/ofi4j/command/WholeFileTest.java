package io.ofi4j.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Set;
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
    void aLinkToNothingLeadsToTheNewFile() throws IOException {
        Path link = Files.createSymbolicLink(folder.resolve("link"), Path.of("file"));
        WholeFile.write(link, "text");

        assertThat(folder.resolve("file")).hasContent("text");
        assertThat(link).isSymbolicLink();
    }

    @Test
    void aFileKeepsItsPermissions() throws IOException {
        Path file = folder.resolve("file");
        WholeFile.write(file, "first");
        Set<PosixFilePermission> permissions = PosixFilePermissions.fromString("rw-rw-rw-"); // more than the umask lets
        Files.setPosixFilePermissions(file, permissions);
        WholeFile.write(file, "second");

        assertThat(Files.getPosixFilePermissions(file)).isEqualTo(permissions);
    }

    @Test
    void aLinkInThePlaceOfThePartIsNotFollowed() throws IOException {
        Path other = Files.writeString(folder.resolve("other"), "theirs");
        Files.createSymbolicLink(folder.resolve(".file." + ProcessHandle.current().pid() + ".part"), other);
        WholeFile.write(folder.resolve("file"), "text");

        assertThat(other).hasContent("theirs");
    }

    /** As /dev/stdout is where the shell has led it into a file. */
    @Test
    void whatIsOpenIsWrittenToAtItsEnd() throws IOException {
        Path file = folder.resolve("file");
        try (FileOutputStream open = new FileOutputStream(file.toFile())) {
            open.write("first, ".getBytes(StandardCharsets.UTF_8));
            WholeFile.write(descriptorOf(file), "second");
        }

        assertThat(file).hasContent("first, second");
        assertThat(names()).containsExactly("file");
    }

    private static Path descriptorOf(Path file) throws IOException {
        try (Stream<Path> descriptors = Files.list(Path.of("/proc/self/fd"))) {
            return descriptors.filter(link -> {
                try {
                    return Files.readSymbolicLink(link).equals(file);
                } catch (IOException e) { // closed meanwhile
                    return false;
                }
            }).findFirst().orElseThrow();
        }
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
                .isInstanceOf(IOException.class).hasMessage(folder + "/nowhere/file: there is no such folder");
    }

    @Test
    void whatIsNoFileIsWrittenTo() throws IOException {
        WholeFile.write(Path.of("/dev/null"), "text");

        assertThat(Files.isRegularFile(Path.of("/dev/null"))).isFalse();
    }
}
