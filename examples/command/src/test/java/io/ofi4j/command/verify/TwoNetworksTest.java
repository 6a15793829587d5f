package io.ofi4j.command.verify;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.ofi4j.command.Forked;
import io.ofi4j.command.Patience;
import io.ofi4j.command.Run;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * {@code ofi4j verify} between two network namespaces, as between two machines: nothing reaches the other side but by
 * the address that the command was given. Needs root and {@code ip}.
 */
@Tag("gate")
@Tag("once")
@Timeout(600)
class TwoNetworksTest {
    private static final String PROVIDER = "tcp;ofi_rxm";
    /** In the block that is set aside for trials. */
    private static final String SERVER = "198.18.1.2";
    private static final String CLIENT = "198.18.1.1";
    private static final long NAP_NANOS = 10_000_000;

    /** Two namespaces with a cable between them. */
    private static final class Cable implements AutoCloseable {
        final String here = "ofi4j-verify-a-" + ProcessHandle.current().pid();
        final String there = "ofi4j-verify-b-" + ProcessHandle.current().pid();

        Cable() {
            String refusal = run("ip netns add " + here);
            assumeTrue(refusal.isEmpty(), () -> "network namespaces need root and ip (package iproute2): " + refusal);
            require("ip netns add " + there);
            require("ip -n " + here + " link add cable type veth peer name cable netns " + there);
            up(here, CLIENT);
            up(there, SERVER);
            awaitUp(here);
            awaitUp(there);
        }

        private static void up(String name, String address) {
            require("ip -n " + name + " link set lo up");
            require("ip -n " + name + " addr add " + address + "/24 dev cable");
            require("ip -n " + name + " link set cable up");
        }

        /** The kernel says that a cable is plugged in up to a second later. */
        private static void awaitUp(String name) {
            for (long start = System.nanoTime(); !run("ip -n " + name + " link show cable").contains("state UP");) {
                assertThat(System.nanoTime() - start).as("the cable is up").isLessThan(Patience.seconds(30).toNanos());
                LockSupport.parkNanos(NAP_NANOS);
            }
        }

        Forked.Launch in(String name) { return Forked.Launch.USUAL.behind("ip", "netns", "exec", name); }

        /** {@return what it prints} */
        private static String run(String command) {
            try {
                Process process = new ProcessBuilder(List.of(command.split(" "))).redirectErrorStream(true).start();
                String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
                assertThat(process.waitFor(Patience.seconds(30).toSeconds(), TimeUnit.SECONDS)).isTrue();
                return output;
            } catch (IOException e) {
                return e.getMessage(); // there is no such command
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }

        private static void require(String command) { assertThat(run(command)).as(command).isEmpty(); }

        @Override
        public void close() {
            run("ip netns del " + here);
            run("ip netns del " + there);
        }
    }

    @Test
    void aPeerOfAnotherMachineIsReachedAtItsAddressAlone() {
        try (Cable cable = new Cable();
                Forked server = cable.in(cable.there).server("verify", "-p", PROVIDER, "-s", SERVER);
                Forked client = cable.in(cable.here).start("verify", "-p", PROVIDER, SERVER, "-P", server.port(), "-v",
                        "--only", "rules of peers")) {
            Run run = client.await(200);

            assertThat(run.exitCode()).as(run.out() + run.err()).isZero();
            assertThat(run.out()).contains("rules of peers       5 work").doesNotContain("on this machine alone");
            Run served = server.await().succeeded();
            assertThat(served.out()).contains("serving the client at " + CLIENT);
        }
    }
}
