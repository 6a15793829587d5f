package io.ofi4j;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ofi4j.info.AddressVectorAttributes;
import io.ofi4j.info.AttributeHints;
import io.ofi4j.info.Capability;
import io.ofi4j.info.EndpointAddress;
import io.ofi4j.info.EndpointOption;
import io.ofi4j.info.FabricHints;
import io.ofi4j.info.Limit;
import io.ofi4j.info.ProgressModel;
import io.ofi4j.internal.os.Errno;
import io.ofi4j.support.ForEachProvider;
import io.ofi4j.support.Pair;
import io.ofi4j.support.TestProviders;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.provider.MethodSource;

/** Endpoints of several contexts: fi_scalable_ep, fi_tx_context, fi_rx_context and fi_rx_addr. */
@Timeout(600)
class ScalableEndpointTest {
    private static final int CONTEXTS = 4;
    private static final int BITS = 4;
    private static final int LENGTH = 64;
    private static final FabricHints HINTS = TestProviders.hints("sockets")
            .capabilities(Capability.MSG, Capability.TAGGED, Capability.RMA, Capability.NAMED_RX_CTX)
            .attributes(AttributeHints.none().atLeast(Limit.TRANSMIT_CONTEXTS, CONTEXTS).atLeast(Limit.RECEIVE_CONTEXTS,
                    CONTEXTS));

    /** Two scalable endpoints, each context with a queue of its own. */
    private static final class World implements AutoCloseable {
        final Fabric fabric = Libfabric.load().openFabric(TestProviders.info(HINTS));
        final Domain domain = fabric.openDomain();
        final AddressVector vector = domain
                .openAddressVector(AddressVectorAttributes.defaults().receiveContextBits(BITS));
        final MemoryRegion region = domain.allocate(CONTEXTS * LENGTH, Access.SEND, Access.RECEIVE, Access.WRITE,
                Access.REMOTE_WRITE);
        final ScalableEndpoint here = domain.openScalableEndpoint().bind(vector);
        final ScalableEndpoint there = domain.openScalableEndpoint().bind(vector);
        final List<CompletionQueue> queues = new ArrayList<>();
        final List<Endpoint> transmits = new ArrayList<>();
        final List<Endpoint> receives = new ArrayList<>();
        final List<Long> sent = new ArrayList<>();
        final List<Long> received = new ArrayList<>();
        final List<CompletionError> errors = new ArrayList<>();
        final Peer peer;

        World() {
            for (int i = 0; i < CONTEXTS; i++) {
                transmits.add(here.openTransmitContext(i).bind(queue()).enable());
                receives.add(there.openReceiveContext(i).bind(queue()).enable());
            }
            here.enable();
            there.enable();
            peer = vector.insert(there.address());
        }

        private CompletionQueue queue() {
            queues.add(domain.openCompletionQueue());
            return queues.getLast();
        }

        void poll() {
            for (int i = 0; i < queues.size(); i++) {
                List<Long> tokens = i % 2 == 0 ? sent : received;
                queues.get(i).poll(new CompletionHandler() {
                    @Override
                    public void onCompletion(long token, long flags, long length, long data) { tokens.add(token); }

                    @Override
                    public void onError(CompletionError error) { errors.add(error); }
                }, 64);
            }
        }

        void await(int sends, int receptions) {
            boolean done = Waiting.YIELD.tryUntil(() -> {
                poll();
                return sent.size() >= sends && received.size() >= receptions;
            }, Pair.DEADLINE);
            assertThat(done).as("sent " + sent + ", received " + received + ", failed " + errors).isTrue();
        }

        @Override
        public void close() {
            transmits.forEach(Endpoint::close);
            receives.forEach(Endpoint::close);
            here.close();
            there.close();
            vector.close();
            queues.forEach(CompletionQueue::close);
            region.close();
            domain.close();
            fabric.close();
        }
    }

    @Test
    void eachContextSendsToTheContextThatItNames() {
        try (World world = new World()) {
            int rounds = 5;
            for (int round = 0; round < rounds; round++) {
                for (int i = 0; i < CONTEXTS; i++) {
                    int index = (i + round) % CONTEXTS;
                    Peer context = world.vector.receiveContext(world.peer, index);
                    world.receives.get(index).messages().receive(world.region.slice(index * LENGTH, 8), index);
                    world.transmits.get(i).messages().inject(world.region.slice(0, 8), context);
                    world.await(0, round * CONTEXTS + i + 1);
                    assertThat(world.received.getLast()).isEqualTo(index);
                }
            }
            assertThat(world.errors).isEmpty();
        }
    }

    @Test
    void aPeerIsItsContextNumberZero() {
        try (World world = new World()) {
            world.region.segment().fill((byte) 7);
            world.receives.getFirst().tagged().receive(world.region.slice(LENGTH, LENGTH), 5, 0, 1);
            world.transmits.getLast().tagged().send(world.region.slice(0, LENGTH), world.peer, 5, 2);
            world.await(1, 1);
            assertThat(world.sent).containsExactly(2L);
            assertThat(world.received).containsExactly(1L);
        }
    }

    @Test
    void aTransmitContextWritesToAPeersMemory() {
        try (World world = new World()) {
            world.region.segment().set(JAVA_BYTE, 0, (byte) 3);
            world.transmits.get(1).rma().write(world.region.slice(0, 8), world.peer,
                    world.region.remote().slice(LENGTH, 8), 4);
            world.await(1, 0);
            Waiting.YIELD.until(() -> {
                world.poll();
                return world.region.segment().get(JAVA_BYTE, LENGTH) == 3;
            }, Pair.DEADLINE);
        }
    }

    @Test
    void receivesComeBackWhenTheirContextCloses() {
        try (World world = new World()) {
            for (int i = 0; i < 10; i++) {
                world.receives.get(1).messages().receive(world.region.slice(0, LENGTH), i);
            }
            world.receives.get(1).close();
            for (int i = 0; i < 20; i++) {
                world.poll();
            }
            assertThat(world.errors).hasSize(10).extracting(CompletionError::token).doesNotHaveDuplicates();
            assertThat(world.errors).extracting(CompletionError::errno).containsOnly(Errno.ECANCELED);
            assertThat(world.region.operationsInFlight()).isZero();
        }
    }

    @Test
    void whatAContextLacksIsRefusedByName() {
        try (World world = new World()) {
            Endpoint transmit = world.transmits.getFirst();
            Endpoint receive = world.receives.getFirst();
            assertThatThrownBy(() -> transmit.messages().receive(world.region.slice(0, 8), 1))
                    .isInstanceOf(UnsupportedOperationException.class).hasMessageContaining("receives nothing");
            assertThatThrownBy(() -> transmit.tagged().receive(world.region.slice(0, 8), 1, 0, 1))
                    .isInstanceOf(UnsupportedOperationException.class).hasMessageContaining("receives nothing");
            assertThatThrownBy(() -> receive.messages().send(world.region.slice(0, 8), world.peer, 1))
                    .isInstanceOf(UnsupportedOperationException.class).hasMessageContaining("only receives");
            assertThatThrownBy(() -> receive.messages().prepare().peer(world.peer).local(world.region, 0, 8).send(1))
                    .isInstanceOf(UnsupportedOperationException.class).hasMessageContaining("only receives");
            assertThatThrownBy(receive::rma).isInstanceOf(UnsupportedOperationException.class)
                    .hasMessageContaining("only receives");
            assertThatThrownBy(transmit::address).isInstanceOf(UnsupportedOperationException.class)
                    .hasMessageContaining("no address");
            assertThatThrownBy(() -> transmit.bind(world.vector)).isInstanceOf(UnsupportedOperationException.class)
                    .hasMessageContaining("no address vector");
        }
    }

    @Test
    void misuseOfScalableEndpointsIsRefused() {
        try (World world = new World(); ScalableEndpoint bare = world.domain.openScalableEndpoint()) {
            assertThatIllegalStateException().isThrownBy(() -> bare.openReceiveContext(0))
                    .withMessageContaining("bind an address vector");
            assertThatIllegalStateException().isThrownBy(bare::enable).withMessageContaining("bind an address vector");
            assertThatIllegalStateException().isThrownBy(bare::address).withMessageContaining("enable");
            assertThatIllegalStateException().isThrownBy(world.here::enable).withMessageContaining("enabled already");
            assertThatIllegalStateException().isThrownBy(() -> world.here.bind(world.vector))
                    .withMessageContaining("already has");
            assertThatIllegalStateException().isThrownBy(() -> world.here.openTransmitContext(0))
                    .withMessageContaining("is open");
            assertThatExceptionOfType(IndexOutOfBoundsException.class)
                    .isThrownBy(() -> world.here.openTransmitContext(1000));
            assertThatExceptionOfType(IndexOutOfBoundsException.class)
                    .isThrownBy(() -> world.here.openReceiveContext(-1));
            assertThatIllegalStateException().isThrownBy(world.here::close).withMessageContaining("close these before");
            assertThatIllegalStateException().isThrownBy(world.vector::close)
                    .withMessageContaining("Scalable endpoint");
            assertThatExceptionOfType(IndexOutOfBoundsException.class)
                    .isThrownBy(() -> world.vector.receiveContext(world.peer, 1 << BITS))
                    .withMessageContaining("receiveContextBits");
            Peer context = world.vector.receiveContext(world.peer, 1);
            assertThatIllegalArgumentException().isThrownBy(() -> world.vector.remove(context))
                    .withMessageContaining("remove that peer");
            world.vector.remove(world.peer);
            assertThatIllegalStateException()
                    .isThrownBy(() -> world.transmits.getFirst().messages().send(world.region.slice(0, 8), context, 1))
                    .withMessageContaining("removed");
        }
    }

    @Test
    void aContextOfAPeerIsTheSameEachTime() {
        try (World world = new World()) {
            Peer context = world.vector.receiveContext(world.peer, 1);

            assertThat(world.vector.receiveContext(world.peer, 1)).isSameAs(context);
            assertThat(world.vector.receiveContext(world.vector.receiveContext(world.peer, 0), 1)).isSameAs(context);
        }
    }

    @Test
    void theLongestMessageToAPeerIsThatToItsContexts() {
        try (World world = new World()) {
            Peer before = world.vector.receiveContext(world.peer, 0);
            world.peer.longestMessage(4);
            Peer after = world.vector.receiveContext(world.peer, 1);
            Messages messages = world.transmits.getFirst().messages();

            for (Peer context : List.of(before, after)) {
                assertThatIllegalArgumentException().isThrownBy(() -> messages.trySend(world.region, 0, 8, context, 1))
                        .withMessageContaining("at most 4 bytes");
            }
        }
    }

    @Test
    void aPeerIsInsertedBetweenTheCallsOnContexts() throws Exception {
        EndpointAddress stranger = EndpointAddress.of(new InetSocketAddress("127.0.0.1", 9));
        try (World world = new World(); ExecutorService other = Executors.newSingleThreadExecutor()) {
            world.queues.getLast().guard.enter(); // as in a call
            Future<Peer> inserted = other.submit(() -> world.vector.insert(stranger));
            assertThatThrownBy(() -> inserted.get(50, TimeUnit.MILLISECONDS)).isInstanceOf(TimeoutException.class);
            world.queues.getLast().guard.exit();

            assertThat(inserted.get(Pair.DEADLINE.toSeconds(), TimeUnit.SECONDS)).isNotNull();
        }
    }

    @Test
    void aTransmitContextHasNoOptions() {
        try (World world = new World()) {
            EndpointOptions options = world.transmits.getFirst().options();
            assertThatThrownBy(() -> options.set(EndpointOption.MINIMUM_MULTI_RECEIVE, 64L))
                    .isInstanceOf(UnsupportedOperationException.class).hasMessageContaining("no options");
            assertThatThrownBy(() -> options.get(EndpointOption.MINIMUM_MULTI_RECEIVE))
                    .isInstanceOf(UnsupportedOperationException.class).hasMessageContaining("no options");
        }
    }

    @Test
    void manualProgressIsRefused() {
        try (Fabric fabric = Libfabric.load().openFabric(TestProviders.info(HINTS.dataProgress(ProgressModel.MANUAL)));
                Domain domain = fabric.openDomain()) {
            assertThatThrownBy(domain::openScalableEndpoint).isInstanceOf(UnsupportedOperationException.class)
                    .hasMessageContaining("manual progress");
        }
    }

    @Test
    void aContextThatWasClosedIsOpenedAgainBeforeTheEndpointIsEnabled() {
        try (World world = new World(); ScalableEndpoint scalable = world.domain.openScalableEndpoint()) {
            scalable.bind(world.vector).openReceiveContext(1).close();

            assertThatIllegalStateException().isThrownBy(scalable::enable).withMessageContaining("Receive context 1");
            Endpoint again = scalable.openReceiveContext(1);
            scalable.enable();
            again.close();
        }
    }

    static Stream<String> lacking() { return TestProviders.transfers().filter(name -> !name.equals("sockets")); }

    @ForEachProvider
    @MethodSource("lacking")
    void aProviderWithoutScalableEndpointsIsNamed(String provider) {
        try (Pair pair = new Pair(provider)) {
            assertThatThrownBy(pair.domain::openScalableEndpoint).isInstanceOf(UnsupportedOperationException.class)
                    .hasMessageContaining("scalable endpoints");
        }
    }
}
