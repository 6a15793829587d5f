package io.ofi4j.examples.guide;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.ofi4j.Access;
import io.ofi4j.AddressVector;
import io.ofi4j.CompletionQueue;
import io.ofi4j.Domain;
import io.ofi4j.Endpoint;
import io.ofi4j.Fabric;
import io.ofi4j.Libfabric;
import io.ofi4j.MemoryRegion;
import io.ofi4j.Scope;
import io.ofi4j.Waiting;
import io.ofi4j.info.FabricHints;
import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Two sides in one process: a server sends back what a client has sent. */
class EchoTest {
    private static final Duration DEADLINE = Duration.ofSeconds(30); // a CI machine may be busy

    /** What one side has. The scope of a test closes it. */
    private static final class Side {
        final CompletionQueue queue;
        final AddressVector peers;
        final Endpoint endpoint;
        final MemoryRegion memory;
        long received;

        Side(Fabric fabric) {
            Domain domain = fabric.openDomain();
            queue = domain.openCompletionQueue();
            peers = domain.openAddressVector();
            endpoint = domain.openEndpoint().bind(queue).bind(peers).enable();
            memory = domain.allocate(64, Access.SEND, Access.RECEIVE);
            endpoint.messages().receive(memory.slice(0, 32), 1); // token 1: a message has come
        }

        void poll() { queue.poll((token, flags, length, data) -> received += token == 1 ? length : 0, 16); }
    }

    @ParameterizedTest
    @ValueSource(strings = {"shm", "tcp;ofi_rxm"})
    void aServerSendsBackWhatCame(String provider) {
        Libfabric libfabric = Libfabric.load();
        FabricHints hints = FabricHints.messages().provider(provider);
        if (!provider.equals("shm")) { hints = hints.source("127.0.0.1", null); } // a container may have no other
        try (Scope scope = libfabric.openScope()) {
            Fabric fabric = scope.openFabric(libfabric.info(hints).getFirst());
            Side client = new Side(fabric);
            Side server = new Side(fabric);

            client.memory.segment().setString(32, "ping");
            client.endpoint.messages().send(client.memory.slice(32, 5), client.peers.insert(server.endpoint.address()),
                    2);
            Waiting.BACKOFF.until(() -> poll(client, server).received > 0, DEADLINE);
            server.endpoint.messages().send(server.memory.slice(0, server.received),
                    server.peers.insert(client.endpoint.address()), 2);
            Waiting.BACKOFF.until(() -> poll(server, client).received > 0, DEADLINE);

            assertEquals("ping", client.memory.segment().getString(0));
        }
    }

    /** Polls both sides: neither makes progress by itself. */
    private static Side poll(Side one, Side other) {
        one.poll();
        other.poll();
        return other;
    }
}
