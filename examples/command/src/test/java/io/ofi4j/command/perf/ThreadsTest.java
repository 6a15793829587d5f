package io.ofi4j.command.perf;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonObject;
import io.ofi4j.command.Forked;
import io.ofi4j.command.Run;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Several threads of a client, and several clients of a server. */
@Tag("gate")
@Tag("once") // what it is about is the command, not libfabric
class ThreadsTest {
    @ParameterizedTest
    @CsvSource({"shm,write,rdm", "tcp;ofi_rxm,read,rdm", "tcp,write,msg", "sockets,msg,rdm", "udp;ofi_rxd,tagged,rdm",
            "shm,inject,rdm", "shm,atomic,rdm"})
    void everyThreadMeasuresAndVerifies(String provider, String operation, String endpoint) {
        JsonObject one = row("perf", operation, "-p", provider, "-e", endpoint, "-v", "-I", "300", "-w", "10");
        JsonObject three = row("perf", operation, "-p", provider, "-e", endpoint, "-v", "-I", "300", "-w", "10",
                "--threads", "3");

        assertThat(one.get("threads").getAsInt()).isEqualTo(1);
        assertThat(three.get("threads").getAsInt()).isEqualTo(3);
        assertThat(three.get("operations").getAsLong()).isEqualTo(900);
        assertThat(three.get("verifiedOperations").getAsLong())
                .isEqualTo(3 * one.get("verifiedOperations").getAsLong());
        assertThat(three.get("errors").getAsLong()).isZero();
    }

    private static JsonObject row(String... command) {
        String[] all = new String[command.length + (command[1].equals("atomic") ? 1 : 3)];
        System.arraycopy(command, 0, all, 0, command.length);
        all[command.length] = "--json";
        if (!command[1].equals("atomic")) {
            all[command.length + 1] = "-S";
            all[command.length + 2] = "64";
        }
        return EmbeddedTest.requireEveryField(Run.of(all).succeeded().out());
    }

    @ParameterizedTest
    @CsvSource({"shm,write", "tcp;ofi_rxm,msg", "sockets,read"})
    void aServerEndsOnceAllThreadsOfItsClientAreServed(String provider, String operation) {
        try (Forked server = Forked.server("perf", operation, "-p", provider)) {
            Run client = server.client("perf", operation, "-p", provider, "-v", "-S", "8,4k", "-I", "200", "-w", "10",
                    "--threads", "3", "--json").succeeded();

            assertThat(client.lines()).hasSize(2).allSatisfy(line -> {
                JsonObject row = EmbeddedTest.requireEveryField(line);
                assertThat(row.get("operations").getAsLong()).isEqualTo(600);
                assertThat(row.get("errors").getAsLong()).isZero();
            });
            assertThat(server.await().succeeded().out().lines().filter(line -> line.startsWith("served the client")))
                    .hasSize(3);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"shm", "tcp;ofi_rxm"})
    void aServerServesClientsAtTheSameTime(String provider) {
        try (Forked server = Forked.server("perf", "write", "-p", provider, "--keep");
                Forked lasting = Forked.start("perf", "write", "-p", provider, "127.0.0.1", "-P", server.port(), "-S",
                        "8", "-w", "0", "-I", "1000000000")) {
            lasting.awaitOutput("ns/op");
            server.client("perf", "write", "-p", provider, "-S", "8", "-w", "10", "-I", "200", "-v").succeeded();

            assertThat(lasting.process().isAlive()).isTrue();
        }
    }

    @Test
    void oneThreadThatFailsEndsAll() {
        try (Forked server = Forked.server("perf", "write", "-p", "shm");
                Forked client = Forked.start("perf", "write", "-p", "shm", "127.0.0.1", "-P", server.port(), "-S", "8",
                        "-w", "0", "-I", "1000000000", "--threads", "2", "--timeout", "5")) {
            client.awaitOutput("ns/op");
            server.process().destroy();
            Run run = client.await();
            assertThat(run.exitCode()).as(run.err()).isEqualTo(1);
            assertThat(run.err()).startsWith("ofi4j: ").doesNotContain("\tat ");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"0", "65", "two", "-1"})
    void aNumberOfThreadsOutOfRangeIsAnsweredWithTheRange(String count) {
        Run.of("perf", "write", "--threads", count).failed(2, "'" + count + "'", "from 1 to 64");
    }
}
