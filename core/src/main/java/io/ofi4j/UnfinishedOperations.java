package io.ofi4j;

import java.time.Duration;

/**
 * What an endpoint of the provider sockets has in flight when it is closed. A domain of that provider works on 128 operations at a time,
 * and does not take back the places of those that are under way then: once they are used up, no operation of any endpoint
 * of the domain is begun, and none ends. So closing waits for a while until everything has ended.
 */
final class UnfinishedOperations {
    private static final Duration PATIENCE = Duration.ofSeconds(2);

    private UnfinishedOperations() {
    }

    private static boolean concern(FabricInfo info) {
        return info.provider().equals("sockets");
    }

    /** Waits for those of an endpoint that takes no operations any more; a peer that does not answer is not waited for long. */
    static void await(Endpoint endpoint) {
        CompletionQueue queue = endpoint.transmitQueue();
        if (concern(endpoint.info()) && endpoint.isEnabled()) {
            Waiting.YIELD.tryUntil(() -> {
                endpoint.domain.queues.progress(); // the other end of a transfer may be this thread's, too
                return queue.statisticsOf(endpoint).inFlight() == 0;
            }, PATIENCE);
        }
    }
}
