package io.ofi4j.internal.ffi;

import static io.ofi4j.internal.ffi.InlineFunction.*;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.ofi4j.internal.os.Downcalls;
import io.ofi4j.bindings.fi_cq_err_entry;
import io.ofi4j.internal.os.LibC;
import io.ofi4j.internal.os.NativeWords;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * {@code struct fi_cq_err_entry} of one completion queue: fi_cq_readerr, and the memory that it fills in. The accessors
 * refer to the error that was read last. Used inside the queue's guard.
 */
public final class CqErrorEntry {
    /** The offset of the context. */
    public static final long CONTEXT = fi_cq_err_entry.op_context$offset();

    private static final long FLAGS = fi_cq_err_entry.flags$offset();
    private static final long LENGTH = fi_cq_err_entry.len$offset();
    private static final long BUFFER = fi_cq_err_entry.buf$offset();
    private static final long REMOTE_DATA = fi_cq_err_entry.data$offset();
    private static final long TAG = fi_cq_err_entry.tag$offset();
    private static final long OVERFLOW = fi_cq_err_entry.olen$offset();
    private static final long ERRNO = fi_cq_err_entry.err$offset();
    private static final long PROVIDER_ERRNO = fi_cq_err_entry.prov_errno$offset();
    private static final long ERROR_DATA = fi_cq_err_entry.err_data$offset();
    private static final long ERROR_DATA_SIZE = fi_cq_err_entry.err_data_size$offset();
    private static final int ERROR_DATA_ROOM = 256;
    private static final int TEXT_ROOM = 256;
    private static final byte[] NO_DATA = {};

    private final Handle queue;
    /** Freed by the garbage collector, as the segments below. */
    private final MemorySegment memory;
    private final MemorySegment errorData;
    private final MemorySegment text;
    private final long entry;
    /** Whether an error was read that nobody has resolved; a field as those of {@link CqOps}. */
    public boolean isFetched;

    public CqErrorEntry(Handle queue) {
        Arena arena = Arena.ofAuto();
        this.queue = queue;
        this.memory = OwnedStruct.allocate(arena, fi_cq_err_entry.layout());
        this.errorData = arena.allocate(ERROR_DATA_ROOM);
        this.text = arena.allocate(TEXT_ROOM);
        this.entry = memory.address();
    }

    /**
     * fi_cq_readerr; sets {@link #isFetched}. Without withData there is no room for the provider's data: where they are
     * copied from may be unset.
     */
    public void fi_cq_readerr(boolean withData) {
        memory.fill((byte) 0); // a dirty entry makes the provider write anywhere
        if (withData) {
            NativeWords.set(entry, ERROR_DATA, errorData.address());
            NativeWords.set(entry, ERROR_DATA_SIZE, ERROR_DATA_ROOM);
        }
        isFetched = Downcalls.call(false, fi_cq_readerr.of(queue), queue.address(), entry, 0) > 0;
    }

    public long context() { return NativeWords.get(entry, CONTEXT); }

    public long flags() { return NativeWords.get(entry, FLAGS); }

    public long length() { return NativeWords.get(entry, LENGTH); }

    public long buffer() { return NativeWords.get(entry, BUFFER); }

    public long data() { return NativeWords.get(entry, REMOTE_DATA); }

    public long tag() { return NativeWords.get(entry, TAG); }

    public long overflow() { return NativeWords.get(entry, OVERFLOW); }

    public int errno() { return Math.abs(NativeWords.getInt(entry, ERRNO)); }

    public int providerErrno() { return NativeWords.getInt(entry, PROVIDER_ERRNO); }

    /**
     * fi_cq_strerror, before any other read. ofi_rxm takes the text from the queue's first endpoint, and crashes if
     * there is none, or it is not enabled.
     */
    public String fi_cq_strerror() {
        return strerror(fi_cq_strerror, queue, providerErrno(), NativeWords.get(entry, ERROR_DATA), text);
    }

    /**
     * The provider's error data, if they are in our memory. If the provider has put in a pointer of its own, the size
     * is not valid either.
     */
    public byte[] errorData() {
        long size = NativeWords.get(entry, ERROR_DATA_SIZE);
        boolean ours = NativeWords.get(entry, ERROR_DATA) == errorData.address();
        return ours && size > 0 && size < ERROR_DATA_ROOM ? errorData.asSlice(0, size).toArray(JAVA_BYTE) : NO_DATA;
    }

    /**
     * fi_cq_strerror or fi_eq_strerror, which are of one type; no text if the provider has none.
     *
     * @param room where the provider may put the text
     */
    static String strerror(InlineFunction call, Handle queue, int providerErrno, long errorData, MemorySegment room) {
        MemorySegment function = call.find(queue);
        if (function == null) { return ""; }
        // one byte less than there is: providers do not terminate what they copy
        long found = Downcalls.call(false, function, queue.address(), providerErrno, errorData, room.address(),
                room.byteSize() - 1);
        String text = LibC.string(MemorySegment.ofAddress(found));
        return text == null ? "" : text;
    }
}
