package io.ofi4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ofi4j.info.Capability;
import io.ofi4j.info.CompletionFormat;
import io.ofi4j.info.CompletionQueueAttributes;
import io.ofi4j.info.OperationFlag;
import io.ofi4j.internal.os.Errno;
import io.ofi4j.support.ForEachProvider;
import io.ofi4j.support.Mailbox;
import io.ofi4j.support.Pair;
import io.ofi4j.support.ProviderFault;
import io.ofi4j.support.TestProviders;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Messages between posted sends and receives, over every provider, connected or not. */
@Timeout(600)
class MessagesTest {
    private static final String EVERY = "io.ofi4j.support.TestProviders#transfers";
    private static final int RECEIVED = 7;
    private static final int SENT = 5;

    static Stream<Arguments> sizes() {
        return TestProviders.transfers().flatMap(
                provider -> Stream.of(0, 1, 8, 4096, 65_536, 1 << 20).map(size -> Arguments.of(provider, size)));
    }

    private static Mailbox open(String provider) { return new Mailbox(provider, Capability.MSG, Capability.RMA); }

    @ForEachProvider
    @MethodSource("sizes")
    void aMessageArrivesWholeInThePostedReceive(String provider, int size) {
        try (Mailbox box = open(provider)) {
            box.write(size, size);
            box.pair.farEndpoint.messages().receive(box.far.slice(0, Mailbox.LENGTH), RECEIVED);
            box.pair.endpoint.messages().send(box.near.slice(0, size), box.pair.far, SENT);
            box.await(1, 1);

            assertThat(box.nearDone.tokens()).containsExactly((long) SENT);
            assertThat(box.farDone.done).singleElement().satisfies(done -> assertThat(done.token()).isEqualTo(RECEIVED))
                    .satisfies(done -> assertThat(done.length()).isEqualTo(size));
            assertThat(box.hasArrived(size)).isTrue();
        }
    }

    static Stream<Arguments> bodies() {
        return TestProviders.transfers()
                .flatMap(provider -> Stream.of(0, 1, 1000, 65_536, 1 << 20).map(size -> Arguments.of(provider, size)));
    }

    @ForEachProvider
    @MethodSource("bodies")
    void aHeaderAndABodyArriveAsOneMessage(String provider, int size) {
        int header = 24;
        try (Mailbox box = open(provider); MemoryRegion body = box.pair.domain.allocate(Mailbox.LENGTH, Access.SEND)) {
            box.write(header + size, size); // what the far end must have
            MemorySegment.copy(box.near.segment(), header, body.segment(), 100, size);
            box.near.segment().asSlice(header, size).fill((byte) 9);
            box.pair.farEndpoint.messages().receive(box.far.slice(0, Mailbox.LENGTH), RECEIVED);
            box.pair.endpoint.messages().send(box.near.slice(0, header), body.slice(100, size), box.pair.far, SENT);
            box.await(1, 1);
            MemorySegment.copy(body.segment(), 100, box.near.segment(), header, size);

            assertThat(box.nearDone.tokens()).containsExactly((long) SENT);
            assertThat(box.farDone.done.getFirst().length()).isEqualTo(header + size);
            assertThat(box.hasArrived(header + size)).isTrue();
        }
    }

    @ForEachProvider
    @MethodSource(EVERY)
    void theRegionsOfAHeaderAndABodyStayUntilTheMessageIsSent(String provider) {
        try (Mailbox box = open(provider)) {
            MemoryRegion header = box.pair.domain.allocate(8, Access.SEND);
            MemoryRegion body = box.pair.domain.allocate(8, Access.SEND);
            box.pair.farEndpoint.messages().receive(box.far.slice(0, 64), RECEIVED);
            box.pair.endpoint.messages().send(header.slice(0, 8), body.slice(0, 8), box.pair.far, SENT);
            assertThat(header.operationsInFlight()).isEqualTo(1);
            assertThat(body.operationsInFlight()).isEqualTo(1);
            box.await(1, 1);

            assertThat(header.operationsInFlight()).isZero();
            assertThat(body.operationsInFlight()).isZero();
            header.close();
            body.close();
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void anEndpointSendsToItself(String provider) {
        try (Mailbox box = open(provider)) {
            Messages messages = box.pair.endpoint.messages();
            box.write(1000, 1);
            messages.receive(box.near.slice(2000, 1000), RECEIVED);
            messages.send(box.near.slice(0, 1000), box.back, SENT);
            box.await(2, 0);

            assertThat(box.nearDone.tokens()).containsExactlyInAnyOrder((long) SENT, (long) RECEIVED);
            assertThat(box.near.segment().asSlice(2000, 1000).mismatch(box.near.segment().asSlice(0, 1000)))
                    .isEqualTo(-1);
        }
    }

    @ForEachProvider
    @MethodSource(EVERY)
    void aMessageThatComesBeforeItsReceiveWaits(String provider) {
        try (Mailbox box = open(provider)) {
            box.write(1000, 1);
            box.pair.endpoint.messages().send(box.near.slice(0, 1000), box.pair.far, SENT);
            for (int i = 0; i < 1000; i++) {
                box.poll();
            }
            box.pair.farEndpoint.messages().receive(box.far.slice(0, 1000), RECEIVED);
            box.await(1, 1);

            assertThat(box.farDone.done.getFirst().length()).isEqualTo(1000);
            assertThat(box.hasArrived(1000)).isTrue();
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void receivesOfClosedEndpointsGiveTheirPlacesBack(String provider) {
        try (Pair pair = new Pair(TestProviders.hints(provider).capabilities(Capability.MSG, Capability.RMA),
                CompletionQueueAttributes.defaults().size(64));
                MemoryRegion region = pair.domain.allocate(64, Access.RECEIVE)) {
            for (int round = 0; round < 20; round++) {
                try (Endpoint endpoint = pair.domain.openEndpoint().bind(pair.vector).bind(pair.queue).enable()) {
                    for (int token = 0; token < 16; token++) {
                        endpoint.messages().receive(region.slice(0, 64), token);
                    }
                }
                int expected = (round + 1) * 16;
                Waiting.YIELD.until(() -> {
                    pair.poll();
                    return pair.errors.size() == expected;
                }, Pair.DEADLINE);
            }
            assertThat(pair.errors).allSatisfy(error -> assertThat(error.errno()).isEqualTo(Errno.ECANCELED));
        }
    }

    @ForEachProvider
    @MethodSource(EVERY)
    void anInjectedMessageCompletesAtTheReceiverOnly(String provider) {
        try (Mailbox box = open(provider)) {
            Messages messages = box.pair.endpoint.messages();
            long size = Math.min(messages.injectSize(), 64);
            box.write(size, 2);
            box.pair.farEndpoint.messages().receive(box.far.slice(0, 4096), RECEIVED);
            messages.inject(box.near.slice(0, size), box.pair.far);
            box.near.segment().asSlice(size, 64).fill((byte) 9);
            box.await(0, 1);

            assertThat(box.hasArrived(size)).isTrue();
            assertThat(box.nearDone.done).isEmpty();
        }
    }

    @ForEachProvider
    @MethodSource(EVERY)
    void dataComesWithAMessageToAnEarlierReceive(String provider) {
        try (Mailbox box = open(provider)) {
            Messages messages = box.pair.endpoint.messages();
            box.pair.farEndpoint.messages().receive(box.far.slice(0, 4096), RECEIVED);
            box.pair.farEndpoint.messages().receive(box.far.slice(0, 4096), RECEIVED);
            messages.sendData(box.near.slice(0, 8), 0x1234, box.pair.far, SENT);
            messages.injectData(box.near.slice(0, 8), 0x5678, box.pair.far);
            box.await(1, 2);

            assertThat(box.farDone.done).extracting(Mailbox.Done::data).containsExactly(0x1234L, 0x5678L);
            assertThat(box.farDone.done).allMatch(done -> (done.flags() & OperationFlag.REMOTE_CQ_DATA.bit()) != 0);
        }
    }

    /** The flag may be missing with one provider, but not the data. */
    @ForEachProvider
    @MethodSource(EVERY)
    void dataComesWithAMessageThatWaitsForItsReceive(String provider) {
        try (Mailbox box = open(provider)) {
            Messages messages = box.pair.endpoint.messages();
            for (int i = 1; i <= 300; i++) {
                long data = 0x1234_5678L * i & 0xffff_ffffL;
                messages.sendData(box.near.slice(0, i % 3 == 0 ? 0 : 8), data, box.pair.far, SENT);
                if (i % 2 == 0) { box.poll(); }
                box.pair.farEndpoint.messages().receive(box.far.slice(0, 4096), RECEIVED);
                box.await(i, i);
                Mailbox.Done last = box.farDone.done.getLast();
                assertThat(last.data()).isEqualTo(data);
                if (!ProviderFault.MESSAGE_DATA_UNFLAGGED.isOf(provider)) {
                    assertThat(last.flags() & OperationFlag.REMOTE_CQ_DATA.bit()).isNotZero();
                }
            }
        }
    }

    @ForEachProvider
    @MethodSource(EVERY)
    void aMessageIsGatheredFromSegmentsAndScatteredOverOthers(String provider) {
        try (Mailbox box = open(provider)) {
            box.write(96, 3);
            PreparedMessage receive = box.pair.farEndpoint.messages().prepare().local(box.far, 32, 64).local(box.far, 0,
                    32);
            PreparedMessage send = box.pair.endpoint.messages().prepare().peer(box.pair.far).local(box.near, 32, 64)
                    .local(box.near, 0, 32);
            receive.receive(RECEIVED);
            send.send(SENT);
            box.await(1, 1);
            assertThat(box.hasArrived(96)).isTrue();

            box.far.segment().fill((byte) 0);
            receive.flags(OperationFlag.COMPLETION).receive(RECEIVED);
            send.flags(OperationFlag.COMPLETION).send(SENT);
            box.await(2, 2);
            assertThat(box.hasArrived(96)).isTrue();
            assertThat(box.farDone.done).extracting(Mailbox.Done::length).containsExactly(96L, 96L);
        }
    }

    @ForEachProvider
    @MethodSource(EVERY)
    void messagesToOnePeerKeepTheirOrder(String provider) {
        int count = 1000;
        int window = 16;
        try (Mailbox box = open(provider)) {
            Messages receiver = box.pair.farEndpoint.messages();
            Messages sender = box.pair.endpoint.messages();
            for (int i = 0; i < window; i++) {
                receiver.receive(box.far.slice(i * 8L, 8), i);
            }
            for (int i = 0; i < count; i++) {
                box.near.segment().set(ValueLayout.JAVA_LONG, 8L * (i % window), i);
                sender.send(box.near.slice(8L * (i % window), 8), box.pair.far, i);
                if (i % window == window - 1 || i == count - 1) {
                    box.await(i + 1, i + 1);
                    for (int k = i - i % window; k <= i; k++) {
                        assertThat(box.far.segment().get(ValueLayout.JAVA_LONG, 8L * (k % window))).isEqualTo(k);
                        receiver.receive(box.far.slice(8L * (k % window), 8), k % window);
                    }
                }
            }
            assertThat(box.farDone.tokens())
                    .containsExactlyElementsOf(LongStream.range(0, count).mapToObj(i -> i % window).toList());
        }
    }

    @ForEachProvider
    @MethodSource(EVERY)
    void aCanceledReceiveComesBackOnce(String provider) {
        try (Mailbox box = open(provider)) {
            Messages receiver = box.pair.farEndpoint.messages();
            receiver.receive(box.far.slice(0, 8), RECEIVED);
            if (provider.equals("MSG verbs")) {
                assertThatThrownBy(() -> receiver.cancel(RECEIVED)).isInstanceOf(UnsupportedOperationException.class)
                        .hasMessageContaining("fi_cancel");
                return;
            }
            receiver.cancel(RECEIVED);
            box.await(0, 1);

            assertThat(box.farDone.errors).singleElement()
                    .satisfies(error -> assertThat(error.errno()).isEqualTo(Errno.ECANCELED))
                    .satisfies(error -> assertThat(error.token()).isEqualTo(RECEIVED));
            assertThatIllegalArgumentException().isThrownBy(() -> receiver.cancel(RECEIVED))
                    .withMessageContaining("token " + RECEIVED);
            assertThat(box.pair.farQueue.operationsInFlight()).isZero();
        }
    }

    @ForEachProvider
    @MethodSource(EVERY)
    void everyReceiveComesBackWhenItsEndpointCloses(String provider) {
        try (Mailbox box = open(provider)) {
            for (int i = 0; i < 10; i++) {
                box.pair.farEndpoint.messages().receive(box.far.slice(8 * i, 8), i);
            }
            box.pair.farEndpoint.close();
            box.await(0, 10);

            assertThat(box.farDone.errors).extracting(CompletionError::token)
                    .containsExactlyInAnyOrderElementsOf(LongStream.range(0, 10).boxed().toList());
            assertThat(box.farDone.errors).extracting(CompletionError::errno).containsOnly(Errno.ECANCELED);
        }
    }

    @ForEachProvider
    @MethodSource(EVERY)
    void aReceiveTooManyFindsNoRoom(String provider) {
        try (Mailbox box = open(provider)) {
            Messages receiver = box.pair.farEndpoint.messages();
            int posted = 0;
            while (posted <= box.pair.farQueue.size() && receiver.tryReceive(box.far, 0, 8, posted)) {
                posted++;
            }
            assertThat(posted).isPositive().isLessThanOrEqualTo(box.pair.farQueue.size());
            box.pair.endpoint.messages().send(box.near.slice(0, 8), box.pair.far, SENT);
            box.await(1, 1);
            assertThat(receiver.tryReceive(box.far, 0, 8, posted)).isTrue();
        }
    }

    @ForEachProvider
    @MethodSource(EVERY)
    void aRegionIsNotFreedUnderAPostedReceive(String provider) {
        try (Mailbox box = open(provider)) {
            MemoryRegion other = box.pair.domain.allocate(64, Access.RECEIVE);
            Messages receiver = box.pair.farEndpoint.messages();
            receiver.receive(other.slice(0, 64), RECEIVED);
            other.close();
            assertThat(box.pair.farQueue.inFlight(other)).isOne();
            assertThatIllegalStateException().isThrownBy(() -> receiver.receive(other.slice(0, 64), RECEIVED))
                    .withMessageContaining("closing");

            box.pair.endpoint.messages().send(box.near.slice(0, 8), box.pair.far, SENT);
            box.await(1, 1);
            assertThat(box.farDone.tokens()).containsExactly((long) RECEIVED);
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void aCompletionNamesTheSenderWhereThatIsAskedFor(String provider) {
        try (Mailbox box = new Mailbox(provider, Capability.MSG, Capability.RMA, Capability.SOURCE)) {
            box.pair.farEndpoint.messages().receive(box.far.slice(0, 8), RECEIVED);
            box.pair.endpoint.messages().send(box.near.slice(0, 8), box.pair.far, SENT);
            box.await(1, 1);

            long source = box.farDone.done.getFirst().source();
            if (box.back.entry.isRespelled) { // shm of 2.6, within one process
                assertThat(source).isEqualTo(Peer.ADDRESS_NOT_AVAILABLE);
            } else if (!provider.endsWith("ofi_rxd")) { // which always says 0
                assertThat(source).isEqualTo(box.back.fabricAddress());
            }
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void aReceiveFromOnePeerLeavesTheMessagesOfOthersOrIsRefused(String provider) {
        try (Mailbox box = new Mailbox(provider, Capability.MSG, Capability.RMA, Capability.DIRECTED_RECV);
                Endpoint third = box.pair.domain.openEndpoint().bind(box.pair.vector).bind(box.pair.queue).enable()) {
            Messages receiver = box.pair.farEndpoint.messages();
            Peer peer = box.pair.vector.insert(third.address());
            if (ProviderFault.anyOf(provider, ProviderFault.DIRECTED_RECEIVES_IGNORED,
                    ProviderFault.DIRECTED_RECEIVES_CRASH)) {
                assertThatThrownBy(() -> receiver.receive(box.far.slice(0, 8), peer, 1))
                        .isInstanceOf(UnsupportedOperationException.class)
                        .hasMessageContaining("receive with tags from one");
                return;
            }
            receiver.receive(box.far.slice(0, 8), peer, 1);
            receiver.receive(box.far.slice(8, 8), box.back, 2);
            box.pair.endpoint.messages().send(box.near.slice(0, 8), box.pair.far, SENT);
            box.await(1, 1);
            assertThat(box.farDone.tokens()).containsExactly(2L);
            third.messages().send(box.near.slice(0, 8), box.pair.far, SENT);
            box.await(2, 2);
            assertThat(box.farDone.tokens()).containsExactly(2L, 1L);
        }
    }

    @ForEachProvider
    @MethodSource(EVERY)
    void misuseIsNamedBeforeNativeCodeIsReached(String provider) {
        try (Mailbox box = open(provider);
                MemoryRegion writer = box.pair.domain.allocate(64, Access.WRITE);
                Pair other = new Pair(provider);
                MemoryRegion foreign = other.domain.allocate(64, Access.SEND, Access.RECEIVE)) {
            Messages messages = box.pair.endpoint.messages();
            Peer far = box.pair.far;
            assertThatIllegalArgumentException().isThrownBy(() -> messages.trySend(writer, 0, 8, far, 1))
                    .withMessageContaining("lacks [SEND]");
            assertThatIllegalArgumentException().isThrownBy(() -> messages.tryReceive(writer, 0, 8, 1))
                    .withMessageContaining("lacks [RECEIVE]");
            assertThatIllegalArgumentException().isThrownBy(() -> messages.trySend(foreign, 0, 8, far, 1))
                    .withMessageContaining("another domain");
            assertThatIllegalArgumentException().isThrownBy(() -> messages.tryReceive(foreign, 0, 8, 1))
                    .withMessageContaining("another domain");
            assertThatIllegalArgumentException().isThrownBy(() -> messages.trySend(box.near, 0, 8, other.far, 1));
            assertThatThrownBy(() -> messages.trySend(box.near, Mailbox.LENGTH - 4, 8, far, 1))
                    .isInstanceOf(IndexOutOfBoundsException.class).hasMessageContaining("not inside");
            assertThatThrownBy(() -> messages.tryReceive(box.near, -1, 8, 1))
                    .isInstanceOf(IndexOutOfBoundsException.class);
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> messages.tryInject(box.near, 0, messages.injectSize() + 1, far))
                    .withMessageContaining("an inject");
            assertThatIllegalStateException().isThrownBy(() -> messages.prepare().local(box.near, 0, 8).send(1))
                    .withMessageContaining("no peer");
            assertThatIllegalStateException().isThrownBy(() -> messages.prepare().tag(1))
                    .withMessageContaining("Tagged.prepare()");
            assertThatThrownBy(() -> box.pair.endpoint.tagged()).isInstanceOf(UnsupportedOperationException.class)
                    .hasMessageContaining("Capability.TAGGED");
            assertThat(box.pair.queue.operationsInFlight()).isZero();
            box.pair.endpoint.close();
            assertThatIllegalStateException().isThrownBy(() -> messages.tryReceive(box.near, 0, 8, 1))
                    .withMessageContaining("closed");
            assertThatIllegalStateException().isThrownBy(() -> messages.trySend(box.near, 0, 8, far, 1))
                    .withMessageContaining("closed");
            assertThatIllegalStateException().isThrownBy(() -> messages.cancel(1)).withMessageContaining("closed");
        }
    }

    @Test
    void anEndpointWithoutTheCapabilityHasNoMessages() {
        try (Pair pair = new Pair("shm")) {
            assertThatThrownBy(pair.endpoint::messages).isInstanceOf(UnsupportedOperationException.class)
                    .hasMessageContaining("Capability.MSG").hasMessageContaining("FabricHints");
        }
    }

    @ForEachProvider
    @MethodSource(EVERY)
    void theFormatOfCompletionsDoesNotMatter(String provider) {
        for (CompletionFormat format : List.of(CompletionFormat.CONTEXT, CompletionFormat.MESSAGE,
                CompletionFormat.DATA)) {
            try (Pair pair = new Pair(TestProviders.hints(provider).capabilities(Capability.MSG, Capability.RMA),
                    CompletionQueueAttributes.defaults().format(format));
                    MemoryRegion region = pair.domain.allocate(64, Access.SEND, Access.RECEIVE)) {
                pair.farEndpoint.messages().receive(region.slice(32, 8), RECEIVED);
                pair.endpoint.messages().send(region.slice(0, 8), pair.far, SENT);
                pair.awaitToken(SENT);
            }
        }
    }
}
