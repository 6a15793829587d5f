package io.ofi4j;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What killed processes leave in /dev/shm is found and removed, and nothing else is. */
@Timeout(120)
class SharedMemoryTest {
    /** No Linux counts processes that far. */
    private static final long NO_PROCESS = 4_194_305;

    @Test
    void whatAKilledProcessLeavesIsFoundAndTheNextOneRemovesIt() throws InterruptedException {
        List<Path> left = killWithOpenEndpoints();
        assertThat(left).hasSize(2).allSatisfy(file -> assertThat(file).exists());
        assertThat(SharedMemory.abandoned()).containsAll(left);

        Forked.Result next = Forked.run(OpensAnEndpoint.class);

        assertThat(next.exit()).as(next.output()).isZero();
        assertThat(left).noneSatisfy(file -> assertThat(file).exists());
    }

    @Test
    void whatALivingProcessUsesStays() throws InterruptedException {
        Forked.Running living = Forked.start(WaitsWithEndpoints.class);
        List<Path> files = files(living);

        assertThat(SharedMemory.abandoned()).doesNotContainAnyElementsOf(files);
        SharedMemory.removeAbandoned();

        assertThat(files).allSatisfy(file -> assertThat(file).exists());
        living.process().destroyForcibly().waitFor();
        assertThat(SharedMemory.removeAbandoned()).containsAll(files);
    }

    @Test
    void whatIsMappedStaysThoughNoProcessOfThisContainerHasItsName() throws IOException {
        Path file = Files.write(Path.of("/dev/shm", NO_PROCESS + ":0:" + ProcessHandle.current().pid()), new byte[8]);
        try {
            try (Arena arena = Arena.ofConfined()) {
                map(file, arena);
                assertThat(SharedMemory.abandoned()).doesNotContain(file);
            }
            assertThat(SharedMemory.abandoned()).contains(file);
        } finally {
            Files.deleteIfExists(file);
        }
    }

    /** The mapping outlives the channel. */
    private static void map(Path file, Arena arena) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            channel.map(MapMode.READ_WRITE, 0, 1, arena);
            assertThat(SharedMemory.abandoned()).as("open").doesNotContain(file);
        }
    }

    @Test
    void otherFilesAreNobodysBusiness() throws IOException {
        Path file = Files.createTempFile(Path.of("/dev/shm"), "ofi4j-test", ":0:0");
        try {
            assertThat(SharedMemory.abandoned()).doesNotContain(file);
        } finally {
            Files.delete(file);
        }
    }

    @Test
    void whatAKilledProcessLeavesUnderANameOfItsOwnIsFoundToo() throws InterruptedException {
        Forked.Running victim = Forked.start(WaitsWithEndpoints.class, name());
        List<Path> files = files(victim);
        assertThat(files).allSatisfy(file -> assertThat(file.getFileName().toString()).startsWith("ofi4j-named-"));
        assertThat(SharedMemory.abandoned()).doesNotContainAnyElementsOf(files);
        SharedMemory.removeAbandoned();
        assertThat(files).allSatisfy(file -> assertThat(file).exists());

        victim.process().destroyForcibly().waitFor(); // SIGKILL
        assertThat(SharedMemory.abandoned()).containsAll(files);
        Forked.Result next = Forked.run(OpensAnEndpoint.class);

        assertThat(next.exit()).as(next.output()).isZero();
        assertThat(files).noneSatisfy(file -> assertThat(file).exists());
    }

    private static String name() {
        return "ofi4j-named-" + ProcessHandle.current().pid() + "-" + System.nanoTime();
    }

    /** As others make them: what begins as an endpoint's file does, and is named otherwise, is none. */
    @Test
    void aFileThatDoesNotSayItsOwnNameIsNobodysBusiness() throws IOException, InterruptedException {
        Forked.Running victim = Forked.start(WaitsWithEndpoints.class, name());
        List<Path> files = files(victim);
        victim.process().destroyForcibly().waitFor();
        Path other = Files.copy(files.getFirst(), Path.of("/dev/shm", name()));
        try {
            assertThat(SharedMemory.removeAbandoned()).containsAll(files).doesNotContain(other);
            assertThat(other).exists();
        } finally {
            Files.deleteIfExists(other);
        }
    }

    private static List<Path> killWithOpenEndpoints() throws InterruptedException {
        Forked.Running victim = Forked.start(WaitsWithEndpoints.class);
        List<Path> files = files(victim);
        victim.process().destroyForcibly().waitFor(); // SIGKILL
        return files;
    }

    private static List<Path> files(Forked.Running running) {
        return List.of(running.awaitLine("files ").split(" ")).stream().map(Path::of).toList();
    }

    /** Has two shm endpoints open until it is killed; perhaps of a given name. */
    static final class WaitsWithEndpoints {
        private WaitsWithEndpoints() {
        }

        public static void main(String[] arguments) throws InterruptedException {
            FabricHints hints = TestProviders.hints("shm");
            try (Pair pair = new Pair(arguments.length == 0 ? hints : hints.source(arguments[0], null))) {
                System.out.println(
                        "files " + JvmSurvivalTest.file(pair.endpoint) + " " + JvmSurvivalTest.file(pair.farEndpoint));
                Thread.sleep(60_000);
            }
        }
    }

    /** Has an shm endpoint, for a moment. */
    static final class OpensAnEndpoint {
        private OpensAnEndpoint() {
        }

        public static void main(String[] arguments) {
            new Pair("shm").close();
        }
    }
}
