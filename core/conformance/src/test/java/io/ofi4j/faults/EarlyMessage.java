package io.ofi4j.faults;

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
import io.ofi4j.info.Capability;
import io.ofi4j.support.Pair;
import io.ofi4j.support.TestProviders;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Inserts peers, those that have sent and others, while messages wait for their receives. */
public final class EarlyMessage {
    private static final int LENGTH = 4096;
    private static final Duration ARRIVAL = Duration.ofMillis(500);

    private EarlyMessage() {}

    public static void main(String[] arguments) {
        Capability family = Capability.valueOf(arguments[1]);
        try (Fabric fabric = Libfabric.load()
                .openFabric(TestProviders.info(TestProviders.hints(arguments[0]).capabilities(Capability.MSG, family)));
                Domain domain = fabric.openDomain();
                MemoryRegion region = domain.allocate(LENGTH, Access.SEND, Access.RECEIVE);
                CompletionQueue queue = domain.openCompletionQueue();
                CompletionQueue farQueue = domain.openCompletionQueue();
                AddressVector vector = domain.openAddressVector();
                AddressVector farVector = domain.openAddressVector();
                Endpoint sender = domain.openEndpoint().bind(queue).bind(vector).enable();
                Endpoint receiver = domain.openEndpoint().bind(farQueue).bind(farVector).enable();
                Endpoint stranger = domain.openEndpoint().bind(queue).bind(vector).enable()) {
            boolean isTagged = family == Capability.TAGGED;
            Peer peer = vector.insert(receiver.address());
            List<Long> received = new ArrayList<>();
            if (isTagged) {
                sender.tagged().send(region.slice(0, 8), peer, 5, 1);
            } else {
                sender.messages().send(region.slice(0, 8), peer, 1);
            }
            Waiting.YIELD.tryUntil(() -> {
                queue.poll((token, flags, length, data) -> {}, 8);
                farQueue.poll((token, flags, length, data) -> {}, 8);
                return false;
            }, ARRIVAL);
            farVector.insert(stranger.address());
            farVector.insert(sender.address());
            if (isTagged) {
                receiver.tagged().receive(region.slice(64, 8), 5, 0, 2);
            } else {
                receiver.messages().receive(region.slice(64, 8), 2);
            }
            Waiting.YIELD.until(() -> {
                queue.poll((token, flags, length, data) -> {}, 8);
                return farQueue.poll((token, flags, length, data) -> received.add(token), 8) > 0;
            }, Pair.DEADLINE);
            System.out.println("received " + received);
        }
    }
}
