package io.ofi4j.command.perf;

import static org.assertj.core.api.Assertions.assertThat;

import io.ofi4j.command.Forked;
import io.ofi4j.command.Patience;
import io.ofi4j.command.Run;
import java.io.IOException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A server that SIGSTOP holds: the client ends within its time limit, wherever it was. */
@Tag("gate")
class StoppedServerTest {
    /** More of them in {@code scripts/test --long}: where the server is when it stops is chance. */
    private static final int CLIENTS = Integer.getInteger("ofi4j.test.rounds", 1);

    /** Also the time within which the server answers, which takes longer on a busy machine. */
    private static final String LIMIT = Long.toString(Patience.seconds(3).toSeconds());

    @ParameterizedTest
    @ValueSource(strings = {"shm", "tcp", "tcp;ofi_rxm"})
    @Tag("nightly")
    void doesNotDefeatTheTimeLimit(String provider) throws Exception {
        for (int client = 0; client < CLIENTS; client++) {
            try (Forked server = Forked.server("perf", "write", "-p", provider, "-e", typeOf(provider))) {
                stopWhileAClientWrites(server, provider, client);
            }
        }
    }

    /** tcp has no unconnected endpoints of its own before libfabric 2. */
    private static String typeOf(String provider) {
        return provider.equals("tcp") ? "msg" : "rdm";
    }

    private static void stopWhileAClientWrites(Forked server, String provider, int client) throws Exception {
        try (Forked writing = Forked.start("perf", "write", "-p", provider, "-e", typeOf(provider), "127.0.0.1", "-P",
                server.port(), "-S", "8", "-w", "0", "-I", "1000000000", "--timeout", LIMIT)) {
            writing.awaitOutput("ns/op");
            Thread.sleep(100 + 13L * client); // at another place of the server's loop each time
            signal(server, "STOP");
            try {
                Run run = writing.await();
                run.failed(1, "Nothing moved for ");
            } finally {
                signal(server, "CONT");
            }
        }
    }

    private static void signal(Forked server, String signal) throws IOException, InterruptedException {
        String process = Long.toString(server.process().pid());
        assertThat(new ProcessBuilder("kill", "-" + signal, process).start().waitFor()).isZero();
    }

    @Tag("once")
    @Test
    void slowWorkHasTenTimesTheLimit() {
        try (Forked process = Forked.Launch.USUAL.main(NeverReturning.class).start("slow")) {
            process.await().failed(1, "Nothing moved for 13 s", "does not return");
        }
    }

    @Tag("once")
    @Test
    void aStoppedClientDoesNotHoldItsServer() throws Exception {
        whenItsClientIsStopped("tcp;ofi_rxm").failed(1, "The client at 127.0.0.1:", "has said nothing for 6 s");
    }

    /** Over shm the client may hold a lock that the server's next call waits for: where it was is chance. */
    @Test
    void aStoppedClientDoesNotHoldItsServerByALock() throws Exception {
        Run server = whenItsClientIsStopped("shm");

        server.failed(1, "ofi4j: ");
        assertThat(server.err()).containsAnyOf("has said nothing for 6 s",
                "Nothing moved for 9 s, and a call of the provider does not return");
    }

    private static Run whenItsClientIsStopped(String provider) throws Exception {
        try (Forked server = Forked.start("perf", "write", "-p", provider, "--server", "-B", "0", "--timeout", "6")) {
            server.awaitOutput("serving");
            try (Forked client = Forked.start("perf", "write", "-p", provider, "127.0.0.1", "-P", server.port(), "-S",
                    "8", "-w", "0", "-I", "1000000000")) {
                client.awaitOutput("ns/op");
                signal(client, "STOP");
                Run run;
                try {
                    run = server.await();
                } finally {
                    signal(client, "CONT");
                }
                client.await();
                return run;
            }
        }
    }

    /** Also where the JVM cannot come to a safepoint. */
    @Tag("once")
    @ParameterizedTest
    @ValueSource(strings = {"plain", "critical"})
    void aCallThatDoesNotReturnEndsTheCommand(String kind) {
        try (Forked process = Forked.Launch.USUAL.main(NeverReturning.class).start(kind)) {
            process.await().failed(1, "Nothing moved for 4 s", "does not return",
                    "was the server at HOST:1 stopped or killed", "doctor --clean");
        }
    }
}
