package io.ofi4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.ofi4j.errors.FabricTimeoutException;
import io.ofi4j.info.Capability;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.info.ThreadingModel;
import io.ofi4j.support.ForEachProvider;
import io.ofi4j.support.Pair;
import io.ofi4j.support.TestProviders;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.provider.MethodSource;

/** Two sides with a domain each, and one thread that calls both, as the first test of most programs has them. */
class TwoDomainsTest {
    private static final byte[] TEXT = "Hello, neighbour".getBytes(StandardCharsets.US_ASCII);

    /** More messages than a peer has room for. */
    private static final int MANY = 100_000;

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

    @Test
    void aWaitInVainSaysThatDomainsOfThisProcessMayWaitForEachOther() {
        try (Scope scope = Libfabric.load().openScope()) {
            Fabric fabric = scope.openFabric(info("tcp;ofi_rxm"));
            Side near = Side.open(fabric);
            assertThat(waitInVain()).endsWith("does it make progress by polling its queue?");

            Side far = Side.open(fabric);
            assertThat(waitInVain())
                    .endsWith("polling its queue? In this process 2 domains of tcp;ofi_rxm are open, and"
                            + " a call on one makes no progress in the others: poll a queue of each, or have"
                            + " Domain.startProgress() serve those that nobody polls.");

            far.domain.startProgress();
            assertThat(waitInVain()).endsWith("does it make progress by polling its queue?");
            assertThat(near.queue.operationsInFlight()).isZero();
        }
    }

    private static String waitInVain() {
        try {
            Waiting.YIELD.until(() -> false, Duration.ofMillis(1));
            throw new AssertionError("it is never true");
        } catch (FabricTimeoutException e) {
            return e.getMessage();
        }
    }

    /** Nobody polls the peer's domain: its owner waits for this thread. */
    @Test
    void aPostInVainSaysThatThePeerBelongsToAnotherThreadOfThisProcess() throws Exception {
        FabricInfo info = info("shm", ThreadingModel.DOMAIN);
        try (Scope scope = Libfabric.load().openScope(); ExecutorService owner = Executors.newSingleThreadExecutor()) {
            Fabric fabric = scope.openFabric(info);
            Side near = Side.open(fabric);
            Side far = owner.submit(() -> Side.open(fabric)).get();
            Peer peer = near.peers.insert(far.endpoint.address());
            near.endpoint.postTimeout(Duration.ofMillis(50));

            assertThatExceptionOfType(FabricTimeoutException.class).isThrownBy(() -> fill(near, peer))
                    .withMessageEndingWith(peer + " is an endpoint of this process, in another " + far.domain
                            + " that belongs to another thread: that thread must poll its queue.");

            owner.submit(() -> {
                far.endpoint.close();
                far.region.close();
                far.peers.close();
                far.queue.close();
                far.domain.close();
            }).get();
        }
    }

    /** Sends until the peer's room has been used up. */
    private static void fill(Side side, Peer peer) {
        for (int i = 0; i < MANY; i++) {
            side.endpoint.messages().send(side.region.slice(0, 1), peer, 1);
            side.queue.poll((token, flags, length, data) -> {}, 8);
        }
    }

    private static FabricInfo info(String provider) { return info(provider, ThreadingModel.SAFE); }

    private static FabricInfo info(String provider, ThreadingModel threading) {
        return TestProviders
                .info(TestProviders.hints(provider).capabilities(Capability.MSG, Capability.RMA).threading(threading));
    }
}
