package io.ofi4j.jmh.compare;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.ofi4j.Libfabric;
import java.awt.image.BufferedImage;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Runs the comparison for moments, so that it cannot rot. What it measures means nothing. */
@Tag("gate")
class BenchTest {
    private static final int ONE_PROCESS = 12;
    private static final int TWO_PROCESSES = 2;
    private static final int PERCENTILES = 3;
    /** One or two clients, one read in flight or 32, spinning or yielding; and the words of a row. */
    private static final int KINDS = 8;
    private static final int ROW = 9;
    private static final int GROWTH_ROW = 8;
    private static final int THINGS_THAT_GROW = 8;
    private static final int MEMORY_ROW = 6;
    private static final int LEAST_WIDTH = 300;

    @TempDir
    private Path folder;

    private record Run(int exitCode, String out, String err) {
        static Run of(String... arguments) {
            StringWriter out = new StringWriter();
            StringWriter err = new StringWriter();
            int exitCode = Bench.commandLine().setOut(new PrintWriter(out, true)).setErr(new PrintWriter(err, true))
                    .execute(arguments);
            return new Run(exitCode, out.toString(), err.toString());
        }

        void failed(int expectedExitCode, String... words) {
            assertThat(err.strip().lines()).hasSize(1);
            assertThat(err).startsWith("bench: ").contains(words);
            assertThat(exitCode).isEqualTo(expectedExitCode);
        }
    }

    @Test
    void everyWorkIsMeasuredOnBothSidesAndWrittenAsRows() throws IOException {
        Path file = folder.resolve("rows.json");
        Run run = Run.of("--forks", "1", "--seconds", "1", "-p", "shm", "--json", file.toString());
        assertThat(run.err).isEmpty();
        assertThat(run.exitCode).isZero();
        List<String> lines = Files.readAllLines(file);
        assertThat(lines).hasSize(ONE_PROCESS + TWO_PROCESSES * PERCENTILES).allSatisfy(line -> {
            JsonObject row = JsonParser.parseString(line).getAsJsonObject();
            assertThat(row.keySet()).containsExactly("libfabric", "provider", "operation", "size", "window", "cNs",
                    "javaNs", "ratio", "from", "to", "jvms", "allocBytes");
            assertThat(row.get("libfabric").getAsString()).isEqualTo(Libfabric.load().version().toString());
            assertThat(row.get("provider").getAsString()).isEqualTo("shm");
            assertThat(row.get("cNs").getAsDouble()).isPositive();
            assertThat(row.get("javaNs").getAsDouble()).isPositive();
            assertThat(row.get("ratio").getAsDouble()).isPositive();
            assertThat(row.get("allocBytes").getAsDouble()).isNotNegative();
        });
        assertThat(run.out).contains("C: ", "Java: ", "work  ", "bandwidth 1 MiB, window 16",
                "pingpong-write-p99.9 8 B", "shm: threading DOMAIN, progress MANUAL",
                "shm: pingpong-write: the system made the threads that spin wait ");
    }

    @Test
    void aRowOfSeveralJvmsHasTheFastestAndTheSlowest() throws IOException {
        Path file = folder.resolve("rows.json");
        Run run = Run.of("--forks", "3", "--seconds", "1", "-p", "shm", "-w", "poll", "--json", file.toString());

        assertThat(run.exitCode).as(run.err).isZero();
        assertThat(run.out).contains("of 3 JVMs");
        JsonObject row = JsonParser.parseString(Files.readString(file)).getAsJsonObject();
        assertThat(row.get("jvms").getAsInt()).isEqualTo(3);
        assertThat(row.get("ratio").getAsDouble()).isBetween(row.get("from").getAsDouble(),
                row.get("to").getAsDouble());
    }

    @Test
    void rowsOfAnEarlierRunStayUntilThereIsOne() throws IOException {
        Path file = Files.writeString(folder.resolve("rows.json"), "earlier");
        Run.of("-p", "nobody", "--json", file.toString()).failed(1, "'nobody'");
        assertThat(file).hasContent("earlier");

        Run run = Run.of("--forks", "1", "--seconds", "1", "-p", "shm", "-w", "poll", "--json", file.toString());
        assertThat(run.exitCode).as(run.err).isZero();
        assertThat(Files.readAllLines(file)).singleElement().asString().startsWith("{");
    }

    @Test
    void rowsOnTheStandardOutputAreAmongThoseOfTheTable() {
        Run run = Run.of("--forks", "1", "--seconds", "1", "-p", "shm", "-w", "poll", "--json", "/dev/stdout");

        assertThat(run.exitCode).as(run.err).isZero();
        assertThat(run.out.lines().filter(line -> line.startsWith("{"))).hasSize(1);
    }

    @Test
    @Tag("nightly")
    void picturesAreDrawnWhereThereAreFontsAndOtherwiseNamedWithTheRemedy() {
        Run run = Run.of("--forks", "1", "--seconds", "1", "-p", "shm", "-w", "bandwidth", "-w", "pingpong-write",
                "--charts", folder.toString());
        if (run.err.contains("libfont") || run.err.contains("fontconfig")) {
            run.failed(1, "fontconfig", "fonts-dejavu-core");
            return;
        }
        assertThat(run.err).isEmpty();
        assertThat(run.exitCode).isZero();
        assertThat(folder.toFile().list()).hasSize(2).allSatisfy(name -> {
            BufferedImage picture = ImageIO.read(folder.resolve(name).toFile());
            assertThat(picture.getWidth()).as(name).isGreaterThan(LEAST_WIDTH);
        });
    }

    @Test
    @Tag("nightly")
    void operationsBehindAWalkThroughMemoryAreMeasuredOnBothSides() {
        Run run = Run.of("--cold", "--forks", "1", "--seconds", "1", "-w", "write", "-w", "message-rate");

        assertThat(run.err).isEmpty();
        assertThat(run.exitCode).isZero();
        assertThat(run.out).contains("GHz, a load from 256 KiB ");
        assertThat(run.out.lines().filter(line -> line.matches(".* 8 B +shm .*"))
                .map(line -> line.substring(0, line.indexOf(" 8 B")))).containsExactly("alone, write",
                        "16 KiB, then write", "64 KiB, then write", "256 KiB, then write", "1 MiB, then write",
                        "4 MiB, then write", "alone, message-rate", "16 KiB, then message-rate",
                        "64 KiB, then message-rate", "256 KiB, then message-rate", "1 MiB, then message-rate",
                        "4 MiB, then message-rate");
    }

    @Test
    void workThatHasNoColdFormIsRefused() { Run.of("--cold", "-w", "rate").failed(2, "'rate'", "--cold", "write"); }

    @Test
    @Tag("nightly")
    void severalReadFromOneOnBothSides() {
        Run run = Run.of("--contention", "--seconds", "1");
        assertThat(run.err).isEmpty();
        assertThat(run.exitCode).isZero();
        List<String[]> rows = run.out.lines().map(line -> line.strip().split(" +"))
                .filter(words -> words.length == ROW && words[2].matches("spins|yields")).toList();
        assertThat(rows).hasSize(KINDS).allSatisfy(words -> {
            assertThat(Double.parseDouble(words[3])).as("reads a second in C").isPositive();
            assertThat(Double.parseDouble(words[4])).as("reads a second in Java").isPositive();
        });
    }

    @Test
    @Tag("nightly")
    void whatGrowsIsMeasuredOnBothSidesWithTheMemoryOfOne() {
        Run run = Run.of("--scale", "--quick", "--seconds", "1");
        assertThat(run.err).isEmpty();
        assertThat(run.exitCode).isZero();
        List<String[]> rows = run.out.lines().map(line -> line.strip().split("  +"))
                .filter(words -> words.length == GROWTH_ROW && words[2].matches("\\d+")).toList();
        assertThat(rows).extracting(words -> words[0]).containsOnly("regions at each end", "peers in the vector",
                "operations in flight", "queues, with an endpoint each", "endpoints of one queue",
                "threads, an endpoint each", "threads, one endpoint, SAFE");
        assertThat(rows).hasSize(2 * THINGS_THAT_GROW).allSatisfy(words -> {
            assertThat(Double.parseDouble(words[3])).as("C").isPositive();
            assertThat(Double.parseDouble(words[4])).as("Java").isPositive();
            assertThat(Double.parseDouble(words[5])).as("ratio").isPositive();
        });
        assertThat(run.out.lines().map(line -> line.strip().split("  +"))
                .filter(words -> words.length == MEMORY_ROW && words[2].matches("\\d+ and \\d+")))
                .extracting(words -> words[0])
                .containsExactly("a region", "a peer", "a queue and its endpoint", "an endpoint", "an endpoint");
    }

    @Test
    @Tag("nightly")
    void otherWaysOutOfJavaAreMeasuredOrLeftOutWithAReason() {
        Run run = Run.of("--forks", "1", "--seconds", "3", "-p", "shm", "-w", "poll", "--peers");
        assertThat(run.err).isEmpty();
        assertThat(run.exitCode).isZero();
        assertThat(run.out).contains("java.nio sockets, pingpong-sockets-p50 8 B").containsPattern(
                "jucx \\(UCX\\), put with completion 8 B over shared memory|jucx is left out: it needs UCX 1.18");
    }

    @Test
    void optionsOfTheJvmReachTheJavaSideAndAreNamed() {
        Run run = Run.of("--forks", "1", "--seconds", "1", "-p", "shm", "-w", "poll", "--jvm-option=-XX:+UseSerialGC",
                "--jvm-option=-Xmx64m");
        assertThat(run.exitCode).isZero();
        assertThat(run.out).contains("-XX:+UseSerialGC -Xmx64m, all checks on");
        Run.of("--forks", "1", "--seconds", "1", "-p", "shm", "-w", "poll", "--jvm-option=-XX:+NoSuchOption").failed(1,
                "Java side", "NoSuchOption");
    }

    @Test
    void whatTheTimeIsOverForIsStillWarmedUp() { assertThat(Plan.of(0).warmUp(8)).isPositive(); }

    @ParameterizedTest
    @CsvSource({"tcp;ofi_rxm", "sockets", "udp;ofi_rxd"})
    @Tag("nightly")
    void otherProvidersCompleteOnBothSides(String provider) {
        Run run = Run.of("--forks", "1", "--seconds", "1", "-p", provider, "-w", "writedata", "-w",
                "pingpong-writedata");
        assertThat(run.err).isEmpty();
        assertThat(run.exitCode).isZero();
        assertThat(run.out).contains("writedata 8 B", "pingpong-writedata-p50 8 B").doesNotContain("poll  ");
    }

    @Test
    void aProviderThatIsNotThereIsNamedBesideThoseThatAre() {
        Run.of("-p", "carrier-pigeon").failed(1, "'carrier-pigeon'", "shm");
        Run.of("--safepoints", "carrier-pigeon").failed(1, "'carrier-pigeon'", "shm");
        Run.of("--safepoints", "-p", "carrier-pigeon").failed(1, "'carrier-pigeon'", "shm");
        Run.of("--scale", "-p", "carrier-pigeon").failed(1, "'carrier-pigeon'", "shm");
    }

    @Test
    void badOptionsAreNamed() {
        Run.of("--seconds", "never").failed(2, "--seconds");
        Run.of("--seconds", "0").failed(2, "--seconds");
        Run.of("--seconds", "NaN").failed(2, "--seconds");
        Run.of("--seconds", "5", "--quick").failed(2, "--quick");
        Run.of("--forks", "0").failed(2, "--forks");
        Run.of("--slowly").failed(2, "--slowly", "--help");
        Run.of("-w", "nap").failed(2, "'nap'", "write");
        Run.of("--json", folder.resolve("no/such/folder").toString()).failed(1, "no/such/folder");
    }
}
