package io.ofi4j;

import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ofi4j.support.ForEachProvider;
import io.ofi4j.support.Pair;
import org.junit.jupiter.params.provider.MethodSource;

/** A provider's own operations: no software provider has any, which it says by name. */
class ProviderOperationsTest {
    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#transfers")
    void operationsThatAProviderLacksAreRefusedByName(String provider) {
        try (Pair pair = new Pair(provider)) {
            for (String name : new String[]{"nonesuch", "efa domain ops", "cxi_dom_ops_v1"}) {
                assertThatThrownBy(() -> pair.domain.operations(name)).isInstanceOf(UnsupportedOperationException.class)
                        .hasMessageContaining(name).hasMessageContaining("not offered by the provider");
                assertThatThrownBy(() -> pair.fabric.operations(name)).isInstanceOf(UnsupportedOperationException.class)
                        .hasMessageContaining(name);
                assertThatThrownBy(() -> pair.endpoint.operations(name))
                        .isInstanceOf(UnsupportedOperationException.class).hasMessageContaining(name);
            }
            assertThatIllegalArgumentException().isThrownBy(() -> pair.domain.operations(""));
            assertThatIllegalArgumentException().isThrownBy(() -> pair.fabric.operations("a\0b"));
        }
    }
}
