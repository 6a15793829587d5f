package io.ofi4j.examples;

import static org.assertj.core.api.Assertions.assertThat;

import io.ofi4j.command.Forked;
import io.ofi4j.command.Run;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The programs of two processes, in two processes. */
class PairsTest {
    private static Forked.Launch program(Class<?> main) {
        return new Forked.Launch(List.of(), Map.of(), List.of("--enable-native-access=io.ofi4j,io.ofi4j.bindings"),
                main);
    }

    @ParameterizedTest
    @ValueSource(strings = {"shm", "tcp;ofi_rxm"})
    void a_client_reads_and_writes_the_memory_of_an_unconnected_server(String provider) {
        Forked.Launch program = program(UnconnectedPair.class);
        try (Forked server = program.start(provider)) {
            server.awaitOutput("\n");
            String[] words = server.output().strip().split(" ");
            try (Forked client = program.start(provider, "127.0.0.1", words[3], words[words.length - 1])) {
                assertThat(client.await().succeeded().out())
                        .isEqualTo("the server says: Hello from process " + server.process().pid() + "\n");
            }
            assertThat(server.await().succeeded().out()).endsWith("the client wrote: thank you\n");
        }
    }

    @Test
    void a_client_writes_over_a_connection_and_the_server_learns_of_it() {
        String port = Integer.toString(Forked.freePort());
        Forked.Launch program = program(ConnectedPair.class);
        try (Forked server = program.start("server", "tcp", "127.0.0.1", port)) {
            server.awaitOutput("serving");
            try (Forked client = program.start("client", "tcp", "127.0.0.1", port)) {
                assertThat(client.await().succeeded().out()).isEqualTo("the server has the message\n");
                assertThat(server.await().succeeded().out())
                        .endsWith("message 7 of the client: Hello from process " + client.process().pid() + "\n");
            }
        }
    }

    @ParameterizedTest
    @ValueSource(classes = {UnconnectedPair.class, ConnectedPair.class, HeatEquation.class, KeyValueStore.class})
    void a_program_without_its_arguments_says_what_they_are(Class<?> main) {
        try (Forked program = program(main).start("shm", "127.0.0.1")) {
            Run run = program.await();
            assertThat(run.exitCode()).isEqualTo(2);
            assertThat(run.err()).startsWith("usage: " + main.getSimpleName() + " ");
        }
    }
}
