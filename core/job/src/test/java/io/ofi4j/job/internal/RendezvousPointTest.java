package io.ofi4j.job.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.ofi4j.support.Forked;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Which addresses rank 0 announces, on a machine with bridges of containers beside its network. */
class RendezvousPointTest {
    private static final String SECRET = "s".repeat(32);

    /** Four bridges, two made before the network and two after it. */
    private static final String NETWORKS = """
            set -e
            ip link set lo up
            for bridge in 1 2; do ip link add bridge$bridge type bridge; done
            ip link add network type veth peer name cable
            for bridge in 3 4; do ip link add bridge$bridge type bridge; done
            for bridge in 1 2 3 4; do
              ip address add 172.17.$bridge.1/24 dev bridge$bridge; ip link set bridge$bridge up
            done
            ip address add 198.18.0.7/24 dev network; ip link set network up; ip link set cable up
            until ip link show network | grep -q 'state UP'; do sleep 0.1; done
            ip route add default via 198.18.0.1 dev network
            exec "$@"
            """;

    private static void requireNamespaces() throws IOException, InterruptedException {
        Process process = new ProcessBuilder("unshare", "-n", "ip", "link", "add", "bridge1", "type", "bridge")
                .redirectErrorStream(true).redirectOutput(ProcessBuilder.Redirect.DISCARD).start();
        assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
        assumeTrue(process.exitValue() == 0, "it takes root, bridges and ip (package iproute2)");
    }

    @Test
    @Tag("gate")
    void theInterfaceOfTheDefaultRouteComesFirstThenOlderBeforeNewer() throws Exception {
        requireNamespaces();
        Forked.Result result = Forked
                .startBehind(List.of("unshare", "-n", "sh", "-c", NETWORKS, "sh"), PrintsItsLine.class).await();

        assertThat(result.exit()).as(result.output()).isZero();
        assertThat(result.output())
                .contains(SECRET + ";name;7471;198.18.0.7,172.17.1.1,172.17.2.1,172.17.3.1,172.17.4.1\n");
    }

    /** What rank 0 gives a launcher. */
    static final class PrintsItsLine {
        private PrintsItsLine() {}

        public static void main(String[] arguments) {
            System.out.println(RendezvousPoint.line(SECRET, "name", new InetSocketAddress(7471)));
        }
    }

    @Test
    void anAddressThatWasChosenIsTheOnlyOne() {
        String line = RendezvousPoint.line(SECRET, "name",
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 7471));

        assertThat(line).isEqualTo(SECRET + ";name;7471;127.0.0.1");
        assertThat(RendezvousPoint.of(line, "another").addresses()).hasSize(1);
    }

    @Test
    void rankZeroWithoutANetworkIsNamed() {
        String line = SECRET + ";name;7471;";

        assertThat(RendezvousPoint.of(line, "name").addresses()).hasSize(1); // the loopback interface
        assertThatThrownBy(() -> RendezvousPoint.of(line, "another")).isInstanceOf(LauncherException.class)
                .hasMessageContaining("rank 0 on name has no address that other hosts can reach");
    }

    @Test
    void theLineIsShortEnoughForEveryLauncher() {
        String host = "h".repeat(150);

        assertThat(RendezvousPoint.line(SECRET, host, new InetSocketAddress(7471))).hasSizeLessThanOrEqualTo(220)
                .startsWith(SECRET + ";" + host + ";7471;");
    }
}
