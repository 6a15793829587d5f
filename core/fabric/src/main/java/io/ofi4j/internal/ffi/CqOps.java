package io.ofi4j.internal.ffi;

import static io.ofi4j.internal.ffi.InlineFunction.*;

import io.ofi4j.internal.os.Downcalls;
import io.ofi4j.internal.os.NativeWords;
import io.ofi4j.bindings.fi_cq_data_entry;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.ref.Reference;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;

/**
 * {@code struct fi_ops_cq} of one queue, with the memory that entries are read into. The function pointers are read
 * once; no call allocates, except to wait.
 */
@SuppressWarnings("restricted")
public final class CqOps {
    private static final long ENTRY = fi_cq_data_entry.sizeof();
    private static final long CONTEXT = fi_cq_data_entry.op_context$offset();
    private static final long FLAGS = fi_cq_data_entry.flags$offset();
    private static final long LENGTH = fi_cq_data_entry.len$offset();
    private static final long BUFFER = fi_cq_data_entry.buf$offset();
    private static final long DATA = fi_cq_data_entry.data$offset();

    /** For writes without a full fence. */
    private static final AtomicIntegerFieldUpdater<CqOps> STATE = AtomicIntegerFieldUpdater.newUpdater(CqOps.class,
            "state");
    private static final int IDLE = 0;
    private static final int BUSY = 1;
    /** A {@link #state}: an exception broke off the use of this batch, and entries may be left in it. */
    public static final int BROKEN_OFF = 2;

    private static final FirstFunctions FIRST = new FirstFunctions();

    private final Handle queue;
    /** Freed by the garbage collector: a thread may still hand out entries while another closes the queue. */
    private final MemorySegment memory;
    private final long address;
    /** The address of fi_cq_read. */
    private final MemorySegment read;
    /** fi_cq_sread or fi_cq_sreadfrom; null before the first call. */
    private MemorySegment sread;
    private final long entries;
    /** Null if entries are plain. */
    private final CqEntries extended;
    private final boolean plain;
    private boolean criticalReads;
    /** Whether reads are critical calls of the first queue's function. */
    private boolean readsLikeFirst;

    // How far the entries are. Fields, since a store needs no stack: a StackOverflowError can come in any call, and so
    // neither between a native call or the release of a slot and the store that follows, nor between two stores.
    /** The number of entries that {@link #readPlain} has given and nobody has resolved, or less than 1. */
    public int fetchedPlain;
    /** The number of entries that {@link #fi_cq_read} or {@link #fi_cq_sread} has given, or 0. */
    public int fetched;
    /** Of the fetched entries, the number of those whose contexts were resolved. */
    public int resolved;
    /** The number of resolved entries to hand out; they are the first ones. */
    public int wanted;
    /** Of the wanted entries, the number of those that were handed out. */
    public int handedOut;
    /** The tokens of the wanted entries. */
    public final long[] tokens;
    public volatile int state;

    public CqOps(Handle queue, CqFormat format, int batch, boolean criticalReads) {
        this.queue = queue;
        this.address = queue.address();
        this.read = fi_cq_read.of(queue);
        this.memory = Arena.ofAuto().allocate(ENTRY * batch, 64);
        this.tokens = new long[batch];
        this.entries = memory.address();
        this.criticalReads = criticalReads;
        this.readsLikeFirst = criticalReads && FIRST.are(read);
        if (readsLikeFirst) { FirstFunctions.made(FirstRead.FUNCTION); }
        this.plain = format.format() == FabricConstants.FI_CQ_FORMAT_DATA;
        this.extended = format.isPlain() ? null : new CqEntries(queue, format, batch);
    }

    private static final class FirstRead {
        static final MethodHandle FUNCTION = FIRST.handle(0, 3);
    }

    /** Whether a thread hands out the entries, or has left some. */
    public boolean isBusy() { return state != IDLE; }

    /** A thread begins to hand out the entries, inside the queue's guard. */
    public void markBusy() {
        STATE.lazySet(this, BUSY);
    }

    /** The entries were handed out; their memory has lived until now. */
    public void markIdle() {
        Reference.reachabilityFence(memory);
        STATE.lazySet(this, IDLE);
    }

    /** From now on, reads are plain calls. */
    public void readPlainly() {
        criticalReads = false;
        readsLikeFirst = false;
    }

    /** fi_cq_read or fi_cq_readfrom: the number of entries, or a negated error. */
    public long fi_cq_read(long count) {
        long found = extended == null ? readPlain(count) : extended.read(criticalReads, memory, count);
        fetched = found > 0 ? (int) found : 0;
        return found;
    }

    /** Whether {@link #readPlain} may be called. */
    public boolean isPlain() { return plain; }

    /**
     * fi_cq_read, even if there are sources. The caller stores the result in {@link #fetchedPlain}, and calls
     * {@link #completeFetch} unless one entry alone is handed out at once, without its tag and source.
     */
    public long readPlain(long count) {
        return readsLikeFirst
                ? Downcalls.invoke(FirstRead.FUNCTION, address, entries, count)
                : Downcalls.call(criticalReads, read, address, entries, count);
    }

    /** Sets {@link #fetched}, and the tags and sources of these entries, after a read that did not. */
    public void completeFetch() {
        if (extended != null) { completeExtended(); }
        if (fetchedPlain > 0) {
            fetched = fetchedPlain;
            fetchedPlain = 0;
        }
    }

    private void completeExtended() {
        for (int entry = 0; entry < fetchedPlain; entry++) {
            extended.put(entry, 0, CqEntries.NOT_AVAILABLE);
        }
        if (extended.unconverted > 0) { fetched = (int) extended.convert(extended.unconverted, memory); }
    }

    /** As {@link #fi_cq_read}, but waits: fi_cq_sread or fi_cq_sreadfrom. */
    public long fi_cq_sread(long count, int milliseconds) {
        if (sread == null) { sread = (extended == null ? fi_cq_sread : extended.blockingRead()).of(queue); }
        long found = extended == null
                ? Downcalls.call(false, sread, address, entries, count, 0, milliseconds)
                : extended.sread(sread, memory, count, milliseconds);
        fetched = found > 0 ? (int) found : 0;
        return found;
    }

    public long context(int entry) { return NativeWords.get(entries, entry * ENTRY + CONTEXT); }

    public long flags(int entry) { return NativeWords.get(entries, entry * ENTRY + FLAGS); }

    public long length(int entry) { return NativeWords.get(entries, entry * ENTRY + LENGTH); }

    public long data(int entry) { return NativeWords.get(entries, entry * ENTRY + DATA); }

    /** Copies an entry but for its context. */
    public void copy(int from, int to) {
        if (from != to) { put(to, flags(from), length(from), data(from), buffer(from), tag(from), source(from)); }
    }

    public long buffer(int entry) { return NativeWords.get(entries, entry * ENTRY + BUFFER); }

    /** 0 if the format has none. */
    public long tag(int entry) { return extended == null ? 0 : extended.tag(entry); }

    /** FI_ADDR_NOTAVAIL if there is none. */
    public long source(int entry) {
        return extended == null ? CqEntries.NOT_AVAILABLE : extended.source(entry);
    }

    /** Sets an entry but for its context. */
    public void put(int entry, long flags, long length, long data, long buffer, long tag, long source) {
        long at = entries + entry * ENTRY;
        NativeWords.set(at, BUFFER, buffer);
        if (extended != null) { extended.put(entry, tag, source); }
        NativeWords.set(at, FLAGS, flags);
        NativeWords.set(at, LENGTH, length);
        NativeWords.set(at, DATA, data);
    }
}
