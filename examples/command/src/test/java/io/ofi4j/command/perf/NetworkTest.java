package io.ofi4j.command.perf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.ofi4j.command.AbandonedFilesLock;
import io.ofi4j.command.Forked;
import io.ofi4j.command.Patience;
import io.ofi4j.command.Run;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Machines without a network, and without IPv4. */
@Tag("gate")
@Tag("once") // what it is about is the command, not libfabric
class NetworkTest {
    private static final String NO_IPV4 = "ip link set lo up && ip address del 127.0.0.1/8 dev lo && ";

    @RegisterExtension
    static final AbandonedFilesLock LOCK = new AbandonedFilesLock();

    @BeforeEach
    void requireNamespaces() throws IOException, InterruptedException {
        Process process = new ProcessBuilder("unshare", "-n", "true").start();
        assertThat(process.waitFor(Patience.seconds(30).toSeconds(), TimeUnit.SECONDS)).isTrue();
        assumeTrue(process.exitValue() == 0, "a network of its own needs root");
    }

    private static Forked.Launch where(String commands) {
        return Forked.Launch.USUAL.behind("unshare", "-n", "sh", "-c", commands + "exec \"$0\" \"$@\"");
    }

    @ParameterizedTest
    @ValueSource(strings = {"perf write -p shm -S 8 -I 10 -w 1", "doctor"})
    void sharedMemoryNeedsNoNetwork(String command) {
        try (Forked forked = where("").start(command.split(" "))) {
            assertThat(forked.await()).satisfies(run -> assertThat(run.exitCode()).as(run.err()).isZero());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"perf write -p tcp;ofi_rxm -S 8 -I 10 -w 1", "perf read -p sockets -S 8 -I 10 -w 1"})
    void theDefaultsWorkWithoutIpv4(String command) {
        try (Forked forked = where(NO_IPV4).start(command.split(" "))) {
            assertThat(forked.await()).satisfies(run -> assertThat(run.exitCode()).as(run.err()).isZero());
        }
    }

    /** In so short a time memory may grow for other reasons, which is the only failure that is excused. */
    @ParameterizedTest
    @CsvSource({"'', -p shm", NO_IPV4 + ", -p tcp;ofi_rxm", NO_IPV4 + ", -p sockets -s ::1"})
    void soaksRunThere(String commands, String options) {
        try (Forked forked = where(commands).start(("soak --duration 1 --no-faults --json " + options).split(" "))) {
            Run run = forked.await();
            assertThat(run.out()).as(run.err()).startsWith("{");
            JsonObject json = JsonParser.parseString(run.out()).getAsJsonObject();
            assertThat(json.get("operations").getAsLong()).isPositive();
            assertThat(json.get("mismatches").getAsLong()).isZero();
            if (run.exitCode() != 0) { assertThat(run.err()).contains(" process grew: "); }
        }
    }
}
