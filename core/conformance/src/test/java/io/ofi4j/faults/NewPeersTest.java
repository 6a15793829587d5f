package io.ofi4j.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.ofi4j.Access;
import io.ofi4j.AddressVector;
import io.ofi4j.CompletionHandler;
import io.ofi4j.CompletionQueue;
import io.ofi4j.Domain;
import io.ofi4j.Endpoint;
import io.ofi4j.Fabric;
import io.ofi4j.Libfabric;
import io.ofi4j.MemoryRegion;
import io.ofi4j.RemoteRegion;
import io.ofi4j.info.EndpointAddress;
import io.ofi4j.support.ForEachProvider;
import io.ofi4j.support.Forked;
import io.ofi4j.support.Pair;
import io.ofi4j.support.Rounds;
import io.ofi4j.support.TestProviders;
import java.util.HexFormat;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Processes that nobody has met reach one endpoint while another thread opens and closes a second one with the same
 * address vector.
 */
@Tag("gate")
@Timeout(900)
class NewPeersTest {
    /** A vector of shm has places for 256. */
    private static final int PEERS = Math.min(Rounds.of(20), 200);

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void theyFindNoEndpointThatIsHalfOpen(String provider) {
        Forked.Running target = Forked.start(Target.class, provider);
        String[] ready = target.awaitLine("ready ").split(" ");
        Forked.Result peers = Forked.run(Peers.class, provider, ready[0], ready[1]);
        target.process().destroy();
        Forked.Result ended = target.await();

        assertThat(ended.exit()).as(ended.output()).isEqualTo(128 + 15);
        assertThat(peers.exit()).as(peers.output() + ended.output()).isZero();
    }

    /** Argument: the provider. One thread polls, the other opens and closes, until it is ended. */
    static final class Target {
        public static void main(String[] arguments) {
            Fabric fabric = Libfabric.load().openFabric(TestProviders.info(arguments[0]));
            Domain domain = fabric.openDomain();
            MemoryRegion region = domain.allocate(8, Access.REMOTE_WRITE);
            AddressVector vector = domain.openAddressVector();
            CompletionQueue queue = domain.openCompletionQueue();
            Endpoint endpoint = domain.openEndpoint().bind(vector).bind(queue).enable();
            Thread.ofPlatform().daemon().start(() -> poll(queue));
            System.out.println("ready " + HexFormat.of().formatHex(endpoint.address().toBytes()) + " "
                    + HexFormat.of().formatHex(region.remote().encode()));
            while (true) {
                try (CompletionQueue other = domain.openCompletionQueue()) {
                    domain.openEndpoint().bind(vector).bind(other).enable().close();
                }
            }
        }

        private static void poll(CompletionQueue queue) {
            while (true) {
                queue.poll((CompletionHandler) (token, flags, length, data) -> {}, 64);
            }
        }
    }

    /** Arguments: the provider, the target's address and its region. Each endpoint writes once. */
    static final class Peers {
        public static void main(String[] arguments) {
            EndpointAddress target = EndpointAddress.of(HexFormat.of().parseHex(arguments[1]),
                    TestProviders.info(arguments[0]).addressFormat());
            RemoteRegion region = RemoteRegion.decode(HexFormat.of().parseHex(arguments[2]));
            for (int peer = 0; peer < PEERS; peer++) {
                write(arguments[0], target, region);
            }
        }

        private static void write(String provider, EndpointAddress target, RemoteRegion region) {
            try (Fabric fabric = Libfabric.load().openFabric(TestProviders.info(provider));
                    Domain domain = fabric.openDomain();
                    MemoryRegion source = domain.allocate(8, Access.WRITE);
                    CompletionQueue queue = domain.openCompletionQueue();
                    AddressVector vector = domain.openAddressVector();
                    Endpoint endpoint = domain.openEndpoint().bind(vector).bind(queue).enable()) {
                endpoint.rma().write(source.slice(0, 8), vector.insert(target), region, 1);
                if (queue.await((token, flags, length, data) -> {}, 1, Pair.DEADLINE) == 0) {
                    throw new AssertionError("a write did not complete");
                }
            }
        }
    }
}
