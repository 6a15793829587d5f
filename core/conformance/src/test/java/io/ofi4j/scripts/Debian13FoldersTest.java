package io.ofi4j.scripts;

import static org.assertj.core.api.Assertions.assertThat;

import io.ofi4j.support.Pair;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Which folders scripts/debian13 takes into its root for the words of a command, before it makes or mounts anything.
 */
@Tag("gate")
@Tag("once")
class Debian13FoldersTest {
    private static final Path SCRIPT = Path.of("../../scripts/debian13").toAbsolutePath().normalize();

    @TempDir
    Path folder;

    private Path checkout;

    private record Run(int exit, String output) {}

    @BeforeEach
    void folders() throws Exception {
        folder = folder.toRealPath();
        checkout = Files.createDirectories(folder.resolve("checkout/core"));
        Files.createDirectory(folder.resolve("data"));
    }

    private Run run(Path here, String... command) throws Exception {
        Path output = folder.resolve("output");
        Process process = new ProcessBuilder(command).directory(here.toFile()).redirectErrorStream(true)
                .redirectOutput(output.toFile()).start();
        assertThat(process.waitFor(Pair.DEADLINE.toSeconds(), TimeUnit.SECONDS)).as("it ended").isTrue();
        return new Run(process.exitValue(), Files.readString(output));
    }

    /** What the script's own function says. */
    private String folderOf(Path here, String word) throws Exception { return run(here, "bash", "-euc", """
            root=$1 inside_debian13=/ofi4j
            source <(sed -n '/^folder_of()/,/^}/p; /^is_yours()/,/^}/p' "$2")
            folder_of "$3"
            """, "folders", folder.resolve("checkout").toString(), SCRIPT.toString(), word).output().strip(); }

    @Test
    void aFileThatIsToBeWrittenBringsItsFolder() throws Exception {
        assertThat(folderOf(folder, folder + "/data/new.html")).isEqualTo(folder + "/data");
        assertThat(folderOf(folder, "--chart=" + folder + "/data/new.html")).isEqualTo(folder + "/data");
        assertThat(folderOf(folder, "data/new.html")).isEqualTo(folder + "/data");
        assertThat(folderOf(folder.resolve("checkout"), "../data/new.html")).isEqualTo(folder + "/data");
    }

    @Test
    void aFolderBringsItself() throws Exception {
        assertThat(folderOf(folder, folder + "/data")).isEqualTo(folder + "/data");
    }

    @Test
    void whatIsNoFileBringsNothing() throws Exception {
        for (String word : List.of("write", "-p", "tcp;ofi_rxm", "-I/usr", "198.18.0.0/24", "http://localhost/a",
                "/no/such/folder/file", "-Dtest=A#b", "all (1 to 4m)")) {
            assertThat(folderOf(folder, word)).as(word).isEmpty();
        }
    }

    @Test
    void foldersOfTheSystemAreThoseOfTheRoot() throws Exception {
        for (String word : List.of("/", "/file", "/usr/bin/env", "/dev/null", "/proc/self", "/ofi4j/scripts/test",
                "--library=/usr/lib/libfabric.so.1", "/var/run/file")) {
            assertThat(folderOf(folder, word)).as(word).isEmpty();
        }
    }

    @Test
    void theCheckoutIsThereAlreadyUnlessItsPlaceIsNamed() throws Exception {
        assertThat(folderOf(checkout, "core/fabric")).isEmpty();
        assertThat(folderOf(folder, "checkout/core/x")).isEmpty();
        assertThat(folderOf(checkout, checkout + "/x")).isEqualTo(checkout.toString());
    }

    @Test
    void bindTakesAFolderThatIsThere() throws Exception {
        assertThat(run(folder, SCRIPT.toString(), "--bind", "nowhere", "--", "true"))
                .isEqualTo(new Run(2, "debian13: --bind takes a folder of yours, and nowhere is none\n"));
        assertThat(run(folder, SCRIPT.toString(), "--bind"))
                .isEqualTo(new Run(2, "debian13: --bind takes a folder of yours\n"));
        assertThat(run(folder, SCRIPT.toString(), "--bind", "/usr/lib", "--", "true"))
                .isEqualTo(new Run(2, "debian13: --bind takes a folder of yours, and /usr/lib is the system's\n"));
    }

    @Test
    void jdkTakesTheFolderOfOne() throws Exception {
        assertThat(run(folder, SCRIPT.toString(), "--jdk", "data", "--", "true"))
                .isEqualTo(new Run(2, "debian13: --jdk takes the folder of a JDK, and data is none\n"));
        assertThat(run(folder, SCRIPT.toString(), "--jdk"))
                .isEqualTo(new Run(2, "debian13: --jdk takes the folder of a JDK\n"));
    }

    @Test
    void theHelpNamesTheOption() throws Exception {
        assertThat(run(folder, SCRIPT.toString(), "--help").output()).contains("--bind FOLDER")
                .doesNotContain("set -euo");
    }
}
