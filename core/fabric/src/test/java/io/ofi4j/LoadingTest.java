package io.ofi4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.ofi4j.errors.FabricException;
import io.ofi4j.info.Version;
import io.ofi4j.support.Forked;
import io.ofi4j.support.Pair;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Finding the library, and what it reads once. */
class LoadingTest {
    @Test
    void aMissingLibraryIsNamedWithThePlacesAndThePackage() {
        Forked.Result result = Forked.run(Loads.class, "-Dio.ofi4j.library=/nowhere/libfabric.so.1");

        assertThat(result.output()).contains("LibfabricNotFoundException", "/nowhere/libfabric.so.1",
                "io.ofi4j.library");
    }

    @Test
    void aFileThatIsNoLibraryIsSaidToBeThere() {
        Forked.Result result = Forked.run(Loads.class, "-Dio.ofi4j.library=/etc/passwd");

        assertThat(result.output()).contains("LibfabricNotFoundException",
                "/etc/passwd (which is there, but cannot be loaded: /etc/passwd: ");
    }

    @Test
    void aFileOfTheSearchPathThatCannotBeLoadedIsNamedWithTheReason(@TempDir Path folder) throws Exception {
        assumeTrue(System.getProperty("io.ofi4j.library") == null, "these tests were given a libfabric");
        Path broken = Files.writeString(folder.resolve("libfabric.so.1"), "not a library");

        assertThat(
                Forked.startBehind(List.of("env", "LD_LIBRARY_PATH=/nowhere:" + folder), Loads.class).await().output())
                .contains("LD_LIBRARY_PATH has " + broken + ", which is there, but cannot be loaded: " + broken + ": ");
    }

    @Test
    void aNameThatTheLocaleCannotEncodeIsSaidWithWhatToSet() {
        Forked.Result result = Forked.startBehind(List.of("env", "LC_ALL=C", "sh", "-c",
                "JDK_JAVA_OPTIONS=\"-Dio.ofi4j.library=$(printf '/tmp/\\303\\244/libfabric.so.1')\" exec \"$0\" \"$@\""),
                Loads.class).await();

        assertThat(result.output()).contains("LibfabricNotFoundException: libfabric was not found",
                "(which Java cannot read as a file's name in this locale: set LC_ALL=C.UTF-8)");
    }

    /** A folder of the search path whose name is in another encoding is passed over. */
    @Test
    void aSearchPathThatTheLocaleCannotEncodeHindersNothing(@TempDir Path folder) throws Exception {
        assumeTrue(System.getProperty("io.ofi4j.library") == null, "these tests were given a libfabric");
        Path broken = Files.writeString(folder.resolve("libfabric.so.1"), "not a library");
        Forked.Result result = Forked.startBehind(List.of("env", "LC_ALL=C", "sh", "-c",
                "LD_LIBRARY_PATH=\"$(printf '/\\303\\244'):" + folder + "\" exec \"$0\" \"$@\""), Loads.class).await();

        assertThat(result.output()).contains("LD_LIBRARY_PATH has " + broken);
    }

    @Test
    void anotherLibraryIsSaidToBeNone() {
        Forked.Result result = Forked.run(Loads.class, "-Dio.ofi4j.library=libc.so.6");

        assertThat(result.output()).contains("LibfabricNotFoundException", "is not a libfabric", "io.ofi4j.library");
    }

    @Test
    void aLibfabricThatIsTooOldIsRefusedWithTheOldestThatIsTaken(@TempDir Path folder) throws Exception {
        Path older = libraryThatReports(folder.resolve("older.so"), 1, 14);

        assertThat(Forked.run(Loads.class, "-Dio.ofi4j.library=" + older).output())
                .contains("LibfabricNotFoundException: libfabric 1.14 is too old for ofi4j: install 1.15 or newer, or "
                        + "name the file of another one with -Dio.ofi4j.library=/path/to/libfabric.so.1.");
    }

    @Test
    void theOldestLibfabricThatIsTakenIsLoaded(@TempDir Path folder) throws Exception {
        assertThat(Libfabric.oldestVersion()).isEqualTo(new Version(1, 15));
        Path oldest = libraryThatReports(folder.resolve("oldest.so"), 1, 15);

        assertThat(Forked.run(Loads.class, "-Dio.ofi4j.library=" + oldest).output()).contains("loaded libfabric 1.15")
                .doesNotContain("too old");
    }

    @Test
    void anotherLibfabricThatThisProcessHasLoadedAlreadyIsNamed(@TempDir Path folder) throws Exception {
        Path loaded = libraryThatReports(Files.createDirectory(folder.resolve("loaded")).resolve("libfabric.so.1"), 2,
                1);
        Path named = libraryThatReports(folder.resolve("named.so"), 2, 1);

        assertThat(
                Forked.startBehind(List.of("env", "LD_PRELOAD=" + loaded), Loads.class, "-Dio.ofi4j.library=" + named)
                        .await().output())
                .contains("This process has loaded another libfabric already, " + loaded.toRealPath())
                .doesNotContain("SONAME");
    }

    /** A library that is known as libfabric, and has the functions that loading asks for, and no other. */
    private static Path libraryThatReports(Path file, int major, int minor) throws Exception {
        Path source = Files.writeString(file.resolveSibling("libfabric.c"), """
                #include <stdint.h>
                uint32_t fi_version(void) { return %s << 16 | %s; }
                int fi_getinfo(void) { return -61; }
                void fi_log(void) {}
                """.formatted(major, minor));
        Process compiler = new ProcessBuilder("cc", "-shared", "-fPIC", "-Wl,-soname,libfabric.so.1", "-o",
                file.toString(), source.toString()).inheritIO().start();
        assertThat(compiler.waitFor(Pair.DEADLINE.toSeconds(), TimeUnit.SECONDS)).as("the compiler ended").isTrue();
        assertThat(compiler.exitValue()).isZero();
        return file;
    }

    @Test
    void theVariablesGivenAtLoadingReachTheLibrary() {
        Forked.Result result = Forked.run(Loads.class, "FI_PROVIDER", "shm");

        assertThat(result.output()).contains("loaded libfabric").contains("providers [shm]");
    }

    @Test
    void theRegistrationCacheMonitorIsOffUnlessAskedFor() {
        assertThat(Forked.run(Loads.class).output()).contains("monitor disabled");
        assertThat(Forked.run(Loads.class, "FI_MR_CACHE_MONITOR", "userfaultfd").output())
                .contains("monitor userfaultfd");
    }

    @Test
    void variablesThatComeTooLateAreRefused() {
        Libfabric.load();

        assertThatIllegalStateException().isThrownBy(() -> Libfabric.load(Map.of("FI_PROVIDER", "shm")))
                .withMessageContaining("before any other method");
    }

    @ParameterizedTest
    @CsvSource({"A\0B,c", "A=B,c", "'',c", "A,b\0c"})
    void aVariableThatTheSystemWouldCutIsRefused(String name, String value) {
        assertThatIllegalArgumentException().isThrownBy(() -> Libfabric.load(Map.of(name, value)))
                .withMessageContaining("an environment variable has a name without '='");
    }

    /** Loads the library with a variable, if one is given, and says what it found. */
    static final class Loads {
        private Loads() {}

        public static void main(String[] arguments) {
            try {
                Libfabric libfabric = arguments.length == 0
                        ? Libfabric.load()
                        : Libfabric.load(Map.of(arguments[0], arguments[1]));
                System.out.println("loaded " + libfabric);
                System.out.println("providers " + libfabric.providers());
                libfabric.parameters().stream().filter(parameter -> parameter.name().equals("FI_MR_CACHE_MONITOR"))
                        .forEach(parameter -> System.out.println("monitor " + parameter.value().orElse("unset")));
            } catch (FabricException e) {
                System.out.println(e);
            }
        }
    }
}
