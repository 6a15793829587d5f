package io.ofi4j.command.perf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.ofi4j.Libfabric;
import io.ofi4j.command.CommandFailure;
import io.ofi4j.command.Forked;
import io.ofi4j.command.Run;
import io.ofi4j.info.Capability;
import io.ofi4j.info.FabricHints;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.AnnotatedElementContext;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.io.TempDirFactory;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

@Tag("gate")
class PerfSaveTest {
    /** On a disk: the folder of temporary files may be memory, where nothing survives a power loss. */
    @TempDir(factory = OnDisk.class)
    private Path folder;

    /** Makes it where the build writes. */
    static final class OnDisk implements TempDirFactory {
        @Override
        public Path createTempDirectory(AnnotatedElementContext element, ExtensionContext context) throws IOException {
            return Files.createTempDirectory(Path.of("target").toAbsolutePath(), "save");
        }
    }

    static Stream<String> providers() {
        String streams = Libfabric.load().providers().contains("net") ? "net" : "tcp";
        return Stream.of("shm", "tcp;ofi_rxm", streams, "sockets", "udp;ofi_rxd");
    }

    @ParameterizedTest
    @MethodSource("providers")
    void everyWayToKnowThatWritesLastIsMeasured(String provider) throws Exception {
        List<String> lines = Run
                .of("perf", "save", "-p", provider, "-I", "8", "-S", "64,16k", "--folder", folder.toString())
                .succeeded().lines();

        assertThat(lines.getFirst()).contains(provider).contains("kind ");
        assertThat(rows(lines)).extracting(words -> words[0] + " " + words[1]).containsExactly("64 1", "64 16",
                "64 256", "16384 1", "16384 16", "16384 256");
        try (Stream<Path> left = Files.list(folder)) {
            assertThat(left).isEmpty();
        }
    }

    private static List<String[]> rows(List<String> lines) {
        List<String[]> rows = lines.stream().map(line -> line.strip().split(" +"))
                .filter(words -> words[0].matches("\\d+")).toList();
        assertThat(rows).allSatisfy(words -> assertThat(words).hasSize(8).allMatch(word -> word.matches("[0-9.]+|-")));
        return rows;
    }

    @Test
    void manyLongWritesAreMeasuredLessOften() throws Exception {
        List<String> lines = Run.of("perf", "save", "-I", "1", "--folder", folder.toString()).succeeded().lines();

        assertThat(rows(lines)).extracting(words -> words[0] + " " + words[1]).startsWith("64 1")
                .endsWith("1048576 256").hasSize(9);
    }

    @Test
    void aSizeOutOfRangeIsRefused() {
        Run.of("perf", "save", "-S", "2m").failed(2, "1m");
        Run.of("perf", "save", "-S", "0").failed(2, "1 byte");
    }

    @Test
    void aFolderThatIsNotThereIsNamed() {
        Run.of("perf", "save", "--folder", "/no/such/folder").failed(1, "/no/such/folder");
    }

    @Test
    void aFileInMemoryIsMeasuredAsFarAsItsMemoryLasts() throws Exception {
        List<String> lines = Run.of("perf", "save", "-p", "shm", "-I", "1", "-S", "64", "--folder", "/dev/shm")
                .succeeded().lines();

        assertThat(lines).anyMatch(line -> line.contains("POWER_SAFE needs --folder"));
        assertThat(rows(lines)).hasSize(3).allSatisfy(words -> {
            assertThat(words[6]).isNotEqualTo("-");
            assertThat(words[7]).isEqualTo("-");
        });
    }

    @Test
    void aBenchInWhichNothingMovesEnds() throws IOException {
        Libfabric libfabric = Libfabric.load();
        Path file = Files.createFile(folder.resolve("saved"));
        Duration timeout = Duration.ofMillis(200);
        try (Watchdog watchdog = Watchdog.start(timeout, _ -> {});
                FabricDevice device = new FabricDevice(libfabric,
                        libfabric.info(FabricHints.rma().addCapabilities(Capability.MSG).provider("shm")).getFirst());
                SaveBench bench = new SaveBench(device, file, List.of(64L), 1, timeout, watchdog)) {
            assertThatExceptionOfType(CommandFailure.class).isThrownBy(() -> bench.await(1)) // nothing was written
                    .withMessageContainingAll("0.2 s", "--timeout");
        }
    }

    @Test
    void itsTimeLimitIsANumberOfSeconds() {
        Run.of("perf", "save", "--timeout", "0").failed(2, "--timeout", "a number of seconds");
        Run.of("perf", "save", "-p", "shm", "-S", "64", "-I", "1", "--folder", folder.toString(), "--timeout", "60")
                .succeeded();
    }

    @Test
    void aHookIsNamedOrRefused() throws Exception {
        try (Forked perf = Forked.start("perf", "write", "--hook", "noop", "-S", "8", "-I", "100")) {
            perf.await().succeeded();
        }
        Run.of("perf", "write", "--hook", "hoax").failed(2, "hoax");
    }
}
