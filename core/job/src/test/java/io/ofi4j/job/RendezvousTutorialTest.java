package io.ofi4j.job;

import static org.assertj.core.api.Assertions.assertThat;

import io.ofi4j.Access;
import io.ofi4j.AddressVector;
import io.ofi4j.CompletionQueue;
import io.ofi4j.Domain;
import io.ofi4j.Endpoint;
import io.ofi4j.Fabric;
import io.ofi4j.Libfabric;
import io.ofi4j.MemoryRegion;
import io.ofi4j.Peer;
import io.ofi4j.RemoteRegion;
import io.ofi4j.info.FabricHints;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The part of the guide about two processes that find each other. Read TutorialTest first. It runs as a test, and can
 * be copied.
 */
// @start region=guide
@Timeout(300)
class RendezvousTutorialTest {
    private static final Duration SOON = Duration.ofSeconds(20);

    private static final FabricHints HINTS = FabricHints.rma().provider("tcp;ofi_rxm").source("127.0.0.1", null);

    /** 14. Two sides find each other: what one publishes by name, the other waits for. */
    @Test
    void rendezvous() {
        Libfabric libfabric = Libfabric.load();
        String secret = Rendezvous.newSecret(); // give it to both, in a file or a variable: who has it may join
        try (Rendezvous server = Rendezvous.serve(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), secret);
                Rendezvous client = Rendezvous.join(server.address(), secret, SOON);
                Fabric fabric = libfabric.openFabric(libfabric.info(HINTS).getFirst());
                Domain domain = fabric.openDomain();
                CompletionQueue queue = domain.openCompletionQueue();
                AddressVector peers = domain.openAddressVector();
                MemoryRegion table = domain.allocate(4096, Access.REMOTE_READ);
                Endpoint there = domain.openEndpoint().bind(queue).bind(peers).enable()) {
            server.publish("store", there.address()); // one side, which usually is another process ...
            server.publish("table", table.remote());

            Peer store = peers.insert(client.awaitAddress("store", SOON)); // ... and the other
            RemoteRegion remote = client.awaitRegion("table", SOON);

            assertThat(store).isNotNull();
            assertThat(remote.length()).isEqualTo(4096);
        }
    }
}
// @end
