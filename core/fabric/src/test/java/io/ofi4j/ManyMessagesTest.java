package io.ofi4j;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ofi4j.errors.NoProviderException;
import io.ofi4j.info.Capability;
import io.ofi4j.info.CompletionFlags;
import io.ofi4j.info.CompletionFormat;
import io.ofi4j.info.CompletionQueueAttributes;
import io.ofi4j.info.EndpointOption;
import io.ofi4j.info.FabricHints;
import io.ofi4j.support.ForEachProvider;
import io.ofi4j.support.Pair;
import io.ofi4j.support.ProviderFault;
import io.ofi4j.support.TestProviders;
import io.ofi4j.support.TestSeed;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** One receive for many messages, and limits of messages to a peer. */
@Tag("gate")
@Timeout(600)
class ManyMessagesTest {
    private static final int TOKEN = 7;
    private static final int SIZE = 200;
    private static final int ROOM = 64 << 10;
    private static final int GUARD = 64 << 10;

    /** A message that has come. */
    private record Arrived(long token, long flags, long length, long address) {}

    private final List<Arrived> arrived = new ArrayList<>();
    private final List<CompletionError> errors = new ArrayList<>();

    private final DetailedCompletionHandler far = new DetailedCompletionHandler() {
        @Override
        public void onCompletion(long token, long flags, long length, long data, long buffer, long tag, long source) {
            arrived.add(new Arrived(token, flags, length, buffer));
        }

        @Override
        public void onError(CompletionError error) { errors.add(error); }
    };

    private static FabricHints hints(String provider) {
        return TestProviders.hints(provider).capabilities(Capability.MSG, Capability.RMA, Capability.MULTI_RECV);
    }

    private static Stream<String> claiming() { return TestProviders.transfers().filter(ManyMessagesTest::claims); }

    private static boolean claims(String provider) {
        try {
            return !Libfabric.load().info(hints(provider)).isEmpty();
        } catch (NoProviderException e) {
            return false;
        }
    }

    static Stream<String> offering() { return claiming().filter(provider -> !overwrites(provider)); }

    static Stream<String> overwriting() { return claiming().filter(ManyMessagesTest::overwrites); }

    private static boolean overwrites(String provider) { return ProviderFault.LONG_MESSAGES_OVERWRITE.isOf(provider); }

    private void poll(Pair pair) {
        pair.pollNear();
        pair.farQueue.poll(far, 64);
    }

    private long last() {
        return arrived.stream().filter(one -> (one.flags & CompletionFlags.MULTI_RECV) != 0).count();
    }

    @ForEachProvider
    @MethodSource("offering")
    void messagesLieInOneRegionUntilItIsUsedUp(String provider) {
        try (Pair pair = new Pair(hints(provider));
                MemoryRegion near = pair.domain.allocate(SIZE, Access.SEND);
                MemoryRegion room = pair.domain.allocate(ROOM, Access.RECEIVE)) {
            pair.farEndpoint.options().set(EndpointOption.MINIMUM_MULTI_RECEIVE, (long) SIZE); // as long as any message
            pair.farEndpoint.messages().receiveMany(room.slice(0, ROOM), TOKEN);
            int sent = 0;
            while (last() == 0) {
                int number = sent++;
                near.segment().fill((byte) number);
                pair.endpoint.messages().send(near.slice(0, SIZE), pair.far, number);
                Waiting.YIELD.until(() -> {
                    poll(pair);
                    return messages().size() > number && pair.completed.size() > number || last() > 0;
                }, Pair.DEADLINE);
                assertThat(pair.farQueue.operationsInFlight()).isEqualTo(last() == 0 ? 1 : 0);
            }
            assertThat(errors).isEmpty();
            assertThat(messages()).hasSizeBetween(2, ROOM / SIZE);
            long expected = room.segment().address();
            for (int number = 0; number < messages().size(); number++) {
                Arrived one = messages().get(number);
                assertThat(one.token).isEqualTo(TOKEN);
                assertThat(one.length).isEqualTo(SIZE);
                assertThat(one.address).isEqualTo(expected + (long) number * SIZE);
                MemorySegment bytes = room.segment().asSlice(one.address - expected, SIZE);
                byte value = (byte) number;
                assertThat(bytes.elements(JAVA_BYTE).allMatch(cell -> cell.get(JAVA_BYTE, 0) == value)).isTrue();
            }
        }
    }

    private List<Arrived> messages() { return arrived.stream().filter(one -> one.length > 0).toList(); }

    @ForEachProvider
    @MethodSource("offering")
    void nothingBehindTheRoomIsTouched(String provider) {
        try (Pair pair = new Pair(hints(provider));
                MemoryRegion near = pair.domain.allocate(GUARD, Access.SEND);
                MemoryRegion room = pair.domain.allocate(ROOM + GUARD, Access.RECEIVE)) {
            near.segment().fill((byte) 1);
            pair.farEndpoint.messages().receiveMany(room.slice(0, ROOM), TOKEN);
            for (int i = 0; i < 3; i++) { // each fits the room; both together do not
                pair.endpoint.messages().send(near.slice(0, ROOM - SIZE), pair.far, i);
            }
            Waiting.YIELD.tryUntil(() -> {
                poll(pair);
                return last() > 0 || !errors.isEmpty();
            }, Pair.DEADLINE);
            int waiting = 3 - arrived.size() - errors.size();
            for (int i = 0; i < waiting; i++) { // what has not fitted
                pair.farEndpoint.messages().receive(room.slice(0, ROOM), TOKEN + 1);
            }
            Waiting.YIELD.until(() -> {
                poll(pair);
                return arrived.size() + errors.size() == 3 && pair.completed.size() == 3;
            }, Pair.DEADLINE);
            assertThat(room.segment().asSlice(ROOM).mismatch(MemorySegment.ofArray(new byte[GUARD]))).isEqualTo(-1);
        }
    }

    @ForEachProvider
    @MethodSource("offering")
    void aReceiveOfManyIsCanceledOnceAndEndsWithItsEndpoint(String provider) {
        try (Pair pair = new Pair(hints(provider)); MemoryRegion room = pair.domain.allocate(ROOM, Access.RECEIVE)) {
            pair.farEndpoint.messages().receiveMany(room.slice(0, ROOM), TOKEN);
            pair.farEndpoint.messages().cancel(TOKEN);
            Waiting.YIELD.until(() -> {
                poll(pair);
                return !errors.isEmpty();
            }, Pair.DEADLINE);
            pair.farEndpoint.messages().receiveMany(room.slice(0, ROOM), TOKEN + 1);
            pair.farEndpoint.close();
            poll(pair);
            assertThat(errors).extracting(CompletionError::token).containsExactly((long) TOKEN, TOKEN + 1L);
            assertThat(errors).allSatisfy(error -> assertThat(error.errno()).isEqualTo(125));
            assertThat(pair.farQueue.operationsInFlight()).isZero();
        }
    }

    @ForEachProvider
    @MethodSource("overwriting")
    void whereLongMessagesOverwriteItIsRefused(String provider) {
        try (Pair pair = new Pair(hints(provider)); MemoryRegion room = pair.domain.allocate(ROOM, Access.RECEIVE)) {
            assertThatThrownBy(() -> pair.farEndpoint.messages().receiveMany(room.slice(0, ROOM), TOKEN))
                    .isInstanceOf(UnsupportedOperationException.class).hasMessageContaining("could overwrite");
            assertThat(pair.farQueue.operationsInFlight()).isZero();
        }
    }

    static Stream<Arguments> knownLengths() {
        return claiming()
                .flatMap(provider -> Stream.of(1, 64, 1000, 20_000).map(longest -> Arguments.of(provider, longest)));
    }

    /** Messages of all lengths up to the promised one, and room after room. */
    @ForEachProvider
    @MethodSource("knownLengths")
    void whereTheLongestMessageIsKnownNothingIsOverwritten(String provider, int longest) {
        Random random = TestSeed.random(provider + longest);
        Pair.Wiring knowing = new Pair.Wiring() {
            @Override
            public Endpoint bindFar(Pair pair, Endpoint endpoint) {
                return endpoint.bind(pair.farQueue).longestMessage(longest);
            }
        };
        try (Pair pair = new Pair(hints(provider), CompletionQueueAttributes.defaults(), knowing);
                MemoryRegion near = pair.domain.allocate(longest, Access.SEND);
                MemoryRegion room = pair.domain.allocate(ROOM + GUARD, Access.RECEIVE)) {
            Messages receiver = pair.farEndpoint.messages();
            assertThatIllegalArgumentException().isThrownBy(
                    () -> pair.farEndpoint.options().set(EndpointOption.MINIMUM_MULTI_RECEIVE, longest - 1L));
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> receiver.receiveMany(room.slice(0, longest - 1), TOKEN))
                    .withMessageContaining("at least " + longest);
            int[] rooms = new int[1];
            for (int number = 1; number <= 400; number++) {
                int length = 1 + random.nextInt(longest);
                near.segment().fill((byte) number);
                int count = number;
                Runnable post = () -> { // the last completion of a room may come late, or alone
                    if (last() == rooms[0]) {
                        receiver.receiveMany(room.slice(0, Math.max(longest, ROOM / 2 + count)), TOKEN);
                        rooms[0]++;
                    }
                };
                post.run();
                pair.endpoint.messages().send(near.slice(0, length), pair.far, number);
                Waiting.YIELD.until(() -> {
                    poll(pair);
                    post.run();
                    return messages().size() >= count && pair.completed.size() >= count;
                }, Pair.DEADLINE);
                Arrived one = messages().getLast();
                assertThat(one.length).isEqualTo(length);
                MemorySegment bytes = room.segment().asSlice(one.address - room.segment().address(), length);
                byte value = (byte) number;
                assertThat(bytes.elements(JAVA_BYTE).allMatch(cell -> cell.get(JAVA_BYTE, 0) == value)).isTrue();
            }
            assertThat(errors).isEmpty();
            assertThat(room.segment().asSlice(ROOM).mismatch(MemorySegment.ofArray(new byte[GUARD]))).isEqualTo(-1);
        }
    }

    @Test
    void withoutTheCapabilityItIsRefused() {
        try (Pair pair = new Pair(TestProviders.hints("MSG tcp").capabilities(Capability.MSG, Capability.RMA));
                MemoryRegion room = pair.domain.allocate(ROOM, Access.RECEIVE)) {
            assertThatThrownBy(() -> pair.farEndpoint.messages().receiveMany(room.slice(0, ROOM), TOKEN))
                    .isInstanceOf(UnsupportedOperationException.class).hasMessageContaining("MULTI_RECV");
        }
    }

    @Test
    void aQueueThatDoesNotSayWhereMessagesLieIsRefused() {
        try (Pair pair = new Pair(hints("sockets"),
                CompletionQueueAttributes.defaults().format(CompletionFormat.MESSAGE));
                MemoryRegion room = pair.domain.allocate(ROOM, Access.RECEIVE)) {
            assertThatIllegalStateException()
                    .isThrownBy(() -> pair.farEndpoint.messages().receiveMany(room.slice(0, ROOM), TOKEN))
                    .withMessageContaining("CompletionFormat.DATA");
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#transfers")
    void aMessageAboveThePeersMaximumIsRefused(String provider) {
        try (Pair pair = new Pair(TestProviders.hints(provider).capabilities(Capability.MSG, Capability.RMA));
                MemoryRegion near = pair.domain.allocate(SIZE, Access.SEND)) {
            Messages messages = pair.endpoint.messages();
            pair.far.longestMessage(100);
            assertThatIllegalArgumentException().isThrownBy(() -> messages.send(near.slice(0, 101), pair.far, 1))
                    .withMessageContaining("at most 100 bytes");
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> messages.prepare().local(near, 0, 101).peer(pair.far).send(1));
            assertThatIllegalArgumentException().isThrownBy(() -> pair.far.longestMessage(-1));
            pair.far.longestMessage(Long.MAX_VALUE);
            messages.send(near.slice(0, 101), pair.far, 1);
        }
    }
}
