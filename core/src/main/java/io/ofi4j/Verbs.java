package io.ofi4j;

import io.ofi4j.internal.InfoHandle;

/** How the verbs provider differs from others, mostly in its connected endpoints. */
final class Verbs {
    /** Of each endpoint: they serve peers' writes with data only, and a queue must have room for all of them. */
    private static final int RECEIVES = 64;
    /** What Linux's Soft-iWARP, siw, says of itself. */
    private static final String SOFT_IWARP = "0x626d74";

    private Verbs() {
    }

    static boolean isConnected(FabricInfo info) {
        return info.endpoint().type() == EndpointType.MSG && info.provider().startsWith("verbs");
    }

    /** Whether a read into several segments fills the first only, and says that it has completed. */
    static boolean fillsOneSegment(FabricInfo info) {
        return info.provider().startsWith("verbs") && info.handle().deviceVendor().equals(SOFT_IWARP);
    }

    /** How many receives an endpoint has, for which its queue must have room beside its operations. */
    static int receives(FabricInfo info) {
        return isConnected(info) ? Math.clamp(info.receive().size(), 1, RECEIVES) : 0;
    }

    /** What an endpoint is opened with: the provider reserves as many entries of its queue as it has receives. */
    static InfoHandle withReceives(FabricInfo info, InfoHandle handle) {
        return isConnected(info) ? handle.withReceives(receives(info)) : handle;
    }

    /**
     * The provider reads what peers have sent only when it is polled, but closes connections in a thread of its own where its
     * progress is automatic. What it finds then was received for a connection that it has just freed.
     *
     * @throws UnsupportedOperationException if the provider would end the process when a peer goes away
     */
    static void requireManualProgress(FabricInfo info) {
        if (info.provider().startsWith("verbs;ofi_rxm") && info.domain().dataProgress() == ProgressModel.AUTO) {
            throw new UnsupportedOperationException("with automatic data progress " + info.provider()
                    + " ends the process when a peer goes away: ask for ProgressModel.MANUAL, and have a target that does "
                    + "not poll served by Domain.startProgress()");
        }
    }

    /** @throws IllegalArgumentException if an endpoint is to be opened without a destination, which it looks for at once */
    static void requireDestination(FabricInfo info) {
        if (isConnected(info) && info.destinationAddress().isEmpty()) {
            throw new IllegalArgumentException("an endpoint of " + info.provider() + " is opened for one destination: "
                    + "ask for it with FabricHints.destination, or open the endpoint with FabricInfo.withDestination(address)");
        }
    }
}
