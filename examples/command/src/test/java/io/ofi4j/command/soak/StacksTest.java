package io.ofi4j.command.soak;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Tag("gate")
@Timeout(600) // the first may make the archive of classes that forked JVMs start with
@Tag("once") // what it is about is the command, not libfabric
class StacksTest {
    /** Each takes some seconds. */
    private static final int MOST_TRIES = 10;

    @Test
    void aProcessSaysWhereItsThreadsAreAndGoesOn(@TempDir Path folder) throws IOException, InterruptedException {
        Path messages = folder.resolve("messages");
        Process target = Jvm.start(List.of("soak", "--part", "target", "-p", "shm"),
                builder -> builder.redirectError(messages.toFile()));
        try (BufferedReader answers = new BufferedReader(
                new InputStreamReader(target.getInputStream(), StandardCharsets.UTF_8))) {
            ask(target, "ready");
            assertThat(answers.readLine()).isEqualTo("ready");

            int tries = 0;
            do {
                Stacks.print(target);
            } while (!Files.readString(messages).contains("VM Periodic Task Thread") && ++tries < MOST_TRIES);

            assertThat(Files.readString(messages)).contains("\"questions\"", "io.ofi4j.command.soak.Target.serve");
            ask(target, "ready");
            assertThat(answers.readLine()).isEqualTo("ready");
        } finally {
            target.destroyForcibly().waitFor();
        }
    }

    private static void ask(Process target, String question) throws IOException {
        target.getOutputStream().write((question + "\n").getBytes(StandardCharsets.UTF_8));
        target.getOutputStream().flush();
    }
}
