package io.ofi4j.internal.engine;

import io.ofi4j.errors.FabricException;
import io.ofi4j.internal.ffi.FabricConstants;
import io.ofi4j.internal.ffi.FidOps;
import io.ofi4j.internal.ffi.Handle;
import io.ofi4j.internal.ffi.MrOps;
import io.ofi4j.internal.observe.LockOrder;
import io.ofi4j.internal.os.Machine;
import io.ofi4j.internal.os.NativeMemory;
import io.ofi4j.internal.quirks.Status;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * Closed regions of a domain that peers may still access. A provider in software checks the key when a transfer begins
 * and copies later. If the memory is unmapped in between, the process ends, or other memory is overwritten.
 *
 * <p>The pages of such a region are freed at once. Its addresses stay mapped in the quarantine, first in, first out, up
 * to {@link #MAX_BYTES} and {@link #MAX_REGIONS}, or until the domain's last endpoint is closed. Some providers also
 * use their object of the region during a transfer; it is closed when the region leaves the quarantine, before the
 * memory is freed.
 *
 * <p>An arena whose memory JDK code is using (a channel that writes it, say) cannot be closed. It is closed later, with
 * the next progress on the domain or the next close of a region. Any thread may call. Late failures are kept for the
 * domain's close.
 */
public final class RegionQuarantine {
    private static final long REMOTE = FabricConstants.FI_REMOTE_READ | FabricConstants.FI_REMOTE_WRITE;
    /** The maximum number of bytes of address space. A single larger region is kept without any other. */
    public static final long MAX_BYTES = 1L << 30;
    public static final int MAX_REGIONS = 4096;

    /** Arenas of closed domains that are still in use. */
    private static final Queue<Arena> ARENAS_OF_CLOSED_DOMAINS = new ConcurrentLinkedQueue<>();

    private final boolean keepsMemory;
    private final boolean closesLate;
    private final Deque<ClosedRegion> quarantine = new ArrayDeque<>();
    /** Arenas in use by JDK code. Closing one may add another. */
    private final Queue<Arena> arenasInUse = new ConcurrentLinkedQueue<>();
    private long bytes;
    private int endpoints;
    private FabricException failure;

    private static final class ClosedRegion {
        private final long address;
        /** The provider's object while it is open, or null. */
        private Handle object;
        /** The number of bytes of memory; 0 if the memory is the caller's, or is not in the quarantine yet. */
        private long length;
        /** The arena of a mapped file, or null. */
        private Arena file;

        private ClosedRegion(long address) { this.address = address; }
    }

    /**
     * @param keepsMemory whether the provider may continue transfers after it has closed the region
     * @param closesLate whether it then also needs its own object of the region; true only together with keepsMemory
     */
    public RegionQuarantine(boolean keepsMemory, boolean closesLate) {
        this.keepsMemory = keepsMemory;
        this.closesLate = closesLate;
    }

    /**
     * {@return zeroed memory at a page boundary} When the arena is closed, the pages are released or enter the
     * quarantine.
     */
    public MemorySegment allocate(long length, Arena arena, long accessBits) {
        boolean keepsPages = mustKeep(accessBits);
        if (!keepsPages && length < NativeMemory.HUGE_PAGE) { return arena.allocate(length, Machine.PAGE); }
        long pages = NativeMemory.wholePages(length);
        long address = NativeMemory.map(pages);
        return NativeMemory.view(address, length, arena,
                keepsPages ? () -> unmap(address, pages) : () -> NativeMemory.unmap(address, pages));
    }

    private boolean mustKeep(long accessBits) { return keepsMemory && (accessBits & REMOTE) != 0; }

    private synchronized void unmap(long address, long length) {
        if (endpoints == 0) {
            NativeMemory.unmap(address, length);
        } else {
            quarantinePages(address, length, null);
        }
    }

    /** Calls fi_close of a region, or postpones it. Returns the status, or 0 if it is postponed. */
    public synchronized int deregister(Handle region, long address, long accessBits) {
        assert LockOrder.taken(LockOrder.Rank.QUARANTINE, this);
        if (!closesLate || endpoints == 0 || !mustKeep(accessBits)) { return FidOps.fi_close(region); }
        ClosedRegion closed = new ClosedRegion(address);
        closed.object = region;
        quarantine.add(closed);
        evict();
        return 0;
    }

    /** Deregisters a closed region whose key another region is to have. */
    public synchronized void freeKey(long key) {
        assert LockOrder.taken(LockOrder.Rank.QUARANTINE, this);
        for (ClosedRegion closed : quarantine) {
            if (closed.object != null && MrOps.fi_mr_key(closed.object) == key) { close(closed); }
        }
    }

    /** {@return a view of a mapped file} When its arena is closed, the file is unmapped, or enters the quarantine. */
    public MemorySegment view(FileMapping mapping, Arena arena, long accessBits) {
        MemorySegment file = mapping.memory();
        MemorySegment view = NativeMemory.view(file.address(), file.byteSize(), arena,
                () -> unmap(mapping, mustKeep(accessBits)));
        return file.isReadOnly() ? view.asReadOnly() : view;
    }

    /** A file is unmapped at once, but its arena may be closed later. */
    private synchronized void unmap(FileMapping mapping, boolean keepsPages) {
        if (endpoints > 0 && keepsPages) {
            quarantinePages(mapping.memory().address(), mapping.memory().byteSize(), mapping.arena());
        } else {
            free(mapping.arena());
        }
    }

    /** Closes the arena of a closed region, which has no other memory, now or when JDK code no longer uses it. */
    public synchronized void free(Arena arena) {
        assert LockOrder.taken(LockOrder.Rank.QUARANTINE, this);
        if (!isClosed(arena)) { arenasInUse.add(arena); }
    }

    private static boolean isClosed(Arena arena) {
        try {
            arena.close();
            return true;
        } catch (IllegalStateException e) { // "Session is acquired by 1 clients"
            return false;
        }
    }

    private void quarantinePages(long address, long length, Arena file) {
        NativeMemory.discard(address, length);
        ClosedRegion closed = ofMemory(address);
        closed.length = length;
        closed.file = file;
        bytes += length;
        evict();
    }

    /**
     * The entry of the region that has this memory, so that the provider's object and the memory leave the quarantine
     * together; a new entry if there is none.
     */
    private ClosedRegion ofMemory(long address) {
        Iterator<ClosedRegion> latestFirst = quarantine.descendingIterator();
        while (closesLate && latestFirst.hasNext()) {
            ClosedRegion closed = latestFirst.next();
            if (closed.address == address && closed.length == 0) { return closed; }
        }
        ClosedRegion added = new ClosedRegion(address);
        quarantine.add(added);
        return added;
    }

    private void evict() {
        while (quarantine.size() > MAX_REGIONS || bytes > MAX_BYTES && quarantine.size() > 1) {
            release(quarantine.remove());
        }
    }

    private void release(ClosedRegion closed) {
        bytes -= closed.length;
        if (!close(closed)) { return; } // still registered: leak the memory
        if (closed.file != null) {
            free(closed.file);
        } else if (closed.length > 0) { NativeMemory.unmap(closed.address, closed.length); }
    }

    /** Whether the provider's object is closed. */
    private boolean close(ClosedRegion closed) {
        if (closed.object == null) { return true; }
        int status = FidOps.fi_close(closed.object);
        if (status != 0) {
            noteFailure(status, closed.object.provider());
            return false;
        }
        closed.object = null;
        return true;
    }

    /** Notes that a region could not be deregistered, during another call. */
    public synchronized void noteFailure(int status, String provider) {
        if (failure == null) { failure = Status.exception(status, "fi_close(memory region)", provider); }
    }

    public synchronized void endpointOpened() { endpoints++; }

    /** Records that an endpoint is closed. After the last one, empties the quarantine. */
    public synchronized void endpointClosed() {
        assert LockOrder.taken(LockOrder.Rank.QUARANTINE, this);
        endpoints--;
        while (endpoints == 0 && !quarantine.isEmpty()) {
            release(quarantine.remove());
        }
    }

    /** Frees memory that JDK code no longer uses. */
    public void freeUnusedArenas() {
        synchronized (this) {
            arenasInUse.removeIf(RegionQuarantine::isClosed);
        }
        ARENAS_OF_CLOSED_DOMAINS.removeIf(RegionQuarantine::isClosed);
    }

    public synchronized boolean hasArenasInUse() { return !arenasInUse.isEmpty(); }

    /** The domain has no endpoint any more. Memory in use is freed when a region of another domain is closed. */
    public void close() {
        freeUnusedArenas();
        synchronized (this) {
            ARENAS_OF_CLOSED_DOMAINS.addAll(arenasInUse);
            arenasInUse.clear();
        }
    }

    /** Throws the first failure of {@link #noteFailure}. */
    public synchronized void throwFailure() {
        if (failure != null) { throw failure; }
    }
}
