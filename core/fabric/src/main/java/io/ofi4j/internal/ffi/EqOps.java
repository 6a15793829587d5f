package io.ofi4j.internal.ffi;

import static io.ofi4j.internal.ffi.InlineFunction.*;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import io.ofi4j.internal.os.Downcalls;
import io.ofi4j.bindings.fi_eq_cm_entry;
import io.ofi4j.bindings.fi_eq_entry;
import io.ofi4j.bindings.fi_eq_err_entry;
import io.ofi4j.bindings.fi_ops_eq;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * {@code struct fi_ops_eq} of one event queue. Not thread-safe: the queue serialises it. The accessors refer to the
 * event read last.
 */
@SuppressWarnings("restricted")
public final class EqOps {
    /** Larger than any provider's event: what does not fit is lost. */
    private static final long ROOM = 4096;
    private static final long ERROR_DATA_ROOM = 1024;
    private static final long TEXT_ROOM = 256;

    private final Handle queue;
    private final MemorySegment code;
    private final MemorySegment entry;
    /** fi_eq_read, as the last read found it in the table. */
    private MemorySegment read = MemorySegment.NULL;

    public EqOps(Handle queue) {
        this.queue = queue;
        Arena arena = Arena.ofAuto();
        this.code = arena.allocate(JAVA_INT);
        this.entry = arena.allocate(ROOM, Long.BYTES);
    }

    /** Returns the length of the entry, or a negated error. It allocates nothing. */
    public long fi_eq_read() {
        clear();
        long function = fi_eq_read.address(queue);
        if (function == 0 || function != read.address()) { read = fi_eq_read.of(queue); }
        return Downcalls.call(false, read, queue.address(), code.address(), entry.address(), ROOM, 0);
    }

    /** The kind of the event. */
    public int code() { return code.get(JAVA_INT, 0); }

    private void clear() {
        code.fill((byte) 0);
        entry.fill((byte) 0);
    }

    public long object() { return fi_eq_entry.fid(entry).address(); }

    public long context() { return fi_eq_entry.context(entry).address(); }

    public long data() { return fi_eq_entry.data(entry); }

    /** The error number of an event of that length, or 0: some providers report failed joins as completed ones. */
    public int errno(long length) {
        return length < fi_eq_err_entry.sizeof() ? 0 : Math.abs(fi_eq_err_entry.err(entry));
    }

    /** The info of a connection request; the caller owns it. */
    public InfoHandle info() {
        return new InfoHandle(fi_eq_cm_entry.info(entry));
    }

    /** The private data of a connection event of that length. */
    public byte[] connectionData(long length) {
        long start = fi_eq_cm_entry.data$offset();
        return length <= start ? new byte[0] : entry.asSlice(start, length - start).toArray(JAVA_BYTE);
    }

    public byte[] bytes(long length) { return entry.asSlice(0, length).toArray(JAVA_BYTE); }

    /** An application's event, FI_NOTIFY: the only kind that no provider interprets. */
    public long fi_eq_write(long context, long data) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment event = OwnedStruct.allocate(arena, fi_eq_entry.layout());
            fi_eq_entry.fid(event, queue.pointer());
            fi_eq_entry.context(event, MemorySegment.ofAddress(context));
            fi_eq_entry.data(event, data);
            return Downcalls.callForLong(fi_eq_write.of(queue), queue.pointer(), FabricConstants.FI_NOTIFY, event,
                    fi_eq_entry.sizeof(), 0);
        }
    }

    public record ErrorEntry(long object, long context, long data, int errno, int providerErrno, String providerText,
            byte[] errorData) {}

    /** fi_eq_readerr and, before any other read, fi_eq_strerror; null if there is none. */
    public ErrorEntry fi_eq_readerr() {
        try (Arena arena = Arena.ofConfined()) {
            // Zeroed, and with room for the provider's data: a dirty entry makes the provider write anywhere.
            MemorySegment error = OwnedStruct.allocate(arena, fi_eq_err_entry.layout());
            fi_eq_err_entry.err_data(error, arena.allocate(ERROR_DATA_ROOM));
            fi_eq_err_entry.err_data_size(error, ERROR_DATA_ROOM);
            long count = Downcalls.callForLong(fi_eq_readerr.of(queue), queue.pointer(), error, 0);
            if (count <= 0) { return null; }
            int providerErrno = fi_eq_err_entry.prov_errno(error);
            MemorySegment data = fi_eq_err_entry.err_data(error);
            return new ErrorEntry(fi_eq_err_entry.fid(error).address(), fi_eq_err_entry.context(error).address(),
                    fi_eq_err_entry.data(error), Math.abs(fi_eq_err_entry.err(error)), providerErrno,
                    providerErrno == 0
                            ? ""
                            : CqErrorEntry.strerror(fi_eq_strerror, queue, providerErrno, data.address(),
                                    arena.allocate(TEXT_ROOM)),
                    copy(data, fi_eq_err_entry.err_data_size(error)));
        }
    }

    private static byte[] copy(MemorySegment data, long size) {
        return data.address() == 0 ? new byte[0] : data.reinterpret(Math.min(size, ERROR_DATA_ROOM)).toArray(JAVA_BYTE);
    }
}
