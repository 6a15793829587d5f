package io.ofi4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.ofi4j.errors.FabricException;
import io.ofi4j.errors.FabricTimeoutException;
import io.ofi4j.info.Direction;
import io.ofi4j.info.EndpointAddress;
import io.ofi4j.info.FabricHints;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.info.ThreadingModel;
import io.ofi4j.support.ForEachProvider;
import io.ofi4j.support.Pair;
import io.ofi4j.support.TestProviders;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.provider.MethodSource;

/** Opening and closing, in the right order and in any other. */
@Timeout(300)
class LifeCycleTest {
    /** More than sockets buffer, so that a write stays in flight while the far side does not poll. */
    private static final int LARGE = 32 << 20;

    @Test
    void everythingClosesTwiceWithoutHarm() {
        Pair pair = new Pair("shm");
        MemoryRegion region = pair.domain.allocate(8, Access.WRITE);
        region.close();
        region.close();
        pair.close();
        pair.close();

        assertThat(region.isOpen()).isFalse();
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#transfers")
    void aCloseThatWasRefusedGoesOnWithTheNextCall(String provider) throws InterruptedException {
        try (Pair pair = new Pair(provider)) {
            Thread brokenOff = new Thread(() -> pair.queue.guard.enter()); // as if an Error kept it from exiting
            brokenOff.start();
            brokenOff.join();

            assertThatIllegalStateException().isThrownBy(pair.endpoint::close)
                    .withMessageContaining("This call did nothing");
            assertThatIllegalStateException().isThrownBy(pair.endpoint::enable).withMessageContaining("is closed");
            pair.endpoint.close();
        } // which closes the domain
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void aCloseThatAnotherQueueOfTheVectorHeldUpGoesOnWithTheNextCall(String provider) throws InterruptedException {
        try (Pair pair = new Pair(provider)) {
            Thread brokenOff = new Thread(() -> pair.farQueue.guard.enter());
            brokenOff.start();
            brokenOff.join();

            assertThatIllegalStateException().isThrownBy(pair.endpoint::close)
                    .withMessageContaining("This call did nothing");
            pair.endpoint.close();
        } // which closes the domain
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#transfers")
    void aQueueWhoseCloseWasRefusedStaysOpenUntilTheNextCall(String provider) throws InterruptedException {
        try (Pair pair = new Pair(provider)) {
            CompletionQueue queue = pair.domain.openCompletionQueue();
            Thread brokenOff = new Thread(() -> queue.guard.enter());
            brokenOff.start();
            brokenOff.join();

            assertThatIllegalStateException().isThrownBy(queue::close).withMessageContaining("This call did nothing");
            queue.progress();
            queue.close();
            assertThatIllegalStateException().isThrownBy(queue::progress).withMessageContaining("is closed");
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#transfers")
    void anInterruptedThreadClosesEverythingAndStaysInterrupted(String provider) {
        Pair pair = new Pair(provider);
        MemoryRegion source = pair.domain.allocate(LARGE, Access.WRITE);
        MemoryRegion target = pair.domain.allocate(LARGE, Access.REMOTE_WRITE);
        long length = Math.min(LARGE, pair.rma().maximumMessageSize());
        pair.rma().write(source.slice(0, 8), pair.far, target.remote(), 9); // connects
        pair.awaitToken(9);
        pair.completed.clear();
        List<Long> posted = new ArrayList<>();
        for (long token = 1; token <= 4; token++) {
            if (pair.rma().tryWrite(source, 0, length, pair.far, target.remote(), 0, token)) { posted.add(token); }
        }
        Thread.currentThread().interrupt();
        try {
            pair.endpoint.close();
            pair.awaitCompletions(posted.size());
            source.close();
            target.close();
            pair.close();
        } finally {
            assertThat(Thread.interrupted()).isTrue();
        }

        List<Long> back = new ArrayList<>(pair.completed);
        pair.errors.forEach(error -> back.add(error.token()));
        assertThat(back).containsExactlyInAnyOrderElementsOf(posted);
        assertThatIllegalStateException().isThrownBy(pair.fabric::openDomain).withMessageContaining("is closed");
    }

    @Test
    void parentsNameTheChildrenThatMustCloseFirst() {
        try (Pair pair = new Pair("shm"); MemoryRegion region = pair.domain.allocate(8, Access.WRITE)) {
            assertThatIllegalStateException().isThrownBy(pair.fabric::close).withMessageContaining("Domain shm of shm");
            assertThatIllegalStateException().isThrownBy(pair.domain::close)
                    .withMessageContaining("Endpoint RDM of shm").withMessageContaining("CompletionQueue of shm")
                    .withMessageContaining("AddressVector of shm").withMessageContaining(region.toString());
            assertThatIllegalStateException().isThrownBy(pair.queue::close).withMessageContaining("Endpoint RDM");
            assertThatIllegalStateException().isThrownBy(pair.vector::close).withMessageContaining("Endpoint RDM");
        }
    }

    /**
     * A provider copies as many bytes of its addresses as such an info says: libfabric 2.1 aborted, 1.17 wrote behind
     * its memory.
     */
    @Test
    void anInfoOfAnotherProviderOpensNothing() {
        FabricInfo other = TestProviders.info(FabricHints.rma().provider("shm").source("a".repeat(200), null));
        FabricInfo otherConnected = TestProviders.info(TestProviders.connectedHints("tcp"));
        try (Pair pair = new Pair("sockets")) {
            assertThatIllegalArgumentException().isThrownBy(() -> pair.fabric.openDomain(other))
                    .withMessageContaining("provider shm").withMessageContaining("provider sockets");
            assertThatIllegalArgumentException().isThrownBy(() -> pair.domain.openEndpoint(other))
                    .withMessageContaining("provider shm").withMessageContaining("provider sockets");
            assertThatIllegalArgumentException().isThrownBy(() -> pair.fabric.openPassiveEndpoint(otherConnected))
                    .withMessageContaining("provider tcp").withMessageContaining("provider sockets");
        }
    }

    private static FabricInfo ownedByQueue(String provider) {
        return TestProviders.info(TestProviders.hints(provider).threading(ThreadingModel.COMPLETION));
    }

    /**
     * tcp of libfabric 2.1 keeps what COMPLETION needs in the domain, and ends the process where the endpoint's info
     * says SAFE.
     */
    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void anEndpointHasTheModelsOfItsDomain(String provider) {
        FabricInfo owned = ownedByQueue(provider);
        assumeThat(owned.domain().threading()).as("ofi_rxm answers SAFE").isEqualTo(ThreadingModel.COMPLETION);
        try (Fabric fabric = Libfabric.load().openFabric(owned); Domain domain = fabric.openDomain()) {
            assertThatIllegalArgumentException().isThrownBy(() -> domain.openEndpoint(TestProviders.info(provider)))
                    .withMessageContaining("threading SAFE").withMessageContaining("threading COMPLETION");
        }
    }

    @Test
    void useAfterCloseIsRefused() {
        Pair pair = new Pair("shm");
        MemoryRegion region = pair.domain.allocate(8, Access.WRITE, Access.REMOTE_WRITE);
        RemoteRegion remote = region.remote();
        Rma rma = pair.rma();
        region.close();
        assertThatIllegalStateException().isThrownBy(() -> rma.tryWrite(region, 0, 8, pair.far, remote, 0, 1))
                .withMessageContaining("closed");
        assertThatIllegalStateException().isThrownBy(() -> region.segment().get(ValueLayout.JAVA_BYTE, 0));

        MemoryRegion open = pair.domain.allocate(8, Access.WRITE);
        pair.endpoint.close();
        assertThatIllegalStateException().isThrownBy(() -> rma.tryWrite(open, 0, 8, pair.far, remote, 0, 1))
                .withMessageContaining("Endpoint RDM of shm is closed");
        assertThatIllegalStateException().isThrownBy(() -> rma.tryInjectWrite(open, 0, 8, pair.far, remote, 0))
                .withMessageContaining("Endpoint RDM of shm is closed");
        assertThatIllegalStateException().isThrownBy(pair.endpoint::rma).withMessageContaining("closed");
        open.close();
        pair.close();
        assertThatIllegalStateException().isThrownBy(() -> pair.queue.poll((t, f, l, d) -> {}, 1))
                .withMessageContaining("closed");
        assertThatIllegalStateException().isThrownBy(() -> pair.vector.insert(pair.farEndpoint.address()));
        assertThatIllegalStateException().isThrownBy(() -> pair.domain.allocate(8, Access.WRITE));
        assertThatIllegalStateException().isThrownBy(pair.fabric::openDomain);
    }

    @Test
    void anEndpointNeedsItsQueueAndVectorBeforeItIsEnabled() {
        try (Fabric fabric = Libfabric.load().openFabric(TestProviders.info("shm"));
                Domain domain = fabric.openDomain();
                CompletionQueue queue = domain.openCompletionQueue();
                AddressVector vector = domain.openAddressVector();
                Endpoint endpoint = domain.openEndpoint()) {
            assertThatIllegalStateException().isThrownBy(endpoint::enable).withMessageContaining("address vector");
            endpoint.bind(vector);
            assertThatIllegalStateException().isThrownBy(endpoint::enable).withMessageContaining("completion queue");
            assertThatIllegalStateException().isThrownBy(endpoint::address).withMessageContaining("enable");
            assertThatIllegalStateException().isThrownBy(endpoint::rma).withMessageContaining("enable");
            endpoint.bind(queue, Direction.TRANSMIT); // one direction is enough, see CountersOnlyTest
            endpoint.bind(queue, Direction.RECEIVE);
            endpoint.enable();
            assertThatIllegalStateException().isThrownBy(endpoint::enable).withMessageContaining("enabled already");
            assertThatIllegalStateException().isThrownBy(() -> endpoint.bind(queue)).withMessageContaining("enabled");
            assertThat(endpoint.rma()).isSameAs(endpoint.rma());
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void anEndpointThatIsNotEnabledIsInNobodysWay(String provider) {
        try (Pair pair = new Pair(provider);
                MemoryRegion source = pair.domain.allocate(8, Access.WRITE);
                MemoryRegion target = pair.domain.allocate(8, Access.REMOTE_WRITE);
                Endpoint unbound = pair.domain.openEndpoint();
                Endpoint bound = pair.domain.openEndpoint().bind(pair.vector).bind(pair.queue)) {
            Peer again = pair.vector.insert(pair.farEndpoint.address());
            pair.rma().write(source.slice(0, 8), again, target.remote(), 1);
            pair.awaitToken(1);

            assertThatIllegalStateException().isThrownBy(unbound::address);
            assertThatIllegalStateException().isThrownBy(bound::address);
        }
    }

    @Test
    void whatIsClosedIsNotBound() {
        try (Pair pair = new Pair("tcp;ofi_rxm"); Endpoint endpoint = pair.domain.openEndpoint()) {
            CompletionQueue queue = pair.domain.openCompletionQueue();
            AddressVector vector = pair.domain.openAddressVector();
            queue.close();
            vector.close();

            assertThatIllegalStateException().isThrownBy(() -> endpoint.bind(queue)).withMessageContaining("closed");
            assertThatIllegalStateException().isThrownBy(() -> endpoint.bind(vector)).withMessageContaining("closed");
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void anAddressMayBeInsertedAndRemovedManyTimes(String provider) {
        try (Pair pair = new Pair(provider);
                MemoryRegion source = pair.domain.allocate(8, Access.WRITE);
                MemoryRegion target = pair.domain.allocate(8, Access.REMOTE_WRITE)) {
            for (int i = 0; i < 5; i++) {
                Peer one = pair.vector.insert(pair.farEndpoint.address());
                Peer two = pair.vector.insert(pair.farEndpoint.address());
                pair.vector.remove(one);
                pair.rma().write(source.slice(0, 8), two, target.remote(), i);
                pair.awaitToken(i);
                pair.vector.remove(two);
            }
            pair.rma().write(source.slice(0, 8), pair.far, target.remote(), 9);
            pair.awaitToken(9);
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void closingAnEndpointCompletesEveryTokenExactlyOnce(String provider) {
        try (Pair pair = new Pair(provider);
                MemoryRegion source = pair.domain.allocate(LARGE, Access.WRITE);
                MemoryRegion target = pair.domain.allocate(LARGE, Access.REMOTE_WRITE)) {
            long length = Math.min(LARGE, pair.rma().maximumMessageSize());
            pair.rma().write(source.slice(0, 8), pair.far, target.remote(), 9); // connects
            pair.awaitToken(9);
            pair.completed.clear();
            List<Long> posted = new ArrayList<>();
            for (long token = 1; token <= 8; token++) {
                // The far side never polls, so on most providers operations stay in flight.
                if (pair.rma().tryWrite(source, 0, length, pair.far, target.remote(), 0, token)) { posted.add(token); }
            }
            assertThat(posted).isNotEmpty();
            pair.endpoint.close();
            pair.awaitCompletions(posted.size());
            pair.poll();

            List<Long> back = new ArrayList<>(pair.completed);
            pair.errors.forEach(error -> {
                assertThat(error.errno()).as(error.toString()).isEqualTo(125);
                back.add(error.token());
            });
            assertThat(back).containsExactlyInAnyOrderElementsOf(posted);
            assertThat(pair.queue.operationsInFlight()).isZero();
        }
    }

    @Test
    void anShmPeerOfThisProcessThatIsClosedIsRefusedNotReached() {
        try (Pair pair = new Pair("shm");
                MemoryRegion source = pair.domain.allocate(8, Access.WRITE);
                MemoryRegion target = pair.domain.allocate(8, Access.REMOTE_WRITE)) {
            EndpointAddress address = pair.farEndpoint.address();
            pair.rma().write(source.slice(0, 8), pair.far, target.remote(), 1);
            pair.awaitToken(1);

            pair.farEndpoint.close();

            assertThatIllegalStateException()
                    .isThrownBy(() -> pair.rma().tryWrite(source, 0, 8, pair.far, target.remote(), 0, 2))
                    .withMessageContaining("its endpoint in this process is closed");
            if (Libfabric.load().version().major() < 2) { // 2.x takes an absent peer, which may come
                assertThatThrownBy(() -> pair.vector.insert(address)).isInstanceOf(FabricException.class)
                        .hasMessageContaining("not there");
            }
            try (Endpoint another = pair.domain.openEndpoint().bind(pair.vector).bind(pair.farQueue).enable()) {
                Peer peer = pair.vector.insert(another.address());
                pair.rma().write(source.slice(0, 8), peer, target.remote(), 3);
                pair.awaitToken(3);
            }
        }
    }

    @Test
    void aRegionWithOperationsInFlightClosesWhenTheyHaveCompleted() {
        try (Pair pair = new Pair("tcp;ofi_rxm");
                MemoryRegion target = pair.domain.allocate(LARGE, Access.REMOTE_WRITE)) {
            MemoryRegion source = pair.domain.allocate(LARGE, Access.WRITE);
            pair.rma().write(source.slice(0, LARGE), pair.far, target.remote(), 7);
            assertThat(source.operationsInFlight()).isEqualTo(1);

            source.close();

            assertThat(source.isOpen()).isFalse();
            assertThat(source.segment().scope().isAlive()).as("memory that a provider may still read").isTrue();
            assertThatIllegalStateException()
                    .isThrownBy(() -> pair.rma().tryWrite(source, 0, 8, pair.far, target.remote(), 0, 8));
            assertThatIllegalStateException().isThrownBy(pair.domain::close)
                    .withMessageContaining("closing, operations in flight");
            assertThatThrownBy(() -> source.close(Duration.ofMillis(50))).isInstanceOf(FabricTimeoutException.class)
                    .hasMessageContaining("still in flight");
            pair.awaitToken(7);
            assertThat(source.segment().scope().isAlive()).isFalse();
            source.close(Duration.ofMillis(50));
        }
    }

    @Test
    void aRegionWhoseEndpointIsClosedIsFreed() {
        try (Pair pair = new Pair("tcp;ofi_rxm");
                MemoryRegion target = pair.domain.allocate(LARGE, Access.REMOTE_WRITE)) {
            MemoryRegion source = pair.domain.allocate(LARGE, Access.WRITE);
            pair.rma().write(source.slice(0, LARGE), pair.far, target.remote(), 7);
            source.close();
            assertThat(source.segment().scope().isAlive()).isTrue();

            pair.endpoint.close();

            assertThat(source.segment().scope().isAlive()).isFalse();
        }
    }

    @Test
    void memoryOfTheCallersStaysTheCallers() {
        try (Pair pair = new Pair("shm"); Arena arena = Arena.ofShared()) {
            MemoryRegion region = pair.domain.register(arena.allocate(64), Access.WRITE);
            region.close();

            assertThat(region.segment().get(ValueLayout.JAVA_BYTE, 0)).isZero();
        }
    }

    @Test
    void memoryWhoseArenaIsClosedIsNotHandedToTheProvider() {
        try (Pair pair = new Pair("shm"); MemoryRegion target = pair.domain.allocate(64, Access.REMOTE_WRITE)) {
            Arena arena = Arena.ofShared();
            try (MemoryRegion region = pair.domain.register(arena.allocate(64), Access.WRITE)) {
                arena.close();

                assertThatIllegalStateException()
                        .isThrownBy(() -> pair.rma().tryWrite(region, 0, 8, pair.far, target.remote(), 0, 1))
                        .withMessageContaining("arena");
            }
        }
    }
}
