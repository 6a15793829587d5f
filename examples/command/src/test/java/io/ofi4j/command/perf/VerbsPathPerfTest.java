package io.ofi4j.command.perf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.google.gson.JsonObject;
import io.ofi4j.command.Forked;
import io.ofi4j.command.Forked.Launch;
import io.ofi4j.command.Run;
import io.ofi4j.verbs.Device;
import io.ofi4j.verbs.Verbs;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code ofi4j perf --path verbs}: without libfabric, in one process and in two, where an RDMA device is. */
class VerbsPathPerfTest {
    private static final List<String> ADDRESSES = Stream
            .of(System.getenv().getOrDefault("OFI4J_VERBS_ADDRESSES", "").split(" ")).filter(word -> !word.isBlank())
            .toList();
    private static final String[] ELSEWHERE = Stream.ofNullable(System.getenv("OFI4J_OTHER_PROCESSOR"))
            .flatMap(processor -> Stream.of("taskset", "-c", processor)).toArray(String[]::new);

    private static boolean isOfIwarp() {
        return Verbs.load().devices().stream().anyMatch(device -> device.transport() == Device.Transport.IWARP);
    }

    private static void requireDevice() {
        assumeTrue(!ADDRESSES.isEmpty(), "no address of an RDMA device was named; scripts/test --verbs makes one");
        assumeFalse(isOfIwarp(), "queue pairs of iWARP are not connected out of band");
    }

    private static List<String> command(String operation, String... more) {
        List<String> command = new ArrayList<>(List.of("perf", operation, "--path", "verbs"));
        command.addAll(List.of(more));
        return command;
    }

    private static List<String> measuring(String operation, String... more) {
        List<String> command = command(operation, "-s", ADDRESSES.getFirst(), "-v", "-I", "200", "-w", "10",
                "--timeout", "60", "--json");
        if (!operation.equals("atomic")) { command.addAll(List.of("-S", "1,64,65537")); }
        command.addAll(List.of(more));
        return command;
    }

    private static void requireRows(Run run, String operation, String mode) {
        assertThat(run.lines()).hasSize(operation.equals("atomic") ? 1 : 3).allSatisfy(line -> {
            JsonObject row = EmbeddedTest.requireEveryField(line);
            assertThat(row.get("provider").getAsString()).isEqualTo("bare verbs");
            assertThat(row.get("errors").getAsLong()).isZero();
            assertThat(row.get("verified").getAsBoolean()).isTrue();
            assertThat(row.get("verifiedOperations").getAsLong()).isPositive();
            assertThat(row.get("mode").getAsString()).isEqualTo(mode);
        });
    }

    @ParameterizedTest
    @ValueSource(strings = {"write", "read", "msg", "atomic"})
    void everythingArrivesWithinOneProcess(String operation) {
        requireDevice();
        Run run = Run.of(measuring(operation, "-W", "4").toArray(String[]::new)).succeeded();
        requireRows(run, operation, "embedded");
    }

    @ParameterizedTest
    @ValueSource(strings = {"write", "msg --ping-pong"})
    void everythingArrivesInAnotherProcess(String what) {
        requireDevice();
        String operation = what.split(" ")[0];
        List<String> serving = command(operation, "--server", "-B", "0", "-s", ADDRESSES.getLast());
        try (Forked server = Launch.USUAL.behind(ELSEWHERE).start(serving.toArray(String[]::new))) {
            server.awaitOutput("serving");
            List<String> command = measuring(operation, ADDRESSES.getLast(), "-P", server.port());
            if (what.endsWith("--ping-pong")) { command.add("--ping-pong"); }
            requireRows(Run.of(command.toArray(String[]::new)).succeeded(), operation, "two processes");
            assertThat(server.await().succeeded().out()).contains("served the client at ");
        }
    }

    @Test
    void aDeviceThatIsNotThereIsSaid() {
        requireDevice();
        Run.of("perf", "write", "--path", "verbs", "-d", "mlx5_9").failed(1, "no RDMA device 'mlx5_9'");
        Run.of("perf", "write", "--path", "verbs", "-s", "127.0.0.1").failed(1, "None of the RDMA devices",
                "the address 127.0.0.1");
    }

    @Test
    void aDeviceOfIwarpIsRefused() {
        assumeTrue(!ADDRESSES.isEmpty() && isOfIwarp(), "no device is of iWARP");
        Run.of("perf", "write", "--path", "verbs").failed(1, "iWARP", "-p verbs -e msg");
    }

    @Test
    void aMachineWithoutADeviceIsSaid() {
        assumeTrue(Verbs.load().devices().isEmpty(), "this machine has an RDMA device");
        Run.of("perf", "write", "--path", "verbs").failed(1, "This machine has no RDMA device");
        Run.of("perf", "write", "--path", "verbs", "--server", "-B", "0").failed(1, "This machine has no RDMA device");
    }

    @Test
    void whatBelongsToLibfabricIsRefused() {
        Run.of("perf", "inject", "--path", "verbs").failed(2, "--path verbs measures", "not inject");
        Run.of("perf", "tagged", "--path", "verbs").failed(2, "--path verbs measures", "not tagged");
        Run.of("perf", "write", "--path", "verbs", "-p", "shm").failed(2, "goes past libfabric");
        Run.of("perf", "write", "--path", "verbs", "-e", "msg").failed(2, "goes past libfabric");
        Run.of("perf", "write", "--path", "verbs", "--threading", "safe").failed(2, "goes past libfabric");
    }
}
