package io.ofi4j.internal.engine;

import io.ofi4j.info.Capability;
import io.ofi4j.info.EndpointType;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.internal.ffi.FabricConstants;
import io.ofi4j.internal.ffi.InfoHandle;
import io.ofi4j.internal.quirks.Fact;

/**
 * The number of receives that an endpoint posts by itself for peers' writes with completion data: some if it is
 * connected and its provider demands the mode FI_RX_CQ_DATA of fi_getinfo(3), or is known to consume receives.
 */
public final class DataReceiveCount {
    /**
     * The largest number for one endpoint. These receives have no buffer, and the queue must have room for all of them.
     */
    private static final int MAX_COUNT = 64;

    /** Whether the provider demands receives that this library does not post: those of unconnected endpoints. */
    public static boolean isUnsupported(FabricInfo info) {
        return demands(info) && info.endpoint().type() != EndpointType.MSG;
    }

    private static boolean demands(FabricInfo info) { return (info.modeBits() & FabricConstants.FI_RX_CQ_DATA) != 0; }

    public static int of(FabricInfo info) {
        if ((info.capabilityBits() & Capability.MSG.bit()) != 0) {
            return 0; // they would take the messages: the application posts receives
        }
        boolean posts = demands(info) && info.endpoint().type() == EndpointType.MSG
                || NativeFabricInfo.of(info).chosenQuirks().has(Fact.DATA_TAKES_RECEIVES);
        return posts ? Math.clamp(info.receive().size(), 1, MAX_COUNT) : 0;
    }

    /** The info to open an endpoint with: providers reserve as many entries of its queue as it has receives. */
    public static InfoHandle reserved(FabricInfo info, InfoHandle handle) {
        int count = of(info);
        return count > 0 ? handle.withReceives(count) : handle;
    }
}
