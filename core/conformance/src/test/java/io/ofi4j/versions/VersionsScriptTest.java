package io.ofi4j.versions;

import static org.assertj.core.api.Assertions.assertThat;

import io.ofi4j.support.Pair;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What scripts/versions says of arguments that it cannot use, before it compiles or runs anything. */
@Tag("gate")
@Tag("once")
class VersionsScriptTest {
    @TempDir
    Path folder;

    private record Run(int exit, String output) {}

    private Run versions(String... arguments) throws Exception {
        List<String> command = new ArrayList<>(List.of("../../scripts/versions"));
        command.addAll(List.of(arguments));
        Path output = folder.resolve("output");
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output.toFile());
        builder.environment().remove("OFI4J_LIBFABRICS");
        Process process = builder.start();
        assertThat(process.waitFor(Pair.DEADLINE.toSeconds(), TimeUnit.SECONDS)).as("it ended").isTrue();
        return new Run(process.exitValue(), Files.readString(output));
    }

    @Test
    void theHelpSaysWhereTheLibrariesMustBe() throws Exception {
        Run run = versions("--help");

        assertThat(run.exit()).isZero();
        assertThat(run.output()).contains("--from FOLDER", "lib-VERSION/lib/libfabric.so.1").doesNotContain("set -euo");
    }

    @Test
    void withoutAFolderItAsksForOne() throws Exception {
        assertThat(versions())
                .isEqualTo(new Run(2, "versions: say where the libfabrics are: --from FOLDER, see --help\n"));
    }

    @Test
    void aFolderWithoutLibrariesIsSaidToHaveNone() throws Exception {
        assertThat(versions("--from", folder.toString())).isEqualTo(new Run(2,
                "versions: " + folder + " has no libfabric: each must be there as lib-VERSION/lib/libfabric.so.1\n"));
    }

    @Test
    void aVersionThatIsNotThereIsNamedWithItsPlace() throws Exception {
        Path library = Files.createDirectories(folder.resolve("lib-1.0/lib")).resolve("libfabric.so.1");
        Files.createFile(library);

        assertThat(versions("--from", folder.toString(), "1.0", "9.9")).isEqualTo(
                new Run(2, "versions: there is no " + folder.toRealPath() + "/lib-9.9/lib/libfabric.so.1\n"));
    }

    @Test
    void anUnknownOptionAndABadDeadlineAreRefused() throws Exception {
        assertThat(versions("--form", "x")).isEqualTo(new Run(2, "versions: there is no option --form, see --help\n"));
        assertThat(versions("--from", folder.toString(), "--deadline", "soon"))
                .isEqualTo(new Run(2, "versions: --deadline takes seconds, such as 180\n"));
    }
}
