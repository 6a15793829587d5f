package io.ofi4j;

import static org.assertj.core.api.Assertions.assertThat;

import io.ofi4j.info.Capability;
import io.ofi4j.internal.engine.ContextSlab;
import io.ofi4j.support.ForEachProvider;
import io.ofi4j.support.Pair;
import io.ofi4j.support.TestProviders;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.provider.MethodSource;

/** The numbers of endpoints and regions begin again after 16,777,215, and no two that are open have the same. */
@Timeout(300)
class ReusedNumbersTest {
    private static final String PROVIDERS = "io.ofi4j.support.TestProviders#rma";
    private Pair pair;
    private MemoryRegion region;

    private void open(String provider) {
        pair = new Pair(TestProviders.hints(provider).capabilities(Capability.RMA, Capability.MSG));
        region = pair.domain.allocate(64, Access.RECEIVE);
    }

    @AfterEach
    void close() {
        region.close();
        pair.close();
    }

    @ForEachProvider
    @MethodSource(PROVIDERS)
    void closingANewEndpointLeavesTheReceivesOfAnOldOne(String provider) {
        open(provider);
        pair.endpoint.messages().receive(region.slice(0, 64), 7);
        pair.domain.endpointNumbers.beginAfter(ContextSlab.MAX_NUMBER);
        pair.domain.openEndpoint().bind(pair.queue).bind(pair.vector).enable().close();

        assertThat(pair.queue.operationsInFlight()).isEqualTo(1);
        assertThat(pair.endpoint.statistics().canceled()).isZero();
    }

    @ForEachProvider
    @MethodSource(PROVIDERS)
    void aNewRegionIsNotInUseByTheReceiveOfAnOldOne(String provider) {
        open(provider);
        pair.endpoint.messages().receive(region.slice(0, 64), 7);
        region.close(); // waits for the receive
        pair.domain.regionNumbers.beginAfter(ContextSlab.MAX_NUMBER);
        try (MemoryRegion added = pair.domain.allocate(64, Access.RECEIVE)) {
            assertThat(added.operationsInFlight()).isZero();
            assertThat(region.operationsInFlight()).isEqualTo(1);
        }
    }
}
