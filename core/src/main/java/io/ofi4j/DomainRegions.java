package io.ofi4j;

import java.io.IOException;
import java.nio.channels.FileChannel.MapMode;
import java.util.ArrayList;
import java.util.List;

/**
 * The regions of a domain: how much is registered, which are closed and wait for their last operation, and which are tied to
 * endpoints. Used under the domain's monitor.
 */
final class DomainRegions {
    final LingeringMemory lingering;

    private final Domain domain;
    private final EndpointRegions ofEndpoints = new EndpointRegions();
    private final List<MemoryRegion> closing = new ArrayList<>();
    private int count;
    private long bytes;

    DomainRegions(Domain domain) {
        this.domain = domain;
        this.lingering = new LingeringMemory(domain.info());
    }

    /** Those that the provider ties to an endpoint. */
    EndpointRegions ofEndpoints() {
        return ofEndpoints;
    }

    MemoryRegion allocate(long length, Access[] access) {
        return add(MemoryRegions.allocate(domain, length, access, domain.nextNumber()));
    }

    MemoryRegion register(MemoryRegionAttributes attributes, Registration.Call call) {
        return add(MemoryRegions.register(domain, attributes, call, domain.nextNumber()));
    }

    MemoryRegion map(MapMode mode, FileMapping.Source file, Access[] access) throws IOException {
        Registration.requireReadable(mode == MapMode.READ_ONLY, Registration.requireRights(access)); // before it is touched
        FileMapping mapping = file.map();
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

    DomainStatistics statistics() {
        return new DomainStatistics(count, bytes, closing.size());
    }

    /** Finishes a region that takes no new operations, now or when its last operation has completed. */
    void finishWhenIdle(MemoryRegion region) {
        finishLater(region);
        finishIdle();
    }

    void finishLater(MemoryRegion region) {
        closing.add(region);
        domain.hasClosingRegions = true; // before looking, so that a completion between the look and the return looks again
    }

    void finishIdle() {
        List<MemoryRegion> idle = closing.stream().filter(region -> domain.queues.inFlight(region) == 0).toList();
        closing.removeAll(idle);
        domain.hasClosingRegions = !closing.isEmpty();
        idle.forEach(MemoryRegion::finish);
    }
}
