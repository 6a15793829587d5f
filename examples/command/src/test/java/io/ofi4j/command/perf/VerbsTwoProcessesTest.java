package io.ofi4j.command.perf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.google.gson.JsonObject;
import io.ofi4j.command.Forked;
import io.ofi4j.command.Forked.Launch;
import io.ofi4j.command.Run;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * As {@link TwoProcessesTest}, each process with an RDMA device of its own where two are; {@code scripts/test --verbs}
 * makes them.
 */
class VerbsTwoProcessesTest {
    private static final List<String> ADDRESSES = Stream
            .of(System.getenv().getOrDefault("OFI4J_VERBS_ADDRESSES", "").split(" ")).filter(word -> !word.isBlank())
            .toList();
    /** A processor that only the other process runs on, where there is one; see {@code scripts/verbs}. */
    private static final String[] ELSEWHERE = Stream.ofNullable(System.getenv("OFI4J_OTHER_PROCESSOR"))
            .flatMap(processor -> Stream.of("taskset", "-c", processor)).toArray(String[]::new);

    @BeforeEach
    void aDeviceIsThere() {
        assumeTrue(!ADDRESSES.isEmpty(), "no address of an RDMA device was named; scripts/test --verbs makes one");
    }

    @ParameterizedTest
    @ValueSource(strings = {"write -p verbs;ofi_rxm", "write -p verbs -e msg"})
    void everythingArrives(String what) {
        List<String> command = new ArrayList<>(List.of("perf"));
        command.addAll(List.of(what.split(" ")));
        List<String> serving = new ArrayList<>(command);
        serving.addAll(List.of("--server", "-B", "0", "-s", ADDRESSES.getLast()));
        try (Forked server = Launch.USUAL.behind(ELSEWHERE).start(serving.toArray(String[]::new))) {
            server.awaitOutput("serving");
            command.addAll(List.of("-s", ADDRESSES.getFirst(), ADDRESSES.getLast(), "-P", server.port(), "-v", "-S",
                    "1,64,65537", "-I", "200", "-w", "10", "-W", "4", "--timeout", "60", "--json"));
            Run client = Run.of(command.toArray(String[]::new)).succeeded();

            assertThat(client.lines()).hasSize(3).allSatisfy(line -> {
                JsonObject row = EmbeddedTest.requireEveryField(line);
                assertThat(row.get("errors").getAsLong()).isZero();
                assertThat(row.get("verified").getAsBoolean()).isTrue();
                assertThat(row.get("mode").getAsString()).isEqualTo("two processes");
            });
            assertThat(server.await().succeeded().out()).contains("served the client at ");
        }
    }
}
