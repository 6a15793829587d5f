package io.ofi4j;

import io.ofi4j.internal.quirks.Fact;
import io.ofi4j.internal.quirks.Quirks;
import java.time.Duration;
import java.util.function.IntSupplier;

/** Waits for operations that a provider cannot cancel, before their endpoint is closed. */
final class CloseDrain {
    private static final Duration PATIENCE = Duration.ofSeconds(2);

    private static final long MOMENT_NANOS = 5_000_000;

    private CloseDrain() {}

    /** Waits two seconds at most for the operations of an endpoint that accepts no new ones. */
    static void await(Endpoint endpoint) {
        CompletionQueue queue = endpoint.transmitQueue();
        Quirks quirks = endpoint.quirks;
        if (!endpoint.isEnabled()) { return; }
        if (quirks.has(Fact.CONNECTIONS_OUTLIVE_CLOSE)) {
            long start = System.nanoTime();
            while (System.nanoTime() - start < MOMENT_NANOS) {
                endpoint.domain.queues.progress();
                queue.drain();
            }
        }
        if (quirks.has(Fact.DRAIN_BEFORE_CLOSE)) {
            await(endpoint, () -> queue.statisticsOf(endpoint).inFlight());
        } else if (quirks.has(Fact.DRAIN_READS_BEFORE_CLOSE)) { await(endpoint, () -> queue.readsInFlight(endpoint)); }
    }

    private static void await(Endpoint endpoint, IntSupplier inFlight) {
        Waiting.YIELD.tryUntil(() -> {
            endpoint.domain.queues.progress(); // this thread may own the other end of a transfer, too
            endpoint.transmitQueue().drain(); // even if it keeps so many completions that progress() stops
            return inFlight.getAsInt() == 0;
        }, PATIENCE);
    }
}
