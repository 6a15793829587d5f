package io.ofi4j.internal.ffi;

import static io.ofi4j.internal.ffi.InlineFunction.*;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.ofi4j.internal.os.Downcalls;
import io.ofi4j.bindings.fi_cq_data_entry;
import io.ofi4j.bindings.fi_cq_entry;
import io.ofi4j.bindings.fi_cq_msg_entry;
import io.ofi4j.bindings.fi_cq_tagged_entry;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Converts entries of other formats than {@code struct fi_cq_data_entry} to that one, and keeps their tags and source
 * addresses. A queue with plain entries, which is faster, does not need this class.
 */
@SuppressWarnings("restricted")
public final class CqEntries {
    public static final long NOT_AVAILABLE = -1;

    private static final long WORD = Long.BYTES;
    private static final long DATA_ENTRY = fi_cq_data_entry.sizeof();
    private static final int FIELDS = (int) (DATA_ENTRY / WORD);

    private final Handle queue;
    private final long address;
    /** The address of fi_cq_readfrom, or of fi_cq_read without sources. */
    private final MemorySegment read;
    private final MemorySegment raw;
    private final long stride;
    private final MemorySegment sources;
    private final CqFormat format;
    private final long[] tags;
    private final long[] sourceAddresses;
    /** The number of entries that were read and not converted, or less than 1; a field as those of {@link CqOps}. */
    int unconverted;

    public CqEntries(Handle queue, CqFormat format, int batch) {
        this.queue = queue;
        this.address = queue.address();
        this.stride = size(format.format());
        this.read = (format.sourceFlags() != 0 ? fi_cq_readfrom : fi_cq_read).of(queue);
        this.raw = Arena.ofAuto().allocate(stride * batch, 64);
        this.sources = format.sourceFlags() != 0 ? Arena.ofAuto().allocate(JAVA_LONG, batch) : null;
        this.format = format;
        this.tags = new long[batch];
        this.sourceAddresses = new long[batch];
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
    public long read(boolean critical, MemorySegment entries, long count) {
        if (sources == null) {
            unconverted = (int) Downcalls.call(critical, read, address, raw.address(), count);
        } else {
            sources.fill((byte) NOT_AVAILABLE); // a provider without sources does not write them
            unconverted = (int) Downcalls.call(critical, read, address, raw.address(), count, sources.address());
        }
        return convert(unconverted, entries);
    }

    /** Which function {@link #sread} calls. */
    InlineFunction blockingRead() {
        return sources == null ? fi_cq_sread : fi_cq_sreadfrom;
    }

    /** As {@link #read}, but waits; with the queue's {@link #blockingRead}. */
    long sread(MemorySegment function, MemorySegment entries, long count, int milliseconds) {
        if (sources == null) {
            unconverted = (int) Downcalls.call(false, function, address, raw.address(), count, 0, milliseconds);
        } else {
            sources.fill((byte) NOT_AVAILABLE);
            unconverted = (int) Downcalls.call(false, function, address, raw.address(), count, sources.address(), 0,
                    milliseconds);
        }
        return convert(unconverted, entries);
    }

    /** Converts the entries of a read, also once more. Returns what it is passed. */
    long convert(int found, MemorySegment entries) {
        for (int entry = 0; entry < found; entry++) {
            long from = entry * stride;
            for (int field = 0; field < FIELDS; field++) {
                long value = field * WORD < stride ? raw.get(JAVA_LONG, from + field * WORD) : 0;
                entries.set(JAVA_LONG, entry * DATA_ENTRY + field * WORD, value);
            }
            tags[entry] = stride > DATA_ENTRY ? raw.get(JAVA_LONG, from + DATA_ENTRY) : 0;
            long flags = entries.get(JAVA_LONG, entry * DATA_ENTRY + WORD);
            long source = format.hasSource(flags) ? sources.getAtIndex(JAVA_LONG, entry) : NOT_AVAILABLE;
            sourceAddresses[entry] = source == format.unknownSource() ? NOT_AVAILABLE : source;
        }
        unconverted = 0;
        return found;
    }

    public void put(int entry, long tag, long source) {
        tags[entry] = tag;
        sourceAddresses[entry] = source;
    }

    public long tag(int entry) { return tags[entry]; }

    public long source(int entry) { return sourceAddresses[entry]; }
}
