package io.ofi4j.internal.engine;

import io.ofi4j.FabricException;
import io.ofi4j.internal.ffi.FabricConstants;
import io.ofi4j.internal.ffi.FidOps;
import io.ofi4j.internal.ffi.Handle;
import io.ofi4j.internal.ffi.MrOps;
import io.ofi4j.internal.observe.LockOrder;
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
 * to {@link #MOST_BYTES} and {@link #MOST_REGIONS}, or until the domain's last endpoint is closed. Some providers also
 * use their object of the region during a transfer; it is closed when the region leaves the quarantine, before the
 * memory is freed.
 *
 * <p>An arena whose memory JDK code is using (a channel that writes it, say) cannot be closed. It is closed later, with
 * the next progress on the domain or the next close of a region. Any thread may call. Late failures are kept for the
 * domain's close.
 */
public final class RegionQuarantine {
    private static final long REMOTE = FabricConstants.FI_REMOTE_READ | FabricConstants.FI_REMOTE_WRITE;
    /** Of address space. A single larger region is kept alone. */
    public static final long MOST_BYTES = 1L << 30;
    public static final int MOST_REGIONS = 4096;

    /** Arenas of closed domains that are still in use. */
    private static final Queue<Arena> OF_CLOSED_DOMAINS = new ConcurrentLinkedQueue<>();

    private final boolean keepsMemory;
    private final boolean closesLate;
    private final Deque<Closed> quarantine = new ArrayDeque<>();
    /** Arenas in use by JDK code. To close one may add another. */
    private final Queue<Arena> held = new ConcurrentLinkedQueue<>();
    private long bytes;
    private int endpoints;
    private FabricException failure;

    private static final class Closed {
        private final long address;
        /** Still open in the provider; or null. */
        private Handle object;
        /** Bytes of memory; 0 if it is the caller's, or not here yet. */
        private long length;
        /** Of a mapped file, or null. */
        private Arena file;

        private Closed(long address) { this.address = address; }
    }

    /**
     * keepsMemory: the provider may continue transfers after it has closed the region. closesLate: it then needs its
     * own object of the region, too; never without the other.
     */
    public RegionQuarantine(boolean keepsMemory, boolean closesLate) {
        this.keepsMemory = keepsMemory;
        this.closesLate = closesLate;
    }

    /** {@return zeroed memory at a page boundary} It comes here when the arena is closed. */
    public MemorySegment allocate(long length, Arena arena, long accessBits) {
        boolean kept = isKept(accessBits);
        if (!kept && length < NativeMemory.HUGE_PAGE) { return arena.allocate(length, NativeMemory.PAGE); }
        long pages = NativeMemory.wholePages(length);
        long address = NativeMemory.map(pages);
        return NativeMemory.view(address, length, arena,
                kept ? () -> unmap(address, pages) : () -> NativeMemory.unmap(address, pages));
    }

    private boolean isKept(long accessBits) { return keepsMemory && (accessBits & REMOTE) != 0; }

    private synchronized void unmap(long address, long length) {
        if (endpoints == 0) {
            NativeMemory.unmap(address, length);
        } else {
            keep(address, length, null);
        }
    }

    /** fi_close of a region, now or later: the status, or 0 if later. */
    public synchronized int deregister(Handle region, long address, long accessBits) {
        assert LockOrder.taken(LockOrder.Rank.QUARANTINE, this);
        if (!closesLate || endpoints == 0 || !isKept(accessBits)) { return FidOps.fi_close(region); }
        Closed closed = new Closed(address);
        closed.object = region;
        quarantine.add(closed);
        limit();
        return 0;
    }

    /** Deregisters a closed region whose key another region is to have. */
    public synchronized void freeKey(long key) {
        assert LockOrder.taken(LockOrder.Rank.QUARANTINE, this);
        for (Closed closed : quarantine) {
            if (closed.object != null && MrOps.fi_mr_key(closed.object) == key) { close(closed); }
        }
    }

    /**
     * Frees the memory of a closed region, which is all that the arena has. A file is unmapped at once, its arena may
     * stay.
     */
    public synchronized void free(MemorySegment memory, Arena arena, long accessBits) {
        assert LockOrder.taken(LockOrder.Rank.QUARANTINE, this);
        if (memory.isMapped() && endpoints > 0 && isKept(accessBits)) {
            keep(memory.address(), memory.byteSize(), arena);
        } else {
            free(arena);
        }
    }

    /** Closes an arena, now or when JDK code no longer uses its memory. */
    private void free(Arena arena) {
        if (!isClosed(arena)) { held.add(arena); }
    }

    private static boolean isClosed(Arena arena) {
        try {
            arena.close();
            return true;
        } catch (IllegalStateException e) { // "Session is acquired by 1 clients"
            return false;
        }
    }

    private void keep(long address, long length, Arena file) {
        NativeMemory.cover(address, length);
        Closed closed = ofMemory(address);
        closed.length = length;
        closed.file = file;
        bytes += length;
        limit();
    }

    /** The entry of the region whose memory this is, so that both leave together; or a new one. */
    private Closed ofMemory(long address) {
        Iterator<Closed> latestFirst = quarantine.descendingIterator();
        while (closesLate && latestFirst.hasNext()) {
            Closed closed = latestFirst.next();
            if (closed.address == address && closed.length == 0) { return closed; }
        }
        Closed added = new Closed(address);
        quarantine.add(added);
        return added;
    }

    private void limit() {
        while (quarantine.size() > MOST_REGIONS || bytes > MOST_BYTES && quarantine.size() > 1) {
            leave(quarantine.remove());
        }
    }

    private void leave(Closed closed) {
        bytes -= closed.length;
        if (!close(closed)) { return; } // still registered: leak the memory
        if (closed.file != null) {
            free(closed.file);
        } else if (closed.length > 0) { NativeMemory.unmap(closed.address, closed.length); }
    }

    /** Whether the provider's object is closed. */
    private boolean close(Closed closed) {
        if (closed.object == null) { return true; }
        int status = FidOps.fi_close(closed.object);
        if (status != 0) {
            failed(status, closed.object.provider());
            return false;
        }
        closed.object = null;
        return true;
    }

    /** Notes that a region could not be deregistered, during another call. */
    public synchronized void failed(int status, String provider) {
        if (failure == null) { failure = Status.exception(status, "fi_close(memory region)", provider); }
    }

    public synchronized void endpointOpened() { endpoints++; }

    /** Empties the quarantine with the last one. */
    public synchronized void endpointClosed() {
        assert LockOrder.taken(LockOrder.Rank.QUARANTINE, this);
        endpoints--;
        while (endpoints == 0 && !quarantine.isEmpty()) {
            leave(quarantine.remove());
        }
    }

    /** Frees memory that JDK code no longer uses. */
    public void freeHeld() {
        synchronized (this) {
            held.removeIf(RegionQuarantine::isClosed);
        }
        OF_CLOSED_DOMAINS.removeIf(RegionQuarantine::isClosed);
    }

    public synchronized boolean isHeld() { return !held.isEmpty(); }

    /** The domain has no endpoint any more. Memory in use is freed when a region of another domain is closed. */
    public void close() {
        freeHeld();
        synchronized (this) {
            OF_CLOSED_DOMAINS.addAll(held);
            held.clear();
        }
    }

    /** Throws the first failure of {@link #failed}. */
    public synchronized void checkLate() {
        if (failure != null) { throw failure; }
    }
}
