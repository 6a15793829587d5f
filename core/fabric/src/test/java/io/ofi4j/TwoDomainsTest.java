package io.ofi4j;

import static org.assertj.core.api.Assertions.assertThat;

import io.ofi4j.info.Capability;
import io.ofi4j.info.FabricHints;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.support.ForEachProvider;
import io.ofi4j.support.Pair;
import io.ofi4j.support.TestProviders;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.params.provider.MethodSource;

/** Two sides with a domain each, and one thread that calls both, as the first test of most programs has them. */
class TwoDomainsTest {
    private static final byte[] TEXT = "Hello, neighbour".getBytes(StandardCharsets.US_ASCII);

    /** A side; a scope closes what it has. */
    private record Side(Domain domain, CompletionQueue queue, AddressVector peers, Endpoint endpoint,
            MemoryRegion region) {
        static Side open(Fabric fabric) {
            Domain domain = fabric.openDomain();
            CompletionQueue queue = domain.openCompletionQueue();
            AddressVector peers = domain.openAddressVector();
            return new Side(domain, queue, peers, domain.openEndpoint().bind(queue).bind(peers).enable(),
                    domain.allocate(TEXT.length, Access.SEND, Access.RECEIVE, Access.WRITE, Access.REMOTE_WRITE));
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void aFirstSendWaitsForAPeerThatOnlyThisThreadPolls(String provider) {
        try (Scope scope = Libfabric.load().openScope()) {
            Fabric fabric = scope.openFabric(info(provider));
            Side near = Side.open(fabric);
            Side far = Side.open(fabric);
            near.region.segment().copyFrom(MemorySegment.ofArray(TEXT));
            far.endpoint.messages().receive(far.region.slice(0, TEXT.length), 1);

            near.endpoint.messages().send(near.region.slice(0, TEXT.length), near.peers.insert(far.endpoint.address()),
                    2);

            int[] received = new int[1];
            Waiting.YIELD.until(() -> {
                near.queue.poll((token, flags, length, data) -> {}, 8);
                far.queue.poll((token, flags, length, data) -> received[0] += (int) length, 8);
                return received[0] > 0;
            }, Pair.DEADLINE);
            assertThat(far.region.segment().toArray(ValueLayout.JAVA_BYTE)).isEqualTo(TEXT);
        }
    }

    private static FabricInfo info(String provider) {
        FabricHints hints = TestProviders.hints(provider).capabilities(Capability.MSG, Capability.RMA);
        return TestProviders.info(hints);
    }
}
