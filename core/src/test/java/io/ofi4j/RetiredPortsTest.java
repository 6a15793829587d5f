package io.ofi4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** What the peers of a closed endpoint of ofi_rxd still send would end the process of whoever has its port then. */
class RetiredPortsTest {
    private static final String PROVIDER = "udp;ofi_rxd";
    /** Of some 28,000 ports, chosen at random, six would come twice. */
    private static final int ENDPOINTS = 600;

    @Test
    void noEndpointGetsThePortOfAClosedOne() {
        Set<Integer> ports = new HashSet<>();
        try (Stage stage = new Stage(TestProviders.hints(PROVIDER))) {
            for (int count = 0; count < ENDPOINTS; count++) {
                ports.add(stage.portOfOne());
            }
        }
        assertThat(ports).hasSize(ENDPOINTS);
    }

    @Test
    void thePortOfAClosedEndpointIsRefused() {
        int port;
        try (Stage stage = new Stage(TestProviders.hints(PROVIDER))) {
            port = stage.portOfOne();
        }
        FabricHints there = TestProviders.hints(PROVIDER).source("127.0.0.1", Integer.toString(port));
        try (Stage stage = new Stage(there)) {
            assertThatThrownBy(stage.domain::openEndpoint).isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("port " + port).hasMessageContaining("use another port");
        }
    }

    /** What an endpoint needs. */
    private static final class Stage implements AutoCloseable {
        final Fabric fabric;
        final Domain domain;
        final CompletionQueue queue;
        final AddressVector vector;

        Stage(FabricHints hints) {
            fabric = Libfabric.load().openFabric(TestProviders.info(hints));
            domain = fabric.openDomain();
            queue = domain.openCompletionQueue();
            vector = domain.openAddressVector();
        }

        int portOfOne() {
            try (Endpoint endpoint = domain.openEndpoint().bind(queue).bind(vector).enable()) {
                return Short.toUnsignedInt(ByteBuffer.wrap(endpoint.address().toBytes()).getShort(2));
            }
        }

        @Override
        public void close() {
            vector.close();
            queue.close();
            domain.close();
            fabric.close();
        }
    }
}
