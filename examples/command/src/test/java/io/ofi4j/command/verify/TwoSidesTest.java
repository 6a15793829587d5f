package io.ofi4j.command.verify;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.ofi4j.command.Forked;
import io.ofi4j.command.Interrupt;
import io.ofi4j.command.Run;
import io.ofi4j.command.control.FrameType;
import io.ofi4j.command.control.PayloadWriter;
import io.ofi4j.command.control.RawFrames;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** {@code ofi4j verify --server} and {@code ofi4j verify HOST}. */
@Timeout(600)
class TwoSidesTest {
    private static final String PROVIDER = "tcp;ofi_rxm";
    private static final long BEAT_NANOS = 100_000_000;
    private static final String ALONE = "on this machine alone";

    private static Run client(Forked server, String... more) {
        return Run.of(VerifyTest.append(List.of("verify", "127.0.0.1", "-P", server.port()), more));
    }

    private static List<JsonObject> rows(Path json) throws IOException {
        JsonObject report = JsonParser.parseString(Files.readString(json)).getAsJsonObject();
        return StreamSupport.stream(report.getAsJsonArray("results").spliterator(), false)
                .map(row -> row.getAsJsonObject()).toList();
    }

    private static String text(JsonObject row) { return row.has("text") ? row.get("text").getAsString() : ""; }

    @Tag("once")
    @Test
    void theFarHalvesRunAtTheServer(@TempDir Path folder) throws Exception {
        Path json = folder.resolve("report.json");
        try (Forked server = Forked.server("verify", "-p", PROVIDER)) {
            Run client = client(server, "-p", PROVIDER, "--only", "rules of peers", "--only", "fi_eq(3)", "--json",
                    json.toString());

            assertThat(client.exitCode()).as(client.out() + client.err()).isZero();
            assertThat(rows(json)).filteredOn(row -> row.get("page").getAsString().equals("rules of peers")).hasSize(5)
                    .noneMatch(row -> text(row).contains(ALONE));
            assertThat(rows(json)).filteredOn(row -> row.get("page").getAsString().equals("fi_eq(3)")).isNotEmpty()
                    .allMatch(row -> text(row).startsWith(ALONE));
            Run served = server.await().succeeded();
            assertThat(served.lines().getLast()).startsWith("nothing is wrong: ").isEqualTo(client.lines().getLast());
        }
    }

    @Tag("gate")
    @Tag("once")
    @Test
    void everyRuleIsTriedBetweenTheSides() { requireNothingWrong("tcp;ofi_rxm", "RDM"); }

    @Tag("long") // over sockets a trial may take longer than its deadline
    @ParameterizedTest
    @CsvSource({"shm, RDM", "sockets, RDM", "udp;ofi_rxd, RDM", "tcp, MSG"})
    void everyRuleIsTriedBetweenTheSidesOverOtherProviders(String provider, String type) {
        requireNothingWrong(provider, type);
    }

    private static void requireNothingWrong(String provider, String type) {
        try (Forked server = Forked.server("verify", "-p", provider, "-e", type)) {
            Run client = client(server, "-p", provider, "-e", type, "--only", "rules of fi_cq(3)", "--only",
                    "rules of fi_msg(3)", "--only", "rules of fi_rma(3)", "--only", "rules of fi_atomic(3)", "--only",
                    "rules of peers");

            assertThat(client.exitCode()).as(client.out() + client.err()).isZero();
            server.await().succeeded();
        }
    }

    /** Over shm without quirks, which ends processes in some versions, and is wrong in all. */
    @Tag("gate")
    @Test
    void bothSidesSayWhatIsWrong() {
        try (Forked server = Forked.server("verify", "-p", "shm")) {
            Run client = client(server, "-p", "shm", "--without-quirks", "--only", "fi_atomic(3)", "--deadline", "3");

            assertThat(client.exitCode()).as(client.out() + client.err()).isEqualTo(1);
            Run served = server.await();
            assertThat(served.exitCode()).as(served.out() + served.err()).isEqualTo(1);
            assertThat(served.lines().getLast()).startsWith("something is wrong: ");
            assertThat(served.out()).contains("fi_atomicmsg, REMOTE_CQ_DATA");
        }
    }

    @Tag("once")
    @Test
    void anotherProviderIsRefusedByName() {
        try (Forked server = Forked.server("verify", "-p", PROVIDER)) {
            client(server, "-p", "sockets").failed(2, "refuses: the client uses provider sockets RDM, the server "
                    + "tcp;ofi_rxm RDM: give both the same provider (-p) and endpoints (-e).");

            server.await().failed(2, "was refused: the client uses provider sockets RDM");
        }
    }

    @Tag("once")
    @Test
    void aServerThatMeasuresIsNoneThatVerifies() {
        try (Forked server = Forked.server("perf", "write", "-p", PROVIDER)) {
            client(server, "-p", PROVIDER).failed(2, "this server measures: start 'ofi4j verify --server' here");
        }
        try (Forked server = Forked.server("verify", "-p", PROVIDER)) {
            Run.of("perf", "write", "-p", PROVIDER, "127.0.0.1", "-P", server.port()).failed(1,
                    "this server verifies: start 'ofi4j perf' with --server here");
        }
    }

    @Tag("once")
    @Test
    void aServerThatIsNotThereIsNamedAfterTheDeadline() {
        Run.of("verify", "-p", PROVIDER, "127.0.0.1", "-P", "1", "--timeout", "1").failed(2, "127.0.0.1:1 ", "1 s",
                "--server");
    }

    @Tag("once")
    @Test
    void aClientThatDoesNotComeIsWaitedForSoLong() {
        Run run = Run.of("verify", "-p", PROVIDER, "--server", "-B", "0", "--timeout", "1");

        assertThat(run.exitCode()).isEqualTo(2);
        assertThat(run.err()).contains("No client came to 127.0.0.1:", " within 1 s", "--timeout");
    }

    @Tag("once")
    @Test
    void aPortThatIsTakenIsNamed() throws IOException {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            String port = String.valueOf(taken.getLocalPort());

            Run.of("verify", "-p", PROVIDER, "--server", "-B", port).failed(2, "Port " + port, "in use", "-B");
        }
    }

    @Tag("gate")
    @Tag("once")
    @Test
    void aServerThatEndsIsSaidBehindTheRowsSoFar() {
        try (Forked server = Forked.server("verify", "-p", PROVIDER);
                Forked client = Forked.start("verify", "-p", PROVIDER, "127.0.0.1", "-P", server.port(), "-v", "--only",
                        "rules of fi_cq(3)", "--only", "rules of fi_msg(3)")) {
            client.awaitOutput("rules of fi_cq(3) ");
            server.process().destroyForcibly();
            Run run = client.await();

            assertThat(run.exitCode()).as(run.out() + run.err()).isEqualTo(2);
            assertThat(run.err()).contains("The server at 127.0.0.1:", " closed the connection.");
            assertThat(run.lines().getLast()).startsWith("interrupted after ");
        }
    }

    @Tag("gate")
    @Tag("once")
    @Test
    void anInterruptEndsBothSides() {
        try (Forked server = Forked.server("verify", "-p", PROVIDER);
                Forked client = Forked.Launch.INTERRUPTIBLE.start("verify", "-p", PROVIDER, "127.0.0.1", "-P",
                        server.port(), "-v", "--only", "rules of fi_cq(3)", "--only", "rules of fi_msg(3)")) {
            client.awaitOutput("rules of fi_cq(3) ");
            client.interrupt();

            Run run = client.await();
            assertThat(run.exitCode()).as(run.err()).isEqualTo(Interrupt.EXIT_CODE);
            Run served = server.await();
            assertThat(served.exitCode()).as(served.out() + served.err()).isEqualTo(Interrupt.EXIT_CODE);
            assertThat(served.lines().getLast()).startsWith("interrupted after ");
        }
    }

    @Tag("gate")
    @Tag("once")
    @Test
    void anInterruptOfTheServerEndsBothSides() {
        try (Forked server = Forked.Launch.INTERRUPTIBLE.server("verify", "-p", PROVIDER);
                Forked client = Forked.start("verify", "-p", PROVIDER, "127.0.0.1", "-P", server.port(), "-v", "--only",
                        "rules of fi_cq(3)", "--only", "rules of fi_msg(3)")) {
            client.awaitOutput("rules of fi_cq(3) ");
            server.interrupt();

            Run served = server.await();
            assertThat(served.exitCode()).as(served.err()).isEqualTo(Interrupt.EXIT_CODE);
            assertThat(served.out()).contains("serving the client at ");
            Run run = client.await();
            assertThat(run.exitCode()).as(run.out() + run.err()).isEqualTo(2);
            assertThat(run.err().lines()).singleElement().asString().contains("The server at 127.0.0.1:")
                    .endsWith(" was ended by Ctrl-C.");
            assertThat(run.lines().getLast()).startsWith("interrupted after ");
        }
    }

    /** It says for ever that it is there, and not what it wants. */
    @Tag("once")
    @Test
    void anInterruptEndsAServerWhoseClientDoesNotBegin() throws IOException {
        try (Forked server = Forked.Launch.INTERRUPTIBLE.server("verify", "-p", PROVIDER);
                Socket client = new Socket(InetAddress.getLoopbackAddress(), Integer.parseInt(server.port()))) {
            Thread.ofPlatform().daemon().start(() -> beat(client));
            server.interrupt();

            Run served = server.await();
            assertThat(served.exitCode()).as(served.err()).isEqualTo(Interrupt.EXIT_CODE);
        }
    }

    /** Until the server has gone. */
    private static void beat(Socket client) {
        try {
            while (true) {
                client.getOutputStream().write(RawFrames.of(FrameType.ALIVE, new PayloadWriter()));
                LockSupport.parkNanos(BEAT_NANOS);
            }
        } catch (IOException e) {
            return;
        }
    }

    @Tag("once")
    @Test
    void anInterruptEndsAServerThatNobodyCameTo() {
        try (Forked server = Forked.Launch.INTERRUPTIBLE.server("verify", "-p", PROVIDER)) {
            server.interrupt();

            Run served = server.await();
            assertThat(served.exitCode()).as(served.err()).isEqualTo(Interrupt.EXIT_CODE);
        }
    }
}
