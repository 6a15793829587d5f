package io.ofi4j.command.doctor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.ofi4j.AddressVector;
import io.ofi4j.CompletionQueue;
import io.ofi4j.Domain;
import io.ofi4j.Endpoint;
import io.ofi4j.Fabric;
import io.ofi4j.command.Patience;
import io.ofi4j.info.FabricHints;
import io.ofi4j.info.Version;
import io.ofi4j.Libfabric;
import io.ofi4j.command.AbandonedFilesLock;
import io.ofi4j.command.Forked;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What killed processes leave in /dev/shm is found and removed, and nothing else is. */
@Tag("gate")
@Timeout(600) // the first of these tests makes the archive of classes that forked JVMs start with
class AbandonedShmFilesTest {
    @RegisterExtension
    static final AbandonedFilesLock LOCK = new AbandonedFilesLock();

    private static final Path FOLDER = Path.of("/dev/shm");
    /** Linux does not number processes that far. */
    private static final long NO_PROCESS = 4_194_305;

    @Test
    void theFileOfAKilledProcessIsFoundAndRemoved() throws InterruptedException {
        try (Forked victim = Forked.Launch.USUAL.main(WaitsWithAnEndpoint.class).start()) {
            Path file = fileOf(victim);
            kill(victim);
            assertThat(file).exists();

            assertThat(AbandonedShmFiles.find()).contains(file);
            assertThat(AbandonedShmFiles.remove()).contains(file);

            assertThat(file).doesNotExist();
        }
    }

    @Test
    void theFileOfALivingProcessStays() {
        try (Forked living = Forked.Launch.USUAL.main(WaitsWithAnEndpoint.class).start()) {
            Path file = fileOf(living);

            assertThat(AbandonedShmFiles.find()).doesNotContain(file);
            assertThat(AbandonedShmFiles.remove()).doesNotContain(file);

            assertThat(file).exists();
        }
    }

    /** Nothing in the name says which process it was, or that it was an endpoint. */
    @Test
    void theFileOfANamedEndpointIsFoundAndRemoved() throws IOException, InterruptedException {
        assumeTrue(Libfabric.load().version().compareTo(new Version(2, 5)) < 0, "2.5 has another layout of the file");
        String name = "ofi4j-named-" + ProcessHandle.current().pid();
        try (Forked victim = Forked.Launch.USUAL.main(WaitsWithAnEndpoint.class).start(name)) {
            Path file = fileOf(victim);
            kill(victim);
            try {
                assertThat(file.getFileName().toString()).startsWith(name);
                assertThat(AbandonedShmFiles.find()).contains(file);
                assertThat(AbandonedShmFiles.remove()).contains(file);
                assertThat(file).doesNotExist();
            } finally {
                Files.deleteIfExists(file);
            }
        }
    }

    @Test
    void theFileOfANamedEndpointStaysWhileItsProcessLives() {
        String name = "ofi4j-alive-" + ProcessHandle.current().pid();
        try (Forked living = Forked.Launch.USUAL.main(WaitsWithAnEndpoint.class).start(name)) {
            Path file = fileOf(living);

            assertThat(AbandonedShmFiles.remove()).doesNotContain(file);

            assertThat(file).exists();
        }
    }

    /** It has its name inside, is in nobody's hands, and does not begin as an endpoint's file. */
    @Test
    void theSegmentOfAnotherProgramStays() throws IOException {
        Path file = FOLDER.resolve("ofi4j-segment-" + ProcessHandle.current().pid());
        byte[] content = new byte[2 << 20];
        byte[] name = (file.getFileName() + "\0").getBytes(StandardCharsets.UTF_8);
        System.arraycopy(name, 0, content, 1 << 20, name.length);
        Files.write(file, content);
        try {
            assertThat(AbandonedShmFiles.find()).doesNotContain(file);
            assertThat(AbandonedShmFiles.remove()).doesNotContain(file);
            assertThat(file).exists();
        } finally {
            Files.delete(file);
        }
    }

    @Test
    void aFileThatIsNoEndpointsStays() throws IOException {
        Path file = Files.write(FOLDER.resolve("ofi4j-other-" + ProcessHandle.current().pid()), new byte[2 << 20]);
        try {
            assertThat(AbandonedShmFiles.remove()).doesNotContain(file);
            assertThat(file).exists();
        } finally {
            Files.delete(file);
        }
    }

    /** As it is in a container that shares the folder, but not its processes. */
    @Test
    void aFileThatIsMappedStaysThoughItsProcessIsNotSeen() throws IOException {
        Path file = Files.write(FOLDER.resolve(NO_PROCESS + ":0:" + ProcessHandle.current().pid()), new byte[8]);
        try {
            try (Arena arena = Arena.ofConfined()) {
                map(file, arena);
                assertThat(AbandonedShmFiles.find()).doesNotContain(file);
                assertThat(AbandonedShmFiles.remove()).doesNotContain(file);
            }
            assertThat(AbandonedShmFiles.remove()).contains(file);
        } finally {
            Files.deleteIfExists(file);
        }
    }

    /** The mapping outlives the channel. */
    private static void map(Path file, Arena arena) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            channel.map(MapMode.READ_WRITE, 0, 1, arena);
        }
    }

    /** From libfabric 2 on the provider appends a number where the name that it would give is taken. */
    @Test
    void aNameWithAFourthNumberIsTheProvidersToo() throws IOException {
        Path file = Files.createFile(FOLDER.resolve(NO_PROCESS + ":0:1:" + ProcessHandle.current().pid()));
        try {
            assertThat(AbandonedShmFiles.remove()).contains(file);
        } finally {
            Files.deleteIfExists(file);
        }
    }

    @Test
    void filesWithOtherNamesStay() throws IOException {
        Path file = Files.createTempFile(FOLDER, "ofi4j-test", ":0:0");
        try {
            assertThat(AbandonedShmFiles.find()).doesNotContain(file);
        } finally {
            Files.delete(file);
        }
    }

    private static Path fileOf(Forked process) {
        process.awaitOutput("\n");
        return FOLDER.resolve(process.output().strip());
    }

    /** SIGKILL. */
    private static void kill(Forked victim) throws InterruptedException {
        assertThat(victim.process().destroyForcibly().waitFor(Patience.seconds(60).toSeconds(), TimeUnit.SECONDS))
                .isTrue();
    }

    /** Has an shm endpoint, perhaps of a given name, until it is killed; prints the name of its file. */
    static final class WaitsWithAnEndpoint {
        private WaitsWithAnEndpoint() {}

        public static void main(String[] arguments) throws InterruptedException {
            FabricHints hints = FabricHints.rma().provider("shm");
            Libfabric libfabric = Libfabric.load();
            try (Fabric fabric = libfabric.openFabric(
                    libfabric.info(arguments.length == 0 ? hints : hints.source(arguments[0], null)).getFirst());
                    Domain domain = fabric.openDomain();
                    CompletionQueue queue = domain.openCompletionQueue();
                    AddressVector peers = domain.openAddressVector();
                    Endpoint endpoint = domain.openEndpoint().bind(queue).bind(peers).enable()) {
                String address = new String(endpoint.address().toBytes());
                System.out.println(address.substring(address.indexOf("://") + 3, address.indexOf('\0')));
                Thread.sleep(Patience.seconds(120));
            }
        }
    }
}
