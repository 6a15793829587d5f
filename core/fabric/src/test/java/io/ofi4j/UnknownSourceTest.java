package io.ofi4j;

import static org.assertj.core.api.Assertions.assertThat;

import io.ofi4j.info.Capability;
import io.ofi4j.info.CompletionFormat;
import io.ofi4j.info.CompletionQueueAttributes;
import io.ofi4j.support.ForEachProvider;
import io.ofi4j.support.Pair;
import io.ofi4j.support.TestProviders;
import org.junit.jupiter.params.provider.MethodSource;

/** The source of a message whose sender the receiver has not inserted. */
class UnknownSourceTest {
    private static final int LENGTH = 8;
    private static final long NOTHING = -9;

    /** What the receiver is told is the source of a message. */
    private record Ends(CompletionQueue queue, CompletionQueue farQueue, Endpoint far, Peer toFar,
            MemoryRegion region) {
        long sourceOf(Endpoint sender) {
            long[] source = {NOTHING};
            far.messages().receive(region.slice(0, LENGTH), 1);
            sender.messages().send(region.slice(0, LENGTH), toFar, 2);
            Waiting.YIELD.until(() -> {
                queue.poll((token, flags, length, data) -> {}, 8);
                farQueue.poll((DetailedCompletionHandler) (token, flags, length, data, buffer, tag, from) -> {
                    source[0] = from;
                }, 8);
                return source[0] != NOTHING;
            }, Pair.DEADLINE);
            return source[0];
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void aStrangerIsNotTakenForThePeerThatWasInsertedFirst(String provider) {
        CompletionQueueAttributes attributes = CompletionQueueAttributes.defaults().format(CompletionFormat.TAGGED);
        try (Fabric fabric = Libfabric.load()
                .openFabric(TestProviders.info(TestProviders.hints(provider).capabilities(Capability.MSG,
                        Capability.TAGGED, Capability.SOURCE)));
                Domain domain = fabric.openDomain();
                MemoryRegion region = domain.allocate(LENGTH, Access.SEND, Access.RECEIVE);
                CompletionQueue queue = domain.openCompletionQueue(attributes);
                CompletionQueue farQueue = domain.openCompletionQueue(attributes);
                AddressVector vector = domain.openAddressVector();
                AddressVector farVector = domain.openAddressVector();
                Endpoint inserted = domain.openEndpoint().bind(queue).bind(vector).enable();
                Endpoint stranger = domain.openEndpoint().bind(queue).bind(vector).enable();
                Endpoint far = domain.openEndpoint().bind(farQueue).bind(farVector).enable()) {
            Ends ends = new Ends(queue, farQueue, far, vector.insert(far.address()), region);
            Peer peer = farVector.insert(inserted.address());

            assertThat(ends.sourceOf(stranger)).isEqualTo(Peer.ADDRESS_NOT_AVAILABLE);
            assertThat(ends.sourceOf(inserted))
                    .isEqualTo(tells(provider) ? peer.fabricAddress() : Peer.ADDRESS_NOT_AVAILABLE);
            assertThat(ends.sourceOf(stranger)).isEqualTo(Peer.ADDRESS_NOT_AVAILABLE);
        }
    }

    /** {@code ofi_rxd} tells no source, and shm of 2.5 and newer none of a peer of the same process. */
    private static boolean tells(String provider) {
        return !provider.endsWith(";ofi_rxd") && (!provider.equals("shm") || TestProviders.isBefore(2, 5));
    }
}
