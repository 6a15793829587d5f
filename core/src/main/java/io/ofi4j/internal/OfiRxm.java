package io.ofi4j.internal;

import io.ofi4j.bindings.fabric_h;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * ofi_rxm, which makes unconnected endpoints of a provider's connected ones, and ends the process where a peer leaves at the wrong
 * moment. Functions of the provider below are replaced, which ofi_rxm calls in such moments.
 *
 * <p>The replacements are Java. A critical call must not come to one, nor wait for a lock whose owner does: with these providers all
 * calls are plain that move data.
 */
public final class OfiRxm {
    private static final String SUFFIX = ";ofi_rxm";
    private static final Set<String> PREPARED = new HashSet<>();

    private OfiRxm() {
    }

    /** Whether calls of a provider may come to a replacement. */
    static boolean callsBack(String provider) {
        return provider.endsWith(SUFFIX);
    }

    /**
     * To be called before a domain of a provider is opened; does something once for each.
     *
     * @param device the domain's name
     * @return 0, or the error with which the provider below refused to show its functions
     */
    public static synchronized int prepare(String provider, String device) {
        if (!callsBack(provider) || PREPARED.contains(provider)) {
            return 0;
        }
        String below = provider.substring(0, provider.length() - SUFFIX.length());
        List<InfoHandle> infos = find(below, device); // a device may be called otherwise below: then whichever can be opened
        int status = 0;
        for (InfoHandle info : infos.isEmpty() ? find(below, null) : infos) {
            status = replaceBelow(below, info);
            if (status == 0) {
                PREPARED.add(provider); // where nothing was found, for want of descriptors perhaps, the next domain asks again
                break;
            }
        }
        return status;
    }

    private static List<InfoHandle> find(String provider, String device) {
        int demands = fabric_h.FI_MR_LOCAL() | fabric_h.FI_MR_VIRT_ADDR() | fabric_h.FI_MR_ALLOCATED()
                | fabric_h.FI_MR_PROV_KEY();
        Hints hints = new Hints().provider(provider).domain(device).endpointType(fabric_h.FI_EP_MSG()).mode(-1)
                .memoryRegionMode(demands);
        return FabricCalls.fi_getinfo(FabricCalls.fi_version(), null, null, 0, hints.info()).infos();
    }

    private static int replaceBelow(String provider, InfoHandle info) {
        Out fabric = FabricCalls.fi_fabric(info, provider);
        if (fabric.status() != 0) {
            return fabric.status();
        }
        Out domain = FabricOps.fi_domain(fabric.handle(), info);
        int status = domain.status();
        if (status == 0) {
            status = provider.startsWith("verbs")
                    ? DepartedPeers.replaceIn(domain.handle())
                    : HalfReceivedWrites.replaceIn(domain.handle());
            FidOps.fi_close(domain.handle());
        }
        FidOps.fi_close(fabric.handle());
        return status;
    }
}
