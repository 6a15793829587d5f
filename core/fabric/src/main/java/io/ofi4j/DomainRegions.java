package io.ofi4j;

import static io.ofi4j.internal.observe.EventRecorder.RECORDER;

import io.ofi4j.info.DomainStatistics;
import io.ofi4j.info.MemoryKind;
import io.ofi4j.internal.engine.FileMapping;
import io.ofi4j.internal.engine.RegionQuarantine;
import io.ofi4j.internal.engine.WritebackErrors;
import io.ofi4j.internal.ffi.FidOps;
import io.ofi4j.internal.ffi.Handle;
import io.ofi4j.internal.quirks.Fact;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The regions of a domain: opens them, counts them and their bytes, and knows which of them are closed but wait for
 * their last operation, and which are bound to endpoints. Used under the domain's monitor.
 */
final class DomainRegions {
    final RegionQuarantine quarantine;

    private final Domain domain;
    private final List<MemoryRegion> closing = new ArrayList<>();
    /**
     * The regions that wait for the endpoint that they are to be bound to, or, with null, for any; only where the
     * provider demands it (FI_MR_ENDPOINT).
     */
    private final Map<MemoryRegion, Endpoint> unbound = new LinkedHashMap<>();
    /** The regions that are bound to an endpoint, and are closed before it. */
    private final Map<MemoryRegion, Endpoint> bound = new LinkedHashMap<>();
    private final List<Endpoint> enabledEndpoints = new ArrayList<>();
    private int count;
    private long bytes;

    DomainRegions(Domain domain) {
        this.domain = domain;
        this.quarantine = new RegionQuarantine(!domain.quirks.has(Fact.CLOSED_REGIONS_ARE_UNTOUCHED),
                domain.quirks.has(Fact.CLOSED_REGIONS_ARE_READ));
    }

    MemoryRegion allocate(long length, Access[] access) {
        Registration.requireLength(length);
        long bits = Registration.requireRights(access);
        Arena arena = Arena.ofShared();
        MemorySegment memory = quarantine.allocate(length, arena, bits);
        return own(new FileMapping(memory, arena, MemoryKind.ANONYMOUS), access);
    }

    /** Takes ownership of the memory, which is freed if registration fails. */
    MemoryRegion own(FileMapping owned, Access[] access) {
        return open(MemoryRegionAttributes.of(owned.memory()).access(access), Registration.Call.ONE, owned.arena(),
                owned.kind());
    }

    MemoryRegion register(MemoryRegionAttributes attributes, Registration.Call call) {
        return open(attributes, call, null, null);
    }

    /** @param known the kind of memory, or null */
    private MemoryRegion open(MemoryRegionAttributes attributes, Registration.Call call, Arena arena,
            MemoryKind known) {
        Handle handle = null;
        MemoryRegion region = null;
        List<Optional<WritebackErrors>> writebackErrors = List.of();
        Object recording = RECORDER.registering();
        try {
            MemoryKind kind = known != null ? known : kindOf(attributes);
            writebackErrors = attributes.segments().stream().map(memory -> WritebackErrors.of(memory, kind)).toList();
            handle = new Registration(domain, attributes, call).open();
            region = new MemoryRegion(domain, handle, attributes, arena, kind, writebackErrors, null);
            count++;
            bytes += region.length();
            region.binding.apply(attributes.counter(), attributes.endpoint());
            RECORDER.regionChanged(recording, handle.provider(), region.length(), region.access());
            return region;
        } catch (Throwable t) {
            if (region != null) {
                closeAfter(t, region);
            } else {
                writebackErrors.forEach(one -> one.ifPresent(WritebackErrors::close));
                int status = handle == null ? 0 : FidOps.fi_close(handle);
                if (arena != null && status == 0) { arena.close(); }
            }
            throw t;
        }
    }

    /** As any region: peers may have used its key, it may be bound to its endpoint, and its counter knows it. */
    private static void closeAfter(Throwable cause, MemoryRegion region) {
        try {
            region.close();
        } catch (RuntimeException e) {
            cause.addSuppressed(e);
        }
    }

    private static MemoryKind kindOf(MemoryRegionAttributes attributes) {
        return attributes.isOnDevice() ? MemoryKind.DEVICE : FileMapping.kindOf(attributes.segments().getFirst());
    }

    void forget(MemoryRegion region) {
        unbound.remove(region);
        bound.remove(region);
        count--;
        bytes -= region.length();
    }

    DomainStatistics statistics() { return new DomainStatistics(count, bytes, closing.size()); }

    /** Lets {@link #finishIdle} finish a region that accepts no operations. */
    void deferFinish(MemoryRegion region) {
        closing.add(region);
        // before the check, so that a completion after the check repeats it
        domain.pendingDeregistrations.isPending = true;
    }

    /**
     * Finishes regions whose last operation has completed.
     *
     * @param reporting the region whose caller gets its error, or null; errors of others are reported when the domain
     *         closes
     */
    void finishIdle(MemoryRegion reporting) {
        List<MemoryRegion> idle = closing.stream().filter(region -> domain.queues.inFlight(region) == 0).toList();
        closing.removeAll(idle);
        for (MemoryRegion region : idle) {
            int status = region.finish();
            if (status != 0 && region != reporting) { quarantine.noteFailure(status, domain.info().provider()); }
        }
        quarantine.freeUnusedArenas();
        synchronized (quarantine) {
            domain.pendingDeregistrations.isPending = !closing.isEmpty() || quarantine.hasArenasInUse();
        }
    }

    /** Records that the provider has closed an endpoint; any thread may call it. Returns 0. */
    int endpointClosed() {
        synchronized (quarantine) {
            quarantine.endpointClosed();
            if (quarantine.hasArenasInUse()) { domain.pendingDeregistrations.isPending = true; }
        }
        return 0;
    }

    /**
     * Binds a region to its endpoint, now or when that is enabled, for a provider that demands it.
     *
     * @param owner the requested endpoint, or null for the first enabled one
     */
    void bindToEndpoint(MemoryRegion region, Endpoint owner) {
        if (owner == null ? !enabledEndpoints.isEmpty() : enabledEndpoints.contains(owner)) {
            bind(region, owner == null ? enabledEndpoints.getFirst() : owner);
        } else {
            unbound.put(region, owner);
        }
    }

    private void bind(MemoryRegion region, Endpoint endpoint) {
        bound.put(region, endpoint); // before: also a region that is bound and not enabled closes before its endpoint
        region.binding.bindTo(endpoint);
    }

    /** Binds the regions that wait for this endpoint, or for any. */
    void enabled(Endpoint endpoint) {
        enabledEndpoints.add(endpoint);
        for (Map.Entry<MemoryRegion, Endpoint> entry : List.copyOf(unbound.entrySet())) {
            if (entry.getValue() == null || entry.getValue() == endpoint) {
                unbound.remove(entry.getKey());
                bind(entry.getKey(), endpoint);
            }
        }
    }

    /** Deregisters the regions of an endpoint that is about to close. A second call does nothing. */
    void closing(Endpoint endpoint) {
        enabledEndpoints.remove(endpoint);
        bound.forEach((region, its) -> {
            if (its == endpoint) { region.leaveEndpoint(); }
        });
    }
}
