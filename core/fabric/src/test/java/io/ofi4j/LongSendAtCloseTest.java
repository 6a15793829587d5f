package io.ofi4j;

import static org.assertj.core.api.Assertions.assertThat;

import io.ofi4j.errors.FabricException;
import io.ofi4j.info.Capability;
import io.ofi4j.info.FabricHints;
import io.ofi4j.internal.os.Errno;
import io.ofi4j.support.ForEachProvider;
import io.ofi4j.support.Forked;
import io.ofi4j.support.Pair;
import io.ofi4j.support.TestProviders;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * What a long send that nobody has received leaves behind when its endpoint is closed. In a JVM of its own, in which it
 * stays.
 */
@Tag("gate")
class LongSendAtCloseTest {
    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void onlyOfiRxmKeepsADomainWhoseLongSendWasInFlightAndTheExceptionSaysWhy(String provider) {
        Forked.Result result = Forked.run(ClosesInFlight.class, provider);

        assertThat(result.exit()).as(result.output()).isZero();
        if (provider.endsWith(";ofi_rxm")) {
            assertThat(result.output()).contains("domain: " + Errno.EBUSY,
                    "before long messages from or to it had completed");
        } else {
            assertThat(result.output()).contains("domain: closed");
        }
    }

    /** Argument: the provider. */
    static final class ClosesInFlight {
        private static final int LENGTH = 256 << 10;

        private ClosesInFlight() {}

        public static void main(String[] arguments) {
            FabricHints hints = TestProviders.hints(arguments[0]).capabilities(Capability.MSG, Capability.RMA);
            Fabric fabric = Libfabric.load().openFabric(TestProviders.info(hints));
            Domain there = fabric.openDomain();
            CompletionQueue farQueue = there.openCompletionQueue();
            AddressVector farPeers = there.openAddressVector();
            Endpoint receiver = there.openEndpoint().bind(farQueue).bind(farPeers).enable();
            Domain domain = fabric.openDomain();
            CompletionQueue queue = domain.openCompletionQueue();
            AddressVector peers = domain.openAddressVector();
            Endpoint sender = domain.openEndpoint().bind(queue).bind(peers).enable();
            MemoryRegion region = domain.allocate(LENGTH, Access.SEND);
            Peer peer = peers.insert(receiver.address());
            Waiting.YIELD.until(() -> {
                there.progress();
                domain.progress();
                return sender.messages().trySend(region, 0, LENGTH, peer, 1);
            }, Pair.DEADLINE);
            for (int i = 0; i < 1000; i++) {
                there.progress();
                domain.progress();
            }
            receiver.close();
            sender.close();
            region.close();
            peers.close();
            queue.close();
            try {
                domain.close();
                System.out.println("domain: closed");
            } catch (FabricException e) {
                System.out.println("domain: " + e.errno() + " " + e.getMessage());
            }
            Runtime.getRuntime().halt(0);
        }
    }
}
