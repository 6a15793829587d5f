package io.ofi4j;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ofi4j.errors.NoProviderException;
import io.ofi4j.info.AtomicForm;
import io.ofi4j.info.AtomicOperation;
import io.ofi4j.info.Datatype;
import io.ofi4j.info.FabricHints;
import io.ofi4j.internal.engine.AtomicLimits;
import io.ofi4j.internal.ffi.AtomicOps;
import io.ofi4j.internal.ffi.Forged;
import io.ofi4j.support.ForEachProvider;
import io.ofi4j.support.Pair;
import io.ofi4j.support.ProviderFault;
import io.ofi4j.support.TestProviders;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.provider.MethodSource;

/** Where atomic operations are not, or do not what they should, they are refused by name. */
@Timeout(300)
class AtomicsRefusedTest {
    static Stream<String> others() {
        return TestProviders.transfers().filter(name -> TestProviders.atomics().noneMatch(name::equals));
    }

    /**
     * What they claim is missing or wrong, or they claim nothing; then libfabric may find one that is layered on them.
     */
    @ForEachProvider
    @MethodSource("others")
    void aProviderWithoutThemSaysSo(String provider) {
        FabricHints hints = TestProviders.atomicHints(provider);
        assertThatThrownBy(() -> {
            if (!TestProviders.info(hints).provider().equals(hints.provider().orElseThrow())) {
                throw new UnsupportedOperationException("only a layered one has them");
            }
            try (Pair pair = new Pair(hints); MemoryRegion region = pair.domain.allocate(64, Access.values())) {
                pair.endpoint.atomics().execute(AtomicOperation.SUM, Datatype.INT64, region.slice(0, 8), pair.far,
                        region.remote().slice(8, 8), 1);
            }
        }).isInstanceOfAny(UnsupportedOperationException.class, NoProviderException.class);
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#transfers")
    void anEndpointThatWasNotAskedForThemNamesTheHint(String provider) {
        try (Pair pair = new Pair(provider)) {
            assertThatThrownBy(() -> pair.endpoint.atomics()).isInstanceOf(UnsupportedOperationException.class)
                    .hasMessageContaining("FabricHints.capabilities");
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#atomics")
    void whatTheProviderDoesNotHaveNamesOperationAndProvider(String provider) {
        try (Pair pair = new Pair(TestProviders.atomicHints(provider));
                MemoryRegion local = pair.domain.allocate(64, Access.WRITE, Access.READ);
                MemoryRegion target = pair.domain.allocate(64, Access.REMOTE_READ, Access.REMOTE_WRITE)) {
            Atomics atomics = pair.endpoint.atomics();
            int refused = 0;
            for (AtomicOperation operation : AtomicOperation.values()) {
                for (Datatype datatype : Datatype.values()) {
                    if (atomics.valid(AtomicForm.EXECUTE, operation, datatype) == 0) {
                        refused++;
                        assertThatThrownBy(() -> atomics.execute(operation, datatype, local.slice(0, datatype.size()),
                                pair.far, target.remote(), 1)).isInstanceOf(UnsupportedOperationException.class)
                                .hasMessageContaining(operation.name()).hasMessageContaining(datatype.name())
                                .hasMessageContaining(pair.domain.info().provider());
                    }
                }
            }
            assertThat(refused).isGreaterThan(100);
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#atomics")
    void anInjectAboveTheLimitIsRefused(String provider) {
        try (Pair pair = new Pair(TestProviders.atomicHints(provider));
                MemoryRegion local = pair.domain.allocate(1 << 16, Access.WRITE, Access.REMOTE_WRITE)) {
            Atomics atomics = pair.endpoint.atomics();
            long limit = Math.min(atomics.injectSize(),
                    atomics.valid(AtomicForm.EXECUTE, AtomicOperation.SUM, Datatype.INT8));
            assertThatThrownBy(() -> atomics.inject(AtomicOperation.SUM, Datatype.INT8, local.slice(0, (limit + 1) * 1),
                    pair.far, local.remote())).isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining(Long.toString(limit));
        }
    }

    /** As on connected endpoints of verbs, where libfabric 2.2 and newer take floats for integers. */
    @Test
    void floatsAreRefusedByThemselves() {
        String why = "floats are out";
        try (Pair pair = new Pair(TestProviders.atomicHints("shm"))) {
            AtomicLimits limits = new AtomicLimits(pair.endpoint.atomics().ops, null, why, null, null, "shm");

            for (Datatype datatype : new Datatype[]{Datatype.FLOAT, Datatype.DOUBLE}) {
                assertThatThrownBy(() -> limits.bytes(AtomicForm.FETCH, AtomicOperation.SUM, datatype, 1))
                        .isInstanceOf(UnsupportedOperationException.class).hasMessageContaining(why);
            }
            assertThat(limits.bytes(AtomicForm.FETCH, AtomicOperation.SUM, Datatype.INT64, 1)).isEqualTo(8);
        }
    }

    /** As over shm of 1.20 and 1.21.0, where the result is lost. */
    @Test
    void readsAreRefusedByThemselves() {
        String why = "reads are out";
        try (Pair pair = new Pair(TestProviders.atomicHints("shm"))) {
            AtomicLimits limits = new AtomicLimits(pair.endpoint.atomics().ops, null, null, null, why, "shm");

            assertThatThrownBy(() -> limits.bytes(AtomicForm.FETCH, AtomicOperation.ATOMIC_READ, Datatype.INT64, 1))
                    .isInstanceOf(UnsupportedOperationException.class).hasMessageContaining(why);
            assertThat(limits.bytes(AtomicForm.FETCH, AtomicOperation.SUM, Datatype.INT64, 1)).isEqualTo(8);
        }
    }

    /** Reads give the value, or are refused; see the quirk shm-atomic-reads. */
    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#atomics")
    void aReadGivesTheValueOrIsRefused(String provider) {
        try (Pair pair = new Pair(TestProviders.atomicHints(provider));
                MemoryRegion cell = pair.domain.allocate(64, Access.values())) {
            Atomics atomics = pair.endpoint.atomics();
            cell.segment().set(JAVA_LONG, 32, 7);
            if (ProviderFault.ATOMIC_READS_RETURN_NOTHING.isOf(provider)) {
                assertThatThrownBy(() -> atomics.fetch(AtomicOperation.ATOMIC_READ, Datatype.INT64, null,
                        cell.slice(0, 8), pair.far, cell.remote().slice(32, 8), 1))
                        .isInstanceOf(UnsupportedOperationException.class).hasMessageContaining("SUM or BOR of 0");
                return;
            }
            atomics.fetch(AtomicOperation.ATOMIC_READ, Datatype.INT64, null, cell.slice(0, 8), pair.far,
                    cell.remote().slice(32, 8), 1);
            pair.awaitCompletions(1);
            assertThat(cell.segment().get(JAVA_LONG, 0)).isEqualTo(7);
        }
    }

    @Test
    void typesThatThisLibfabricDoesNotKnowAreNotAskedFor() {
        Forged forged = new Forged(new byte[0]);
        try (Pair pair = new Pair(TestProviders.atomicHints("shm"))) {
            forged.noteDatatypes(pair.endpoint.handle);

            AtomicLimits limits = new AtomicLimits(new AtomicOps(pair.endpoint.handle, false), null, null, null, null,
                    "shm");

            assertThat(limits.isEmpty()).isTrue();
            assertThat(forged.calls).contains("datatype " + Datatype.UINT128.value());
            assertThat(forged.calls.contains("datatype " + Datatype.FLOAT16.value()))
                    .isEqualTo(!TestProviders.isBefore(2, 0));
        }
    }

    @Test
    void numbersThatDoNotFitAreRefused() {
        try (Pair pair = new Pair(TestProviders.atomicHints("shm"));
                MemoryRegion cell = pair.domain.allocate(64, Access.values())) {
            Atomics atomics = pair.endpoint.atomics();
            for (Datatype datatype : new Datatype[]{Datatype.INT8, Datatype.UINT16, Datatype.INT128,
                    Datatype.FLOAT_COMPLEX}) {
                assertThatThrownBy(() -> atomics.fetch(AtomicOperation.SUM, datatype, 1 << 16,
                        cell.slice(0, 2 * datatype.size()), pair.far, cell.remote().slice(32, datatype.size()), 1))
                        .isInstanceOf(IllegalArgumentException.class).hasMessageContaining(datatype.name());
            }
            assertThatThrownBy(() -> atomics.fetch(AtomicOperation.SUM, Datatype.INT64, 0.5, cell.slice(0, 16),
                    pair.far, cell.remote().slice(32, 8), 1)).isInstanceOf(IllegalArgumentException.class);
        }
    }
}
