package io.ofi4j.command.top;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.ofi4j.Libfabric;
import io.ofi4j.command.Forked;
import io.ofi4j.command.Patience;
import io.ofi4j.command.Run;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Other JVMs, as the command sees them. */
@Tag("gate")
class TopTest {
    private static final int DEADLINE_SECONDS = 120;

    /** Has a JVM show its counts. */
    private static final String SHOWS = "-Dio.ofi4j.jmx=true";

    private static String pid(Forked process) { return Long.toString(process.process().pid()); }

    private static JsonObject json(Forked process) {
        return JsonParser.parseString(Run.of("top", pid(process), "--json").succeeded().out()).getAsJsonObject();
    }

    private static JsonObject only(JsonArray array) {
        assertThat(array).hasSize(1);
        return array.get(0).getAsJsonObject();
    }

    private static Forked holding() { return holding(SHOWS); }

    private static Forked holding(String option) {
        Forked process = Forked.Launch.USUAL.main(Holding.class).and(option).start();
        process.awaitOutput("holding");
        return process;
    }

    @Test
    void countsOfAJvmAreShown() {
        try (Forked process = holding()) {
            JsonObject json = json(process);
            assertThat(json.get("pid").getAsString()).isEqualTo(pid(process));
            assertThat(json.get("command").getAsString()).contains("Holding");
            assertThat(json.get("libfabric").getAsString()).isEqualTo(Libfabric.load().version().toString());
            JsonObject domain = only(json.getAsJsonArray("domains"));
            assertThat(domain.get("provider").getAsString()).isEqualTo("shm");
            assertThat(domain.get("threading").getAsString()).isEqualTo("DOMAIN");
            assertThat(domain.get("registeredBytes").getAsLong()).isEqualTo(4096);
            JsonObject queue = only(domain.getAsJsonArray("queues"));
            assertThat(queue.get("size").getAsInt()).isEqualTo(32);
            assertThat(queue.get("inFlight").getAsInt()).isEqualTo(3);
            assertThat(queue.get("canceled").getAsInt() + queue.get("failed").getAsInt())
                    .as("by ofi4j, or as the provider reports it").isEqualTo(2);
            assertThat(queue.get("completedPerSecond").getAsDouble()).isZero();
            JsonObject endpoint = only(domain.getAsJsonArray("endpoints"));
            assertThat(endpoint.get("type").getAsString()).isEqualTo("Endpoint RDM");
            assertThat(endpoint.get("inFlight").getAsInt()).isEqualTo(3);
            assertThat(endpoint.get("slowPosts").getAsInt()).isZero();
            assertThat(endpoint.getAsJsonArray("queues").get(0)).isEqualTo(queue.get("id"));
        }
    }

    @Tag("once")
    @ParameterizedTest
    @ValueSource(strings = {"text", "number", "list", "nothing"})
    void aBeanThatAnswersWithSomethingElseIsSaid(String answers) {
        try (Forked process = Forked.Launch.USUAL.main(WrongBean.class).start(answers)) {
            process.awaitOutput("waiting");

            Run.of("top", pid(process), "--json").failed(1, "JVM " + pid(process) + " cannot be observed",
                    "of the same release of ofi4j?");
        }
    }

    @Test
    void ratesAreThoseOfTheInterval() {
        try (Forked process = Forked.start(List.of(SHOWS), "perf", "write", "-p", "shm", "-S", "8", "-w", "0", "-I",
                "1000000000000")) {
            process.awaitOutput("ns/op");
            long end = System.nanoTime() + Patience.seconds(DEADLINE_SECONDS).toNanos();
            double rate = 0;
            while (rate == 0) { // beside other work it may stand still for a while
                assertThat(System.nanoTime()).isLessThan(end);
                for (JsonElement domain : json(process).getAsJsonArray("domains")) {
                    for (JsonElement queue : domain.getAsJsonObject().getAsJsonArray("queues")) {
                        rate = Math.max(rate, queue.getAsJsonObject().get("completedPerSecond").getAsDouble());
                    }
                }
            }
            assertThat(rate).isLessThan(1e9);
        }
    }

    @Tag("once")
    @Test
    void theTableIsRepeatedUntilTheJvmEnds() {
        try (Forked process = holding(); Forked top = Forked.start("top", pid(process))) {
            top.awaitOutput("Endpoint RDM");
            assertThat(top.output()).contains("JVM " + pid(process), "provider shm", "completed/s", "retries/s",
                    "slow posts");
            process.process().destroy();
            process.await();
            Run run = top.await();

            assertThat(run.exitCode()).as(run.err()).isZero();
            assertThat(run.err().strip()).isEqualTo("JVM " + pid(process) + " has ended.");
        }
    }

    @Tag("once")
    @Test
    void aJvmThatHasClosedEverythingIsStillObserved() throws IOException {
        try (Forked process = holding(); Forked top = Forked.start("top", pid(process), "-i", "1")) {
            top.awaitOutput("Endpoint RDM");
            process.process().getOutputStream().write('\n');
            process.process().getOutputStream().flush();
            process.awaitOutput("closed");
            top.awaitOutput("no domain is open");
            Run.of("top", pid(process)).failed(1, "JVM " + pid(process) + " shows nothing of ofi4j", "no open fabric");
        }
    }

    @Tag("once")
    @Test
    void itEndsWithItsReader() {
        try (Forked process = holding();
                Forked top = Forked.Launch.USUAL.behind("sh", "-c", "exec \"$0\" \"$@\" | true").start("top",
                        pid(process))) {
            assertThat(top.await().err()).isEmpty();
        }
    }

    @Tag("once")
    @Test
    void asManyTablesAsAskedForArePrinted() {
        try (Forked process = holding()) {
            Run run = Run.of("top", pid(process), "-n", "2").succeeded();
            assertThat(run.lines().stream().filter(line -> line.startsWith("JVM "))).hasSize(2);
        }
    }

    @Tag("once")
    @Test
    void jvmsThatHaveLoadedLibfabricAreListed() {
        try (Forked process = holding(); Forked other = Forked.Launch.USUAL.main(WithoutFabric.class).start()) {
            other.awaitOutput("waiting");
            assertThat(Run.of("top").succeeded().lines())
                    .anySatisfy(line -> assertThat(line.strip()).startsWith(pid(process) + "  ").contains("Holding"))
                    .noneSatisfy(line -> assertThat(line.strip()).startsWith(pid(other) + " "));
            assertThat(JsonParser.parseString(Run.of("top", "--json").succeeded().out()).getAsJsonArray()).anySatisfy(
                    jvm -> assertThat(jvm.getAsJsonObject().get("pid").getAsString()).isEqualTo(pid(process)));
        }
    }

    @Tag("once")
    @Test
    void aJvmThatShowsNothingIsSaid() {
        try (Forked off = holding("-Dio.ofi4j.jmx=");
                Forked other = Forked.Launch.USUAL.main(WithoutFabric.class).start()) {
            other.awaitOutput("waiting");
            Run.of("top", pid(off)).failed(1, "JVM " + pid(off) + " shows nothing of ofi4j", "-Dio.ofi4j.jmx=true");
            Run.of("top", pid(other), "--json").failed(1, "JVM " + pid(other) + " shows nothing of ofi4j");
        }
    }

    @Tag("once")
    @Test
    void aProcessThatIsNoJvmIsSaid() throws Exception {
        Process sleeping = new ProcessBuilder("sleep", "300").start();
        try {
            Run.of("top", Long.toString(sleeping.pid())).failed(1, "Process " + sleeping.pid());
        } finally {
            sleeping.destroy();
            sleeping.waitFor();
        }
        Run.of("top", Long.toString(sleeping.pid())).failed(1, "There is no process " + sleeping.pid());
    }

    @Test
    @Tag("gate")
    @Tag("once")
    void aStoppedJvmDoesNotHoldTheCommand() throws Exception {
        try (Forked process = holding()) {
            json(process);
            signal(process, "STOP");
            try {
                Run.of("top", pid(process)).failed(1, pid(process), "stopped");
            } finally {
                signal(process, "CONT");
            }
        }
    }

    private static void signal(Forked process, String signal) throws Exception {
        assertThat(new ProcessBuilder("kill", "-" + signal, pid(process)).start().waitFor()).isZero();
    }
}
