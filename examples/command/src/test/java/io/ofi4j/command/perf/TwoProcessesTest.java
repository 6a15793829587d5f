package io.ofi4j.command.perf;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.ofi4j.command.Forked;
import io.ofi4j.command.Run;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@Tag("gate")
class TwoProcessesTest {
    /** Files of shared memory that belong to a process: shm names them after its id. */
    private static void requireNothingLeft(Forked... processes) {
        try (Stream<Path> files = Files.list(Path.of("/dev/shm"))) {
            List<String> names = files.map(file -> file.getFileName().toString()).toList();
            for (Forked process : processes) {
                assertThat(names).noneMatch(name -> name.startsWith(process.process().pid() + ":"));
            }
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    @ParameterizedTest
    @CsvSource({"shm,write", "shm,read", "shm,inject", "tcp;ofi_rxm,write", "tcp;ofi_rxm,read", "tcp;ofi_rxm,inject",
            "shm,writedata", "tcp;ofi_rxm,writedata", "shm,msg", "tcp;ofi_rxm,msg", "shm,tagged", "tcp;ofi_rxm,tagged",
            "udp;ofi_rxd,tagged"})
    void everythingArrives(String provider, String operation) {
        try (Forked server = Forked.server("perf", operation, "-p", provider)) {
            Run client = server.client("perf", operation, "-p", provider, "-v", "-S",
                    operation.equals("inject") ? "1,64" : "1,64,65537", "-I", "100", "-w", "10", "-W", "4", "--json")
                    .succeeded();

            assertThat(client.lines()).isNotEmpty().allSatisfy(line -> {
                JsonObject row = EmbeddedTest.requireEveryField(line);
                assertThat(row.get("errors").getAsLong()).isZero();
                assertThat(row.get("verified").getAsBoolean()).isTrue();
                assertThat(row.get("mode").getAsString()).isEqualTo("two processes");
            });
            assertThat(server.await().succeeded().out()).contains("served the client at 127.0.0.1:");
            requireNothingLeft(server);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"shm", "tcp;ofi_rxm", "sockets"})
    void everyAdditionIsMadeOnce(String provider) {
        try (Forked server = Forked.server("perf", "atomic", "-p", provider)) {
            Run client = server
                    .client("perf", "atomic", "-p", provider, "-v", "-I", "100", "-w", "10", "-W", "4", "--json")
                    .succeeded();

            assertThat(EmbeddedTest.requireEveryField(client.out()).get("errors").getAsLong()).isZero();
            server.await().succeeded();
        }
    }

    @ParameterizedTest
    @CsvSource({"shm,msg,rdm", "tcp;ofi_rxm,tagged,rdm", "sockets,tagged,rdm", "tcp,msg,msg", "shm,writedata,rdm",
            "tcp;ofi_rxm,writedata,rdm", "tcp,writedata,msg"})
    void messagesAreAnswered(String provider, String operation, String endpoint) {
        try (Forked server = Forked.server("perf", operation, "-p", provider, "-e", endpoint)) {
            Run client = server.client("perf", operation, "--ping-pong", "-p", provider, "-e", endpoint, "-v", "-S",
                    "8,4k", "-I", "50", "-w", "10", "--json").succeeded();

            assertThat(client.lines()).hasSize(2).allSatisfy(line -> {
                JsonObject row = EmbeddedTest.requireEveryField(line);
                assertThat(row.get("pingPong").getAsBoolean()).isTrue();
                assertThat(row.get("errors").getAsLong()).isZero();
            });
            server.await().succeeded();
        }
    }

    @ParameterizedTest
    @CsvSource({"tcp,write", "tcp,read", "tcp,inject", "sockets,write", "tcp,msg", "sockets,msg"})
    void everythingArrivesOverAConnection(String provider, String operation) {
        try (Forked server = Forked.server("perf", operation, "-p", provider, "-e", "msg", "--keep")) {
            for (int client = 0; client < 2; client++) {
                Run run = server.client("perf", operation, "-p", provider, "-e", "msg", "-v", "-S", "1,64", "-I", "100",
                        "-w", "10", "-W", "4", "--json").succeeded();

                assertThat(run.lines()).hasSize(2).allSatisfy(line -> {
                    JsonObject row = EmbeddedTest.requireEveryField(line);
                    assertThat(row.get("errors").getAsLong()).isZero();
                    assertThat(row.get("endpointType").getAsString()).isEqualTo("MSG");
                });
            }
        }
    }

    @Test
    void theUsualProviderIsTheSameOnEveryLibfabricAndSaid() {
        try (Forked server = Forked.server("perf", "write")) {
            Run client = server.client("perf", "write", "-S", "8", "-I", "10", "-w", "1").succeeded();

            assertThat(client.lines().getFirst()).startsWith("write: provider tcp;ofi_rxm (the default), libfabric ");
            assertThat(server.await().succeeded().out()).contains(": provider tcp;ofi_rxm, ");
        }
    }

    @Test
    @Tag("once")
    void bothDirectionsKeepARateEach() {
        try (Forked server = Forked.server("perf", "tagged", "-p", "shm")) {
            Run client = server.client("perf", "tagged", "-p", "shm", "-S", "8", "-w", "10", "--rate", "1000", "-I",
                    "100", "--threads", "2", "--bidirectional", "--json").succeeded();

            JsonObject row = JsonParser.parseString(client.out()).getAsJsonObject();
            assertThat(row.get("operations").getAsLong()).isEqualTo(2 * 2 * 100);
            assertThat(row.get("fromPostP50Ns").getAsLong()).isPositive();
            server.await().succeeded();
        }
    }

    @Tag("once") // what it is about is the command, not libfabric
    @ParameterizedTest
    @CsvSource(delimiter = '>', textBlock = """
            write -p shm        > write -p tcp;ofi_rxm > uses provider tcp;ofi_rxm, the server shm
            write -p shm        > read -p shm          > measures read, the server write
            write -p tcp -e msg > write -p tcp         > uses provider tcp
            write -p shm -S 8   > write -p shm -S 16   > has sizes 16, the server 8
            """)
    void otherSettingsAreSaid(String atServer, String atClient, String words) {
        try (Forked server = Forked.server(("perf " + atServer).strip().split(" +"))) {
            Run.of(("perf " + atClient.strip() + " 127.0.0.1 -I 10 -P " + server.port()).split(" +")).failed(1,
                    "The server at 127.0.0.1:" + server.port() + " refuses", words.strip());
            server.await().failed(1, "was refused", words.strip());
        }
    }

    @ParameterizedTest
    @CsvSource({"shm", "tcp;ofi_rxm"})
    void clientThatVanishesIsSaid(String provider) {
        try (Forked server = Forked.server("perf", "write", "-p", provider);
                Forked client = Forked.start("perf", "write", "-p", provider, "127.0.0.1", "-P", server.port(), "-S",
                        "8", "-w", "0", "-I", "1000000000")) {
            client.awaitOutput("ns/op");
            client.process().destroy();
            server.await().failed(1, "The client at 127.0.0.1:", "closed the connection before it was done");
            client.await();
            requireNothingLeft(server, client);
        }
    }

    @ParameterizedTest
    @CsvSource({"shm", "tcp;ofi_rxm"})
    void serverThatVanishesIsSaid(String provider) {
        try (Forked server = Forked.server("perf", "write", "-p", provider);
                Forked client = Forked.start("perf", "write", "-p", provider, "127.0.0.1", "-P", server.port(), "-S",
                        "8", "-w", "0", "-I", "1000000000", "--timeout", "5")) {
            client.awaitOutput("ns/op");
            server.process().destroy();
            Run run = client.await();
            assertThat(run.exitCode()).as(run.err()).isEqualTo(1);
            assertThat(run.err()).startsWith("ofi4j: ").doesNotContain("\tat ");
            server.await();
            requireNothingLeft(server, client);
        }
    }

    /** As kill -9 does: the other side hears no word of it. */
    @ParameterizedTest
    @CsvSource({"shm", "tcp;ofi_rxm"})
    void serverThatIsKilledIsNamed(String provider) {
        try (Forked server = Forked.server("perf", "write", "-p", provider);
                Forked client = Forked.start("perf", "write", "-p", provider, "127.0.0.1", "-P", server.port(), "-S",
                        "8", "-w", "0", "-I", "1000000000", "--timeout", "5")) {
            client.awaitOutput("ns/op");
            server.process().destroyForcibly();
            Run run = client.await();
            run.failed(1, "127.0.0.1:" + server.port());
            assertThat(run.err()).doesNotContain("errno -", "token -1");
        }
    }

    @Test
    @Tag("once")
    void withJsonAServersWordsAreOnStderr() {
        try (Forked server = Forked.start("perf", "write", "-p", "shm", "--server", "-B", "0", "--json")) {
            String port = server.awaitError("serving .* at \\S+:(\\d+): ");
            Run.of("perf", "write", "-p", "shm", "127.0.0.1", "-P", port, "-S", "8", "-I", "10", "-w", "1").succeeded();
            Run run = server.await();

            assertThat(run.exitCode()).isZero();
            assertThat(run.out()).isEmpty();
            assertThat(run.err()).contains("served the client at 127.0.0.1:");
        }
    }

    @Test
    @Tag("once")
    void serverCanServeSeveral() {
        try (Forked server = Forked.server("perf", "write", "-p", "shm", "--keep")) {
            for (int client = 0; client < 3; client++) {
                server.client("perf", "write", "-p", "shm", "-S", "8", "-I", "10", "-w", "1").succeeded();
            }
            assertThat(server.process().isAlive()).isTrue();
        }
    }
}
