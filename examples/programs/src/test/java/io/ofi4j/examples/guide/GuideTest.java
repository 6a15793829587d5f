package io.ofi4j.examples.guide;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import io.ofi4j.command.Forked;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The programs that the guides, and a section of one, begin with: each runs as a reader would run it, and its guide has
 * the same text.
 */
class GuideTest {
    private static final Path GUIDES = Path.of("../../core/guide");
    private static final Path SOURCES = Path.of("src/main/java/io/ofi4j/examples/guide");
    private static final Path TESTS = Path.of("src/test/java/io/ofi4j/examples/guide");
    private static final String FENCE = "```java\n";
    private static final List<String> NATIVE_ACCESS = List
            .of("--enable-native-access=io.ofi4j,io.ofi4j.bindings,io.ofi4j.bindings.verbs,io.ofi4j.examples");
    /** A job of one, whoever started the tests. */
    private static final Map<String, String> ALONE = Map.of("OFI4J_RANK", "0", "OFI4J_SIZE", "1");

    private record Guide(String document, Class<?> program) {
        /** {@return the program as the guide prints it: without package and imports, but a test with them} */
        String source() throws IOException {
            boolean isTest = program.getSimpleName().endsWith("Test");
            String whole = Files.readString((isTest ? TESTS : SOURCES).resolve(program.getSimpleName() + ".java"));
            return whole.substring(whole.indexOf(isTest ? "import " : "/** "));
        }

        /** {@return the first program of the document} */
        String printed() throws IOException {
            String text = Files.readString(GUIDES.resolve(document));
            int start = text.indexOf(FENCE) + FENCE.length();
            return text.substring(start, text.indexOf("```", start));
        }

        /** {@return the first program of a section} */
        String printed(String heading) throws IOException {
            String text = Files.readString(GUIDES.resolve(document));
            int start = text.indexOf(FENCE, text.indexOf("\n## " + heading + "\n")) + FENCE.length();
            return text.substring(start, text.indexOf("```", start));
        }

        @Override
        public String toString() { return document; }
    }

    static Stream<Guide> guides() {
        return Stream.of(new Guide("MEMORY.md", RegisteredMemory.class),
                new Guide("MESSAGES.md", RequestAndAnswer.class), new Guide("ATOMICS.md", CounterAndLock.class),
                new Guide("CONNECTIONS.md", OverAConnection.class), new Guide("DURABLE.md", SavedWrites.class),
                new Guide("JOBS.md", RingOfRanks.class), new Guide("VERBS.md", BoundWindow.class),
                new Guide("TUNING.md", PipelinedReads.class), new Guide("DEFERRED-WORK.md", WritesInARow.class),
                new Guide("DEVICE-MEMORY.md", GpuMemory.class), new Guide("TESTING.md", EchoTest.class),
                new Guide("C-PEER.md", WritesToC.class), new Guide("NETTY.md", EchoOverAFabric.class));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("guides")
    void a_guide_begins_with_the_text_of_its_program(Guide guide) throws IOException {
        assertThat(guide.printed()).isEqualTo(guide.source());
    }

    @Test
    void the_section_on_servers_begins_with_the_text_of_its_program() throws IOException {
        Guide guide = new Guide("MESSAGES.md", RequestsWithCredits.class);

        assertThat(guide.printed("A server and its clients")).isEqualTo(guide.source());
    }

    @Test
    void the_section_on_peers_that_come_and_go_begins_with_the_text_of_its_program() throws IOException {
        Guide guide = new Guide("MESSAGES.md", PeersThatComeAndGo.class);

        assertThat(guide.printed("Peers that come and go")).isEqualTo(guide.source());
    }

    static Stream<Arguments> programs() {
        return Stream.of(
                Arguments.of(RegisteredMemory.class, "read from the peer: Hello, file\nthe file at 128: Hello, file\n"),
                Arguments.of(RequestAndAnswer.class,
                        "the server was asked: how late is it?\nthe client was told: half past nine\n"),
                Arguments.of(CounterAndLock.class, "the counter was 0\nthe counter is 5, the lock is 0\n"),
                Arguments.of(SavedWrites.class, "both records are on the disk\n"),
                Arguments.of(EchoOverAFabric.class, "the server says: hello\n"),
                Arguments.of(RingOfRanks.class, "rank 0 heard from rank 0\nthe ranks add up to 0\n"),
                Arguments.of(WritesInARow.class, "at 0: twice, at 64: twice\n"));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("programs")
    void a_program_does_what_its_guide_says(Class<?> program, String output) {
        assertThat(run(program)).isEqualTo(output);
    }

    @Test
    void the_server_and_the_client_of_a_connection_hear_from_each_other() {
        assertThat(run(OverAConnection.class).lines()).containsExactlyInAnyOrder("number 7 has come: Hello, server",
                "the server has the bytes");
    }

    @Test
    void a_server_answers_its_clients_and_is_told_that_one_was_killed() {
        assertThat(run(RequestsWithCredits.class).lines()).containsExactlyInAnyOrder("Ann has left after 100",
                "Ben has left after 100", "Zoe was lost after 1");
    }

    @Test
    void a_server_of_peers_without_connections_is_told_who_has_left_and_who_was_killed() {
        assertThat(run(PeersThatComeAndGo.class).lines()).containsExactlyInAnyOrder("Ann has left after 100",
                "Ben has left after 100", "Zoe was lost after 1");
    }

    @Test
    void a_pipeline_measures_every_read() {
        assertThat(run(PipelinedReads.class)).startsWith("40960000 bytes read, latency in ns: median ");
    }

    @ParameterizedTest
    @CsvSource({"2, shm", "3, shm", "2, tcp;ofi_rxm", "3, tcp;ofi_rxm"})
    void ranks_write_around_a_ring(int count, String provider) {
        List<String> told = new ArrayList<>(List.of("[0] the ranks add up to " + count * (count - 1) / 2));
        IntStream.range(0, count)
                .mapToObj(rank -> "[%s] rank %s heard from rank %s".formatted(rank, rank, (rank + count - 1) % count))
                .forEach(told::add);
        try (Forked ranks = new Forked.Launch(List.of("../../scripts/launch", Integer.toString(count), "--"), Map.of(),
                NATIVE_ACCESS, RingOfRanks.class).start(provider)) {
            assertThat(ranks.await().succeeded().out().lines()).containsExactlyInAnyOrderElementsOf(told);
        }
    }

    @Test
    void memory_of_a_gpu_is_written_and_read_where_there_is_one() {
        assertThat(run(GpuMemory.class)).isEqualTo(Files.exists(Path.of("/dev/nvidia0"))
                ? "read from the GPU: Hello, GPU\n"
                : "this machine has no NVIDIA driver\n");
    }

    @Test
    void a_peer_writes_through_a_window_and_gives_it_back() {
        List<String> addresses = List.of(System.getenv().getOrDefault("OFI4J_VERBS_ADDRESSES", "").strip().split(" "));
        assumeFalse(addresses.getFirst().isEmpty(), "no RDMA device was named with OFI4J_VERBS_ADDRESSES");
        assertThat(run(BoundWindow.class, addresses.getFirst(), addresses.getLast()))
                .isEqualTo("the peer wrote: Hello, window; the window is FREE\n");
    }

    private static String run(Class<?> program, String... arguments) {
        // the folder for temporary files may be in memory, where nothing outlasts a loss of power
        List<String> options = Stream
                .concat(NATIVE_ACCESS.stream(), Stream.of("-Djava.io.tmpdir=" + Path.of("target").toAbsolutePath()))
                .toList();
        try (Forked forked = new Forked.Launch(List.of(), ALONE, options, program).start(arguments)) {
            return forked.await().succeeded().out();
        }
    }
}
