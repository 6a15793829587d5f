package io.ofi4j.job.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetSocketAddress;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What an environment says of how this process was started. */
class LaunchersTest {
    private static final Map<String, String> EXPLICIT = Map.of("OFI4J_RANK", "1", "OFI4J_SIZE", "4", "OFI4J_RENDEZVOUS",
            "127.0.0.1:7471", "OFI4J_SECRET", "0123456789abcdef");

    private static Map<String, String> but(String name, String value) {
        Map<String, String> changed = new HashMap<>(EXPLICIT);
        if (value == null) {
            changed.remove(name);
        } else {
            changed.put(name, value);
        }
        return changed;
    }

    @Test
    void whatAPersonHasSetCounts() {
        Launcher launcher = Launchers.find(EXPLICIT);

        assertThat(launcher.rank()).isEqualTo(1);
        assertThat(launcher.size()).isEqualTo(4);
        assertThat(launcher.listensAt()).isEqualTo(new InetSocketAddress("127.0.0.1", 7471));
    }

    @Test
    void nothingSetIsAJobOfOne() {
        Launcher launcher = Launchers.find(Map.of("SLURM_NTASKS", "1", "HOME", "/root"));

        assertThat(launcher.rank()).isZero();
        assertThat(launcher.size()).isEqualTo(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"SLURM_NTASKS", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "FLUX_JOB_SIZE"})
    void aCountAboveOneIsNeverIgnored(String name) {
        assertThatThrownBy(() -> Launchers.find(Map.of(name, "2"))).isInstanceOf(LauncherException.class)
                .hasMessageStartingWith(name + " says that there are 2").hasMessageContaining("OFI4J_SIZE=1");
    }

    @ParameterizedTest
    @CsvSource({"OFI4J_RANK, 4, must be below", "OFI4J_RANK, x, must be a number", "OFI4J_SIZE, -1, must be a number",
            "OFI4J_RANK, , OFI4J_RANK is not set", "OFI4J_SIZE, , OFI4J_SIZE is not set",
            "OFI4J_SECRET, , OFI4J_SECRET is not set", "OFI4J_RENDEZVOUS, , OFI4J_RENDEZVOUS is not set",
            "OFI4J_RENDEZVOUS, host, must be the host", "OFI4J_RENDEZVOUS, host:70000, must be the host",
            "OFI4J_RENDEZVOUS, nowhere.invalid:1, is not known"})
    void whatIsIncompleteOrWrongIsSaid(String name, String value, String said) {
        assertThatThrownBy(() -> Launchers.find(but(name, value))).isInstanceOf(LauncherException.class)
                .hasMessageContaining(said);
    }

    @Test
    void theLineOfRankZeroFitsEveryLauncherAndIsReadAgain() {
        String line = RendezvousPoint.line("s".repeat(32), "h".repeat(64), new InetSocketAddress(65535));

        assertThat(line).hasSizeLessThan(221);
        assertThat(RendezvousPoint.of(line, "h".repeat(64)).addresses()).first()
                .isEqualTo(new InetSocketAddress("127.0.0.1", 65535));
        assertThat(RendezvousPoint.of(line, "another").addresses())
                .allMatch(one -> !one.getAddress().isLoopbackAddress());
        assertThatThrownBy(() -> RendezvousPoint.of("nonsense", "h")).isInstanceOf(LauncherException.class);
    }
}
