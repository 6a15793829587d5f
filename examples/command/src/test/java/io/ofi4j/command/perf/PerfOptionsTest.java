package io.ofi4j.command.perf;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.ofi4j.command.Forked;
import io.ofi4j.command.Interrupt;
import io.ofi4j.command.Forked;
import io.ofi4j.command.Run;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Tag("gate")
@Tag("once") // what it is about is the command, not libfabric
class PerfOptionsTest {
    private static Run write(String... more) {
        List<String> all = new java.util.ArrayList<>(List.of("perf", "write", "-w", "10", "-p", "shm"));
        all.addAll(List.of(more));
        return Run.of(all.toArray(String[]::new)).succeeded();
    }

    @Test
    void csvHasTheNamesOfJsonAndALineForEachSize() {
        List<String> lines = write("-S", "8,64", "-I", "100", "--csv").lines();
        JsonObject json = JsonParser.parseString(write("-S", "8", "-I", "100", "--json").out()).getAsJsonObject();

        assertThat(lines).hasSize(3);
        assertThat(lines.getFirst().split(",")).containsExactlyElementsOf(json.keySet());
        assertThat(lines.subList(1, 3)).allSatisfy(line -> assertThat(line.split(",")).hasSize(json.size()));
    }

    @Test
    void histogramIsInHdrHistogramsTextForm(@TempDir Path folder) throws IOException {
        Path file = folder.resolve("latencies");
        write("-S", "8", "-I", "100", "--histogram", file.toString());
        assertThat(Files.readString(file)).contains("Value     Percentile TotalCount", "Total count    =          100");

        write("-S", "8,64", "-I", "100", "--histogram", file.toString());
        assertThat(folder.resolve("latencies.8")).exists();
        assertThat(folder.resolve("latencies.64")).exists();
    }

    @Test
    void histogramsOfSeveralSizesGoToTheStandardOutputWithTheTable(@TempDir Path folder) throws IOException {
        Path file = folder.resolve("output");
        try (Forked perf = Forked.Launch.USUAL.behind("sh", "-c", "exec \"$0\" \"$@\" >" + file).start("perf", "write",
                "-w", "10", "-p", "shm", "-S", "8,64", "-I", "100", "--histogram", "/dev/stdout")) {
            perf.await().succeeded();
        }

        String output = Files.readString(file);
        assertThat(output.split("Total count    =          100", -1)).hasSize(2 + 1);
        assertThat(output.lines().filter(line -> line.matches(" +(8|64) +100 .*"))).hasSize(2);
        assertThat(Path.of("/dev/stdout.8")).doesNotExist();
    }

    @Test
    void chartIsAPageThatNeedsNoOtherFile(@TempDir Path folder) throws IOException {
        Path file = folder.resolve("chart.html");
        write("-S", "8,64", "-I", "100", "--chart", file.toString());
        String page = Files.readString(file);
        assertThat(page)
                .contains("perf write, shm", "Latency of one operation", ">8 B<", ">64 B<", "Bandwidth", "99.9 %")
                .doesNotContain("src=", "href=");
        assertThat(page.split("<polyline ", -1)).hasSize(2 + 1 + 1);
        Pattern.compile("[ ']([0-9.]+),([0-9.]+)").matcher(page).results().forEach(point -> {
            assertThat(Double.parseDouble(point.group(1))).isBetween(90.0, 730.0);
            assertThat(Double.parseDouble(point.group(2))).isBetween(40.0, 400.0);
        });

        write("-S", "0", "-I", "100", "--chart", file.toString());
        assertThat(Files.readString(file)).contains("Latency of one operation").doesNotContain("Bandwidth");
    }

    @Test
    void durationIsThatOfEachPass() {
        long start = System.nanoTime();
        JsonObject row = JsonParser.parseString(write("-S", "8", "-D", "1", "--json").out()).getAsJsonObject();

        assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(2_000_000_000L);
        assertThat(row.get("operations").getAsLong() * row.get("nsPerOperation").getAsDouble()).isBetween(1e9, 30e9);
    }

    @ParameterizedTest
    @ValueSource(strings = {"write", "read", "inject", "tagged", "atomic"})
    void anOpenLoopKeepsThePlanAndCountsFromIt(String operation) {
        Run run = Run.of("perf", operation, "-w", "10", "-p", "shm", "--rate", "2000", "-I", "500", "-v", "--json");
        JsonObject row = JsonParser.parseString(run.succeeded().lines().getFirst()).getAsJsonObject();

        assertThat(row.get("rate").getAsLong()).isEqualTo(2000);
        assertThat(row.get("window").getAsInt()).isEqualTo(64);
        assertThat(row.get("operations").getAsLong()).isEqualTo(500);
        assertThat(row.get("nsPerOperation").getAsDouble()).isGreaterThanOrEqualTo(500_000);
        assertThat(row.get("verifiedOperations").getAsLong()).isPositive();
        for (String time : List.of("P50Ns", "P99Ns", "P999Ns", "MaxNs")) {
            String fromPlan = time.replaceFirst("P(?=\\d)", "p").replace("Max", "max");
            assertThat(row.get(fromPlan).getAsLong()).as(time)
                    .isGreaterThanOrEqualTo(row.get("fromPost" + time).getAsLong());
        }
        assertThat(row.get("correctedMaxNs").getAsLong()).isEqualTo(row.get("fromPostMaxNs").getAsLong());
    }

    @Test
    void aRateThatIsNotReachedIsSaidAndEndsInTime() {
        List<String> lines = write("-S", "8", "--rate", "1000000000", "-D", "1").lines();

        assertThat(lines).anySatisfy(line -> assertThat(line).contains("from the post"))
                .anySatisfy(line -> assertThat(line).contains("corrected"));
        assertThat(lines.getLast()).contains("the rate was not reached: ", " operations per second");
    }

    @Test
    void whatDoesNotGoTogetherIsSaid() {
        Run.of("perf", "msg", "--ping-pong", "-W", "2").failed(2, "one message in flight");
        Run.of("perf", "msg", "--ping-pong", "--rate", "2").failed(2, "--rate");
        Run.of("perf", "atomic", "-S", "16").failed(2, "an addition has 8 bytes");
        Run.of("perf", "tagged", "-e", "msg", "-p", "tcp").failed(1, "tcp");
        Run.of("perf", "atomic", "-p", "udp;ofi_rxd").failed(1, "ofi_rxd");
    }

    @Test
    void theTableSaysWhichTimesAreOfWhichPass() {
        assertThat(write("-S", "8", "-I", "100").out()).contains("of a pass without clock calls", "min us", "mean us",
                "max us", "stddev us");
    }

    @Test
    void interruptPrintsWhatWasMeasured() {
        try (Forked server = Forked.server("perf", "write", "-p", "shm");
                Forked client = Forked.Launch.INTERRUPTIBLE.start("perf", "write", "-p", "shm", "127.0.0.1", "-P",
                        server.port(), "-S", "8,64", "-w", "0", "-I", "1000000000000")) {
            client.awaitOutput("ns/op");
            client.awaitWork(Duration.ofMillis(500));
            client.interrupt();
            Run run = client.await();

            assertThat(run.exitCode()).as(run.err()).isEqualTo(Interrupt.EXIT_CODE);
            assertThat(run.err()).isEmpty();
            String row = run.lines().getLast().strip();
            assertThat(row.split(" +")).as(row).hasSize(12)
                    .satisfies(fields -> assertThat(Double.parseDouble(fields[5])).as("p50").isPositive());
            assertThat(server.await().exitCode()).as("the client has said good bye").isZero();
        }
    }

    @Test
    void aClientThatWaitsForItsServerSaysSo() {
        int port = Forked.freePort();
        try (Forked client = Forked.start("perf", "write", "-p", "shm", "127.0.0.1", "-P", Integer.toString(port), "-S",
                "8", "-I", "10", "-w", "1", "--timeout", "30")) {
            client.awaitError("(waiting for the server at 127.0.0.1:" + port + ")");
            try (Forked server = Forked.start("perf", "write", "-p", "shm", "--server", "-B", Integer.toString(port))) {
                assertThat(client.await().exitCode()).isZero();
                server.await().succeeded();
            }
        }
    }
}
