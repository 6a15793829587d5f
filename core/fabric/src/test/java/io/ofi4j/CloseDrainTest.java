package io.ofi4j;

import static org.assertj.core.api.Assertions.assertThat;

import io.ofi4j.support.Pair;
import io.ofi4j.support.TestProviders;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The provider sockets does not take back what operations use that are under way when their endpoint is closed. */
@Timeout(600)
class CloseDrainTest {
    private static final int ENDPOINTS = 16;
    private static final int READS = 60;
    private static final int LARGE = 2_000_000;
    /** So large that some reads are half done when the first is over: without the drain, the places run out. */
    private static final int LARGER = 20_000_000;

    private final List<Long> tokens = new ArrayList<>();
    private final CompletionHandler handler = new CompletionHandler() {
        @Override
        public void onCompletion(long token, long flags, long length, long data) { tokens.add(token); }

        @Override
        public void onError(CompletionError error) { tokens.add(error.token()); }
    };

    @Test
    void aDomainWorksHoweverManyEndpointsWereClosedWithOperationsInFlight() { closeUnderReads(LARGE); }

    @Tag("long") // on a busy machine they are not over within the two seconds that a close waits
    @Test
    void aDomainWorksHoweverManyEndpointsWereClosedWithOperationsHalfDone() { closeUnderReads(LARGER); }

    private void closeUnderReads(int length) {
        try (Fabric fabric = Libfabric.load().openFabric(TestProviders.info("sockets"));
                Domain domain = fabric.openDomain();
                CompletionQueue queue = domain.openCompletionQueue();
                AddressVector vector = domain.openAddressVector();
                MemoryRegion here = domain.allocate(length, Access.WRITE, Access.READ);
                MemoryRegion there = domain.allocate(length, Access.REMOTE_READ, Access.REMOTE_WRITE);
                Endpoint target = domain.openEndpoint().bind(vector).bind(queue).enable()) {
            Peer peer = vector.insert(target.address());
            for (int count = 0; count < ENDPOINTS; count++) {
                try (Endpoint endpoint = domain.openEndpoint().bind(vector).bind(queue).enable()) {
                    endpoint.rma().write(here.slice(0, 8), peer, there.remote(), 0);
                    await(queue, 1);
                    for (int token = 1; token <= READS; token++) {
                        endpoint.rma().read(here.slice(0, length), peer, there.remote(), token);
                    }
                    await(queue, 2); // others are under way
                }
                await(queue, 1 + READS);
                assertThat(tokens).doesNotHaveDuplicates();
                tokens.clear();
            }
        }
    }

    private void await(CompletionQueue queue, int count) {
        Waiting.YIELD.until(() -> {
            queue.poll(handler, 64);
            return tokens.size() >= count;
        }, Pair.DEADLINE);
    }
}
