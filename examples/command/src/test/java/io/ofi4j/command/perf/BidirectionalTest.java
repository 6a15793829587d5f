package io.ofi4j.command.perf;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonObject;
import io.ofi4j.command.Forked;
import io.ofi4j.command.Run;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The server measures the other direction at the same time. */
@Tag("gate")
@Tag("once") // what it is about is the command, not libfabric
class BidirectionalTest {
    @ParameterizedTest
    @CsvSource({"shm,write,rdm", "tcp;ofi_rxm,read,rdm", "tcp,write,msg", "sockets,msg,msg", "udp;ofi_rxd,tagged,rdm",
            "shm,inject,rdm", "shm,writedata,rdm", "tcp;ofi_rxm,msg,rdm"})
    void bothDirectionsAreMeasuredAndVerified(String provider, String operation, String endpoint) {
        try (Forked server = Forked.server("perf", operation, "-p", provider, "-e", endpoint)) {
            Run client = server.client("perf", operation, "-p", provider, "-e", endpoint, "-v", "-S", "1,64", "-I",
                    "200", "-w", "10", "-W", "4", "--bidirectional", "--json").succeeded();

            assertThat(client.lines()).hasSize(2).allSatisfy(line -> {
                JsonObject row = EmbeddedTest.requireEveryField(line);
                assertThat(row.get("bidirectional").getAsBoolean()).isTrue();
                assertThat(row.get("operations").getAsLong()).isEqualTo(400);
                assertThat(row.get("verifiedOperations").getAsLong()).isPositive().isEven();
                assertThat(row.get("errors").getAsLong()).isZero();
            });
            assertThat(server.await().succeeded().out().lines().filter(line -> line.startsWith("served the client")))
                    .hasSize(2);
        }
    }

    @ParameterizedTest
    @CsvSource({"shm,atomic", "tcp;ofi_rxm,atomic"})
    void additionsGoBothWays(String provider, String operation) {
        try (Forked server = Forked.server("perf", operation, "-p", provider)) {
            Run client = server.client("perf", operation, "-p", provider, "-v", "-I", "200", "-w", "10",
                    "--bidirectional", "--threads", "2", "--json").succeeded();

            assertThat(EmbeddedTest.requireEveryField(client.out()).get("operations").getAsLong()).isEqualTo(800);
            server.await().succeeded();
        }
    }

    @Test
    void answersOfBothDirectionsDoNotMeet() {
        try (Forked server = Forked.server("perf", "tagged", "-p", "tcp;ofi_rxm")) {
            Run.of("perf", "tagged", "--ping-pong", "-p", "tcp;ofi_rxm", "127.0.0.1", "-P", server.port(), "-v", "-S",
                    "8,4k", "-I", "200", "-w", "10", "--bidirectional").succeeded();
            server.await().succeeded();
        }
    }

    @Test
    void ctrlCEndsBothDirectionsWithWhatWasMeasured() {
        try (Forked server = Forked.server("perf", "write", "-p", "shm", "--keep");
                Forked client = Forked.Launch.INTERRUPTIBLE.start("perf", "write", "-p", "shm", "127.0.0.1", "-P",
                        server.port(), "-S", "8", "-w", "10", "-D", "3600", "--bidirectional")) {
            client.awaitOutput("ns/op");
            client.awaitWork(Duration.ofMillis(500)); // it measures by then; a row comes in any case
            client.interrupt();
            Run run = client.await();

            assertThat(run.exitCode()).as(run.err()).isEqualTo(130);
            assertThat(run.lines().getLast().strip().split(" +")).as(run.out()).hasSizeGreaterThan(5).startsWith("8");
            assertThat(server.process().isAlive()).isTrue();
        }
    }

    @Test
    void aServerThatVanishesIsSaid() {
        try (Forked server = Forked.server("perf", "write", "-p", "tcp;ofi_rxm");
                Forked client = Forked.start("perf", "write", "-p", "tcp;ofi_rxm", "127.0.0.1", "-P", server.port(),
                        "-S", "8", "-w", "0", "-I", "1000000000", "--bidirectional", "--timeout", "5")) {
            client.awaitOutput("ns/op");
            server.process().destroy();
            Run run = client.await();
            assertThat(run.exitCode()).as(run.err()).isEqualTo(1);
            assertThat(run.err()).startsWith("ofi4j: ").doesNotContain("\tat ");
        }
    }

    @Test
    void oneProcessHasNoTwoDirections() {
        Run.of("perf", "write", "--bidirectional").failed(2, "--bidirectional goes with HOST");
    }
}
