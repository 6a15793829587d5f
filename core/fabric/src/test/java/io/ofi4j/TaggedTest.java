package io.ofi4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ofi4j.errors.NoProviderException;
import io.ofi4j.info.Capability;
import io.ofi4j.info.PeekAction;
import io.ofi4j.internal.os.Errno;
import io.ofi4j.support.ForEachProvider;
import io.ofi4j.support.Mailbox;
import io.ofi4j.support.ProviderFault;
import io.ofi4j.support.TestProviders;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Messages that are matched by tags, over every provider that has them. */
@Timeout(600)
class TaggedTest {
    private static final String EVERY = "io.ofi4j.support.TestProviders#rma";
    private static final long TAG = 0x1234_5678L;
    private static final int RECEIVED = 7;
    private static final int SENT = 5;

    static Stream<Arguments> sizes() {
        return TestProviders.rma().flatMap(
                provider -> Stream.of(0, 1, 8, 4096, 65_536, 1 << 20).map(size -> Arguments.of(provider, size)));
    }

    private static Mailbox open(String provider) { return new Mailbox(provider, Capability.TAGGED, Capability.RMA); }

    @ForEachProvider
    @MethodSource("sizes")
    void aMessageArrivesWholeWithItsTag(String provider, int size) {
        try (Mailbox box = open(provider)) {
            box.write(size, size);
            box.pair.farEndpoint.tagged().receive(box.far.slice(0, Mailbox.LENGTH), TAG, 0, RECEIVED);
            box.pair.endpoint.tagged().send(box.near.slice(0, size), box.pair.far, TAG, SENT);
            box.await(1, 1);

            assertThat(box.nearDone.tokens()).containsExactly((long) SENT);
            assertThat(box.farDone.done).singleElement().satisfies(done -> assertThat(done.token()).isEqualTo(RECEIVED))
                    .satisfies(done -> assertThat(done.length()).isEqualTo(size))
                    .satisfies(done -> assertThat(done.tag()).isEqualTo(TAG));
            assertThat(box.hasArrived(size)).isTrue();
        }
    }

    @ForEachProvider
    @MethodSource(EVERY)
    void aHeaderAndABodyArriveAsOneMessageWithTheTag(String provider) {
        try (Mailbox box = open(provider); MemoryRegion header = box.pair.domain.allocate(8, Access.SEND)) {
            box.write(1008, 1);
            MemorySegment.copy(box.near.segment(), 0, header.segment(), 0, 8);
            box.pair.farEndpoint.tagged().receive(box.far.slice(2000, 1008), TAG + 1, 0, RECEIVED + 1);
            box.pair.farEndpoint.tagged().receive(box.far.slice(0, 1008), TAG, 0, RECEIVED);
            box.pair.endpoint.tagged().send(header.slice(0, 8), box.near.slice(8, 1000), box.pair.far, TAG, SENT);
            box.await(1, 1);

            assertThat(box.nearDone.tokens()).containsExactly((long) SENT);
            assertThat(box.farDone.tokens()).containsExactly((long) RECEIVED);
            assertThat(box.hasArrived(1008)).isTrue();
        }
    }

    @ForEachProvider
    @MethodSource(EVERY)
    void receivesTakeTheirTagsInAnyOrder(String provider) {
        int count = 100;
        try (Mailbox box = open(provider)) {
            Tagged sender = box.pair.endpoint.tagged();
            for (int i = 0; i < count; i++) {
                box.near.segment().set(ValueLayout.JAVA_LONG, 8L * i, i);
                sender.send(box.near.slice(8L * i, 8), box.pair.far, i, i);
            }
            for (int i = count - 1; i >= 0; i--) {
                box.pair.farEndpoint.tagged().receive(box.far.slice(8L * i, 8), i, 0, i);
            }
            box.await(count, count);

            assertThat(box.hasArrived(8L * count)).isTrue();
            assertThat(box.farDone.done).allMatch(done -> done.tag() == done.token());
        }
    }

    @ForEachProvider
    @MethodSource(EVERY)
    void unexpectedMessagesWaitByTheThousand(String provider) {
        int count = 1000;
        try (Mailbox box = open(provider)) {
            Tagged sender = box.pair.endpoint.tagged();
            for (int i = 0; i < count; i++) {
                box.near.segment().set(ValueLayout.JAVA_LONG, 8L * i, i);
                sender.send(box.near.slice(8L * i, 8), box.pair.far, i % 10, i);
                if (i % 50 == 0) { box.poll(); }
            }
            for (int i = 0; i < count; i++) {
                box.pair.farEndpoint.tagged().receive(box.far.slice(8L * i, 8), i % 10, 0, i);
                if (i % 50 == 0) { box.poll(); }
            }
            box.await(count, count);
            assertThat(box.hasArrived(8L * count)).isTrue();
        }
    }

    @ForEachProvider
    @MethodSource(EVERY)
    void aMaskIgnoresBitsOfTheTagOrIsRefused(String provider) {
        try (Mailbox box = open(provider)) {
            Tagged receiver = box.pair.farEndpoint.tagged();
            if (ProviderFault.MASKS_IGNORED.isOf(provider)) {
                assertThatThrownBy(() -> receiver.receive(box.far.slice(0, 8), 0x100, 0xff, RECEIVED))
                        .isInstanceOf(UnsupportedOperationException.class).hasMessageContaining("ignore");
                return;
            }
            box.pair.endpoint.tagged().send(box.near.slice(0, 8), box.pair.far, 0x242, 1); // early
            box.pair.endpoint.tagged().send(box.near.slice(0, 8), box.pair.far, 0x142, 2);
            for (int i = 0; i < 100; i++) {
                box.poll();
            }
            boolean isInOrder = ProviderFault.NO_EARLY_TAGS_SAVED.isOf(provider);
            receiver.receive(box.far.slice(0, 8), isInOrder ? 0x200 : 0x100, 0xff, RECEIVED);
            box.await(0, 1);
            assertThat(box.farDone.done.getFirst().tag()).isEqualTo(isInOrder ? 0x242 : 0x142);

            receiver.receive(box.far.slice(0, 8), isInOrder ? 0x100 : 0x200, 0xff, RECEIVED);
            receiver.receive(box.far.slice(0, 8), 0x300, 0xff, RECEIVED);
            box.pair.endpoint.tagged().send(box.near.slice(0, 8), box.pair.far, 0x3ff, 3); // late
            box.await(3, 3);
            assertThat(box.farDone.done).extracting(Mailbox.Done::tag).containsExactlyInAnyOrder(0x142L, 0x242L,
                    0x3ffL);
        }
    }

    @ForEachProvider
    @MethodSource(EVERY)
    void injectsDataAndSegmentsCarryTheirTags(String provider) {
        try (Mailbox box = open(provider)) {
            Tagged sender = box.pair.endpoint.tagged();
            Tagged receiver = box.pair.farEndpoint.tagged();
            box.write(32, 4);
            receiver.receive(box.far.slice(0, 8), 1, 0, 1);
            sender.inject(box.near.slice(0, 8), box.pair.far, 1);
            receiver.prepare().local(box.far, 16, 8).local(box.far, 8, 8).tag(2).receive(2);
            PreparedMessage message = sender.prepare().peer(box.pair.far).local(box.near, 16, 8).local(box.near, 8, 8)
                    .tag(2);
            message.send(2);
            receiver.prepare().local(box.far, 24, 8).tag(3).receive(3);
            message.clear().local(box.near, 24, 8).tag(3).send(3);
            box.await(2, 3);

            assertThat(box.hasArrived(32)).isTrue();
            assertThat(box.farDone.done).allMatch(done -> done.tag() == done.token());
        }
    }

    @ForEachProvider
    @MethodSource(EVERY)
    void dataComesWithTheTag(String provider) {
        try (Mailbox box = open(provider)) {
            Tagged sender = box.pair.endpoint.tagged();
            box.pair.farEndpoint.tagged().receive(box.far.slice(0, 8), TAG, 0, 1);
            box.pair.farEndpoint.tagged().receive(box.far.slice(0, 8), TAG, 0, 2);
            sender.sendData(box.near.slice(0, 8), 0x1234, box.pair.far, TAG, SENT);
            sender.injectData(box.near.slice(0, 8), 0x5678, box.pair.far, TAG);
            box.await(1, 2);
            assertThat(box.farDone.done).extracting(Mailbox.Done::data).containsExactly(0x1234L, 0x5678L);
        }
    }

    @ForEachProvider
    @MethodSource(EVERY)
    void aLookFindsAMessageAndLeavesItOrIsRefused(String provider) {
        try (Mailbox box = open(provider)) {
            Tagged receiver = box.pair.farEndpoint.tagged();
            if (ProviderFault.PEEK_RECEIVES.isOf(provider)) {
                assertThatThrownBy(() -> receiver.peek(PeekAction.KEEP, TAG, 0, 1))
                        .isInstanceOf(UnsupportedOperationException.class).hasMessageContaining("receives it");
                return;
            }
            receiver.peek(PeekAction.KEEP, TAG, 0, 1);
            box.await(0, 1);
            assertThat(box.farDone.errors).singleElement()
                    .satisfies(error -> assertThat(error.errno()).isEqualTo(Errno.ENOMSG))
                    .satisfies(error -> assertThat(error.token()).isEqualTo(1));
            box.farDone.errors.clear();

            box.write(100, 5);
            box.pair.endpoint.tagged().send(box.near.slice(0, 100), box.pair.far, TAG, SENT);
            long token = 2;
            while (box.farDone.done.isEmpty()) {
                box.farDone.errors.clear();
                receiver.peek(PeekAction.KEEP, TAG, 0, token);
                box.await(0, 1);
            }
            assertThat(box.farDone.done.getFirst().token()).isEqualTo(token);
            assertThat(box.farDone.done.getFirst().length()).isEqualTo(100);
            receiver.receive(box.far.slice(0, 100), TAG, 0, RECEIVED);
            box.await(1, 2);
            assertThat(box.farDone.tokens()).contains((long) RECEIVED);
            assertThat(box.hasArrived(100)).isTrue();
        }
    }

    @ForEachProvider
    @MethodSource(EVERY)
    void aDiscardedMessageIsGoneOrTheCallIsRefused(String provider) {
        try (Mailbox box = open(provider)) {
            Tagged receiver = box.pair.farEndpoint.tagged();
            if (refusesDiscards(provider)) {
                assertThatThrownBy(() -> receiver.peek(PeekAction.DISCARD, TAG, 0, 1))
                        .isInstanceOf(UnsupportedOperationException.class);
                return;
            }
            box.pair.endpoint.tagged().send(box.near.slice(0, 100), box.pair.far, TAG, SENT);
            while (box.farDone.done.isEmpty()) {
                box.farDone.errors.clear();
                receiver.peek(PeekAction.DISCARD, TAG, 0, 1);
                box.await(0, 1);
            }
            box.await(1, 1);
            receiver.peek(PeekAction.KEEP, TAG, 0, 2);
            box.await(1, 2);
            assertThat(box.farDone.errors).extracting(CompletionError::errno).containsExactly(Errno.ENOMSG);
        }
    }

    /** Needs a provider that looks, and that tells peers apart. */
    @ForEachProvider
    @MethodSource(EVERY)
    void aLookForAMessageOfOnePeerPassesThoseOfOthers(String provider) {
        try (Mailbox box = new Mailbox(provider, Capability.TAGGED, Capability.RMA, Capability.DIRECTED_RECV)) {
            Tagged receiver = box.pair.farEndpoint.tagged();
            Peer self = box.pair.far; // of the receiver itself
            if (ProviderFault.PEEK_RECEIVES.isOf(provider) || self.entry.isRespelled) {
                assertThatThrownBy(() -> receiver.peek(PeekAction.KEEP, self, TAG, 0, 1))
                        .isInstanceOf(UnsupportedOperationException.class);
                return;
            }
            box.pair.endpoint.tagged().send(box.near.slice(0, 100), box.pair.far, TAG, SENT);
            awaitLook(box, () -> receiver.peek(PeekAction.KEEP, box.back, TAG, 0, 2));
            assertThat(box.farDone.done.getLast().length()).isEqualTo(100);
            box.farDone.errors.clear();
            receiver.peek(PeekAction.KEEP, self, TAG, 0, 3);
            box.await(0, box.farDone.done.size() + 1);
            assertThat(box.farDone.errors).extracting(CompletionError::errno).containsExactly(Errno.ENOMSG);
            box.farDone.errors.clear();
            if (!cannotClaim(provider)) {
                receiver.peek(PeekAction.CLAIM, self, TAG, 0, 4);
                box.await(0, box.farDone.done.size() + 1);
                assertThat(box.farDone.errors).extracting(CompletionError::errno).containsExactly(Errno.ENOMSG);
                box.farDone.errors.clear();
            }
            if (!refusesDiscards(provider)) {
                receiver.peek(PeekAction.DISCARD, self, TAG, 0, 5);
                box.await(0, box.farDone.done.size() + 1);
                assertThat(box.farDone.errors).extracting(CompletionError::errno).containsExactly(Errno.ENOMSG);
                box.farDone.errors.clear();
            }
            receiver.receive(box.far.slice(0, 100), TAG, 0, RECEIVED);
            box.await(1, box.farDone.done.size() + 1);
            assertThat(box.farDone.tokens()).contains((long) RECEIVED);
        } catch (NoProviderException e) {
            assertThat(e).hasMessageContaining("DIRECTED_RECV");
        }
    }

    /** Looks again and again, until a message is there. */
    private static void awaitLook(Mailbox box, Runnable look) {
        int before = box.farDone.done.size();
        while (box.farDone.done.size() == before) {
            box.farDone.errors.clear();
            look.run();
            box.await(0, before + 1);
        }
        box.farDone.errors.clear();
    }

    @ForEachProvider
    @MethodSource(EVERY)
    void aClaimedMessageIsDiscarded(String provider) {
        try (Mailbox box = open(provider)) {
            Tagged receiver = box.pair.farEndpoint.tagged();
            if (cannotClaim(provider) || refusesDiscards(provider)) {
                assertThatThrownBy(() -> receiver.discardClaimed(TAG, 0, 1))
                        .isInstanceOfAny(UnsupportedOperationException.class, IllegalArgumentException.class);
                return;
            }
            box.write(100, 8);
            box.pair.endpoint.tagged().send(box.near.slice(0, 100), box.pair.far, TAG, SENT);
            claim(box, 2);
            receiver.discardClaimed(TAG, 0, 2);
            box.await(1, 2);
            assertThat(box.farDone.errors).isEmpty();
            assertThat(box.farDone.done.getLast().token()).isEqualTo(2);
            assertThat(box.pair.farQueue.operationsInFlight()).isZero();
            assertThatIllegalArgumentException().isThrownBy(() -> receiver.discardClaimed(TAG, 0, 2))
                    .withMessageContaining("claim one");

            receiver.receive(box.far.slice(0, 100), TAG, 0, RECEIVED);
            box.pair.endpoint.tagged().send(box.near.slice(0, 100), box.pair.far, TAG, SENT + 1);
            box.await(2, 3);
            assertThat(box.hasArrived(100)).isTrue();
        }
    }

    private static boolean refusesDiscards(String provider) {
        return ProviderFault.anyOf(provider, ProviderFault.DISCARDED_SENDS_HANG, ProviderFault.DISCARDS_OVERWRITE,
                ProviderFault.DISCARDS_INCOMPLETE, ProviderFault.PEEK_RECEIVES);
    }

    /** Why claims are refused, in the words of the refusal. */
    private static final Map<ProviderFault, String> CLAIM_FAULTS = Map.of(ProviderFault.PEEK_RECEIVES, "receives it",
            ProviderFault.CLAIMS_TRUNCATE, "may be cut short", ProviderFault.CLAIMS_LOSE_MESSAGES,
            "may overwrite memory", ProviderFault.CLAIMS_TAKE_ONE_SEGMENT, "may end the process");

    private static boolean cannotClaim(String provider) { return !wordsOfRefusal(provider).isEmpty(); }

    private static List<String> wordsOfRefusal(String provider) {
        return CLAIM_FAULTS.keySet().stream().filter(fault -> ProviderFault.anyOf(provider, fault))
                .map(CLAIM_FAULTS::get).toList();
    }

    /** Looks again and again, until a message is there. */
    private static void claim(Mailbox box, long token) {
        Tagged receiver = box.pair.farEndpoint.tagged();
        int before = box.farDone.done.size();
        while (box.farDone.done.size() == before) {
            box.farDone.errors.clear();
            receiver.peek(PeekAction.CLAIM, TAG, 0, token);
            box.await(0, before + 1);
        }
        box.farDone.errors.clear();
    }

    @ForEachProvider
    @MethodSource(EVERY)
    void aClaimedMessageIsKeptForWhoClaimedIt(String provider) {
        try (Mailbox box = open(provider)) {
            Tagged receiver = box.pair.farEndpoint.tagged();
            if (cannotClaim(provider)) {
                assertThatThrownBy(() -> receiver.peek(PeekAction.CLAIM, TAG, 0, 1))
                        .isInstanceOf(UnsupportedOperationException.class).message()
                        .matches(".*(" + String.join("|", wordsOfRefusal(provider)) + "): .*");
                return;
            }
            int size = 1 << 20;
            box.write(size, 6);
            box.pair.endpoint.tagged().send(box.near.slice(0, 100), box.pair.far, TAG, SENT);
            claim(box, 2);
            assertThat(box.farDone.done.getLast()).satisfies(done -> assertThat(done.length()).isEqualTo(100));
            assertThat(box.pair.farQueue.operationsInFlight()).as("the claim").isEqualTo(1);

            receiver.receive(box.far.slice(0, size), TAG, 0, RECEIVED); // the next: the claimed one came before
            box.pair.endpoint.tagged().send(box.near.slice(0, size), box.pair.far, TAG, SENT + 1);
            box.await(2, 2);
            assertThat(box.hasArrived(size)).isTrue();
            box.far.segment().fill((byte) 0);
            receiver.receiveClaimed(box.far.slice(0, 100), TAG, 0, 2);
            box.await(2, 3);
            assertThat(box.farDone.done.getLast().token()).isEqualTo(2);
            assertThat(box.hasArrived(100)).isTrue();
            assertThat(box.farDone.errors).isEmpty();
            assertThat(box.pair.farQueue.operationsInFlight()).isZero();
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> receiver.receiveClaimed(box.far.slice(0, 100), TAG, 0, 2))
                    .withMessageContaining("claim one");
        }
    }

    @ForEachProvider
    @MethodSource(EVERY)
    void aClaimOfNothingIsAnErrorAndKeepsNoPlace(String provider) {
        try (Mailbox box = open(provider)) {
            Tagged receiver = box.pair.farEndpoint.tagged();
            if (!cannotClaim(provider)) {
                receiver.peek(PeekAction.CLAIM, TAG, 0, 1);
                box.await(0, 1);
                assertThat(box.farDone.errors).extracting(CompletionError::errno).containsExactly(Errno.ENOMSG);
            }
            assertThat(box.pair.farQueue.operationsInFlight()).isZero();
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> receiver.receiveClaimed(box.far.slice(0, 100), TAG, 0, 1))
                    .withMessageContaining("no claimed message has token 1");
        }
    }

    @ForEachProvider
    @MethodSource(EVERY)
    void anEndpointIsClosedWithAClaimedMessage(String provider) {
        try (Mailbox box = open(provider)) {
            if (cannotClaim(provider)) { return; } // as another test says
            box.pair.endpoint.tagged().send(box.near.slice(0, 100), box.pair.far, TAG, SENT);
            claim(box, 1);
            box.await(1, 1);
            box.pair.farEndpoint.close();
            box.poll();
            assertThat(box.farDone.errors).as("the claim had completed").isEmpty();
            assertThat(box.pair.farQueue.operationsInFlight()).isZero();
        }
    }

    @ForEachProvider
    @MethodSource(EVERY)
    void aReceiveFromOnePeerLeavesTheMessagesOfOthers(String provider) {
        try (Mailbox box = new Mailbox(provider, Capability.TAGGED, Capability.RMA, Capability.DIRECTED_RECV);
                Endpoint third = box.pair.domain.openEndpoint().bind(box.pair.vector).bind(box.pair.queue).enable()) {
            Peer peer = box.pair.vector.insert(third.address());
            Tagged receiver = box.pair.farEndpoint.tagged();
            if (peer.entry.isRespelled) { // shm of 2.6, within one process; DirectedReceiveTest has two
                assertThatThrownBy(() -> receiver.receive(box.far.slice(0, 8), peer, TAG, 0, 1))
                        .isInstanceOf(UnsupportedOperationException.class).hasMessageContaining("does not recognize");
                return;
            }
            receiver.receive(box.far.slice(0, 8), peer, TAG, 0, 1);
            receiver.receive(box.far.slice(8, 8), box.back, TAG, 0, 2);
            box.pair.endpoint.tagged().send(box.near.slice(0, 8), box.pair.far, TAG, SENT);
            box.await(1, 1);
            assertThat(box.farDone.tokens()).containsExactly(2L);
            third.tagged().send(box.near.slice(0, 8), box.pair.far, TAG, SENT);
            box.await(2, 2);
            assertThat(box.farDone.tokens()).containsExactly(2L, 1L);
        }
    }

    @ForEachProvider
    @MethodSource(EVERY)
    void aTagWithBitsThatTheProviderDoesNotMatchIsRefused(String provider) {
        try (Mailbox box = open(provider)) {
            Tagged tagged = box.pair.endpoint.tagged();
            long highest = Long.highestOneBit(tagged.tagBits());
            box.pair.farEndpoint.tagged().receive(box.far.slice(0, 8), highest, 0, RECEIVED);
            tagged.send(box.near.slice(0, 8), box.pair.far, highest, SENT);
            box.await(1, 1);
            assertThat(box.farDone.done.getFirst().tag()).isEqualTo(highest);

            if (tagged.tagBits() == -1) { return; } // it matches all
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> tagged.trySend(box.near, 0, 8, box.pair.far, highest << 1, SENT))
                    .withMessageContaining("bits 0x" + Long.toHexString(tagged.tagBits()));
            assertThatIllegalArgumentException().isThrownBy(() -> tagged.prepare().tag(highest << 1));
        }
    }

    @ForEachProvider
    @MethodSource(EVERY)
    void aCanceledReceiveComesBackOnceAndOthersStay(String provider) {
        try (Mailbox box = open(provider)) {
            Tagged receiver = box.pair.farEndpoint.tagged();
            receiver.receive(box.far.slice(0, 8), 1, 0, 1);
            receiver.receive(box.far.slice(8, 8), 2, 0, 2);
            receiver.cancel(1);
            box.await(0, 1);
            box.pair.endpoint.tagged().send(box.near.slice(0, 8), box.pair.far, 2, SENT);
            box.await(1, 2);

            assertThat(box.farDone.errors).extracting(CompletionError::errno).containsExactly(Errno.ECANCELED);
            assertThat(box.farDone.tokens()).containsExactly(2L);
        }
    }
}
