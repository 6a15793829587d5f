package io.ofi4j;

import static io.ofi4j.internal.observe.EventRecorder.RECORDER;

import io.ofi4j.info.DomainStatistics;
import io.ofi4j.info.MemoryKind;
import io.ofi4j.internal.engine.FileMapping;
import io.ofi4j.internal.engine.RegionQuarantine;
import io.ofi4j.internal.engine.StackRoom;
import io.ofi4j.internal.engine.WritebackErrors;
import io.ofi4j.internal.ffi.FidOps;
import io.ofi4j.internal.ffi.Handle;
import io.ofi4j.internal.observe.LockOrder;
import io.ofi4j.internal.quirks.Fact;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * The regions of a domain: opens and closes them, counts them and their bytes, and knows which of them are closed but
 * wait for their last operation, and which are bound to endpoints. Used under the domain's monitor.
 *
 * <p>A close begins when the region, or the endpoint that it is bound to, is closed. It is finished when nothing is in
 * flight: at once, by the poll that reads the last completion, or by the next close of a region.
 */
final class DomainRegions {
    final RegionQuarantine quarantine;

    private final Domain domain;
    private final List<MemoryRegion> closing = new ArrayList<>();
    /** Whether closes may be left to finish; polls look at it. */
    volatile boolean isClosePending;
    /**
     * The regions that wait for the endpoint that they are to be bound to, or, with null, for any; only where the
     * provider demands it (FI_MR_ENDPOINT).
     */
    private final Map<MemoryRegion, Endpoint> unbound = new LinkedHashMap<>();
    /** The regions that are bound to an endpoint, and are closed before it. */
    private final Map<MemoryRegion, Endpoint> bound = new LinkedHashMap<>();
    /**
     * For each closed endpoint that the provider has not closed yet, the numbers of the regions that its canceled
     * operations use: the provider may still read and write there.
     */
    private final Map<Endpoint, Set<Integer>> held = new ConcurrentHashMap<>();
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
        return open(MemoryRegionAttributes.of(memory).access(access), Registration.Call.ONE, arena,
                new FileMapping(memory, arena, MemoryKind.ANONYMOUS));
    }

    /** Takes ownership of a mapped file, for which a right is named; it is unmapped if registration fails. */
    MemoryRegion own(FileMapping file, Access[] access) {
        Arena arena = Arena.ofShared();
        MemorySegment view = quarantine.view(file, arena, Registration.requireRights(access));
        return open(MemoryRegionAttributes.of(view).access(access), Registration.Call.ONE, arena, file);
    }

    MemoryRegion register(MemoryRegionAttributes attributes, Registration.Call call) {
        return open(attributes, call, null, null);
    }

    /**
     * @param arena of memory that was made for the region, or null: then the memory is the caller's, and is checked
     * @param own that memory, as it was made, or null
     */
    private MemoryRegion open(MemoryRegionAttributes attributes, Registration.Call call, Arena arena, FileMapping own) {
        Handle handle = null;
        MemoryRegion region = null;
        List<Optional<WritebackErrors>> writebackErrors = new ArrayList<>();
        Object recording = RECORDER.registering();
        try {
            List<MemorySegment> segments = own != null ? List.of(own.memory()) : attributes.segments();
            List<MemoryKind> kinds = own != null ? List.of(own.kind()) : kindsOf(attributes);
            for (int i = 0; i < segments.size(); i++) {
                writebackErrors.add(WritebackErrors.of(segments.get(i), kinds.get(i)));
            }
            Registration registration = new Registration(domain, attributes, call);
            if (arena == null) {
                registration.requireValid();
            } else {
                registration.requireWritable(attributes.segments().getFirst());
            }
            handle = registration.register();
            region = new MemoryRegion(domain, handle, attributes, arena, segments, kinds, writebackErrors, null);
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

    private static List<MemoryKind> kindsOf(MemoryRegionAttributes attributes) {
        return attributes.segments().stream()
                .map(memory -> attributes.isOnDevice() ? MemoryKind.DEVICE : FileMapping.kindOf(memory)).toList();
    }

    DomainStatistics statistics() { return new DomainStatistics(count, bytes, closing.size()); }

    /** Begins the close of a region, and finishes it if nothing is in flight. A second call does nothing. */
    void close(MemoryRegion region) {
        domain.checkThread();
        synchronized (domain) {
            assert LockOrder.taken(LockOrder.Rank.DOMAIN, domain);
            if (!region.isOpen()) { return; }
            beginClose(region);
            finishIdle(region);
            region.checkClosed();
        }
    }

    /** Deregisters a region before its endpoint closes, also with operations in flight. A second call does nothing. */
    private void leaveEndpoint(MemoryRegion region) {
        if (region.isOpen()) { beginClose(region); }
        // if fi_close fails, finish() tries again after the endpoint
        if (region.state == MemoryRegion.State.CLOSING && FidOps.fi_close(region.handle) == 0) {
            region.become(MemoryRegion.State.DEREGISTERED);
        }
    }

    private void beginClose(MemoryRegion region) {
        region.become(MemoryRegion.State.CLOSING);
        closing.add(region);
        isClosePending = true; // before operations in flight are counted: a completion after that counts them again
    }

    /** Keeps the memory of regions until the provider has closed this endpoint. Any thread may call it. */
    void hold(Endpoint endpoint, IntStream regions) {
        Set<Integer> numbers = regions.filter(number -> number != 0).boxed().collect(Collectors.toSet());
        if (numbers.isEmpty()) { return; }
        held.merge(endpoint, numbers, (some, others) -> {
            others.addAll(some);
            return others;
        });
    }

    /** The provider has closed this endpoint. */
    void letGo(Endpoint endpoint) {
        if (held.remove(endpoint) != null) { finishIdle(); }
    }

    /** {@return the number of closed endpoints whose operations the provider may still carry out on it} */
    int holders(MemoryRegion region) {
        return (int) held.values().stream().filter(numbers -> numbers.contains(region.number)).count();
    }

    /** The program has closed all that it can; {@link #letGo} finishes what the provider does not let go of yet. */
    void forgetHeld() {
        closing.stream().filter(region -> holders(region) > 0).forEach(domain::forget);
    }

    /** Finishes closes whose last operation has completed. */
    void finishIdle() {
        synchronized (domain) {
            assert LockOrder.taken(LockOrder.Rank.DOMAIN, domain);
            finishIdle(null);
        }
    }

    /**
     * Finishes regions whose last operation has completed.
     *
     * @param reporting the region whose caller gets its error, or null; errors of others are reported when the domain
     *         closes
     */
    private void finishIdle(MemoryRegion reporting) {
        List<MemoryRegion> idle = closing.stream().filter(this::isIdle).toList();
        for (MemoryRegion region : idle) {
            StackRoom.require(); // as in a handler at the end of the stack: what is finished halfway stays for ever
            finish(region);
            closing.remove(region);
            if (region.closeStatus != 0 && region != reporting) {
                quarantine.noteFailure(region.closeStatus, domain.info().provider());
            }
        }
        quarantine.freeUnusedArenas();
        synchronized (quarantine) {
            // what an endpoint holds is not finished by polls, but by letGo
            isClosePending = closing.stream().anyMatch(region -> holders(region) == 0) || quarantine.hasArenasInUse();
        }
    }

    /** A domain that is closed has no open queue; another thread may have let go of the last region. */
    private boolean isIdle(MemoryRegion region) {
        return (domain.isClosed() ? holders(region) : domain.queues.inFlight(region)) == 0;
    }

    /** Deregisters a region that nothing in flight uses, and frees what it owns. */
    private void finish(MemoryRegion region) {
        boolean isRegistered = region.state != MemoryRegion.State.DEREGISTERED;
        region.become(MemoryRegion.State.CLOSED);
        domain.regionNumbers.free(region.number);
        domain.forget(region);
        unbound.remove(region);
        bound.remove(region);
        count--;
        bytes -= region.length();
        region.parts().forEach(part -> part.writebackErrors.ifPresent(WritebackErrors::close));
        Object recording = RECORDER.deregistering();
        region.closeStatus = isRegistered ? deregister(region) : 0;
        RECORDER.regionChanged(recording, region.handle.provider(), region.length(), region.access());
        if (region.counter != null) { region.counter.unbind(region); }
        if (region.arena != null && region.closeStatus == 0) { // memory that may still be registered must not be freed
            quarantine.free(region.arena);
        }
    }

    private int deregister(MemoryRegion region) {
        return region.counter == null
                ? quarantine.deregister(region.handle, region.memory == null ? 0 : region.memory.address(),
                        region.accessBits)
                : FidOps.fi_close(region.handle); // now, because its counter may be closed next
    }

    /** Records that the provider has closed an endpoint; any thread may call it. Returns 0. */
    int endpointClosed() {
        synchronized (quarantine) {
            quarantine.endpointClosed();
            if (quarantine.hasArenasInUse()) { isClosePending = true; }
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
            if (its == endpoint) { leaveEndpoint(region); }
        });
    }
}
