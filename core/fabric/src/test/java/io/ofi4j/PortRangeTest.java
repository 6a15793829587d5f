package io.ofi4j;

import static org.assertj.core.api.Assertions.assertThat;

import io.ofi4j.errors.FabricException;
import io.ofi4j.info.FabricHints;
import io.ofi4j.support.Forked;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A provider may take few ports, by its variables, and all of them are taken. */
@Timeout(600)
class PortRangeTest {
    @Test
    void thatAllPortsAreTakenIsSaid() {
        Forked.Result result = Forked.run(Opens.class);

        assertThat(result.output()).containsPattern("errno 99.*all ports from FI_TCP_PORT_LOW_RANGE \\((\\d+)\\)"
                + " to FI_TCP_PORT_HIGH_RANGE \\(\\1\\) are taken: let them name more");
    }

    static final class Opens {
        private Opens() {}

        public static void main(String[] arguments) throws IOException {
            try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
                String port = Integer.toString(taken.getLocalPort());
                Libfabric libfabric = Libfabric
                        .load(Map.of("FI_TCP_PORT_LOW_RANGE", port, "FI_TCP_PORT_HIGH_RANGE", port));
                FabricHints hints = FabricHints.rma().provider("tcp;ofi_rxm").source("127.0.0.1", null);
                try (Fabric fabric = libfabric.openFabric(libfabric.info(hints).getFirst());
                        Domain domain = fabric.openDomain();
                        CompletionQueue queue = domain.openCompletionQueue();
                        AddressVector vector = domain.openAddressVector();
                        Endpoint endpoint = domain.openEndpoint().bind(queue).bind(vector).enable()) {
                    System.out.println("opened " + endpoint.address());
                } catch (FabricException e) {
                    System.out.println(e.getMessage());
                }
            }
        }
    }
}
