package io.ofi4j;

import io.ofi4j.internal.quirks.Quirks;
import io.ofi4j.internal.quirks.Fact;
import io.ofi4j.internal.FidOps;
import io.ofi4j.internal.Handle;
import io.ofi4j.internal.NativeMemory;
import io.ofi4j.internal.RegionStructure;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;

/**
 * What peers may still be writing to and reading from when its region is closed: providers in software look at the key when a
 * transfer begins, and copy afterwards, so that memory which is freed meanwhile is somebody else's, or a signal. Its pages go back
 * to the system at once; its addresses stay until the domain's last endpoint is closed, and cost 16 bytes a region. shm of libfabric 2.x
 * also goes on asking its structure of the region what kind of memory it is; that of the latest regions stays as long.
 */
final class LingeringMemory {
    /** Of about 100 bytes each; no transfer goes on while so many regions are closed. */
    private static final int MOST_STRUCTURES = 4096;

    private final boolean lingers;
    private final boolean structuresLinger;
    private final Queue<Long> structures = new ArrayDeque<>();
    private final List<Arena> files = new ArrayList<>();
    /** Addresses and lengths. */
    private long[] ranges = new long[0];
    private int count;
    private int endpoints;

    LingeringMemory(FabricInfo info) {
        Quirks quirks = Quirks.of(info.identity());
        lingers = !quirks.has(Fact.CLOSED_REGIONS_ARE_UNTOUCHED);
        structuresLinger = quirks.has(Fact.CLOSED_REGIONS_ARE_READ);
    }

    /** Memory that begins with a page, and is gone for the application when an arena is closed. */
    MemorySegment allocate(long length, Arena arena, long accessBits) {
        boolean lingering = lingers(accessBits);
        if (!lingering && length < NativeMemory.HUGE_PAGE) {
            return arena.allocate(length, NativeMemory.PAGE);
        }
        long pages = NativeMemory.wholePages(length);
        long address = NativeMemory.map(pages);
        return NativeMemory.view(address, length, arena,
                lingering ? () -> release(address, pages) : () -> NativeMemory.unmap(address, pages));
    }

    private boolean lingers(long accessBits) {
        return lingers && (accessBits & Access.REMOTE) != 0;
    }

    private synchronized void release(long address, long length) {
        if (endpoints == 0) {
            NativeMemory.unmap(address, length);
            return;
        }
        NativeMemory.discard(address, length);
        if (count == ranges.length) {
            ranges = Arrays.copyOf(ranges, Math.max(16, 2 * count));
        }
        ranges[count++] = address;
        ranges[count++] = length;
    }

    /** Closes the arena of a file's mapping, now or when no peer can reach it any more. The file is let go at once. */
    synchronized void release(Arena arena, MemorySegment mapping, long accessBits) {
        if (endpoints == 0 || !lingers(accessBits)) {
            arena.close();
            return;
        }
        NativeMemory.coverFile(mapping.address(), mapping.byteSize());
        files.add(arena);
    }

    /** Deregisters a region; fi_close. */
    int deregister(Handle region, long accessBits) {
        if (!structuresLinger || !lingers(accessBits)) {
            return FidOps.fi_close(region);
        }
        RegionStructure.Closed closed = RegionStructure.close(region);
        if (closed.memory() != 0) {
            keep(closed.memory());
        }
        return closed.status();
    }

    private synchronized void keep(long structure) {
        if (endpoints == 0) {
            RegionStructure.free(structure);
            return;
        }
        structures.add(structure);
        if (structures.size() > MOST_STRUCTURES) {
            RegionStructure.free(structures.remove());
        }
    }

    synchronized void endpointOpened() {
        endpoints++;
    }

    synchronized void endpointClosed() {
        endpoints--;
        if (endpoints > 0) {
            return;
        }
        for (int at = 0; at < count; at += 2) {
            NativeMemory.unmap(ranges[at], ranges[at + 1]);
        }
        count = 0;
        ranges = new long[0];
        files.forEach(Arena::close);
        files.clear();
        structures.forEach(RegionStructure::free);
        structures.clear();
    }
}
