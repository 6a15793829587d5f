package io.ofi4j.command.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.google.gson.JsonParser;
import io.ofi4j.command.Run;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code ofi4j verify --device}, on a machine with a GPU and on one without. */
@Tag("gate")
@Timeout(300)
class DeviceRunTest {
    @Test
    void aRehearsalMovesEveryByteToWhereItBelongs(@TempDir Path folder) throws Exception {
        Path json = folder.resolve("report.json");

        Run run = Run.of("verify", "--device", "host", "--longest", "1", "--only", "shm", "--limit", "200", "-v",
                "--json", json.toString());

        assertThat(run.exitCode()).as(run.out() + run.err()).isZero();
        assertThat(run.lines().getLast()).startsWith("nothing is wrong: ");
        assertThat(run.out()).contains("write gpu->gpu direct 4 KiB ");
        assertThat(JsonParser.parseString(Files.readString(json)).getAsJsonObject().getAsJsonArray("results"))
                .extracting(row -> row.getAsJsonObject().get("name").getAsString())
                .contains("write gpu->gpu direct 4 KiB", "tagged send gpu->gpu staged 1 MiB");
    }

    /** What comes between two processes by the device's own copies is there when it completes; and all else. */
    @Test
    void onADeviceNothingIsWrong() {
        String whyNot = Cuda.whyNot(0);
        assumeTrue(whyNot.isEmpty(), whyNot);

        Run run = Run.of("verify", "--device", "cuda", "--only", "misuse", "--only", "shm", "--limit", "200");

        assumeTrue(run.exitCode() != 2, run.err());
        assertThat(run.exitCode()).as(run.out() + run.err()).isZero();
    }

    @Test
    void withoutADeviceItSaysWhyAndEndsWithTwo() {
        assumeTrue(!Files.exists(Path.of("/dev/nvidia0")), "this machine has a device");

        Run run = Run.of("verify", "--device", "cuda");

        assertThat(run.exitCode()).isEqualTo(2);
        assertThat(run.out()).isEmpty();
        assertThat(run.err().lines()).singleElement().asString()
                .startsWith("ofi4j: No device was found: there is no CUDA driver");
    }

    @Test
    void withoutTheProgramNothingIsComparedWithC() {
        Run run = Run.of("verify", "--device", "host", "--only", "bench", "-v");

        assertThat(run.exitCode()).as(run.out() + run.err()).isEqualTo(2);
        assertThat(run.out()).contains("not tried: none was given with --program");
    }

    @Test
    void wrongOptionsAreSaid() {
        List.of(new String[]{"--device", "rocm", "'rocm' is no device"},
                new String[]{"--device=host", "--only=verbs", "there is no page 'verbs'; there are misuse, shm"},
                new String[]{"--device=host", "--program=/none", "there is no program '/none'"},
                new String[]{"--device=host", "--provider=shm", "--device takes no --provider"},
                new String[]{"--device=host", "--deadline=5", "--device takes no --deadline"},
                new String[]{"--device=host", "--longest=-5", "'-5' is not a number of MiB"},
                new String[]{"--logs", "x", "--device=DEVICE"}).forEach(words -> {
                    Run run = Run.of("verify", words[0], words[1]);
                    assertThat(run.exitCode()).as(run.err()).isEqualTo(2);
                    assertThat(run.err().lines()).singleElement().asString().contains(words[2]);
                });
    }
}
