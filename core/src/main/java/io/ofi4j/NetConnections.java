package io.ofi4j;

import io.ofi4j.internal.BoundSockets;

/**
 * The connections to a connectionless endpoint of net (libfabric 1.x) or tcp (2.x). An accepted connection whose request has
 * not come yet points to the endpoint that listens, and is looked at after that was freed, which ends the JVM
 * (xnet_pep_close says so). So before one is closed it stops listening, and its connections are ended and worked off.
 */
final class NetConnections {
    private static final int ROUNDS = 64;

    private NetConnections() {
    }

    static boolean concern(FabricInfo info) {
        return info.endpoint().type() == EndpointType.RDM
                && (info.provider().equals("net") || info.provider().equals("tcp"));
    }

    /** Before the native close. */
    static void end(Endpoint endpoint) {
        byte[] address = endpoint.address().toBytes();
        int[] left = new int[1];
        for (int round = 0; round < ROUNDS; round++) {
            // undisturbed, lest progress elsewhere closes a socket and its number becomes another's
            endpoint.domain.queues.undisturbed(endpoint.vector(), endpoint.domain.queues.all(), () -> {
                left[0] = BoundSockets.shutdown(address);
            });
            if (left[0] <= 1) { // what listens
                return;
            }
            endpoint.transmitQueue().drain();
        }
    }
}
