package io.ofi4j.command.perf;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.ofi4j.Libfabric;
import io.ofi4j.command.Run;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

@Tag("gate")
class EmbeddedTest {
    static Stream<Arguments> providersAndOperations() {
        String streams = Libfabric.load().providers().contains("net") ? "net" : "tcp";
        return Stream.of("shm", "tcp;ofi_rxm", streams, "sockets", "udp;ofi_rxd")
                .flatMap(provider -> Stream.of("write", "read", "inject", "writedata", "msg", "tagged")
                        .map(operation -> Arguments.of(provider, operation)));
    }

    @ParameterizedTest
    @MethodSource("providersAndOperations")
    void everythingArrives(String provider, String operation) {
        String sizes = operation.equals("inject") ? "0,1,8,63" : "0,1,8,63,4k,65537";
        int rows = sizes.split(",").length;
        for (String window : List.of("1", "16")) {
            Run run = Run.of("perf", operation, "-p", provider, "-v", "-S", sizes, "-I", "100", "-w", "10", "-W",
                    window, "--json").succeeded();

            assertThat(run.lines()).hasSize(rows).allSatisfy(line -> {
                JsonObject row = requireEveryField(line);
                assertThat(row.get("operation").getAsString()).isEqualTo(operation);
                assertThat(row.get("provider").getAsString()).isEqualTo(provider);
                assertThat(row.get("operations").getAsLong()).isEqualTo(100);
                assertThat(row.get("errors").getAsLong()).isZero();
                assertThat(row.get("verified").getAsBoolean()).isTrue();
                assertThat(row.get("verifiedOperations").getAsLong()).isPositive();
                assertThat(row.get("window").getAsString()).isEqualTo(window);
                assertThat(row.get("mode").getAsString()).isEqualTo("embedded");
            });
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"shm", "tcp;ofi_rxm", "sockets"})
    void everyAdditionIsMadeOnce(String provider) {
        Run run = Run.of("perf", "atomic", "-p", provider, "-v", "-I", "100", "-w", "10", "-W", "16", "--json")
                .succeeded();

        assertThat(run.lines()).hasSize(1).allSatisfy(line -> {
            JsonObject row = requireEveryField(line);
            assertThat(row.get("size").getAsLong()).isEqualTo(8);
            assertThat(row.get("verifiedOperations").getAsLong()).isPositive();
            assertThat(row.get("errors").getAsLong()).isZero();
        });
    }

    @ParameterizedTest
    @CsvSource({"shm,msg,rdm", "tcp;ofi_rxm,tagged,rdm", "sockets,msg,msg", "tcp,msg,msg", "shm,writedata,rdm",
            "tcp;ofi_rxm,writedata,rdm", "tcp,writedata,msg", "sockets,writedata,rdm"})
    void messagesAreAnswered(String provider, String operation, String endpoint) {
        Run run = Run.of("perf", operation, "--ping-pong", "-p", provider, "-e", endpoint, "-v", "-S", "0,8,4k,65537",
                "-I", "100", "-w", "10", "--json").succeeded();

        assertThat(run.lines()).hasSize(4).allSatisfy(line -> {
            JsonObject row = requireEveryField(line);
            assertThat(row.get("pingPong").getAsBoolean()).isTrue();
            assertThat(row.get("verifiedOperations").getAsLong()).isPositive();
            assertThat(row.get("errors").getAsLong()).isZero();
        });
    }

    static JsonObject requireEveryField(String line) {
        JsonObject row = JsonParser.parseString(line).getAsJsonObject();
        assertThat(row.keySet()).containsExactlyInAnyOrder("time", "host", "jdk", "minNs", "meanNs", "maxNs",
                "stddevNs", "operation", "mode", "provider", "libfabric", "fabric", "domain", "endpointType",
                "threading", "progress", "pingPong", "threads", "bidirectional", "memory", "window", "size",
                "operations", "nsPerOperation", "p50Ns", "p99Ns", "p999Ns", "megabytesPerSecond",
                "megaoperationsPerSecond", "verified", "verifiedOperations", "errors");
        assertThat(row.get("nsPerOperation").getAsDouble()).isPositive();
        assertThat(row.get("minNs").getAsLong()).isNotNegative().isLessThanOrEqualTo(row.get("p50Ns").getAsLong());
        assertThat(row.get("meanNs").getAsDouble()).isBetween(row.get("minNs").getAsDouble(),
                row.get("maxNs").getAsDouble());
        assertThat(row.get("p50Ns").getAsLong()).isPositive().isLessThanOrEqualTo(row.get("p99Ns").getAsLong());
        assertThat(row.get("p99Ns").getAsLong()).isLessThanOrEqualTo(row.get("p999Ns").getAsLong());
        double megabytes = row.get("size").getAsLong() * 1000 / row.get("nsPerOperation").getAsDouble();
        assertThat(row.get("megabytesPerSecond").getAsDouble()).isEqualTo(megabytes);
        return row;
    }

    @ParameterizedTest
    @ValueSource(strings = {"write", "read", "inject", "msg"})
    void everythingArrivesOverConnections(String operation) {
        for (String provider : List.of("tcp", "sockets")) {
            Run run = Run.of("perf", operation, "-p", provider, "-e", "msg", "-v", "-S", "0,8,63", "-I", "100", "-w",
                    "10", "-W", "16", "--json").succeeded();

            assertThat(run.lines()).hasSize(3).allSatisfy(line -> {
                JsonObject row = requireEveryField(line);
                assertThat(row.get("provider").getAsString()).isEqualTo(provider);
                assertThat(row.get("endpointType").getAsString()).isEqualTo("MSG");
                assertThat(row.get("errors").getAsLong()).isZero();
            });
        }
    }

    @Test
    void tableNamesWhatWasMeasured() {
        String out = Run.of("perf", "write", "-S", "8,4k", "-I", "100", "-w", "1", "-v").succeeded().out();

        assertThat(out).contains("provider shm", "libfabric " + Libfabric.load().version(), "endpoint RDM",
                "threading DOMAIN", "progress MANUAL", "window 1", "both ends in one process", "ns/op", "p99.9 us",
                "MB/s", "Mops/s", "errors");
        assertThat(out.lines().dropWhile(line -> !line.contains("size B")).map(String::length).distinct()).hasSize(1);
    }

    @Test
    void modelsCanBeChosen() {
        String out = Run.of("perf", "write", "-S", "8", "-I", "100", "-w", "1", "--threading", "SAFE").succeeded()
                .out();

        assertThat(out).contains("threading SAFE");
    }

    @Test
    void selectionStopsAtTheProvidersLimit() {
        Run run = Run.of("perf", "inject", "-S", "all", "-I", "10", "-w", "1", "--json").succeeded();

        assertThat(run.lines()).hasSize(13); // 1 to 4096
    }
}
