package io.ofi4j;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_DOUBLE;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.ofi4j.info.AtomicForm;
import io.ofi4j.info.AtomicOperation;
import io.ofi4j.info.CompletionFlags;
import io.ofi4j.info.Datatype;
import io.ofi4j.internal.engine.AtomicLimits;
import io.ofi4j.support.AtomicModel;
import io.ofi4j.support.ForEachProvider;
import io.ofi4j.support.Pair;
import io.ofi4j.support.TestProviders;
import io.ofi4j.support.TestSeed;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.provider.MethodSource;

/** The calls of fi_atomic(3), with every operation and datatype that a provider has, against what Java computes. */
@Timeout(600)
class AtomicsTest {
    private static final String PROVIDERS = "io.ofi4j.support.TestProviders#atomics";
    private static final int LENGTH = 1 << 16;
    private static final int ELEMENTS = 9;
    private static final byte GUARD = 0x5a;

    /** Two endpoints, with regions for what each call takes. */
    static final class Stage implements AutoCloseable {
        final Pair pair;
        final Atomics atomics;
        final MemoryRegion operands;
        final MemoryRegion comparands;
        final MemoryRegion results;
        final MemoryRegion target;

        Stage(String provider) {
            pair = new Pair(TestProviders.atomicHints(provider));
            atomics = pair.endpoint.atomics();
            operands = pair.domain.allocate(LENGTH, Access.WRITE);
            comparands = pair.domain.allocate(LENGTH, Access.WRITE);
            results = pair.domain.allocate(LENGTH, Access.READ, Access.WRITE);
            target = pair.domain.allocate(LENGTH, Access.REMOTE_READ, Access.REMOTE_WRITE);
        }

        void await(long token) { pair.awaitToken(token); }

        void awaitThat(BooleanSupplier condition) {
            Waiting.YIELD.until(() -> {
                pair.poll();
                return condition.getAsBoolean();
            }, Pair.DEADLINE);
            assertThat(pair.errors).isEmpty();
        }

        long valid(AtomicForm form, AtomicOperation operation, Datatype datatype) {
            return atomics.valid(form, operation, datatype);
        }

        void post(AtomicForm form, AtomicOperation operation, Datatype datatype, long count, long token) {
            switch (form) {
                case EXECUTE -> atomics.execute(operation, datatype, operands.slice(0, count * datatype.size()),
                        pair.far, target.remote(), token);
                case FETCH -> atomics.fetch(operation, datatype, operands.slice(0, count * datatype.size()),
                        results.slice(0, count * datatype.size()), pair.far, target.remote(), token);
                case COMPARE -> atomics.compare(operation, datatype, operands.slice(0, count * datatype.size()),
                        comparands.slice(0, count * datatype.size()), results.slice(0, count * datatype.size()),
                        pair.far, target.remote(), token);
            }
        }

        @Override
        public void close() {
            List.of(operands, comparands, results, target).forEach(MemoryRegion::close);
            pair.close();
        }
    }

    /** Elements of a region. */
    private static List<byte[]> elements(MemoryRegion region, Datatype datatype, long count) {
        List<byte[]> all = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            all.add(region.segment().asSlice((long) i * datatype.size(), datatype.size()).toArray(JAVA_BYTE));
        }
        return all;
    }

    private static void fill(MemoryRegion region, Datatype datatype, long count, Random random) {
        region.segment().fill(GUARD);
        for (int i = 0; i < count; i++) {
            byte[] element = AtomicModel.random(datatype, random);
            MemorySegment.copy(element, 0, region.segment(), JAVA_BYTE, (long) i * element.length, element.length);
        }
    }

    private static boolean same(Datatype datatype, List<byte[]> some, List<byte[]> others) {
        for (int i = 0; i < some.size(); i++) {
            if (!AtomicModel.same(datatype, some.get(i), others.get(i))) { return false; }
        }
        return true;
    }

    /** Posts one, and compares target, result and what is around them with what they must be. */
    private static void verify(Stage s, AtomicForm form, AtomicOperation operation, Datatype datatype, long count,
            Random random) {
        String what = AtomicLimits.call(form) + " with " + operation + " of " + count + " " + datatype;
        fill(s.operands, datatype, count, random);
        fill(s.comparands, datatype, count, random);
        fill(s.target, datatype, count, random);
        s.results.segment().fill(GUARD);
        if (random.nextBoolean()) { // equal, which a random one seldom is
            MemorySegment.copy(s.target.segment(), 0, s.comparands.segment(), 0, datatype.size());
        }
        List<byte[]> before = elements(s.target, datatype, count);
        List<byte[]> operands = elements(s.operands, datatype, count);
        List<byte[]> comparands = elements(s.comparands, datatype, count);
        List<byte[]> after = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            after.add(AtomicModel.apply(operation, datatype, before.get(i), operands.get(i), comparands.get(i)));
        }
        s.post(form, operation, datatype, count, 42);
        s.await(42);
        s.awaitThat(() -> same(datatype, elements(s.target, datatype, count), after));
        if (form != AtomicForm.EXECUTE) {
            assertThat(same(datatype, elements(s.results, datatype, count), before)).as("result of " + what).isTrue();
        }
        for (MemoryRegion region : List.of(s.target, s.results)) {
            assertThat(region.segment().get(JAVA_BYTE, count * datatype.size())).as("behind, " + what).isEqualTo(GUARD);
        }
    }

    @ForEachProvider
    @MethodSource(PROVIDERS)
    void everyOperationOnEveryDatatypeDoesWhatJavaDoes(String provider) {
        Random random = TestSeed.random("atomics of " + provider);
        int verified = 0;
        try (Stage s = new Stage(provider)) {
            for (AtomicForm form : AtomicForm.values()) {
                for (AtomicOperation operation : AtomicOperation.values()) {
                    for (Datatype datatype : Datatype.values()) {
                        long valid = s.valid(form, operation, datatype);
                        if (valid > 0) {
                            verify(s, form, operation, datatype, Math.min(valid, ELEMENTS), random);
                            verified++;
                        }
                    }
                }
            }
        }
        System.out.println(provider + ": " + verified + " combinations of atomic operation and datatype are right");
        assertThat(verified).isGreaterThan(200);
    }

    @ForEachProvider
    @MethodSource(PROVIDERS)
    void asManyElementsAsTheProviderTakes(String provider) {
        Random random = TestSeed.random("many atomics of " + provider);
        try (Stage s = new Stage(provider)) {
            for (Datatype datatype : List.of(Datatype.INT8, Datatype.INT32, Datatype.INT64, Datatype.DOUBLE)) {
                verify(s, AtomicForm.EXECUTE, AtomicOperation.SUM, datatype,
                        s.atomics.valid(AtomicForm.EXECUTE, AtomicOperation.SUM, datatype), random);
                verify(s, AtomicForm.FETCH, AtomicOperation.SUM, datatype,
                        s.atomics.valid(AtomicForm.FETCH, AtomicOperation.SUM, datatype), random);
                verify(s, AtomicForm.COMPARE, AtomicOperation.CSWAP, datatype,
                        s.atomics.valid(AtomicForm.COMPARE, AtomicOperation.CSWAP, datatype), random);
            }
        }
    }

    @ForEachProvider
    @MethodSource(PROVIDERS)
    void numbersAreAddedFetchedAndSwappedInACell(String provider) {
        try (Stage s = new Stage(provider)) {
            RemoteRegion there = s.target.remote();
            MemorySegment cell = s.results.segment();
            MemorySegment target = s.target.segment();
            target.set(JAVA_LONG, 0, 40L);
            s.atomics.fetch(AtomicOperation.SUM, Datatype.INT64, 2, s.results.slice(64, 16), s.pair.far, there, 1);
            s.await(1);
            assertThat(cell.get(JAVA_LONG, 64)).isEqualTo(40);
            s.awaitThat(() -> target.get(JAVA_LONG, 0) == 42);
            s.atomics.compare(AtomicOperation.CSWAP, Datatype.INT64, 7, 41, s.results.slice(0, 24), s.pair.far, there,
                    2);
            s.await(2);
            assertThat(cell.get(JAVA_LONG, 0)).as("not equal").isEqualTo(42);
            assertThat(target.get(JAVA_LONG, 0)).isEqualTo(42);
            s.atomics.compare(AtomicOperation.MSWAP, Datatype.INT64, 0x5555, 0xf, s.results.slice(0, 24), s.pair.far,
                    there, 3);
            s.await(3);
            s.awaitThat(() -> target.get(JAVA_LONG, 0) == (42 & ~0xf | 0x5));

            target.set(JAVA_INT, 4, -1);
            s.atomics.fetch(AtomicOperation.ATOMIC_WRITE, Datatype.INT32, -5, s.results.slice(4, 8), s.pair.far, there,
                    4);
            s.await(4);
            s.awaitThat(() -> target.get(JAVA_INT, 0) == -5);
            assertThat(target.get(JAVA_INT, 4)).as("the neighbour").isEqualTo(-1);
            target.set(JAVA_FLOAT, 8, 1.5f);
            s.atomics.fetch(AtomicOperation.SUM, Datatype.FLOAT, 0.25, s.results.slice(8, 8), s.pair.far,
                    there.slice(8, 4), 5);
            s.await(5);
            assertThat(cell.get(JAVA_FLOAT, 8)).isEqualTo(1.5f);
            s.awaitThat(() -> target.get(JAVA_FLOAT, 8) == 1.75f);
            target.set(JAVA_DOUBLE, 16, -3);
            s.atomics.fetch(AtomicOperation.PROD, Datatype.DOUBLE, 2, s.results.slice(8, 16), s.pair.far,
                    there.slice(16, 8), 6);
            s.await(6);
            assertThat(cell.get(JAVA_DOUBLE, 8)).isEqualTo(-3);
            s.awaitThat(() -> target.get(JAVA_DOUBLE, 16) == -6);
            s.atomics.fetch(AtomicOperation.SUM, Datatype.DOUBLE, 0, s.results.slice(24, 16), s.pair.far,
                    there.slice(16, 8), 7);
            s.await(7);
            assertThat(cell.get(JAVA_DOUBLE, 24)).isEqualTo(-6);
        }
    }

    @ForEachProvider
    @MethodSource(PROVIDERS)
    void anInjectGivesNoCompletionAndTheOperandsBack(String provider) {
        try (Stage s = new Stage(provider)) {
            RemoteRegion there = s.target.remote();
            int times = 200;
            for (int i = 1; i <= times; i++) {
                s.atomics.inject(AtomicOperation.SUM, Datatype.INT64, i, s.pair.far, there.slice(8, 8));
                s.atomics.inject(AtomicOperation.SUM, Datatype.DOUBLE, 0.5, s.pair.far, there.slice(16, 8));
                s.operands.segment().set(JAVA_LONG, 0, i);
                s.atomics.inject(AtomicOperation.SUM, Datatype.INT64, s.operands.slice(0, 8), s.pair.far,
                        there.slice(24, 8));
                s.operands.segment().fill((byte) -1);
                if (i % 16 == 0) { s.pair.poll(); }
            }
            s.awaitThat(() -> s.target.segment().get(JAVA_LONG, 8) == times * (times + 1) / 2);
            s.awaitThat(() -> s.target.segment().get(JAVA_DOUBLE, 16) == times / 2.0);
            s.awaitThat(() -> s.target.segment().get(JAVA_LONG, 24) == times * (times + 1) / 2);
            assertThat(s.pair.completed).isEmpty();
            assertThat(s.pair.queue.operationsInFlight()).isZero();
        }
    }

    @ForEachProvider
    @MethodSource(PROVIDERS)
    void slicesAreOperandsComparandsAndResults(String provider) {
        try (Stage s = new Stage(provider)) {
            RemoteRegion there = s.target.remote().slice(64, 16);
            MemorySegment changed = s.target.segment().asSlice(64, 16);
            s.operands.segment().set(JAVA_LONG, 8, 5);
            s.operands.segment().set(JAVA_LONG, 16, 7);
            s.atomics.execute(AtomicOperation.SUM, Datatype.INT64, s.operands.slice(8, 16), s.pair.far, there, 1);
            s.await(1);
            s.awaitThat(() -> changed.get(JAVA_LONG, 0) == 5 && changed.get(JAVA_LONG, 8) == 7);

            s.atomics.fetch(AtomicOperation.SUM, Datatype.INT64, s.operands.slice(8, 16), s.results.slice(32, 16),
                    s.pair.far, there, 2);
            s.await(2);
            assertThat(s.results.segment().get(JAVA_LONG, 40)).isEqualTo(7);

            s.comparands.segment().set(JAVA_LONG, 24, 10);
            s.comparands.segment().set(JAVA_LONG, 32, 15);
            s.atomics.compare(AtomicOperation.CSWAP, Datatype.INT64, s.operands.slice(8, 16),
                    s.comparands.slice(24, 16), s.results.slice(0, 16), s.pair.far, there, 3);
            s.await(3);
            s.operands.segment().fill((byte) 0);
            s.atomics.fetch(AtomicOperation.SUM, Datatype.INT64, s.operands.slice(8, 16), s.results.slice(0, 16),
                    s.pair.far, there, 4);
            s.await(4);
            assertThat(s.results.segment().get(JAVA_LONG, 0)).as("the exchanged element").isEqualTo(5);
            assertThat(s.results.segment().get(JAVA_LONG, 8)).as("the other one").isEqualTo(14);
        }
    }

    @ForEachProvider
    @MethodSource(PROVIDERS)
    void aSliceIsACell(String provider) {
        try (Stage s = new Stage(provider)) {
            RemoteRegion there = s.target.remote().slice(8, 8);
            MemoryRegion.Slice cell = s.results.slice(16, 24);
            s.atomics.fetch(AtomicOperation.SUM, Datatype.INT64, 5, cell, s.pair.far, there, 1);
            s.await(1);
            s.atomics.compare(AtomicOperation.CSWAP, Datatype.INT64, 9, 5, cell, s.pair.far, there, 2);
            s.await(2);
            assertThat(cell.segment().get(JAVA_LONG, 0)).isEqualTo(5);
            s.atomics.fetch(AtomicOperation.ATOMIC_WRITE, Datatype.DOUBLE, 0.5, cell, s.pair.far, there, 3);
            s.await(3);
            assertThat(cell.segment().get(JAVA_LONG, 0)).isEqualTo(9);
            s.awaitThat(() -> s.target.segment().get(JAVA_DOUBLE, 8) == 0.5);
        }
    }

    @ForEachProvider
    @MethodSource(PROVIDERS)
    void regionsThatAreClosedUnderAnOperationLiveUntilItsEnd(String provider) {
        for (int victim = 0; victim < 3; victim++) {
            try (Stage s = new Stage(provider)) {
                List<MemoryRegion> local = List.of(s.operands, s.comparands, s.results);
                s.atomics.compare(AtomicOperation.CSWAP, Datatype.INT64, s.operands.slice(0, 64),
                        s.comparands.slice(0, 64), s.results.slice(0, 64), s.pair.far, s.target.remote(), 1);
                assertThat(local.get(victim).operationsInFlight()).isEqualTo(1);
                local.get(victim).close();
                assertThat(s.results.segment().scope().isAlive()).isTrue();
                assertThatIllegalStateException()
                        .isThrownBy(() -> s.post(AtomicForm.COMPARE, AtomicOperation.CSWAP, Datatype.INT64, 8, 2));
                s.await(1);
                assertThat(local.get(victim).operationsInFlight()).isZero();
                assertThat(local.get(victim).segment().scope().isAlive()).isFalse();
            }
        }
    }

    @ForEachProvider
    @MethodSource(PROVIDERS)
    void closingWithOperationsInFlightGivesEveryTokenBackOnce(String provider) {
        for (int round = 0; round < 5; round++) {
            Stage s = new Stage(provider);
            int posted = 0;
            while (posted < 16 && s.atomics.tryFetch(AtomicOperation.SUM, Datatype.INT64, 1, s.results, posted * 64L,
                    s.pair.far, s.target.remote(), 0, posted)) {
                posted++;
            }
            if (round % 2 == 1) { s.pair.poll(); }
            s.pair.endpoint.close();
            s.pair.awaitCompletions(posted);
            List<Long> tokens = new ArrayList<>(s.pair.completed);
            s.pair.errors.forEach(error -> tokens.add(error.token()));
            assertThat(tokens).hasSize(posted).doesNotHaveDuplicates();
            s.close();
        }
    }

    @ForEachProvider
    @MethodSource(PROVIDERS)
    void aCompletionSaysThatItIsOfAnAtomicOperation(String provider) {
        try (Stage s = new Stage(provider)) {
            List<Long> seen = new ArrayList<>();
            for (AtomicForm form : AtomicForm.values()) {
                AtomicOperation operation = form == AtomicForm.COMPARE ? AtomicOperation.CSWAP : AtomicOperation.SUM;
                s.post(form, operation, Datatype.INT64, 1, 1);
                Waiting.YIELD.until(() -> {
                    s.pair.farQueue.poll((token, flags, length, data) -> {}, 8);
                    return s.pair.queue.poll((token, flags, length, data) -> seen.add(flags), 8) > 0;
                }, Pair.DEADLINE);
            }
            assertThat(seen).hasSize(3).allMatch(flags -> (flags & CompletionFlags.ATOMIC) != 0);
        }
    }
}
