package io.ofi4j.examples.guide;

import static org.assertj.core.api.Assertions.assertThat;

import io.ofi4j.command.Forked;
import io.ofi4j.command.Patience;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The C program and the Java program of the guide, with each other. */
@Tag("gate")
class CPeerTest {
    private static final Path SOURCE = Path.of("src/main/c/peer.c");
    private static final int SECONDS = 60;

    @TempDir
    private static Path folder;

    private static Path program;

    @BeforeAll
    static void compile() throws Exception {
        program = folder.resolve("peer");
        Process compiler = new ProcessBuilder("cc", "-Wall", "-Werror", "-o", program.toString(), SOURCE.toString(),
                "-lfabric").inheritIO().start();
        assertThat(compiler.waitFor(Patience.seconds(SECONDS).toSeconds(), TimeUnit.SECONDS)).isTrue();
        assertThat(compiler.exitValue()).isZero();
    }

    @ParameterizedTest
    @ValueSource(strings = {"shm", "tcp;ofi_rxm", "sockets"})
    void javaReadsAndWritesTheMemoryOfAProgramInC(String provider) throws Exception {
        List<String> command = provider.equals("shm")
                ? List.of(program.toString(), provider)
                : List.of(program.toString(), provider, "127.0.0.1");
        Process peer = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        try (BufferedReader said = peer.inputReader()) {
            String[] words = said.readLine().split(" ");
            List<String> access = List.of("--enable-native-access=io.ofi4j,io.ofi4j.bindings");
            try (Forked java = new Forked.Launch(List.of(), Map.of(), access, WritesToC.class).start(provider, words[0],
                    words[1], words[2], words[3])) {
                assertThat(java.await().succeeded().out()).isEqualTo("C says: Hello from C\n");
            }
            assertThat(said.readLine()).isEqualTo("Java says: Hello from Java");
            assertThat(peer.waitFor(Patience.seconds(SECONDS).toSeconds(), TimeUnit.SECONDS)).isTrue();
            assertThat(peer.exitValue()).isZero();
        } finally {
            peer.destroyForcibly();
        }
    }

    @Test
    void theGuideHasTheProgramInC() throws IOException {
        String guide = Files.readString(Path.of("../../core/guide/C-PEER.md"));
        int start = guide.indexOf("```c\n") + "```c\n".length();

        assertThat(guide.substring(start, guide.indexOf("```", start))).isEqualTo(Files.readString(SOURCE));
    }
}
