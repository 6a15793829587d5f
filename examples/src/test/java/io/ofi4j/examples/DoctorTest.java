package io.ofi4j.examples;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.ofi4j.Libfabric;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

class DoctorTest {
    private static final List<String> SUBJECTS = List.of("JDK", "native access", "libfabric", "providers", "devices",
            "signal handlers", "registration cache", "locked memory", "descriptors", "cross-memory attach",
            "huge pages", "/dev/shm", "abandoned files");

    @Test
    void aMachineWhereTheTestsRunIsReady() {
        Run run = Run.of("doctor").succeeded();

        assertThat(run.out()).contains(SUBJECTS).contains(Libfabric.load().version().toString(), "shm")
                .endsWith("ready\n").doesNotContain("not ready");
        assertThat(run.lines()).as("one screen").hasSizeLessThan(40);
    }

    @Test
    void jsonSaysTheSame() {
        JsonObject json = JsonParser.parseString(Run.of("doctor", "--json").succeeded().out()).getAsJsonObject();

        assertThat(json.get("ready").getAsBoolean()).isTrue();
        assertThat(json.getAsJsonArray("findings")).extracting(finding -> subject(finding))
                .containsExactlyElementsOf(SUBJECTS);
    }

    private static String subject(JsonElement finding) {
        return finding.getAsJsonObject().get("subject").getAsString();
    }

    @Test
    void withoutLibfabricTheMachineIsNotReadyAndItSaysWhatToInstall() {
        try (Forked doctor = Forked.start(List.of("-Dio.ofi4j.library=/nowhere/libfabric.so.1"), "doctor")) {
            Run run = doctor.await();

            assertThat(run.out()).contains("!!  libfabric", "/nowhere/libfabric.so.1", "not ready");
            assertThat(run.exitCode()).isEqualTo(1);
        }
    }

    @Test
    void whatKilledProcessesLeftIsNamedAndRemovedOnRequest() throws IOException {
        Path left = Files.createFile(Path.of("/dev/shm", "4194305:0:" + System.nanoTime() % 1_000_000));

        assertThat(Run.of("doctor").succeeded().out()).contains("of killed processes in /dev/shm");
        assertThat(Run.of("doctor", "--clean").succeeded().out()).contains("removed " + left);

        assertThat(left).doesNotExist();
    }
}
