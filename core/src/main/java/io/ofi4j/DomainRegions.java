package io.ofi4j;

import io.ofi4j.internal.engine.FileMapping;
import io.ofi4j.internal.engine.RegionQuarantine;
import io.ofi4j.internal.quirks.Fact;
import java.util.ArrayList;
import java.util.List;

/**
 * The regions of a domain: their number and size, those that are closed and wait for their last operation, and those bound to
 * endpoints. Used under the domain's monitor.
 */
final class DomainRegions {
    final RegionQuarantine quarantine;

    private final Domain domain;
    private final EndpointRegions ofEndpoints = new EndpointRegions();
    private final List<MemoryRegion> closing = new ArrayList<>();
    private int count;
    private long bytes;

    DomainRegions(Domain domain) {
        this.domain = domain;
        this.quarantine = new RegionQuarantine(!domain.quirks.has(Fact.CLOSED_REGIONS_ARE_UNTOUCHED),
                domain.quirks.has(Fact.CLOSED_REGIONS_ARE_READ));
    }

    /** Regions that the provider binds to an endpoint. */
    EndpointRegions ofEndpoints() { return ofEndpoints; }

    MemoryRegion allocate(long length, Access[] access) {
        return add(MemoryRegions.allocate(domain, length, access, domain.nextNumber()));
    }

    MemoryRegion register(MemoryRegionAttributes attributes, Registration.Call call) {
        return add(MemoryRegions.register(domain, attributes, call, domain.nextNumber()));
    }

    MemoryRegion adopt(FileMapping mapping, Access[] access) {
        return add(MemoryRegions.own(domain, mapping.memory(), mapping.arena(), MemoryKind.FILE, access,
                domain.nextNumber()));
    }

    private MemoryRegion add(MemoryRegion region) {
        count++;
        bytes += region.length();
        return region;
    }

    void forget(MemoryRegion region) {
        ofEndpoints.forget(region);
        count--;
        bytes -= region.length();
    }

    DomainStatistics statistics() { return new DomainStatistics(count, bytes, closing.size()); }

    /** Finishes a region that accepts no operations, now or when its last operation has completed. */
    void finishWhenIdle(MemoryRegion region) {
        finishLater(region);
        finishIdle(region);
    }

    void finishLater(MemoryRegion region) {
        closing.add(region);
        domain.closingRegions.isAny = true; // before the check, so that a completion after the check repeats it
    }

    void finishIdle() { finishIdle(null); }

    /** @param reporting the region whose caller gets its error; errors of others are reported when the domain closes */
    private void finishIdle(MemoryRegion reporting) {
        List<MemoryRegion> idle = closing.stream().filter(region -> domain.queues.inFlight(region) == 0).toList();
        closing.removeAll(idle);
        for (MemoryRegion region : idle) {
            int status = region.finish();
            if (status != 0 && region != reporting) { quarantine.failed(status, domain.info().provider()); }
        }
        quarantine.freeHeld();
        noteWork();
    }

    /** Records whether progress has regions to finish here. */
    private void noteWork() {
        synchronized (quarantine) {
            domain.closingRegions.isAny = !closing.isEmpty() || quarantine.isHeld();
        }
    }

    /** Notes that the provider has closed an endpoint; any thread may call it. Returns 0. */
    int endpointClosed() {
        synchronized (quarantine) {
            quarantine.endpointClosed();
            if (quarantine.isHeld()) { domain.closingRegions.isAny = true; }
        }
        return 0;
    }
}
