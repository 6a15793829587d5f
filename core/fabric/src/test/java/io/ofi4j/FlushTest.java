package io.ofi4j;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import io.ofi4j.info.AtomicOperation;
import io.ofi4j.errors.NoProviderException;
import io.ofi4j.info.Capability;
import io.ofi4j.info.CompletionQueueAttributes;
import io.ofi4j.info.Datatype;
import io.ofi4j.info.Direction;
import io.ofi4j.info.FabricHints;
import io.ofi4j.support.Forked;
import io.ofi4j.support.Pair;
import io.ofi4j.support.ShmFile;
import io.ofi4j.support.TestProviders;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * When a flush has completed, the target's memory has what was posted before it: it is looked at then, and not polled
 * for.
 */
@Timeout(600)
class FlushTest {
    private static final long FLUSH = 99;
    private static final int[] LENGTHS = {8, 64, 1000, 4096, 9000, 20_000, 1 << 16, 1 << 19};
    private static final int SLOT = 1 << 19;
    private static final int ROUNDS = 12;
    /** What a test may write with beside a flush. */
    private static final Access[] TARGET = {Access.REMOTE_READ, Access.REMOTE_WRITE};

    /** A writer, and a target in another domain, whose progress is its own; of connections, both are in one domain. */
    private static final class Ends implements AutoCloseable {
        final Pair near;
        final Pair far;
        final Peer peer;
        final MemoryRegion target;
        final MemoryRegion source;
        final List<Long> tokens = new ArrayList<>();
        private final CompletionHandler handler = new CompletionHandler() {
            @Override
            public void onCompletion(long token, long flags, long length, long data) { tokens.add(token); }

            @Override
            public void onError(CompletionError error) { throw error.toException(); }
        };

        Ends(FabricHints hints, long length) {
            near = new Pair(hints);
            boolean isConnected = near.vector == null;
            far = isConnected ? near : new Pair(hints);
            peer = isConnected ? near.far : near.vector.insert(far.farEndpoint.address());
            target = far.domain.allocate(length, TARGET);
            source = near.domain.allocate(length, Access.READ, Access.WRITE);
        }

        /** Until the flush has completed: nothing has polled the target since. */
        void awaitFlush() {
            Waiting.YIELD.until(() -> {
                near.queue.poll(handler, 64);
                if (tokens.contains(FLUSH)) { return true; }
                far.farQueue.poll((token, flags, size, data) -> {}, 1);
                return false;
            }, Pair.DEADLINE);
            assertThat(tokens).as("one completion of the flush").containsOnlyOnce(FLUSH);
        }

        /** Until all has completed. */
        void drain() {
            Waiting.YIELD.until(() -> {
                far.farQueue.poll((token, flags, size, data) -> {}, 64);
                near.queue.poll(handler, 64);
                return near.queue.operationsInFlight() == 0;
            }, Pair.DEADLINE);
            tokens.clear();
        }

        /**
         * Posts where waiting would poll: the target must not be ahead of what is looked at, and makes progress all the
         * same.
         */
        void post(BooleanSupplier attempt) {
            Waiting.YIELD.until(() -> {
                if (attempt.getAsBoolean()) { return true; }
                far.farQueue.poll((token, flags, size, data) -> {}, 1);
                near.queue.poll(handler, 64);
                return false;
            }, Pair.DEADLINE);
        }

        @Override
        public void close() {
            target.close();
            source.close();
            if (far != near) { far.close(); }
            near.close();
        }
    }

    @ParameterizedTest
    @MethodSource("io.ofi4j.support.TestProviders#transfers")
    void writesOfEveryLengthAreThere(String provider) {
        try (Ends ends = new Ends(TestProviders.hints(provider), (long) LENGTHS.length * SLOT)) {
            RemoteRegion remote = ends.target.remote();
            Rma rma = ends.near.rma();
            for (int round = 1; round <= ROUNDS; round++) {
                ends.source.segment().fill((byte) round);
                for (int one = 0; one < LENGTHS.length; one++) {
                    int slot = round % 2 == 0 ? one : LENGTHS.length - 1 - one; // short ones behind long ones, too
                    long at = (long) slot * SLOT;
                    int length = LENGTHS[slot];
                    if (length <= rma.injectSize()) {
                        ends.post(() -> rma.tryInjectWrite(ends.source, at, length, ends.peer, remote, at));
                    } else {
                        ends.post(() -> rma.tryWrite(ends.source, at, length, ends.peer, remote, at, 1));
                    }
                }
                ends.post(() -> rma.tryFlush(ends.peer, remote, FLUSH));
                ends.awaitFlush();
                for (int slot = 0; slot < LENGTHS.length; slot++) {
                    long at = (long) slot * SLOT;
                    assertThat(ends.target.segment().get(JAVA_BYTE, at + LENGTHS[slot] - 1))
                            .as("the last of %d bytes in round %d", LENGTHS[slot], round).isEqualTo((byte) round);
                    assertThat(ends.target.segment().get(JAVA_BYTE, at)).isEqualTo((byte) round);
                }
                ends.drain();
            }
        }
    }

    /** As net of 1.17 does; where a provider has atomics, a flush may be one. */
    @ParameterizedTest
    @MethodSource("io.ofi4j.support.TestProviders#transfers")
    void aFlushNeedsNoneOfTheAtomicsThatAProviderClaims(String provider) {
        FabricHints hints = TestProviders.hints(provider).addCapabilities(Capability.ATOMIC);
        if (!isOffered(hints)) { return; }
        try (Ends ends = new Ends(hints, SLOT)) {
            ends.post(() -> ends.near.rma().tryWrite(ends.source, 0, SLOT, ends.peer, ends.target.remote(), 0, 1));
            ends.post(() -> ends.near.rma().tryFlush(ends.peer, ends.target.remote(), FLUSH));
            ends.awaitFlush();
        }
    }

    private static boolean isOffered(FabricHints hints) {
        try {
            return !Libfabric.load().info(hints).isEmpty();
        } catch (NoProviderException e) {
            return false;
        }
    }

    /** The queue of the target is never polled while writes are posted, so that as many as can be wait there. */
    @ParameterizedTest
    @MethodSource("io.ofi4j.support.TestProviders#transfers")
    void aCrowdOfShortWritesIsThere(String provider) {
        int many = 60;
        try (Ends ends = new Ends(TestProviders.hints(provider), many * 64L)) {
            RemoteRegion remote = ends.target.remote();
            Rma rma = ends.near.rma();
            for (int round = 1; round <= ROUNDS; round++) {
                ends.source.segment().fill((byte) round);
                for (int one = 0; one < many; one++) {
                    long at = one * 64L;
                    ends.post(() -> rma.tryWrite(ends.source, at, 64, ends.peer, remote, at, 1));
                }
                ends.post(() -> rma.tryFlush(ends.peer, remote, FLUSH));
                ends.awaitFlush();
                for (int one = 0; one < many; one++) {
                    assertThat(ends.target.segment().get(JAVA_BYTE, one * 64L + 63)).as("write %d", one)
                            .isEqualTo((byte) round);
                }
                ends.drain();
            }
        }
    }

    @ParameterizedTest
    @MethodSource("io.ofi4j.support.TestProviders#atomics")
    void atomicOperationsAreThere(String provider) {
        FabricHints hints = TestProviders.atomicHints(provider).capabilities(Capability.RMA, Capability.ATOMIC);
        try (Ends ends = new Ends(hints, 4096)) {
            RemoteRegion remote = ends.target.remote();
            Atomics atomics = ends.near.endpoint.atomics();
            Rma rma = ends.near.rma();
            ends.source.segment().set(JAVA_LONG, 0, 1);
            for (int round = 1; round <= ROUNDS; round++) {
                ends.source.segment().set(JAVA_LONG, 8, round);
                for (int one = 0; one < 50; one++) {
                    ends.post(() -> atomics.tryExecute(AtomicOperation.SUM, Datatype.INT64, ends.source, 0, 1,
                            ends.peer, remote, 8, 1));
                    ends.post(() -> atomics.tryInject(AtomicOperation.SUM, Datatype.INT64, ends.source, 0, 1, ends.peer,
                            remote, 8));
                }
                ends.post(() -> rma.tryWrite(ends.source, 8, 8, ends.peer, remote, 16, 1));
                ends.post(() -> rma.tryFlush(ends.peer, remote, FLUSH));
                ends.awaitFlush();
                assertThat(ends.target.segment().get(JAVA_LONG, 8)).isEqualTo(100L * round);
                assertThat(ends.target.segment().get(JAVA_LONG, 16)).isEqualTo(round);
                ends.drain();
            }
        }
    }

    static List<String> thatCoverMessages() {
        List<String> covering = TestProviders.rma().filter(provider -> {
            try (Pair pair = new Pair(withMessages(provider))) {
                return pair.rma().flushCoversMessages();
            }
        }).toList();
        assumeFalse(covering.isEmpty(), "no provider of this libfabric is known to cover messages");
        return covering;
    }

    private static FabricHints withMessages(String provider) {
        return TestProviders.hints(provider).capabilities(Capability.RMA, Capability.MSG);
    }

    @ParameterizedTest
    @MethodSource("thatCoverMessages")
    void messagesThatReceivesTakeAreThereWhereThatIsSaid(String provider) {
        int many = 32;
        int room = 1 << 16;
        try (Ends ends = new Ends(withMessages(provider), 64);
                MemoryRegion inbox = ends.far.domain.allocate((long) many * room, Access.RECEIVE);
                MemoryRegion outbox = ends.near.domain.allocate(room, Access.SEND)) {
            for (int round = 1; round <= ROUNDS; round++) {
                outbox.segment().fill((byte) round);
                for (int slot = 0; slot < many; slot++) {
                    ends.far.farEndpoint.messages().receive(inbox.slice((long) slot * room, room), slot);
                }
                for (int slot = 0; slot < many; slot++) {
                    int length = LENGTHS[(round + slot) % (LENGTHS.length - 1)];
                    ends.post(() -> ends.near.endpoint.messages().trySend(outbox, 0, length, ends.peer, 1));
                }
                ends.post(() -> ends.near.rma().tryFlush(ends.peer, ends.target.remote(), FLUSH));
                ends.awaitFlush();
                for (int slot = 0; slot < many; slot++) {
                    int length = LENGTHS[(round + slot) % (LENGTHS.length - 1)];
                    assertThat(inbox.segment().get(JAVA_BYTE, (long) slot * room + length - 1))
                            .as("the end of message %d of %d bytes in round %d", slot, length, round)
                            .isEqualTo((byte) round);
                }
                ends.drain();
                Waiting.YIELD.until(() -> {
                    ends.far.farQueue.poll((token, flags, size, data) -> {}, 64);
                    return ends.far.farQueue.operationsInFlight() == 0;
                }, Pair.DEADLINE);
            }
        }
    }

    @ParameterizedTest
    @MethodSource("io.ofi4j.support.TestProviders#transfers")
    void aFlushByAnEndpointThatNeverWroteCompletesAndChangesNothing(String provider) {
        try (Ends ends = new Ends(TestProviders.hints(provider), 64)) {
            ends.target.segment().fill((byte) 5);
            for (int round = 0; round < 3; round++) {
                ends.post(() -> ends.near.rma().tryFlush(ends.peer, ends.target.remote(), FLUSH));
                ends.awaitFlush();
                ends.tokens.clear();
            }
            assertThat(ends.target.segment().elements(JAVA_BYTE)).allMatch(one -> one.get(JAVA_BYTE, 0) == 5);
        }
    }

    @Test
    void aSelectiveQueueReportsFlushes() {
        Pair.Wiring selective = new Pair.Wiring() {
            @Override
            public Endpoint bindNear(Pair pair, Endpoint endpoint) {
                return endpoint.bindSelective(pair.queue).bind(pair.queue, Direction.RECEIVE);
            }
        };
        for (FabricHints hints : List.of(TestProviders.hints("shm"), TestProviders.hints("sockets"),
                TestProviders.atomicHints("tcp;ofi_rxm"))) {
            try (Pair pair = new Pair(hints, CompletionQueueAttributes.defaults(), selective);
                    MemoryRegion target = pair.domain.allocate(64, TARGET);
                    MemoryRegion source = pair.domain.allocate(64, Access.WRITE)) {
                pair.rma().write(source.slice(0, 64), pair.far, target.remote(), 1);
                pair.rma().flush(pair.far, target.remote(), FLUSH);
                pair.awaitToken(FLUSH);
            }
        }
    }

    /** A flush in flight is an operation as any other. */
    @ParameterizedTest
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void anEndpointThatClosesCompletesItsFlushes(String provider) {
        try (Pair pair = new Pair(provider); MemoryRegion target = pair.domain.allocate(64, TARGET)) {
            int accepted = 0;
            while (accepted < 8 && pair.rma().tryFlush(pair.far, target.remote(), accepted)) {
                accepted++;
            }
            pair.endpoint.close();
            int flushes = accepted;
            Waiting.YIELD.until(() -> {
                pair.pollNear();
                return pair.completed.size() + pair.errors.size() == flushes;
            }, Pair.DEADLINE);
        } // which closes the domain: nothing of the flushes is left open
    }

    @Test
    void whatCannotBeFlushedIsRefusedByName() {
        try (Pair pair = new Pair("shm");
                Pair other = new Pair("shm");
                MemoryRegion target = pair.domain.allocate(64, TARGET);
                MemoryRegion local = pair.domain.allocate(64, Access.READ)) {
            Rma rma = pair.rma();
            assertThatIllegalArgumentException().isThrownBy(() -> rma.tryFlush(pair.far, local.remote(), 1))
                    .withMessageContaining("lacks [REMOTE_");
            assertThatIllegalArgumentException().isThrownBy(() -> rma.tryFlush(other.far, target.remote(), 1))
                    .withMessageContaining("address vector");
            pair.vector.remove(pair.far);
            assertThatIllegalStateException().isThrownBy(() -> rma.tryFlush(pair.far, target.remote(), 1))
                    .withMessageContaining("removed");
            pair.endpoint.close();
            assertThatIllegalStateException().isThrownBy(() -> rma.tryFlush(pair.far, target.remote(), 1))
                    .withMessageContaining("closed");
            assertThatIllegalStateException().isThrownBy(() -> rma.flush(pair.far, target.remote(), 1));
        }
        try (Pair pair = new Pair(TestProviders.atomicHints("tcp;ofi_rxm"));
                MemoryRegion target = pair.domain.allocate(64, TARGET)) {
            assertThatExceptionOfType(IndexOutOfBoundsException.class)
                    .isThrownBy(() -> pair.rma().tryFlush(pair.far, target.remote().slice(0, 4), 1))
                    .withMessageContaining("8 bytes");
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> pair.rma().tryFlush(pair.far, target.remote().slice(4, 8), 1))
                    .withMessageContaining("aligned");
        }
    }

    /** Without what is known of it beyond its attributes, shm promises no order. */
    @Test
    void aProviderThatPromisesNoOrderRefusesByName() {
        ShmFile.removeAbandoned();
        Forked.Result result = Forked.run(FlushesWithoutOrder.class, "-Dio.ofi4j.quirks=none");
        assertThat(result.output()).contains("the provider shm does not promise", "DELIVERY_COMPLETE");
        assertThat(result.exit()).isZero();
    }

    static final class FlushesWithoutOrder {
        private FlushesWithoutOrder() {}

        public static void main(String[] arguments) {
            try (Pair pair = new Pair("shm"); MemoryRegion target = pair.domain.allocate(64, TARGET)) {
                Consumer<RemoteRegion> flush = remote -> pair.rma().tryFlush(pair.far, remote, 1);
                assertThatRefused(() -> flush.accept(target.remote()));
            }
        }

        private static void assertThatRefused(Runnable call) { // a forked JVM has no AssertJ
            try {
                call.run();
            } catch (UnsupportedOperationException e) {
                System.out.println(e.getMessage());
                return;
            }
            throw new AssertionError("the flush was accepted");
        }
    }
}
