package io.ofi4j.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.ofi4j.Libfabric;
import io.ofi4j.durable.SaveService;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The program that {@code scripts/device-check} brings to a machine with a GPU works on one without. */
@Tag("gate")
@Timeout(300)
class DeviceCheckTest {
    private record Ended(int status, String output) {}

    private static String place(Class<?> type) {
        return Path.of(type.getProtectionDomain().getCodeSource().getLocation().getPath()).toString();
    }

    /** Not initialized: that loads libfabric before it is guarded. */
    private static Class<?> bindings() throws ClassNotFoundException {
        return Class.forName("io.ofi4j.bindings.fabric_h", false, Libfabric.class.getClassLoader());
    }

    /** In a JVM of its own, which has it on the class path as the folder does. */
    private static Ended run(Path out, String... arguments) throws Exception {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Xmx256m",
                "-XX:TieredStopAtLevel=1",
                "--module-path="
                        + String.join(":", place(Libfabric.class), place(SaveService.class), place(bindings())),
                "--add-modules=io.ofi4j,io.ofi4j.durable",
                "--enable-native-access=ALL-UNNAMED,io.ofi4j,io.ofi4j.bindings", "-cp",
                System.getProperty("ofi4j.test.classes"), DeviceCheck.class.getName(), "--out", out.toString()));
        command.addAll(List.of(arguments));
        Path log = out.resolve("printed");
        Process process = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile()).start();
        boolean ended = process.waitFor(240, TimeUnit.SECONDS);
        if (!ended) { process.destroyForcibly().waitFor(); }
        return new Ended(process.exitValue(), Files.readString(log));
    }

    @Test
    void aRehearsalMovesEveryByteToWhereItBelongs(@TempDir Path folder) throws Exception {
        Ended ended = run(folder, "--rehearse", "4096", "--only", "shm", "--deadline", "200");

        assertThat(ended.output).contains("ok      shm          write gpu->gpu direct 4 KiB")
                .contains(" 0 are not as they should be").doesNotContain("FAILED", "DIED", "HUNG");
        assertThat(ended.status).isZero();
        assertThat(folder.resolve("results.json")).content().contains("\"check\":\"write gpu->gpu direct 4 KiB\"",
                "\"gigabytesPerSecond\":");
    }

    /** What comes between two processes by the device's own copies is there when it completes; and all else. */
    @Test
    void onADeviceEveryRowIsAsItShouldBe(@TempDir Path folder) throws Exception {
        String whyNot = Cuda.whyNot(0);
        assumeTrue(whyNot.isEmpty(), whyNot);
        Ended ended = run(folder, "--only", "misuse", "--only", "shm", "--deadline", "200");

        assumeTrue(ended.status != 77, ended.output);
        assertThat(ended.output).contains(" 0 are not as they should be");
        assertThat(ended.status).isZero();
    }

    @Test
    void wrongOptionsAreSaid(@TempDir Path folder) throws Exception {
        Ended option = run(folder, "--all", "1");
        assertThat(option.output).contains("there is no option --all").contains("--only");
        assertThat(option.status).isEqualTo(2);
        Ended group = run(folder, "--only", "verbs");
        assertThat(group.output).contains("there is no group verbs", "tcp;ofi_rxm");
        assertThat(group.status).isEqualTo(2);
    }

    @Test
    void withoutADeviceItSaysWhyAndEndsWith77(@TempDir Path folder) throws Exception {
        assumeTrue(!Files.exists(Path.of("/dev/nvidia0")), "this machine has a device");
        Ended ended = run(folder);

        assertThat(ended.output).contains("no device: ");
        assertThat(ended.status).isEqualTo(77);
    }
}
