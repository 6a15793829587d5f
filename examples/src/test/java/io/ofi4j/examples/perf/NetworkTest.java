package io.ofi4j.examples.perf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.ofi4j.examples.AbandonedFilesLock;
import io.ofi4j.examples.Forked;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Machines without a network, and without IPv4. */
@Tag("gate")
@Tag("once") // what it is about is the command, not libfabric
class NetworkTest {
    @RegisterExtension
    static final AbandonedFilesLock LOCK = new AbandonedFilesLock();

    @BeforeEach
    void requireNamespaces() throws IOException, InterruptedException {
        Process process = new ProcessBuilder("unshare", "-n", "true").start();
        assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
        assumeTrue(process.exitValue() == 0, "a network of its own needs root");
    }

    private static Forked.Launch where(String commands) {
        return Forked.Launch.USUAL.behind("unshare", "-n", "sh", "-c", commands + "exec \"$0\" \"$@\"");
    }

    @ParameterizedTest
    @ValueSource(strings = {"perf write -p shm -S 8 -I 10 -w 1", "soak -p shm --duration 1 --no-faults", "doctor"})
    void sharedMemoryNeedsNoNetwork(String command) {
        try (Forked forked = where("").start(command.split(" "))) {
            assertThat(forked.await()).satisfies(run -> assertThat(run.exitCode()).as(run.err()).isZero());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"perf write -p tcp;ofi_rxm -S 8 -I 10 -w 1", "perf read -p sockets -S 8 -I 10 -w 1",
            "soak -p tcp;ofi_rxm --duration 1 --no-faults", "soak -p sockets --duration 1 --no-faults -s ::1"})
    void theDefaultsWorkWithoutIpv4(String command) {
        try (Forked forked = where("ip link set lo up && ip address del 127.0.0.1/8 dev lo && ")
                .start(command.split(" "))) {
            assertThat(forked.await()).satisfies(run -> assertThat(run.exitCode()).as(run.err()).isZero());
        }
    }
}
