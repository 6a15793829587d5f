package io.ofi4j;

import static org.assertj.core.api.Assertions.assertThat;

import io.ofi4j.info.Version;
import io.ofi4j.support.Forked;
import io.ofi4j.support.Pair;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Environment variables whose values a C program does not survive either, or with which it waits for ever. Each test
 * has a JVM of its own, because libfabric reads its environment once.
 */
@Tag("gate")
@Tag("nightly")
class VariableLimitsTest {
    private static final String[] OF_ALL_VERSIONS = {"shm,FI_UNIVERSE_SIZE=9223372036854775808",
            "tcp;ofi_rxm,FI_UNIVERSE_SIZE=9223372036854775807", "shm,FI_SHM_TX_SIZE=0", "shm,FI_SHM_TX_SIZE=-1",
            "shm,FI_SHM_TX_SIZE=0x7fffffffffffffff", "shm,FI_SHM_RX_SIZE=0", "shm,FI_SHM_RX_SIZE=-1",
            "shm,FI_SHM_RX_SIZE=many", "tcp;ofi_rxm,FI_OFI_RXM_RX_SIZE=-1",
            "tcp;ofi_rxm,FI_OFI_RXM_CM_PROGRESS_INTERVAL=2147483647", "udp;ofi_rxd,FI_OFI_RXD_SPIN_COUNT=-1",
            "udp;ofi_rxd,FI_OFI_RXD_MAX_UNACKED=0", "sockets,FI_SOCKETS_DEF_CONN_MAP_SZ=0",
            "sockets,FI_SOCKETS_DEF_CONN_MAP_SZ=-1"};

    static Stream<Arguments> valuesThatStop() {
        boolean isOne = Libfabric.load().version().compareTo(new Version(2, 0)) < 0;
        return Stream.concat(of(OF_ALL_VERSIONS), isOne
                ? of("sockets,FI_SOCKETS_DEF_AV_SZ=0", "tcp;ofi_rxm,FI_OFI_RXM_EAGER_LIMIT=-1")
                : of("tcp,FI_TCP_MAX_INJECT=-1", "tcp,FI_TCP_MAX_RX_SIZE=9223372036854775807", "shm,FI_SHM_RX_SIZE=1"));
    }

    private static Stream<Arguments> of(String... values) {
        return Stream.of(values).map(value -> Arguments.of((Object[]) value.split(",")));
    }

    @ParameterizedTest
    @MethodSource("valuesThatStop")
    void aValueThatStopsTheProviderIsRefusedByName(String provider, String variable) {
        String refusal = "ofi4j refuses " + variable + " over " + provider + " of libfabric";
        Forked.Result inherited = Forked.startBehind(List.of("env", variable), Opens.class, provider).await();
        Forked.Result loaded = Forked.run(Opens.class, provider, variable);

        assertThat(inherited.output()).as("inherited").contains(refusal, "or leave the environment variable out");
        assertThat(inherited.exit()).isZero();
        assertThat(loaded.output()).as("given at loading").contains(refusal);
        assertThat(loaded.exit()).isZero();
    }

    @ParameterizedTest
    @CsvSource({"shm,FI_SHM_TX_SIZE=1", "shm,FI_SHM_RX_SIZE=0x10", "shm,FI_UNIVERSE_SIZE=1",
            "tcp;ofi_rxm,FI_OFI_RXM_RX_SIZE=0", "tcp;ofi_rxm,FI_OFI_RXM_CM_PROGRESS_INTERVAL=1000000",
            "udp;ofi_rxd,FI_OFI_RXD_SPIN_COUNT=0", "udp;ofi_rxd,FI_OFI_RXD_MAX_UNACKED=1",
            "udp;ofi_rxd,FI_OFI_RXD_MAX_UNACKED=-1", "sockets,FI_SOCKETS_DEF_CONN_MAP_SZ=1",
            "sockets,FI_SHM_TX_SIZE=0"})
    void theLastValueThatWorksIsTakenAndSoIsThatOfAnotherProvider(String provider, String variable) {
        Forked.Result result = Forked.run(Opens.class, provider, variable);

        assertThat(result.output()).contains("has written");
        assertThat(result.exit()).isZero();
    }

    /** Writes over a provider, and says what was refused; a variable may stand behind its name. */
    static final class Opens {
        private Opens() {}

        public static void main(String[] arguments) {
            if (arguments.length > 1) {
                String[] variable = arguments[1].split("=");
                Libfabric.load(Map.of(variable[0], variable[1]));
            }
            try (Pair pair = new Pair(arguments[0]);
                    MemoryRegion region = pair.domain.allocate(64, Access.WRITE, Access.REMOTE_WRITE)) {
                pair.rma().write(region.slice(0, 8), pair.far, region.remote().slice(32, 8), 1);
                pair.awaitToken(1);
                System.out.println("has written");
            } catch (UnsupportedOperationException e) {
                System.out.println(e.getMessage());
            }
        }
    }
}
