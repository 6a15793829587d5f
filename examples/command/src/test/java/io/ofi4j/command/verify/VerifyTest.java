package io.ofi4j.command.verify;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.ofi4j.Libfabric;
import io.ofi4j.command.Forked;
import io.ofi4j.command.Interrupt;
import io.ofi4j.command.Patience;
import io.ofi4j.command.Run;
import io.ofi4j.conformance.Subject;
import io.ofi4j.info.EndpointType;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(600)
class VerifyTest {
    private static final long NAP_NANOS = 1_000_000;
    private static final String DATAGRAMS = "udp";
    private static final Duration LIMIT = Patience.seconds(100);

    private static List<JsonObject> rows(JsonObject report) {
        return StreamSupport.stream(report.getAsJsonArray("results").spliterator(), false)
                .map(row -> row.getAsJsonObject()).toList();
    }

    @ParameterizedTest
    @ValueSource(strings = {"shm", "tcp;ofi_rxm"})
    void aProviderThatIsRightIsSaidToBe(String provider, @TempDir Path folder) throws Exception {
        Path json = folder.resolve("report.json");

        Run run = Run.of("verify", "-p", provider, "--only", "fi_rma(3)", "--only", "rules of fi_cq(3)", "--json",
                json.toString());

        assertThat(run.exitCode()).as(run.out() + run.err()).isZero();
        assertThat(run.lines().getLast()).startsWith("nothing is wrong: ");
        JsonObject report = JsonParser.parseString(Files.readString(json)).getAsJsonObject();
        assertThat(report.get("wrong").getAsBoolean()).isFalse();
        assertThat(rows(report)).hasSize(14)
                .allSatisfy(row -> assertThat(row.get("outcome").getAsString()).isIn("WORKS", "KNOWN"));
    }

    @Test
    void aReportHasNoNamesUnlessTheyAreAskedFor(@TempDir Path folder) throws Exception {
        String host = Files.readString(Path.of("/proc/sys/kernel/hostname")).strip();
        Path without = folder.resolve("without.md");
        Path with = folder.resolve("with.md");
        List<String> line = List.of("verify", "-p", "tcp;ofi_rxm", "--only", "fi_eq(3)", "--report");
        Run.of(append(line, without.toString()));
        Run.of(append(line, with.toString(), "--with-names"));

        assertThat(Files.readString(without)).contains("| libfabric | " + Libfabric.load().version(), "## fi_eq(3)")
                .doesNotContain("| host |", "| user |", "| address |", "| library |");
        assertThat(Files.readString(with)).contains("| host | " + host, "| user | " + System.getProperty("user.name"),
                "| address | ");
    }

    static String[] append(List<String> line, String... more) {
        return Stream.concat(line.stream(), Stream.of(more)).toArray(String[]::new);
    }

    @Tag("gate")
    @Test
    void noRoomInSharedMemoryIsSaidBeforeAnythingIsTried() throws Exception {
        Process namespace = new ProcessBuilder("unshare", "-m", "true").start();
        assumeTrue(namespace.waitFor() == 0, "a /dev/shm of its own needs root");
        Forked.Launch small = Forked.Launch.USUAL.behind("unshare", "-m", "sh", "-c",
                "mount -t tmpfs -o size=1m tmpfs /dev/shm && exec \"$0\" \"$@\"");
        try (Forked verify = small.start("verify", "-p", "shm")) {
            verify.await().failed(2, "room in /dev/shm"); // from 2.0 on the provider itself is not there
        }
    }

    @Tag("gate")
    @Tag("once")
    @Test
    void interruptEndsItWithTheLinesSoFar() {
        try (Forked verify = Forked.Launch.INTERRUPTIBLE.start("verify", "-p", "shm", "-v")) {
            verify.awaitOutput("9 work");
            verify.interrupt();
            Run run = verify.await(100);

            assertThat(run.exitCode()).as(run.err()).isEqualTo(Interrupt.EXIT_CODE);
            assertThat(run.lines()).anyMatch(text -> text.startsWith("interrupted after "))
                    .noneMatch(text -> text.contains("ended the process"));
        }
    }

    @Test
    void whereNothingIsTriedNothingIsSaidToBeRight() {
        Run run = Run.of("verify", "-p", DATAGRAMS, "-e", "DGRAM", "--only", "rules of peers", "--only", "performance");

        assertThat(run.exitCode()).as(run.out()).isEqualTo(2);
        assertThat(run.out()).contains("datagrams are not measured").doesNotContain("nothing is wrong");
        assertThat(run.err().lines()).singleElement().asString().startsWith("ofi4j: Nothing was tried: ");
    }

    /** A process of trials that has an endpoint, which is a file. */
    private static ProcessHandle child(Forked verify) {
        long end = System.nanoTime() + LIMIT.toNanos();
        while (true) {
            Optional<ProcessHandle> child = verify.process().children().filter(one -> !files(one).isEmpty())
                    .findFirst();
            if (child.isPresent()) { return child.get(); }
            assertThat(System.nanoTime()).as(verify.output()).isLessThan(end);
            LockSupport.parkNanos(NAP_NANOS);
        }
    }

    private static List<Path> files(ProcessHandle process) {
        try (Stream<Path> files = Files.list(Path.of("/dev/shm"))) {
            return files.filter(file -> file.getFileName().toString().startsWith(process.pid() + ":")).toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Tag("gate")
    @Tag("once")
    @Test
    void whoTerminatesItFindsNoFilesOfItsTrials() {
        try (Forked verify = Forked.start("verify", "-p", "shm", "--only", "rules of peers")) {
            ProcessHandle child = child(verify);
            verify.process().destroy();

            assertThat(verify.await().out()).doesNotContain("ended the process");
            assertThat(child.isAlive()).isFalse();
            assertThat(files(child)).isEmpty();
        }
    }

    @Tag("gate")
    @Tag("once")
    @Test
    void itsTrialsEndWhenItIsKilled() {
        try (Forked verify = Forked.start("verify", "-p", "shm", "--only", "rules of peers")) {
            child(verify);
            List<ProcessHandle> children = verify.process().children().toList();
            verify.process().destroyForcibly();

            assertThat(children).isNotEmpty().allSatisfy(child -> assertThat(child.onExit()).succeedsWithin(LIMIT));
        }
    }

    /** Where shm has a fault that a quirk works around. */
    @Tag("gate")
    @Test
    void whatIsWrongIsSaidAndEndsItWithOne() {
        Run run = Run.of("verify", "-p", "shm", "--without-quirks", "--only", "fi_msg(3)", "--only",
                "rules of fi_msg(3)", "--deadline", "3");

        assertThat(run.exitCode()).as(run.out() + run.err()).isEqualTo(1);
        assertThat(run.out()).contains("ended the process: SIGSEGV in ", "something is wrong: ");
    }

    @Tag("gate")
    @Tag("once")
    @Test
    @Tag("nightly")
    void eachOperationIsMeasured() {
        List<Measurements.Measurement> measured = new ArrayList<>();
        List<String> notes = new ArrayList<>();
        Subject subject = new Subject("shm", EndpointType.RDM, Optional.empty(), LIMIT);

        new Measurements(subject, List.of("-I", "100", "-w", "100"), LIMIT, () -> false).run(measured::add, notes::add);

        assertThat(notes).isEmpty();
        assertThat(measured).allSatisfy(one -> assertThat(one.perSecond()).isPositive())
                .extracting(one -> one.operation() + " " + one.size() + " " + one.window()).containsExactly("write 8 1",
                        "write 8 16", "read 8 1", "read 8 16", "inject 8 1", "inject 8 16", "msg 8 1", "msg 8 16",
                        "tagged 8 1", "tagged 8 16", "atomic 8 1", "atomic 8 16", "write 1048576 16",
                        "read 1048576 16");
    }

    @Tag("gate")
    @Tag("once")
    @Test
    void whatIsMeasuredIsInTheReport(@TempDir Path folder) throws Exception {
        Path json = folder.resolve("report.json");

        try (Forked verify = Forked.Launch.INTERRUPTIBLE.start("verify", "-p", "shm", "--only", "performance", "--json",
                json.toString())) {
            verify.awaitOutput("in flight: median"); // the others would be as this one
            verify.interrupt();
            assertThat(verify.await(100).exitCode()).isEqualTo(Interrupt.EXIT_CODE);
        }

        JsonObject report = JsonParser.parseString(Files.readString(json)).getAsJsonObject();
        assertThat(report.getAsJsonArray("measurements")).extracting(one -> one.getAsJsonObject()).first()
                .satisfies(one -> assertThat(one.get("perSecond").getAsDouble()).isPositive())
                .satisfies(one -> assertThat(one.get("operation").getAsString()).isEqualTo("write"));
        JsonObject calls = report.getAsJsonObject("nanosecondsOfCalls");
        assertThat(calls.keySet()).containsExactlyInAnyOrder("bare", "critical", "own", "poll", "read", "criticalRead")
                .allSatisfy(call -> assertThat(calls.get(call).getAsDouble()).isPositive());
    }

    /** One quirk is named that a trial of these pages needs. */
    @Tag("gate")
    @Tag("once")
    @Test
    @Tag("nightly")
    void aQuirkThatATrialNeedsIsSaidToBeNeeded(@TempDir Path folder) throws Exception {
        Path json = folder.resolve("report.json");

        Run.of("verify", "-p", "tcp;ofi_rxm", "--only", "fi_atomic(3)", "--quirks", "--deadline", "3", "--json",
                json.toString());

        JsonObject report = JsonParser.parseString(Files.readString(json)).getAsJsonObject();
        assertThat(report.getAsJsonArray("quirks")).extracting(one -> one.getAsJsonObject())
                .filteredOn(one -> one.get("quirk").getAsString().equals("rxm-atomics")).singleElement()
                .satisfies(one -> assertThat(one.get("state").getAsString()).isEqualTo("needed"))
                .satisfies(one -> assertThat(one.get("text").getAsString()).contains("fi_atomicmsg, INJECT"));
    }
}
