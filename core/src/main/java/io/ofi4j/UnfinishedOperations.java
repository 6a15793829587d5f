package io.ofi4j;

import java.time.Duration;
import java.util.function.IntSupplier;

/**
 * What an endpoint has in flight when it is closed, and providers cannot let go of.
 *
 * <p>A domain of sockets works on 128 operations at a time, and does not take back the places of those that are under way then:
 * once they are used up, no operation of any endpoint of the domain is begun, and none ends.
 *
 * <p>tcp and net of libfabric 1.x free a read twice whose answer has begun to come, and ofi_rxm above them ends the JVM at it.
 */
final class UnfinishedOperations {
    private static final Duration PATIENCE = Duration.ofSeconds(2);

    private UnfinishedOperations() {
    }

    /** Waits for those of an endpoint that takes no operations any more; a peer that does not answer is not waited for long. */
    static void await(Endpoint endpoint) {
        CompletionQueue queue = endpoint.transmitQueue();
        if (!endpoint.isEnabled()) {
            return;
        }
        if (endpoint.info().provider().equals("sockets")) {
            await(endpoint, () -> queue.statisticsOf(endpoint).inFlight());
        } else if (freesReadsTwice(endpoint.info())) {
            await(endpoint, () -> queue.readsInFlight(endpoint));
        }
    }

    private static boolean freesReadsTwice(FabricInfo info) {
        return Libfabric.load().version().major() < 2
                && (info.provider().startsWith("tcp") || info.provider().startsWith("net"));
    }

    private static void await(Endpoint endpoint, IntSupplier inFlight) {
        Waiting.YIELD.tryUntil(() -> {
            endpoint.domain.queues.progress(); // the other end of a transfer may be this thread's, too
            return inFlight.getAsInt() == 0;
        }, PATIENCE);
    }
}
