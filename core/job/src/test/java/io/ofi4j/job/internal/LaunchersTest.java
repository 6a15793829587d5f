package io.ofi4j.job.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetSocketAddress;
import java.time.Duration;
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

    private static JobEngine find(Map<String, String> environment) {
        return Launchers.find(environment, Deadline.in(Duration.ofSeconds(1)), meeting -> {
            throw new AssertionError("it joined " + meeting);
        });
    }

    @Test
    void whatAPersonHasSetCounts() {
        Meeting[] found = new Meeting[1];
        Launchers.find(EXPLICIT, Deadline.in(Duration.ofSeconds(1)), meeting -> {
            found[0] = meeting;
            return null;
        });

        assertThat(found[0]).isEqualTo(new Meeting("OFI4J_RENDEZVOUS=127.0.0.1:7471", 1, 4,
                new InetSocketAddress("127.0.0.1", 7471), "0123456789abcdef"));
    }

    @Test
    void nothingSetIsAJobOfOne() {
        JobEngine launcher = find(Map.of("SLURM_NTASKS", "1", "HOME", "/root"));

        assertThat(launcher.rank()).isZero();
        assertThat(launcher.size()).isEqualTo(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"SLURM_NTASKS", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "FLUX_JOB_SIZE"})
    void aCountAboveOneIsNeverIgnored(String name) {
        assertThatThrownBy(() -> find(Map.of(name, "2"))).isInstanceOf(LauncherException.class)
                .hasMessageStartingWith(name + " says that there are 2").hasMessageContaining("OFI4J_SIZE=1");
    }

    @Test
    void aLauncherInsideOfAnotherIsSaid() {
        assertThatThrownBy(() -> find(
                Map.of("PMIX_NAMESPACE", "job", "PMIX_RANK", "0", "PMI_FD", "7", "PMI_RANK", "2", "PMI_SIZE", "3")))
                .isInstanceOf(LauncherException.class).hasMessageContaining("PMIX_NAMESPACE")
                .hasMessageContaining("PMI_FD");
    }

    @ParameterizedTest
    @CsvSource({"OFI4J_RANK, 4, must be below", "OFI4J_RANK, x, must be a number", "OFI4J_SIZE, -1, must be a number",
            "OFI4J_RANK, , OFI4J_RANK is not set", "OFI4J_SIZE, , OFI4J_SIZE is not set",
            "OFI4J_SECRET, , OFI4J_SECRET is not set", "OFI4J_RENDEZVOUS, , OFI4J_RENDEZVOUS is not set",
            "OFI4J_RENDEZVOUS, host, must be the host", "OFI4J_RENDEZVOUS, host:70000, must be the host",
            "OFI4J_RENDEZVOUS, nowhere.invalid:1, is not known"})
    void whatIsIncompleteOrWrongIsSaid(String name, String value, String said) {
        assertThatThrownBy(() -> find(but(name, value))).isInstanceOf(LauncherException.class)
                .hasMessageContaining(said);
    }
}
