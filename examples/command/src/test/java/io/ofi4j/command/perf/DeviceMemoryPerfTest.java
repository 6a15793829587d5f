package io.ofi4j.command.perf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.ofi4j.Libfabric;
import io.ofi4j.command.CommandFailure;
import io.ofi4j.command.Forked;
import io.ofi4j.command.Run;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code --device}, where there is a device and where there is none. */
@Tag("gate")
@Tag("once") // what it is about is the command, not libfabric
class DeviceMemoryPerfTest {
    /** Why there is no device here; empty if there is one. */
    private static String whyNot() {
        try {
            CudaMemory.require(0);
            return "";
        } catch (CommandFailure e) {
            return e.getMessage();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"cuda", "cuda:0", "cuda:77"})
    void aDeviceThatIsNotThereIsSaidInASentence(String device) {
        assumeFalse(whyNot().isEmpty(), "this machine has a CUDA device");
        Run.of("perf", "write", "-p", "shm", "--device", device).failed(1, "CUDA device", "Leave --device out");
    }

    @Test
    void whatIsNoDeviceIsSaid() {
        Run.of("perf", "write", "--device", "rocm").failed(2, "'rocm' is no device", "cuda:N");
        Run.of("perf", "write", "--device", "cuda:-1").failed(2, "'cuda:-1' is no device");
        Run.of("perf", "inject", "--device", "host").failed(2, "leave --device out");
        Run.of("perf", "write", "--path", "verbs", "--device", "host").failed(2, "--device out");
        Run.of("perf", "write", "-p", "tcp;ofi_rxm", "--device", "host").failed(1,
                "Provider tcp;ofi_rxm takes no memory of devices (FI_HMEM)", "leave --device out");
    }

    @Test
    void whatTheProviderDoesNotDoWithMemoryOfDevicesIsSaid() {
        Run run = Run.of("perf", "atomic", "-p", "shm", "--device", "host", "-I", "10");
        if (Libfabric.load().version().major() < 2) { // its shm leaves out atomics where memory of devices is asked for
            run.failed(1, "Provider shm takes no memory of devices (FI_HMEM) for 'perf atomic'",
                    "measure another operation");
        } else {
            run.succeeded();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"write", "read", "msg", "tagged"})
    void memoryOfTheHostMovesInDomainsThatTakeThatOfDevices(String operation) {
        Run run = Run.of("perf", operation, "-p", "shm", "--device", "host", "-v", "-S", "8,64k", "-I", "100", "-w",
                "10", "--json").succeeded();
        assertThat(run.lines()).hasSize(2).allSatisfy(line -> {
            JsonObject row = JsonParser.parseString(line).getAsJsonObject();
            assertThat(row.get("memory").getAsString()).isEqualTo("host");
            assertThat(row.get("verifiedOperations").getAsLong()).isPositive();
            assertThat(row.get("errors").getAsLong()).isZero();
        });
    }

    @Test
    void aClientThatTakesNoMemoryOfDevicesIsRefusedByAServerThatDoes() throws Exception {
        try (Forked server = Forked.server("perf", "write", "-p", "shm", "--device", "host")) {
            server.client("perf", "write", "-p", "shm", "-S", "8", "-I", "10").failed(1, "shm with memory of devices",
                    "--device to both or to none");
        }
    }

    @Test
    void bothSidesSayWhoseMemoryTheyHave() throws Exception {
        try (Forked server = Forked.server("perf", "write", "-p", "shm", "--device", "host")) {
            server.client("perf", "write", "-p", "shm", "--device", "host", "-S", "8", "-I", "10", "-w", "1", "-v")
                    .succeeded();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"write", "read", "msg", "tagged"})
    void memoryOfADeviceMoves(String operation) {
        String whyNot = whyNot();
        assumeTrue(whyNot.isEmpty(), whyNot);
        Run run = Run.of("perf", operation, "-p", "shm", "--device", "cuda", "-v", "-S", "8,64k,1m", "-I", "100", "-w",
                "10", "--json").succeeded();
        assertThat(run.lines()).hasSize(3)
                .allSatisfy(line -> assertThat(line).contains("\"memory\":\"cuda:0\"", "\"errors\":0"));
    }
}
