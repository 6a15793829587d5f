package io.ofi4j.internal.ffi;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.ofi4j.bindings.fi_cq_data_entry;
import io.ofi4j.bindings.fi_cq_entry;
import io.ofi4j.bindings.fi_cq_msg_entry;
import io.ofi4j.bindings.fi_cq_tagged_entry;
import io.ofi4j.bindings.fi_ops_cq;
import io.ofi4j.bindings.fid_cq;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/**
 * Entries of other formats than {@code struct fi_cq_data_entry}, converted to that, with their tags and source addresses. The
 * plain queue, the fast one, stays free of them.
 */
@SuppressWarnings("restricted")
public final class CqEntries {
    public static final long NOT_AVAILABLE = -1;

    private static final MethodHandle READ_FROM = Downcalls.critical(Downcalls.longs(4));
    private static final MethodHandle LONG_READ_FROM = Downcalls.plain(Downcalls.longs(4));
    private static final MethodHandle SREAD_FROM = Downcalls.plain(Downcalls.longs(5).appendArgumentLayouts(JAVA_INT));
    private static final long WORD = Long.BYTES;
    private static final long DATA_ENTRY = fi_cq_data_entry.sizeof();
    private static final int FIELDS = (int) (DATA_ENTRY / WORD);

    private final long queue;
    private final long function;
    private final MemorySegment raw;
    private final long stride;
    private final MemorySegment sources;
    private final CqFormat format;
    private final boolean criticalReads;
    private final long[] tags;
    private final long[] origins;

    public CqEntries(Handle queue, CqFormat format, int batch, boolean criticalReads) {
        this.queue = queue.address();
        this.stride = size(format.format());
        this.function = (format.withSource() != 0
                ? queue.require(fid_cq.ops$offset(), fi_ops_cq.readfrom$offset(), "fi_cq_readfrom")
                : queue.require(fid_cq.ops$offset(), fi_ops_cq.read$offset(), "fi_cq_read")).address();
        this.raw = Arena.ofAuto().allocate(stride * batch, 64);
        this.sources = format.withSource() != 0 ? Arena.ofAuto().allocate(JAVA_LONG, batch) : null;
        this.format = format;
        this.criticalReads = criticalReads;
        this.tags = new long[batch];
        this.origins = new long[batch];
    }

    private static long size(int format) {
        return switch (format) {
            case FabricConstants.FI_CQ_FORMAT_CONTEXT -> fi_cq_entry.sizeof();
            case FabricConstants.FI_CQ_FORMAT_MSG -> fi_cq_msg_entry.sizeof();
            case FabricConstants.FI_CQ_FORMAT_TAGGED -> fi_cq_tagged_entry.sizeof();
            default -> DATA_ENTRY;
        };
    }

    /** fi_cq_read or fi_cq_readfrom, converted into plain entries. */
    public long read(MemorySegment entries, long count) throws Throwable {
        long found;
        if (sources == null) {
            found = criticalReads
                    ? (long) CqOps.READ.invokeExact(function, queue, raw.address(), count)
                    : (long) CqOps.LONG_READ.invokeExact(function, queue, raw.address(), count);
        } else {
            sources.fill((byte) NOT_AVAILABLE); // a provider without sources does not write them
            found = criticalReads
                    ? (long) READ_FROM.invokeExact(function, queue, raw.address(), count, sources.address())
                    : (long) LONG_READ_FROM.invokeExact(function, queue, raw.address(), count, sources.address());
        }
        return spread(found, entries);
    }

    /** fi_cq_sread or fi_cq_sreadfrom; as {@link #read}. */
    public long sread(Handle handle, MemorySegment entries, long count, int milliseconds) throws Throwable {
        if (sources == null) {
            long call = handle.require(fid_cq.ops$offset(), fi_ops_cq.sread$offset(), "fi_cq_sread").address();
            return spread((long) CqOps.SREAD.invokeExact(call, queue, raw.address(), count, 0L, milliseconds), entries);
        }
        long call = handle.require(fid_cq.ops$offset(), fi_ops_cq.sreadfrom$offset(), "fi_cq_sreadfrom").address();
        sources.fill((byte) NOT_AVAILABLE);
        return spread(
                (long) SREAD_FROM.invokeExact(call, queue, raw.address(), count, sources.address(), 0L, milliseconds),
                entries);
    }

    private long spread(long found, MemorySegment entries) {
        for (int entry = 0; entry < found; entry++) {
            long from = entry * stride;
            for (int field = 0; field < FIELDS; field++) {
                long value = field * WORD < stride ? raw.get(JAVA_LONG, from + field * WORD) : 0;
                entries.set(JAVA_LONG, entry * DATA_ENTRY + field * WORD, value);
            }
            tags[entry] = stride > DATA_ENTRY ? raw.get(JAVA_LONG, from + DATA_ENTRY) : 0;
            long flags = entries.get(JAVA_LONG, entry * DATA_ENTRY + WORD);
            origins[entry] = format.hasSource(flags) ? sources.getAtIndex(JAVA_LONG, entry) : NOT_AVAILABLE;
        }
        return found;
    }

    public void put(int entry, long tag, long source) {
        tags[entry] = tag;
        origins[entry] = source;
    }

    public long tag(int entry) { return tags[entry]; }

    public long source(int entry) { return origins[entry]; }
}
