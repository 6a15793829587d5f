package io.ofi4j;

import io.ofi4j.internal.quirks.Fact;
import io.ofi4j.internal.quirks.Quirks;
import java.time.Duration;
import java.util.function.BooleanSupplier;

/** Waits for operations that a provider cannot cancel, before their endpoint is closed. */
final class CloseDrain {
    private static final Duration PATIENCE = Duration.ofSeconds(2);

    private static final Duration MOMENT = Duration.ofMillis(5);

    private CloseDrain() {}

    /** Reads what has completed, and waits two seconds at most for the other operations; the endpoint accepts no new ones. */
    static void await(Endpoint endpoint) {
        CompletionQueue queue = endpoint.bindings.transmitQueue();
        Quirks quirks = endpoint.quirks;
        queue.drain();
        if (!endpoint.isEnabled()) { return; }
        if (quirks.has(Fact.CONNECTIONS_OUTLIVE_CLOSE)) { progress(endpoint, MOMENT, () -> false); }
        if (quirks.has(Fact.DRAIN_BEFORE_CLOSE)) {
            progress(endpoint, PATIENCE, () -> queue.transmitsInFlight(endpoint) == 0);
        } else if (quirks.has(Fact.DRAIN_READS_BEFORE_CLOSE)) {
            progress(endpoint, PATIENCE, () -> queue.readsInFlight(endpoint) == 0);
        }
    }

    private static void progress(Endpoint endpoint, Duration patience, BooleanSupplier isDone) {
        Waiting.YIELD.tryUntil(() -> {
            endpoint.domain.queues.progress(); // this thread may own the other end of a transfer, too
            endpoint.bindings.transmitQueue().drain(); // even if it keeps so many completions that progress() stops
            return isDone.getAsBoolean();
        }, patience);
    }
}
