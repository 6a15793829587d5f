package io.ofi4j.examples;

import static org.assertj.core.api.Assertions.assertThat;

import io.ofi4j.command.Forked;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class WriteToPeerTest {
    @Test
    void the_bytes_are_there_when_the_write_has_completed() {
        try (Forked program = new Forked.Launch(List.of(), Map.of(),
                List.of("--enable-native-access=io.ofi4j,io.ofi4j.bindings"), WriteToPeer.class).start()) {
            assertThat(program.await().succeeded().out()).isEqualTo("""
                    operation 42 has completed: the peer has the bytes
                    the peer's memory says: Hello, peer
                    """);
        }
    }
}
