package io.ofi4j;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.ofi4j.info.CompletionFlags;
import io.ofi4j.info.AtomicOperation;
import io.ofi4j.info.Datatype;
import io.ofi4j.info.OperationFlag;
import io.ofi4j.support.ForEachProvider;
import io.ofi4j.support.Pair;
import io.ofi4j.support.ProviderFault;
import io.ofi4j.support.TestProviders;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.provider.MethodSource;

/** Prepared atomic operations: segments, flags, and posts of the same operation. */
@Timeout(300)
class PreparedAtomicTest {
    private static final String PROVIDERS = "io.ofi4j.support.TestProviders#atomics";
    private static final int LENGTH = 4096;

    /** An operation between two endpoints with a region for each of its lists; the elements are longs. */
    private static final class Prepared implements AutoCloseable {
        final Pair pair;
        final MemoryRegion operands;
        final MemoryRegion comparands;
        final MemoryRegion results;
        final MemoryRegion target;
        final PreparedAtomic operation;
        final List<Long> told = new ArrayList<>();

        Prepared(String provider) {
            pair = new Pair(TestProviders.atomicHints(provider));
            operands = pair.domain.allocate(LENGTH, Access.WRITE);
            comparands = pair.domain.allocate(LENGTH, Access.WRITE);
            results = pair.domain.allocate(LENGTH, Access.READ);
            target = pair.domain.allocate(LENGTH, Access.REMOTE_READ, Access.REMOTE_WRITE);
            operation = pair.endpoint.atomics().prepare(Datatype.INT64).peer(pair.far);
            for (int i = 0; i < LENGTH / Long.BYTES; i++) {
                operands.segment().setAtIndex(JAVA_LONG, i, i);
                comparands.segment().setAtIndex(JAVA_LONG, i, 1000);
                target.segment().setAtIndex(JAVA_LONG, i, i % 2 == 0 ? 1000 : 2000);
            }
        }

        /** Twelve elements in three segments that are not in order; the target has one. */
        PreparedAtomic whole() {
            operation.clear();
            for (int at : new int[]{64, 0, 128}) {
                operation.local(operands, at, 4).comparand(comparands, at, 4).result(results, at, 4);
            }
            return operation.remote(target.remote(), 256, 12);
        }

        long operand(int element) { return (new int[]{64, 0, 128}[element / 4] / Long.BYTES) + element % 4; }

        long result(int element) { return at(results, (int) operand(element)); }

        long targeted(int element) { return at(target, 256 / Long.BYTES + element); }

        static long at(MemoryRegion region, int index) { return region.segment().getAtIndex(JAVA_LONG, index); }

        void awaitThat(BooleanSupplier condition) {
            Waiting.YIELD.until(() -> {
                pair.farQueue.poll((token, flags, length, data) -> {
                    if ((flags & CompletionFlags.REMOTE_CQ_DATA) != 0) { told.add(data); }
                }, 8);
                pair.pollNear();
                return condition.getAsBoolean();
            }, Pair.DEADLINE);
            assertThat(pair.errors).isEmpty();
        }

        void await(long token) { awaitThat(() -> pair.completed.contains(token)); }

        @Override
        public void close() {
            List.of(operands, comparands, results, target).forEach(MemoryRegion::close);
            pair.close();
        }
    }

    @ForEachProvider
    @MethodSource(PROVIDERS)
    void severalSegmentsInEveryForm(String provider) {
        try (Prepared p = new Prepared(provider)) {
            for (OperationFlag[] flags : List.of(new OperationFlag[0], new OperationFlag[]{OperationFlag.COMPLETION})) {
                p.target.segment().fill((byte) 0);
                PreparedAtomic m = p.whole().flags(flags);
                m.execute(AtomicOperation.SUM, 1);
                p.await(1);
                for (int i = 0; i < 12; i++) {
                    int element = i;
                    p.awaitThat(() -> p.targeted(element) == p.operand(element));
                }
                m.fetch(AtomicOperation.SUM, 2);
                p.await(2);
                for (int i = 0; i < 12; i++) {
                    assertThat(p.result(i)).isEqualTo(p.operand(i));
                    assertThat(p.targeted(i)).isEqualTo(2 * p.operand(i));
                }
                p.target.segment().setAtIndex(JAVA_LONG, 32 + 5, 1000);
                m.compare(AtomicOperation.CSWAP, 3);
                p.await(3);
                for (int i = 0; i < 12; i++) {
                    assertThat(p.result(i)).isEqualTo(i == 5 ? 1000 : 2 * p.operand(i));
                    assertThat(p.targeted(i)).isEqualTo(i == 5 ? p.operand(5) : 2 * p.operand(i));
                }
                p.pair.completed.clear();
            }
        }
    }

    @ForEachProvider
    @MethodSource(PROVIDERS)
    void severalRemoteSegments(String provider) {
        try (Prepared p = new Prepared(provider)) {
            PreparedAtomic m = p.operation;
            int segments = Math.min(3, m.remoteLimit());
            m.local(p.operands, 8, segments).result(p.results, 0, segments);
            for (int i = 0; i < segments; i++) {
                m.remote(p.target.remote(), i * 512L, 1);
            }
            m.fetch(AtomicOperation.SUM, 5);
            p.await(5);
            for (int i = 0; i < segments; i++) {
                assertThat(Prepared.at(p.results, i)).isEqualTo(1000);
                assertThat(Prepared.at(p.target, i * 64)).isEqualTo(1000 + 1 + i);
            }
        }
    }

    @ForEachProvider
    @MethodSource(PROVIDERS)
    void theSameMessageManyTimes(String provider) {
        try (Prepared p = new Prepared(provider)) {
            p.target.segment().fill((byte) 0);
            PreparedAtomic m = p.operation.local(p.operands, 8, 1).result(p.results, 0, 1).remote(p.target.remote(), 0,
                    1);
            for (int i = 0; i < 1000; i++) {
                m.fetch(AtomicOperation.SUM, i);
                p.await(i);
                p.pair.completed.clear();
                assertThat(Prepared.at(p.results, 0)).isEqualTo(i);
            }
        }
    }

    @ForEachProvider
    @MethodSource(PROVIDERS)
    void flagsDoWhatTheySayOrAreRefusedByName(String provider) {
        try (Prepared p = new Prepared(provider)) {
            PreparedAtomic m = p.operation.local(p.operands, 8, 1).remote(p.target.remote(), 0, 1);
            long token = 10;
            for (OperationFlag flag : List.of(OperationFlag.COMPLETION, OperationFlag.MORE,
                    OperationFlag.DELIVERY_COMPLETE, OperationFlag.TRANSMIT_COMPLETE)) {
                m.flags(flag).execute(AtomicOperation.SUM, ++token);
                p.await(token);
            }
            p.awaitThat(() -> Prepared.at(p.target, 0) == 1004);
            if (ProviderFault.ATOMIC_INJECTS_ARE_SILENT.isOf(provider)) {
                refused(m, OperationFlag.INJECT, "Atomics.inject");
            } else {
                m.flags(OperationFlag.INJECT).execute(AtomicOperation.SUM, ++token);
                p.operands.segment().fill((byte) -1);
                p.await(token);
                p.awaitThat(() -> Prepared.at(p.target, 0) == 1005);
                assertThatIllegalArgumentException()
                        .isThrownBy(() -> m.result(p.results, 0, 1).fetch(AtomicOperation.SUM, 1))
                        .withMessageContaining("INJECT");
            }
            long before = Prepared.at(p.target, 0);
            if (ProviderFault.ATOMICS_CARRY_NO_DATA.isOf(provider)) {
                refused(m, OperationFlag.REMOTE_CQ_DATA, "a write that has data");
            } else {
                m.flags(OperationFlag.REMOTE_CQ_DATA).data(77).execute(AtomicOperation.SUM, ++token);
                p.await(token);
                p.awaitThat(() -> p.told.contains(77L));
                p.awaitThat(() -> Prepared.at(p.target, 0) == before + Prepared.at(p.operands, 1));
            }
        }
    }

    private static void refused(PreparedAtomic operation, OperationFlag flag, String instead) {
        assertThatThrownBy(() -> operation.flags(flag)).isInstanceOf(UnsupportedOperationException.class)
                .hasMessageContaining(flag.name()).hasMessageContaining(instead);
    }

    @Test
    void byTheThreadThatMadeItAlone() throws InterruptedException {
        try (Prepared p = new Prepared("shm")) {
            List<Throwable> thrown = new ArrayList<>();
            PreparedAtomic m = p.whole();
            for (Runnable use : List.<Runnable>of(m::clear, () -> m.data(1), () -> m.peer(p.pair.far),
                    () -> m.remote(p.target.remote(), 0, 1), () -> m.tryFetch(AtomicOperation.SUM, 1))) {
                Thread.ofPlatform().start(() -> thrown.add(catchThrowable(use::run))).join();
            }
            assertThat(thrown).hasSize(5).allSatisfy(each -> assertThat(each).isInstanceOf(WrongThreadException.class)
                    .hasMessageContaining("Atomics.prepare("));
        }
    }

    @Test
    void everyRegionOfAMessageLivesUntilItsEnd() {
        try (Prepared p = new Prepared("shm")) {
            p.whole().compare(AtomicOperation.CSWAP, 1);
            MemorySegment memory = p.results.segment();
            List.of(p.operands, p.comparands, p.results).forEach(MemoryRegion::close);
            assertThat(memory.scope().isAlive()).isTrue();
            p.await(1);
            assertThat(memory.scope().isAlive()).isFalse();
        }
    }
}
