package io.ofi4j;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The regions of a domain whose provider binds each region to an endpoint (FI_MR_ENDPOINT): those that wait for an
 * endpoint to be enabled, and those that are bound to one and are closed before it. Used under the domain's monitor.
 */
final class EndpointRegions {
    private final Map<MemoryRegion, Endpoint> waiting = new LinkedHashMap<>();
    private final Map<MemoryRegion, Endpoint> bound = new LinkedHashMap<>();
    private final List<Endpoint> enabled = new ArrayList<>();

    /** @param owner the requested endpoint, or null for the first enabled one */
    void add(MemoryRegion region, Endpoint owner) {
        if (owner == null ? !enabled.isEmpty() : enabled.contains(owner)) {
            bind(region, owner == null ? enabled.getFirst() : owner);
        } else {
            waiting.put(region, owner);
        }
    }

    private void bind(MemoryRegion region, Endpoint endpoint) {
        bound.put(region, endpoint); // before: also a region that is bound and not enabled closes before its endpoint
        region.binding.bindTo(endpoint);
    }

    /** Binds the regions that wait for this endpoint, or for any. */
    void enabled(Endpoint endpoint) {
        enabled.add(endpoint);
        for (Map.Entry<MemoryRegion, Endpoint> entry : List.copyOf(waiting.entrySet())) {
            if (entry.getValue() == null || entry.getValue() == endpoint) {
                waiting.remove(entry.getKey());
                bind(entry.getKey(), endpoint);
            }
        }
    }

    /** Deregisters the regions of an endpoint that is about to close. A second call does nothing. */
    void closing(Endpoint endpoint) {
        enabled.remove(endpoint);
        bound.forEach((region, its) -> {
            if (its == endpoint) { region.leaveEndpoint(); }
        });
    }

    void forget(MemoryRegion region) {
        waiting.remove(region);
        bound.remove(region);
    }
}
