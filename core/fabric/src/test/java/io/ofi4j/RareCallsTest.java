package io.ofi4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ofi4j.errors.FabricException;
import io.ofi4j.errors.NoProviderException;
import io.ofi4j.info.AddressVectorAttributes;
import io.ofi4j.info.AtomicForm;
import io.ofi4j.info.AtomicOperation;
import io.ofi4j.info.CounterAttributes;
import io.ofi4j.info.Datatype;
import io.ofi4j.info.OperationFlag;
import io.ofi4j.support.ForEachProvider;
import io.ofi4j.support.Pair;
import io.ofi4j.support.ProviderFault;
import io.ofi4j.support.TestProviders;
import org.junit.jupiter.params.provider.MethodSource;

/** Calls and flags that few providers have: where they have them, and the refusal by name elsewhere. */
class RareCallsTest {
    private static final String TRANSFERS = "io.ofi4j.support.TestProviders#transfers";

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#atomics")
    void aDomainSaysOfAtomicOperationsWhatItsEndpointsSay(String provider) {
        try (Pair pair = new Pair(TestProviders.atomicHints(provider))) {
            Atomics atomics = pair.endpoint.atomics();
            long sum = 0;
            boolean readsAreRefused = ProviderFault.ATOMIC_READS_RETURN_NOTHING.isOf(provider);
            for (AtomicOperation operation : AtomicOperation.values()) {
                if (operation == AtomicOperation.ATOMIC_READ && readsAreRefused) { continue; }
                for (Datatype datatype : Datatype.values()) {
                    if (datatype == Datatype.INT128 || datatype == Datatype.UINT128) { continue; } // some are refused
                    String what = operation + " of " + datatype;
                    assertThat(pair.domain.atomicValid(AtomicForm.EXECUTE, operation, datatype)).as(what)
                            .isEqualTo(atomics.valid(AtomicForm.EXECUTE, operation, datatype));
                    assertThat(pair.domain.atomicValid(AtomicForm.FETCH, operation, datatype)).as(what)
                            .isEqualTo(atomics.valid(AtomicForm.FETCH, operation, datatype));
                    assertThat(pair.domain.atomicValid(AtomicForm.COMPARE, operation, datatype)).as(what)
                            .isEqualTo(atomics.valid(AtomicForm.COMPARE, operation, datatype));
                    sum += pair.domain.atomicValid(AtomicForm.EXECUTE, operation, datatype);
                }
            }
            assertThat(sum).isPositive();
        }
    }

    @ForEachProvider
    @MethodSource(TRANSFERS)
    void noSoftwareProviderCountsBytes(String provider) {
        try (Pair pair = new Pair(provider)) {
            assertThatThrownBy(() -> pair.domain.openCounter(CounterAttributes.defaults().bytes()))
                    .isInstanceOf(UnsupportedOperationException.class).hasMessageContaining("counters of bytes");
        }
    }

    @ForEachProvider
    @MethodSource(TRANSFERS)
    void noSoftwareProviderTellsOfMatches(String provider) {
        assertThatThrownBy(
                () -> Libfabric.load().info(TestProviders.hints(provider).operationFlags(OperationFlag.MATCH_COMPLETE)))
                .isInstanceOf(NoProviderException.class).hasMessageContaining("MATCH_COMPLETE");
        try (Pair pair = new Pair(provider)) {
            assertThatThrownBy(() -> pair.rma().prepare().flags(OperationFlag.MATCH_COMPLETE))
                    .isInstanceOf(UnsupportedOperationException.class).hasMessageContaining("not a default flag");
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void aSymmetricVectorTakesPeersOrIsRefused(String provider) {
        try (Pair pair = new Pair(provider)) {
            try (AddressVector vector = pair.domain.openAddressVector(AddressVectorAttributes.defaults().symmetric())) {
                assertThat(vector.attributes().isSymmetric()).isTrue();
                assertThat(vector.address(vector.insert(pair.farEndpoint.address())))
                        .isEqualTo(pair.farEndpoint.address());
            } catch (FabricException e) {
                assertThat(e).hasMessageContaining("fi_av_open");
            }
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void noSoftwareProviderTakesNumbersOfPeers(String provider) {
        try (Pair pair = new Pair(provider)) {
            assertThatThrownBy(() -> pair.vector.userId(pair.far, 7)).isInstanceOf(UnsupportedOperationException.class)
                    .hasMessageContaining("fi_av_set_user_id");
        }
    }
}
