package io.ofi4j.scripts;

import static org.assertj.core.api.Assertions.assertThat;

import io.ofi4j.support.Pair;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What {@code scripts/release FOLDER} does with a folder that it would have to clear, before it builds anything. */
@Tag("gate")
@Tag("once")
class ReleaseFolderTest {
    /** A file beside a bundle, and a folder of sources, which begins as a bundle does. */
    @ParameterizedTest
    @ValueSource(strings = {"notes.txt", "io/ofi4j/Main.java"})
    void aFolderWithSomethingElseThanABundleIsRefusedAndKept(String name, @TempDir Path folder) throws Exception {
        Path file = folder.resolve("releases").resolve(name);
        Files.createDirectories(file.getParent());
        Files.writeString(file, "kept");
        Path output = folder.resolve("output");
        Process release = new ProcessBuilder("../../scripts/release", folder.resolve("releases").toString())
                .redirectErrorStream(true).redirectOutput(output.toFile()).start();

        assertThat(release.waitFor(Pair.DEADLINE.toSeconds(), TimeUnit.SECONDS)).as("it ended").isTrue();
        assertThat(release.exitValue()).as(Files.readString(output)).isEqualTo(2);
        assertThat(output).content().contains("releases is no earlier bundle: give a folder that is empty");
        assertThat(file).hasContent("kept");
    }
}
