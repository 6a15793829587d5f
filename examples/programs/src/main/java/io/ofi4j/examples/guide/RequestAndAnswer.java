package io.ofi4j.examples.guide;

import io.ofi4j.Access;
import io.ofi4j.AddressVector;
import io.ofi4j.CompletionQueue;
import io.ofi4j.Domain;
import io.ofi4j.Endpoint;
import io.ofi4j.Fabric;
import io.ofi4j.Libfabric;
import io.ofi4j.MemoryRegion;
import io.ofi4j.Peer;
import io.ofi4j.Waiting;
import io.ofi4j.info.FabricHints;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;

/** A client sends a request with a tag, and the server answers with the same tag. Both are in this process. */
public final class RequestAndAnswer {
    private static final Duration SOON = Duration.ofSeconds(10);
    private static final long KIND = 0x100; // the high bits of a tag: what the message is
    private static final long NUMBER = 0xff; // the low bits: which request it belongs to

    private RequestAndAnswer() {}

    public static void main(String[] arguments) {
        Libfabric libfabric = Libfabric.load();
        FabricHints hints = FabricHints.tagged().provider("tcp;ofi_rxm").source("127.0.0.1", null);
        try (Fabric fabric = libfabric.openFabric(libfabric.info(hints).getFirst());
                Domain domain = fabric.openDomain();
                CompletionQueue queue = domain.openCompletionQueue();
                AddressVector peers = domain.openAddressVector();
                MemoryRegion outbox = domain.allocate(128, Access.SEND);
                MemoryRegion inbox = domain.allocate(128, Access.RECEIVE);
                Endpoint client = domain.openEndpoint().bind(queue).bind(peers).enable();
                Endpoint server = domain.openEndpoint().bind(queue).bind(peers).enable()) {
            Peer toServer = peers.insert(server.address());
            Peer toClient = peers.insert(client.address());

            server.tagged().receive(inbox.slice(0, 64), KIND, NUMBER, 1); // a request of any number
            client.tagged().receive(inbox.slice(64, 64), 0x200 | 7, 0, 2); // the answer to request 7 alone
            outbox.segment().setString(0, "how late is it?");
            client.tagged().send(outbox.slice(0, 64), toServer, KIND | 7, 3);
            await(queue, 1L, 3L);
            System.out.println("the server was asked: " + inbox.segment().getString(0));

            outbox.segment().setString(64, "half past nine");
            server.tagged().send(outbox.slice(64, 64), toClient, 0x200 | 7, 4);
            await(queue, 2L, 4L);
            System.out.println("the client was told: " + inbox.segment().getString(64));
        }
    }

    /** Polls until the operations with these tokens have completed. */
    private static void await(CompletionQueue queue, Long... tokens) {
        Set<Long> missing = new HashSet<>(Set.of(tokens));
        Waiting.YIELD.until(() -> {
            queue.poll((token, flags, length, data) -> missing.remove(token), 16);
            return missing.isEmpty();
        }, SOON);
    }
}
