package io.ofi4j.scripts;

import static org.assertj.core.api.Assertions.assertThat;

import io.ofi4j.support.Pair;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** When the scripts find that the command is built: a checkout of two modules, as {@code mvn install} leaves it. */
@Tag("gate")
@Tag("once")
class BuiltByMavenTest {
    private static final Instant WRITTEN = Instant.parse("2026-01-01T00:00:00Z");
    private static final Instant BUILT = WRITTEN.plusSeconds(60);
    private static final List<String> SOURCES = List.of("pom.xml", "core/pom.xml", "core/fabric/pom.xml",
            "core/fabric/src/main/java/A.java", "examples/pom.xml", "examples/command/pom.xml",
            "examples/command/src/main/java/B.java", ".mvn/formatter.xml");
    private static final String OWN = "core/fabric/target/ofi4j-1.jar";
    private static final String COPY = "examples/command/target/lib/ofi4j-1.jar";
    private static final String COMMAND = "examples/command/target/ofi4j-command-1.jar";

    @TempDir
    Path checkout;

    @BeforeEach
    void build() throws IOException {
        Path scripts = Files.createDirectory(checkout.resolve("scripts"));
        Files.copy(Path.of("../../scripts/common"), scripts.resolve("common"));
        for (String source : SOURCES) {
            write(source, "source", WRITTEN);
        }
        write(OWN, "jar", BUILT);
        write(COPY, "jar", BUILT);
        write(COMMAND, "command", BUILT);
        try (Stream<Path> all = Files.walk(checkout)) {
            for (Path folder : all.filter(Files::isDirectory).toList()) {
                Files.setLastModifiedTime(folder, FileTime.from(WRITTEN));
            }
        }
    }

    private void write(String name, String text, Instant time) throws IOException {
        Path file = checkout.resolve(name);
        Files.createDirectories(file.getParent());
        Files.setLastModifiedTime(Files.writeString(file, text), FileTime.from(time));
    }

    private boolean isBuilt() throws IOException, InterruptedException {
        Path output = checkout.resolve("output");
        Process process = new ProcessBuilder("bash", "-c",
                "source scripts/common; is_built examples/command && echo built").directory(checkout.toFile())
                .redirectErrorStream(true).redirectOutput(output.toFile()).start();
        assertThat(process.waitFor(Pair.DEADLINE.toSeconds(), TimeUnit.SECONDS)).as("it ended").isTrue();
        String said = Files.readString(output);
        assertThat(said).isIn("", "built\n");
        return !said.isEmpty();
    }

    @Test
    void whatMavenHasBuiltIsNotBuiltAgain() throws Exception {
        assertThat(isBuilt()).isTrue();
        assertThat(isBuilt()).as("at the second look").isTrue();
    }

    @Test
    void aYoungerSourceIsBuilt() throws Exception {
        write("core/fabric/src/main/java/A.java", "changed", BUILT.plusSeconds(1));

        assertThat(isBuilt()).isFalse();
    }

    @Test
    void aSourceThatIsGoneIsBuilt() throws Exception {
        Files.delete(checkout.resolve("core/fabric/src/main/java/A.java"));

        assertThat(isBuilt()).isFalse();
    }

    @Test
    void aLaterBuildOfALibraryAloneIsBuilt() throws Exception {
        write(OWN, "another jar", BUILT.plusSeconds(1));

        assertThat(isBuilt()).isFalse();
    }

    @Test
    void aChangeAfterTheFirstLookIsBuilt() throws Exception {
        assertThat(isBuilt()).isTrue();
        write("examples/command/src/main/java/B.java", "changed", Instant.now().plusSeconds(1));

        assertThat(isBuilt()).isFalse();
    }

    @Test
    void withoutACommandThereIsNothingBuilt() throws Exception {
        Files.delete(checkout.resolve(COMMAND));

        assertThat(isBuilt()).isFalse();
    }
}
