package io.ofi4j.durable;

import static org.assertj.core.api.Assertions.assertThat;

import io.ofi4j.Access;
import io.ofi4j.MemoryRegion;
import io.ofi4j.Messages;
import io.ofi4j.Peer;
import io.ofi4j.Waiting;
import io.ofi4j.durable.SaveMessage.Field;
import io.ofi4j.info.EndpointAddress;
import io.ofi4j.support.Pair;
import io.ofi4j.support.TestProviders;
import io.ofi4j.support.TestSeed;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Random;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Writers that are named twice, are not there, or are not what they say: the others are served all the same. */
@Tag("gate")
@Timeout(600)
class HostileWritersTest {
    /** More than there are places for messages that are on their way: ofi_rxd keeps those to nobody for a minute. */
    private static final int MANY = 80;
    /** Enough to take and to answer what has come. */
    private static final int POLLS = 10_000;

    /** As many saves as may be under way, and a second word about their service. */
    @ParameterizedTest
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void aServiceThatIsNamedAgainUnderSavesAnswersAllOfThem(String provider) {
        try (Saving pair = new Saving(Saving.hints(provider));
                MemoryRegion target = pair.domain.allocate(64, Access.REMOTE_WRITE)) {
            pair.saver.saveThrough(pair.far, pair.service.ticket());
            pair.saver.save(pair.far, target.remote(), Durability.DELIVERED, 1);
            pair.await(1);
            for (int round = 0; round < 5; round++) {
                for (int token = 0; token < Saver.MAX_SAVES; token++) {
                    pair.saver.save(pair.far, target.remote(), Durability.DELIVERED, token);
                    if (token % 16 == round) { pair.saver.saveThrough(pair.far, pair.service.ticket()); }
                }
                awaitAll(pair);
            }
            assertThat(pair.service.answered()).isEqualTo(1 + 5L * Saver.MAX_SAVES);
        }
    }

    /** A saver that is opened again, as by a program that has restarted, leaves the saves of the first alone. */
    @ParameterizedTest
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void aWriterThatGreetsAgainLosesNothing(String provider) {
        try (Saving pair = new Saving(Saving.hints(provider));
                MemoryRegion target = pair.domain.allocate(64, Access.REMOTE_WRITE)) {
            pair.saver.saveThrough(pair.far, pair.service.ticket());
            pair.saver.save(pair.far, target.remote(), Durability.DELIVERED, 100);
            pair.await(100);
            for (int token = 0; token < Saver.MAX_SAVES; token++) {
                pair.saver.save(pair.far, target.remote(), Durability.DELIVERED, token);
                if (token % 16 == 8) { greet(pair, pair.saver.address().encode()); }
            }
            awaitAll(pair);
        }
    }

    private static void awaitAll(Saving pair) {
        Waiting.YIELD.until(() -> {
            pair.poll();
            return tokens(pair).count() + pair.errors.size() >= Saver.MAX_SAVES;
        }, Pair.DEADLINE);
        assertThat(pair.errors).isEmpty();
        assertThat(tokens(pair).toArray()).containsExactlyInAnyOrder(LongStream.range(0, Saver.MAX_SAVES).toArray());
        pair.completed.clear();
    }

    /** Without those of messages. */
    private static LongStream tokens(Saving pair) {
        return pair.completed.stream().mapToLong(Long::longValue).filter(token -> token >= 0);
    }

    /** Sends a greeting that gives this as its address, from a stranger. */
    private static void greet(Saving pair, byte[] address) {
        try (MemoryRegion body = pair.domain.allocate(SaveMessage.ROOM, Access.SEND)) {
            SaveMessage message = new SaveMessage(body.segment()).begin(SaveMessage.GREETING);
            int length = message.put(Field.ID, 77).address(address);
            Peer service = pair.pair.vector.insert(pair.service.ticket().address());
            long before = pair.completed.stream().filter(token -> token == -5).count();
            pair.endpoint.messages().send(body.slice(0, length), service, -5);
            Waiting.YIELD.until(() -> {
                pair.poll();
                return pair.completed.stream().filter(token -> token == -5).count() > before;
            }, Pair.DEADLINE);
        }
    }

    /** It asks as often as it may, and polls no more: over datagrams the answers to it stay in flight. */
    @ParameterizedTest
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void aWriterThatTakesNoAnswersHoldsUpNoOther(String provider) {
        try (Saving pair = new Saving(Saving.hints(provider));
                Pair silent = new Pair(Saving.hints(provider));
                MemoryRegion target = pair.domain.allocate(64, Access.REMOTE_WRITE);
                MemoryRegion body = silent.domain.allocate(SaveMessage.ROOM, Access.SEND);
                MemoryRegion welcome = silent.domain.allocate(SaveMessage.ROOM, Access.RECEIVE)) {
            Messages messages = silent.endpoint.messages();
            Peer service = silent.vector.insert(pair.service.ticket().address());
            SaveMessage message = new SaveMessage(body.segment()).begin(SaveMessage.GREETING);
            messages.receive(welcome.slice(0, SaveMessage.ROOM), 1);
            int length = message.address(silent.endpoint.address().encode());
            pollBoth(pair, silent, () -> messages.trySend(body, 0, length, service, 2));
            pollBoth(pair, silent, () -> silent.completed.size() == 2);
            SaveMessage answer = new SaveMessage(welcome.segment());
            message.begin(SaveMessage.REQUEST).put(Field.WRITER, answer.get(Field.WRITER))
                    .put(Field.SECRET, answer.get(Field.SECRET)).put(Field.KEY, target.remote().key())
                    .put(Field.ADDRESS, target.remote().base()).put(Field.LENGTH, target.length());
            for (int request = 0; request < SaveService.MAX_REQUESTS; request++) {
                messages.trySend(body, 0, SaveMessage.LENGTH, service, 3);
            }
            Waiting.YIELD.until(() -> {
                pair.pollFar();
                return pair.service.answered() > 0;
            }, Pair.DEADLINE);
            for (int poll = 0; poll < POLLS; poll++) {
                pair.pollFar();
            }

            pair.saver.saveThrough(pair.far, pair.service.ticket());
            pair.saver.save(pair.far, target.remote(), Durability.DELIVERED, 1);
            pair.await(1);
        }
    }

    private static void pollBoth(Saving pair, Pair other, BooleanSupplier until) {
        Waiting.YIELD.until(() -> {
            pair.pollFar();
            other.poll();
            return until.getAsBoolean();
        }, Pair.DEADLINE);
    }

    /** Addresses that nobody has: of an endpoint that is gone, and of ports where nobody listens. */
    private static List<EndpointAddress> absent(String provider, int many) {
        EndpointAddress gone;
        try (Pair pair = new Pair(Saving.hints(provider))) {
            gone = pair.farEndpoint.address();
        }
        return Stream.concat(Stream.of(gone),
                hasPorts(provider)
                        ? IntStream.range(0, many - 1)
                                .mapToObj(port -> EndpointAddress
                                        .of(new InetSocketAddress(TestProviders.address(provider), 1 + port)))
                        : Stream.of())
                .toList();
    }

    private static boolean hasPorts(String provider) { return !provider.equals("shm"); }

    @ParameterizedTest
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void greetingsFromNobodyHoldUpNoWriter(String provider) {
        List<EndpointAddress> absent = absent(provider, MANY);
        try (Saving pair = new Saving(Saving.hints(provider));
                MemoryRegion target = pair.domain.allocate(64, Access.REMOTE_WRITE)) {
            for (EndpointAddress nobody : absent) {
                greet(pair, nobody.encode());
            }
            pair.saver.saveThrough(pair.far, pair.service.ticket());
            pair.saver.save(pair.far, target.remote(), Durability.DELIVERED, 1);
            pair.await(1);
            greet(pair, absent.getFirst().encode());
            pair.saver.save(pair.far, target.remote(), Durability.DELIVERED, 2);
            pair.await(2);
        }
    }

    /** Greetings that are well formed, with an address that was changed on the way. */
    @ParameterizedTest
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void damagedGreetingsHoldUpNoWriter(String provider) {
        Random random = TestSeed.random(provider);
        try (Saving pair = new Saving(Saving.hints(provider));
                MemoryRegion target = pair.domain.allocate(64, Access.REMOTE_WRITE)) {
            for (int greeting = 0; greeting < MANY / 2; greeting++) {
                byte[] address = pair.saver.address().toBytes();
                // the port, or the name: where else a machine would be asked, nobody may be reached for a long time
                int from = hasPorts(provider) ? 2 : address.length - 4;
                address[from + random.nextInt(2)] ^= (byte) (1 << random.nextInt(8));
                greet(pair, EndpointAddress.of(address, pair.saver.address().format()).encode());
            }
            pair.saver.saveThrough(pair.far, pair.service.ticket());
            pair.saver.save(pair.far, target.remote(), Durability.DELIVERED, 1);
            pair.await(1);
        }
    }

    /**
     * Where so many addresses can be had. Closing a vector of ofi_rxd takes a minute for each few hundred peers that
     * are not there.
     */
    static Stream<String> withPorts() {
        return TestProviders.rma().filter(HostileWritersTest::hasPorts).filter(name -> !name.endsWith("ofi_rxd"));
    }

    /** More of them than the service knows at a time; the clock stands while it answers the one that comes then. */
    @ParameterizedTest
    @MethodSource("withPorts")
    void writersThatCannotBeAnsweredAreForgotten(String provider) {
        List<EndpointAddress> absent = absent(provider, SaveService.MAX_WRITERS + 40);
        long[] clock = new long[1];
        try (Saving pair = new Saving(Saving.hints(provider), () -> clock[0]);
                MemoryRegion target = pair.domain.allocate(64, Access.REMOTE_WRITE)) {
            for (EndpointAddress nobody : absent) {
                greet(pair, nobody.encode());
                clock[0] += SaveService.GREETING_TIMEOUT.toNanos() + 1;
            }
            pair.saver.saveThrough(pair.far, pair.service.ticket());
            pair.saver.save(pair.far, target.remote(), Durability.DELIVERED, 1);
            pair.await(1);
        }
    }
}
