package io.ofi4j;

/** What the verbs provider wants to be told earlier than others. */
final class Verbs {
    private Verbs() {
    }

    /** Whether its endpoints look for the way to their peer when they are opened. */
    static boolean findsPeersOnOpening(FabricInfo info) {
        return info.endpoint().type() == EndpointType.MSG && info.provider().startsWith("verbs");
    }

    /** @throws IllegalArgumentException if an endpoint of it cannot be opened without a destination, and there is none */
    static void requireDestination(FabricInfo info) {
        if (findsPeersOnOpening(info) && info.destinationAddress().isEmpty()) {
            throw new IllegalArgumentException("an endpoint of " + info.provider() + " is opened for one destination: "
                    + "ask for it with FabricHints.destination, or open the endpoint with FabricInfo.withDestination(address)");
        }
    }
}
