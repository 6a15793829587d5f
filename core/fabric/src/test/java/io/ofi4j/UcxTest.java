package io.ofi4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import io.ofi4j.errors.NoProviderException;
import io.ofi4j.info.EndpointAddress;
import io.ofi4j.info.FabricHints;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.support.Forked;
import io.ofi4j.support.Refusal;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * The provider ucx, of a libfabric that was built with it, in a JVM of its own: what is not worked around may end it.
 */
class UcxTest {
    private static final String NONE = "there is no such provider";

    @Test
    void peersHaveTheAddressThatWasInsertedAndNeedTheEndpoint() {
        Forked.Result result = Forked.run(Addresses.class);
        assumeFalse(result.output().contains(NONE), "this libfabric has no ucx, or FI_UCX_DEVICES names no device");

        assertThat(result.exit()).as(result.output()).isZero();
        assertThat(result.output()).contains("before: ofi4j refuses insertions", "inserted and found: true",
                "behind: ofi4j refuses insertions", "removed");
    }

    private static final class Addresses {
        private Addresses() {}

        public static void main(String[] arguments) {
            List<FabricInfo> found;
            try {
                found = Libfabric.load().info(FabricHints.messages().provider("ucx"));
            } catch (NoProviderException e) {
                System.out.println(NONE);
                return;
            }
            try (Fabric fabric = Libfabric.load().openFabric(found.getFirst());
                    Domain domain = fabric.openDomain();
                    CompletionQueue queue = domain.openCompletionQueue();
                    AddressVector vector = domain.openAddressVector()) {
                EndpointAddress unbound = EndpointAddress.of(new byte[]{1}, found.getFirst().addressFormat());
                System.out.println("before: " + Refusal.of(() -> vector.insert(unbound)));
                EndpointAddress address;
                Peer peer;
                try (Endpoint endpoint = domain.openEndpoint().bind(queue).bind(vector).enable()) {
                    address = endpoint.address();
                    peer = vector.insert(address);
                    System.out.println("inserted and found: " + vector.address(peer).equals(address));
                }
                System.out.println("behind: " + Refusal.of(() -> vector.insert(address)));
                vector.remove(peer);
                System.out.println("removed");
            }
        }
    }
}
