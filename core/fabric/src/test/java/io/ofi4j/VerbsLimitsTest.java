package io.ofi4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.ofi4j.errors.FabricException;
import io.ofi4j.errors.NoProviderException;
import io.ofi4j.info.FabricHints;
import io.ofi4j.support.Forked;
import io.ofi4j.support.Pair;
import io.ofi4j.support.TestProviders;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * What an RDMA device, the system or ofi4j has too little of. Most are a JVM of their own, which takes a minute on an
 * emulated machine.
 */
@Timeout(600)
class VerbsLimitsTest {
    private static final String PROVIDER = "verbs;ofi_rxm";
    private static final int LOCKED_KIB = 2048;

    @BeforeEach
    void aDeviceIsThere() {
        assumeTrue(TestProviders.rma().anyMatch(PROVIDER::equals),
                "no RDMA device was named with -Dofi4j.test.providers; scripts/test --verbs makes one");
    }

    @Test
    void theSentenceSaysWhatToSetWhereTheDevicesQueuesAreTooShort() {
        Forked.Result result = Forked.run(OpensAPair.class, "FI_UNIVERSE_SIZE", "4096");

        assertThat(result.output()).contains("FI_UNIVERSE_SIZE");
    }

    /** Those of a device that has any need room for a header: ModesTest. Soft-RoCE's are not offered. */
    @Test
    void datagramsAreRefusedByName() {
        assertThatThrownBy(() -> Libfabric.load().info(FabricHints.datagrams().provider("verbs")))
                .isInstanceOf(NoProviderException.class).hasMessageContaining("Endpoints of type DGRAM")
                .hasMessageContaining("provider verbs");
    }

    /** What is registered is locked. Where this is root, it is root without the right to lock more than it may. */
    @Test
    void theSentenceSaysWhatToRaiseWhereTooLittleMayBeLocked() {
        List<String> limited = List.of("sh", "-c", "ulimit -l " + LOCKED_KIB
                + "; set -- \"$0\" \"$@\"; [ \"$(id -u)\" != 0 ] || set -- setpriv --bounding-set -ipc_lock \"$@\";"
                + " exec \"$@\"");
        Forked.Result result = Forked.startBehind(limited, RegistersMuch.class).await();

        assertThat(result.output()).contains("registered " + (LOCKED_KIB << 9)).contains("fi_mr_reg")
                .contains("ulimit -l unlimited").doesNotContain("registered " + (LOCKED_KIB << 12));
    }

    /** Registers half of what may be locked, and then four times as much as may be. */
    static final class RegistersMuch {
        private RegistersMuch() {}

        public static void main(String[] arguments) {
            try (Fabric fabric = Libfabric.load().openFabric(TestProviders.info(FabricHints.rma().provider(PROVIDER)));
                    Domain domain = fabric.openDomain()) {
                for (int length : new int[]{LOCKED_KIB << 9, LOCKED_KIB << 12}) {
                    try (MemoryRegion region = domain.allocate(length, Access.REMOTE_WRITE)) {
                        System.out.println("registered " + region.segment().byteSize());
                    }
                }
            } catch (FabricException e) {
                System.out.println(e.getMessage());
            }
        }
    }

    /** Opens both ends with a variable set, and says how that went. */
    static final class OpensAPair {
        private OpensAPair() {}

        public static void main(String[] arguments) {
            Libfabric.load(Map.of(arguments[0], arguments[1]));
            try (Pair pair = new Pair(FabricHints.rma().provider(PROVIDER))) {
                System.out.println("opened " + pair.endpoint);
            } catch (FabricException e) {
                System.out.println(e);
            }
        }
    }
}
