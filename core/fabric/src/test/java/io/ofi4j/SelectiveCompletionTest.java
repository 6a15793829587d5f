package io.ofi4j;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ofi4j.errors.NoProviderException;
import io.ofi4j.info.Capability;
import io.ofi4j.info.CompletionQueueStatistics;
import io.ofi4j.info.Direction;
import io.ofi4j.info.FabricHints;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.info.OperationFlag;
import io.ofi4j.support.ForEachProvider;
import io.ofi4j.support.Pair;
import io.ofi4j.support.TestProviders;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Completions for those operations only that ask for one, and flags that every operation has. */
@Timeout(600)
class SelectiveCompletionTest {
    private static final int LENGTH = 512;

    private final Random random = new Random(3);

    /** A pair, and beside its near endpoint one that completes selectively on a queue of its own. */
    private static final class Selective implements AutoCloseable {
        final Pair pair;
        final CompletionQueue queue;
        final Endpoint endpoint;
        final MemoryRegion source;
        final MemoryRegion target;
        final List<Long> completed = new ArrayList<>();
        final List<CompletionError> errors = new ArrayList<>();

        Selective(FabricHints hints, int length) {
            pair = new Pair(hints);
            queue = pair.domain.openCompletionQueue(128);
            endpoint = pair.domain.openEndpoint().bind(pair.vector).bindSelective(queue).bind(queue, Direction.RECEIVE)
                    .enable();
            source = pair.domain.allocate(length, Access.WRITE, Access.READ);
            target = pair.domain.allocate(length, Access.REMOTE_WRITE, Access.REMOTE_READ);
        }

        void write(long token) {
            endpoint.rma().write(source.slice(0, source.length()), pair.far, target.remote(), token);
        }

        PreparedRma message() {
            return endpoint.rma().prepare().peer(pair.far).local(source, 0, source.length()).remote(target.remote(), 0,
                    target.length());
        }

        void await(BooleanSupplier condition) {
            Waiting.YIELD.until(() -> {
                pair.poll();
                queue.poll(new CompletionHandler() {
                    @Override
                    public void onCompletion(long token, long flags, long length, long data) { completed.add(token); }

                    @Override
                    public void onError(CompletionError error) { errors.add(error); }
                }, 64);
                return condition.getAsBoolean();
            }, Pair.DEADLINE);
        }

        @Override
        public void close() {
            endpoint.close();
            queue.close();
            source.close();
            target.close();
            pair.close();
        }
    }

    private byte[] fill(MemoryRegion region) {
        byte[] bytes = new byte[Math.toIntExact(region.length())];
        random.nextBytes(bytes);
        MemorySegment.copy(bytes, 0, region.segment(), JAVA_BYTE, 0, bytes.length);
        return bytes;
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void onlyWhatAsksForACompletionGivesOne(String provider) {
        try (Selective selective = new Selective(TestProviders.hints(provider), LENGTH)) {
            byte[] sent = fill(selective.source);
            PreparedRma message = selective.message();
            for (int round = 0; round < 3; round++) {
                // more than the queue has room for: silent ones leave it without an entry
                for (int i = 0; i < 300; i++) {
                    selective.write(1000 + i);
                }
                message.flags().write(2000);
                message.flags(OperationFlag.TRANSMIT_COMPLETE).write(2001);
                message.flags(OperationFlag.COMPLETION).write(round);
                long last = round;
                selective.await(() -> selective.completed.contains(last) && selective.queue.operationsInFlight() == 0);
            }
            assertThat(selective.errors).isEmpty();
            assertThat(selective.completed).containsExactly(0L, 1L, 2L);
            selective.await(() -> selective.target.segment().mismatch(MemorySegment.ofArray(sent)) == -1);
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void readsAreSilentToo(String provider) {
        try (Selective selective = new Selective(TestProviders.hints(provider), LENGTH)) {
            byte[] there = fill(selective.target);
            selective.endpoint.rma().read(selective.source.slice(0, LENGTH), selective.pair.far,
                    selective.target.remote(), 5);
            selective.endpoint.rma().read(selective.source.slice(0, 0), selective.pair.far, selective.target.remote(),
                    6);
            selective.await(() -> selective.queue.operationsInFlight() == 0);

            assertThat(selective.source.segment().toArray(JAVA_BYTE)).isEqualTo(there);
            selective.message().flags(OperationFlag.COMPLETION).read(7);
            selective.await(() -> !selective.completed.isEmpty());
            assertThat(selective.completed).containsExactly(7L);
            assertThat(selective.errors).isEmpty();
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void aRegionUnderASilentOperationStaysUntilItIsOver(String provider) {
        try (Selective selective = new Selective(TestProviders.hints(provider), 8 << 20)) {
            selective.write(1);
            int inFlight = selective.source.operationsInFlight();
            selective.source.close();

            assertThat(selective.source.segment().scope().isAlive()).isEqualTo(inFlight == 1);
            assertThatIllegalStateException().isThrownBy(() -> selective.write(2));
            selective.await(() -> !selective.source.segment().scope().isAlive());
            assertThat(selective.completed).isEmpty();
            assertThat(selective.errors).isEmpty();
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void aSilentOperationThatIsCanceledIsReportedOnce(String provider) {
        try (Selective selective = new Selective(TestProviders.hints(provider), 8 << 20)) {
            selective.endpoint.rma().write(selective.source.slice(0, 8), selective.pair.far, selective.target.remote(),
                    9);
            selective.await(() -> selective.queue.operationsInFlight() == 0); // they are connected
            for (int i = 0; i < 4; i++) {
                selective.endpoint.rma().tryWrite(selective.source, 0, 8 << 20, selective.pair.far,
                        selective.target.remote(), 0, i);
            }
            CompletionQueueStatistics before = selective.queue.statistics();
            selective.endpoint.close();
            CompletionQueueStatistics after = selective.queue.statistics();
            long reported = after.failed() + after.canceled();
            selective.await(() -> selective.errors.size() >= reported);
            assertThat(selective.queue.poll((token, flags, length, data) -> {}, 64)).as("what is left").isZero();

            assertThat(before.inFlight()).isPositive();
            assertThat(after.inFlight()).isZero();
            assertThat(after.completed() - before.completed() + reported).isEqualTo(before.inFlight());
            assertThat(selective.source.operationsInFlight()).isZero();
            assertThat(selective.completed).isEmpty();
            assertThat(selective.errors).extracting(CompletionError::token).hasSize((int) reported)
                    .doesNotHaveDuplicates().isSubsetOf(0L, 1L, 2L, 3L);
        }
    }

    @Test
    void aSilentOperationThatFailsIsReported() {
        try (Selective selective = new Selective(TestProviders.hints("tcp;ofi_rxm"), LENGTH)) {
            RemoteRegion wrong = new RemoteRegion(selective.target.remote().base(), LENGTH,
                    ~selective.target.remote().key(), Access.REMOTE_READ.bit());
            selective.endpoint.rma().read(selective.source.slice(0, LENGTH), selective.pair.far, wrong, 11);
            selective.await(() -> !selective.errors.isEmpty());

            assertThat(selective.errors).singleElement().satisfies(error -> assertThat(error.token()).isEqualTo(11));
            assertThat(selective.completed).isEmpty();
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void silentOperationsLeaveNothingForALaterPoll(String provider) {
        try (Selective selective = new Selective(TestProviders.hints(provider), LENGTH)) {
            for (int i = 0; i < 20; i++) {
                selective.write(i);
            }
            Waiting.YIELD.until(() -> {
                selective.pair.poll();
                selective.queue.progress(); // keeps what comes for the next poll
                return selective.queue.operationsInFlight() == 0;
            }, Pair.DEADLINE);

            assertThat(selective.queue.poll((token, flags, length, data) -> {}, 64)).isZero();
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void anEndpointCanAskForEveryCompletionByDefault(String provider) {
        FabricHints hints = TestProviders.hints(provider).operationFlags(OperationFlag.COMPLETION);
        try (Selective selective = new Selective(hints, LENGTH)) {
            selective.write(1);
            selective.message().flags(OperationFlag.TRANSMIT_COMPLETE).write(2);
            selective.await(() -> selective.queue.operationsInFlight() == 0);

            assertThat(selective.completed).as("the operation has its own flags").containsExactly(1L);
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void deliveryCanBeWhatEveryCompletionSays(String provider) {
        FabricHints hints = TestProviders.hints(provider).operationFlags(OperationFlag.DELIVERY_COMPLETE);
        try (Pair pair = new Pair(hints);
                MemoryRegion source = pair.domain.allocate(LENGTH, Access.WRITE);
                MemoryRegion target = pair.domain.allocate(LENGTH, Access.REMOTE_WRITE)) {
            assertThat(pair.domain.info().transmit().operationFlags()).contains(OperationFlag.DELIVERY_COMPLETE);
            for (int i = 0; i < 20; i++) {
                byte[] sent = fill(source);
                pair.rma().write(source.slice(0, LENGTH), pair.far, target.remote(), i);
                pair.awaitToken(i);

                assertThat(target.segment().mismatch(MemorySegment.ofArray(sent))).as("round %d", i).isEqualTo(-1);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(value = OperationFlag.class, names = {"INJECT_COMPLETE", "TRANSMIT_COMPLETE"})
    void theWeakerPromisesAreTakenByEveryProvider(OperationFlag flag) {
        for (String provider : TestProviders.rma().toList()) {
            try (Pair pair = new Pair(TestProviders.hints(provider).operationFlags(flag));
                    MemoryRegion source = pair.domain.allocate(LENGTH, Access.WRITE);
                    MemoryRegion target = pair.domain.allocate(LENGTH, Access.REMOTE_WRITE)) {
                pair.rma().write(source.slice(0, LENGTH), pair.far, target.remote(), 3);
                pair.awaitToken(3);
            }
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void commitCompleteHoldsWhereItIsOfferedAndIsRefusedByNameElsewhere(String provider) {
        FabricHints persistent = TestProviders.hints(provider).capabilities(Capability.RMA, Capability.RMA_PMEM)
                .operationFlags(OperationFlag.COMMIT_COMPLETE);
        List<FabricInfo> offers = Libfabric.load().infoOrNothing(persistent);
        if (offers.isEmpty()) {
            assertThatThrownBy(() -> Libfabric.load()
                    .info(TestProviders.hints(provider).capabilities(Capability.RMA, Capability.RMA_PMEM)))
                    .isInstanceOf(NoProviderException.class).hasMessageContaining("RMA_PMEM");
            return;
        }
        try (Pair pair = new Pair(persistent);
                MemoryRegion source = pair.domain.allocate(LENGTH, Access.WRITE);
                MemoryRegion target = pair.domain.allocate(LENGTH, Access.REMOTE_WRITE)) {
            for (int i = 0; i < 20; i++) {
                byte[] sent = fill(source);
                if (i % 2 == 0) {
                    pair.rma().write(source.slice(0, LENGTH), pair.far, target.remote(), i);
                } else {
                    pair.rma().prepare().peer(pair.far).local(source, 0, LENGTH).remote(target.remote(), 0, LENGTH)
                            .flags(OperationFlag.COMMIT_COMPLETE).write(i);
                }
                pair.awaitToken(i);

                assertThat(target.segment().mismatch(MemorySegment.ofArray(sent))).as("round %d", i).isEqualTo(-1);
            }
        }
    }

    @Test
    void whatConcernsOneOperationIsNoDefault() {
        for (OperationFlag flag : List.of(OperationFlag.MORE, OperationFlag.FENCE, OperationFlag.REMOTE_CQ_DATA)) {
            assertThatIllegalArgumentException().isThrownBy(() -> FabricHints.rma().operationFlags(flag))
                    .withMessageContaining(flag + " cannot be a default");
        }
        assertThatThrownBy(() -> Libfabric.load()
                .info(TestProviders.hints("udp;ofi_rxd").operationFlags(OperationFlag.COMMIT_COMPLETE)))
                .isInstanceOf(NoProviderException.class).hasMessageContaining("[COMMIT_COMPLETE] by default");
    }
}
