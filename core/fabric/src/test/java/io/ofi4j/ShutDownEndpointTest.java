package io.ofi4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.ofi4j.info.PeekAction;
import io.ofi4j.info.Capability;
import io.ofi4j.info.FabricHints;
import io.ofi4j.support.Pair;
import io.ofi4j.support.TestProviders;
import java.util.List;
import java.util.Set;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** An endpoint whose provider frees it when its connection is shut down: nothing reaches it any more. */
@Timeout(300)
class ShutDownEndpointTest {
    private static final FabricHints HINTS = TestProviders.connectedHints("sockets").capabilities(Capability.RMA,
            Capability.MSG, Capability.TAGGED);

    @Test
    void nothingIsReceivedAfterTheShutDown() {
        try (Pair pair = new Pair(HINTS); MemoryRegion region = pair.domain.allocate(64, Access.RECEIVE)) {
            Messages messages = pair.endpoint.messages();
            Tagged tagged = pair.endpoint.tagged();
            PreparedMessage prepared = messages.prepare().local(region, 0, 8);
            pair.endpoint.connection().shutdown();

            for (ThrowingCallable call : List.<ThrowingCallable>of(() -> messages.tryReceive(region, 0, 8, 1),
                    () -> prepared.tryReceive(1), () -> tagged.tryPeek(PeekAction.KEEP, 1, 0, 1),
                    () -> tagged.tryPeek(PeekAction.CLAIM, 1, 0, 1))) {
                assertThatIllegalStateException().isThrownBy(call).withMessageContaining("lost its connection");
            }
        }
    }

    @Test
    void noFamilyIsMadeAfterTheShutDown() {
        try (Pair pair = new Pair(HINTS)) {
            pair.endpoint.connection().shutdown();

            for (ThrowingCallable family : List.<ThrowingCallable>of(pair.endpoint::messages, pair.endpoint::tagged,
                    pair.endpoint::rma)) {
                assertThatIllegalStateException().isThrownBy(family);
            }
        }
    }

    @Test
    void aliasesAreClosedBeforeTheShutDown() {
        try (Pair pair = new Pair(HINTS)) {
            Endpoint alias = pair.endpoint.alias(Set.of());

            assertThatIllegalStateException().isThrownBy(pair.endpoint.connection()::shutdown)
                    .withMessageContaining("Alias of endpoint");
            assertThat(pair.endpoint.connection().state()).isEqualTo(Connection.State.CONNECTED);
            alias.close();
            pair.endpoint.connection().shutdown();
        } // which closes the domain
    }

    @Test
    void anAliasThatHasFlushedLeavesNothingOpen() {
        try (Pair pair = new Pair(HINTS);
                MemoryRegion region = pair.domain.allocate(64, Access.REMOTE_READ, Access.REMOTE_WRITE)) {
            Endpoint alias = pair.endpoint.alias(Set.of());
            alias.rma().flush(pair.far, region.remote(), 1);
            alias.close();
        } // which closes the domain
    }
}
