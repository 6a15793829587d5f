package io.ofi4j;

import static io.ofi4j.internal.observe.EventRecorder.RECORDER;

import io.ofi4j.internal.ffi.FidOps;
import io.ofi4j.internal.ffi.Handle;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Opens regions, and releases their memory and handle if that fails. */
final class MemoryRegions {
    private MemoryRegions() {}

    static MemoryRegion allocate(Domain domain, long length, Access[] access, int number) {
        Registration.requireLength(length);
        Registration.requireRights(access);
        Arena arena = Arena.ofShared();
        MemorySegment memory = domain.regions.quarantine.allocate(length, arena, Access.bitsOf(access));
        return own(domain, memory, arena, MemoryKind.ANONYMOUS, access, number);
    }

    /** Takes ownership of the memory, which is freed if registration fails. */
    static MemoryRegion own(Domain domain, MemorySegment memory, Arena arena, MemoryKind kind, Access[] access,
            int number) {
        return open(domain, MemoryRegionAttributes.of(memory).access(access), Registration.Call.ONE, arena, kind,
                number);
    }

    static MemoryRegion register(Domain domain, MemoryRegionAttributes attributes, Registration.Call call, int number) {
        return open(domain, attributes, call, null, MemoryKind.of(attributes.segments().getFirst()), number);
    }

    private static MemoryRegion open(Domain domain, MemoryRegionAttributes attributes, Registration.Call call,
            Arena arena, MemoryKind kind, int number) {
        Handle handle = null;
        Object recording = RECORDER.registering();
        try {
            handle = Registration.open(domain, attributes, call);
            MemoryRegion region = new MemoryRegion(domain, handle, attributes, arena, kind, number);
            region.demands.meet(attributes.counter(), attributes.endpoint());
            RECORDER.registered(recording, handle.provider(), region.length(), region.access());
            return region;
        } catch (Throwable t) {
            int status = handle == null ? 0 : FidOps.fi_close(handle);
            if (arena != null && status == 0) { arena.close(); }
            throw t;
        }
    }
}
