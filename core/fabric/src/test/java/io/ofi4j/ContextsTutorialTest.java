package io.ofi4j;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ofi4j.info.AddressVectorAttributes;
import io.ofi4j.info.AttributeHints;
import io.ofi4j.info.Capability;
import io.ofi4j.info.FabricHints;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.info.Limit;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A further part of the guide: endpoints that share a context, and an endpoint with several. Read TutorialTest first.
 * Each part runs as a test, and can be copied. Few providers have these; {@code sockets} has all of them.
 */
// @start region=guide
@Timeout(300)
class ContextsTutorialTest {
    private static final Duration SOON = Duration.ofSeconds(20);
    private static final FabricHints HINTS = FabricHints.messages().provider("sockets").source("127.0.0.1", null);

    /** 1. A server with an endpoint for each kind of client, which posts its receives once for all of them. */
    @Test
    void sharedReceives() {
        Libfabric libfabric = Libfabric.load();
        FabricInfo sharing = libfabric.info(HINTS.attributes(AttributeHints.none().sharedReceiveContext())).getFirst();
        FabricInfo plain = libfabric.info(HINTS).getFirst();
        List<Long> arrived = new ArrayList<>();
        List<Long> sent = new ArrayList<>();
        try (Fabric fabric = libfabric.openFabric(sharing);
                Domain domain = fabric.openDomain();
                CompletionQueue queue = domain.openCompletionQueue();
                CompletionQueue clientQueue = domain.openCompletionQueue();
                AddressVector peers = domain.openAddressVector();
                MemoryRegion inbox = domain.allocate(4 * 64, Access.RECEIVE);
                MemoryRegion outbox = domain.allocate(64, Access.SEND);
                // The context is an endpoint that only receives. Those that share it bind its queue, and close before
                // it.
                SharedReceiveContext context = domain.openSharedReceiveContext().bind(queue).enable();
                Endpoint readers = domain.openEndpoint().bind(peers).bind(queue).bind(context).enable();
                Endpoint writers = domain.openEndpoint().bind(peers).bind(queue).bind(context).enable();
                Endpoint client = domain.openEndpoint(plain).bind(peers).bind(clientQueue).enable()) {
            for (int slot = 0; slot < 4; slot++) {
                context.messages().receive(inbox.slice(slot * 64, 64), slot);
            }
            client.messages().send(outbox.slice(0, 8), peers.insert(readers.address()), 1);
            client.messages().send(outbox.slice(0, 8), peers.insert(writers.address()), 2);
            Waiting.YIELD.until(() -> {
                queue.poll((token, flags, length, data) -> arrived.add(token), 16);
                clientQueue.poll((token, flags, length, data) -> sent.add(token), 16);
                return arrived.size() == 2 && sent.size() == 2;
            }, SOON);
            // two of the four receives, whoever the message was for
            assertThat(arrived).containsExactlyInAnyOrder(0L, 1L);

            // an endpoint that shares has no receives of its own
            assertThatThrownBy(() -> readers.messages().receive(inbox.slice(0, 64), 9))
                    .hasMessageContaining("post the receive there");
        }
    }

    /** 2. One address, and a context with a queue for each of several threads. */
    @Test
    void severalContexts() {
        Libfabric libfabric = Libfabric.load();
        FabricHints hints = HINTS.capabilities(Capability.MSG, Capability.NAMED_RX_CTX).attributes(
                AttributeHints.none().atLeast(Limit.TRANSMIT_CONTEXTS, 2).atLeast(Limit.RECEIVE_CONTEXTS, 2));
        try (Fabric fabric = libfabric.openFabric(libfabric.info(hints).getFirst());
                Domain domain = fabric.openDomain();
                CompletionQueue first = domain.openCompletionQueue();
                CompletionQueue second = domain.openCompletionQueue();
                // A peer has as many contexts as these bits can number.
                AddressVector peers = domain
                        .openAddressVector(AddressVectorAttributes.defaults().receiveContextBits(1));
                MemoryRegion region = domain.allocate(64, Access.SEND, Access.RECEIVE);
                ScalableEndpoint endpoint = domain.openScalableEndpoint().bind(peers);
                Endpoint transmit = endpoint.openTransmitContext(0).bind(first).enable();
                Endpoint receive = endpoint.openReceiveContext(1).bind(second).enable()) {
            endpoint.enable();
            Peer itself = peers.insert(endpoint.address()); // a peer stands for its receive context 0
            receive.messages().receive(region.slice(32, 8), 7);
            region.segment().set(JAVA_INT, 0, 42);
            transmit.messages().send(region.slice(0, 8), peers.receiveContext(itself, 1), 1);

            List<Long> arrived = new ArrayList<>();
            Waiting.YIELD.until(() -> {
                first.poll((token, flags, length, data) -> {}, 16);
                second.poll((token, flags, length, data) -> arrived.add(token), 16);
                return arrived.size() == 1;
            }, SOON);
            assertThat(arrived).containsExactly(7L);
            assertThat(region.segment().get(JAVA_INT, 32)).isEqualTo(42);
        }
    }
}
// @end
