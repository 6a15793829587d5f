package io.ofi4j;

import io.ofi4j.internal.BoundSockets;
import java.time.Duration;
import java.util.function.IntSupplier;

/**
 * What an endpoint has in flight when it is closed, and providers cannot let go of.
 *
 * <p>A domain of sockets works on 128 operations at a time, and does not take back the places of those that are under way then:
 * once they are used up, no operation of any endpoint of the domain is begun, and none ends.
 *
 * <p>tcp and net of libfabric 1.x free a read twice whose answer has begun to come, and ofi_rxm above them ends the JVM at it. Where
 * the answer does not go on, ofi_rxm's connections to all peers of the vector are cut: a read that fails is freed once.
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
            boolean ended = await(endpoint, () -> queue.readsInFlight(endpoint));
            if (!ended && endpoint.info().provider().contains("ofi_rxm")) {
                cutConnections(endpoint);
                await(endpoint, () -> queue.readsInFlight(endpoint));
            }
        }
    }

    /** Whichever end has made them; undisturbed, lest progress elsewhere closes a socket and its number becomes another's. */
    private static void cutConnections(Endpoint endpoint) {
        endpoint.domain.queues.undisturbed(endpoint.vector(), endpoint.domain.queues.all(), () -> {
            BoundSockets.shutdown(endpoint.address().toBytes());
            endpoint.vector().known().forEach(address -> BoundSockets.shutdownConnectedTo(address.toBytes()));
        });
    }

    private static boolean freesReadsTwice(FabricInfo info) {
        return Libfabric.load().version().major() < 2
                && (info.provider().startsWith("tcp") || info.provider().startsWith("net"));
    }

    private static boolean await(Endpoint endpoint, IntSupplier inFlight) {
        return Waiting.YIELD.tryUntil(() -> {
            endpoint.domain.queues.progress(); // the other end of a transfer may be this thread's, too
            endpoint.transmitQueue().drain(); // whatever it keeps already, which stops the progress above
            return inFlight.getAsInt() == 0;
        }, PATIENCE);
    }
}
