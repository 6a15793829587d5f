package io.ofi4j;

import io.ofi4j.info.MemoryKind;
import io.ofi4j.info.MemoryRegionMode;
import io.ofi4j.internal.ffi.FidOps;
import io.ofi4j.internal.ffi.Handle;
import io.ofi4j.internal.ffi.MrOps;
import io.ofi4j.internal.quirks.Status;
import java.util.Optional;

/** Binds and enables a region after its registration, as the provider's mr_mode demands; fi_mr(3). */
record RegionBinding(MemoryRegion region, Handle handle) {
    /** Binds and enables the region, at once or when its endpoint is enabled. */
    void meet(Optional<Counter> counter, Optional<Endpoint> endpoint) {
        if (counter.isPresent()) {
            Status.checkOffered(counter.get().bindNatively(handle), "fi_mr_bind(counter)", handle.provider());
            counter.get().bind(region);
        }
        try {
            enable(counter.isPresent(), endpoint);
        } catch (Throwable t) {
            counter.ifPresent(bound -> bound.unbind(region));
            throw t;
        }
    }

    private void enable(boolean isCounted, Optional<Endpoint> endpoint) {
        if (has(MemoryRegionMode.ENDPOINT)) {
            region.domain.regions.ofEndpoints.add(region, endpoint.orElse(null));
            return;
        }
        if (isCounted && has(MemoryRegionMode.RMA_EVENT)) {
            Status.check(FidOps.fi_enable(handle), "fi_mr_enable", handle.provider());
        }
        becomeUsable();
    }

    /** Binds the region to its endpoint, which is enabled; fi_mr_bind and fi_mr_enable. */
    void bindTo(Endpoint endpoint) {
        Status.check(FidOps.fi_bind(handle, endpoint.handle, 0), "fi_mr_bind", handle.provider());
        Status.check(FidOps.fi_enable(handle), "fi_mr_enable", handle.provider());
        becomeUsable();
    }

    private void becomeUsable() {
        if (has(MemoryRegionMode.MMU_NOTIFY) && region.kind() != MemoryKind.DEVICE) {
            region.segments().stream().filter(segment -> segment.isMapped()).forEach(segment -> segment.load());
            Status.check(MrOps.fi_mr_refresh(handle, region.segments()), "fi_mr_refresh", handle.provider());
        }
        region.usable(MrOps.fi_mr_desc(handle), has(MemoryRegionMode.RAW) ? null : remote());
    }

    private RemoteRegion remote() {
        long base = has(MemoryRegionMode.VIRT_ADDR) ? region.parts().getFirst().address : 0;
        return new RemoteRegion(base, region.length(), MrOps.fi_mr_key(handle), region.accessBits & Access.REMOTE,
                region.kind());
    }

    RuntimeException notReachable() {
        return has(MemoryRegionMode.RAW)
                ? new UnsupportedOperationException("provider " + handle.provider()
                        + " has raw keys (FI_MR_RAW): send rawKey()" + " to the peer, which calls Domain.mapRawKey")
                : new IllegalStateException("provider " + handle.provider()
                        + " ties regions to endpoints (FI_MR_ENDPOINT): enable one first");
    }

    private boolean has(MemoryRegionMode mode) {
        return region.domain.info().domain().memoryRegionMode().contains(mode);
    }
}
