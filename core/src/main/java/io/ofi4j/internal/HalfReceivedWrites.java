package io.ofi4j.internal;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import io.ofi4j.bindings.fabric_h;
import io.ofi4j.bindings.fi_context;
import io.ofi4j.bindings.fi_cq_err_entry;
import io.ofi4j.bindings.fi_ops_cq;
import io.ofi4j.bindings.fid_cq;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Writes with completion data whose connection ends before all of their bytes have come. To the provider below ofi_rxm such a
 * write is a failed operation without a context; ofi_rxm looks into the context of every failed operation, and the process ends.
 *
 * <p>So fi_cq_readerr of the provider below is replaced, for all of its queues, and gives those that have no context one: that of a
 * receive that nobody has posted, which ofi_rxm puts back where it seems to come from, and says nothing.
 */
@SuppressWarnings("restricted")
final class HalfReceivedWrites {
    /** What ofi_rxm calls a buffer that is posted for whatever comes, from libfabric 1.11 to 2.6 at least. */
    private static final int RXM_RX = 3;
    private static final long PAGE = 4096;
    private static final long NOBODYS = PAGE / 2;

    /**
     * The first half holds nothing but its own address: whoever follows pointers in it stays there, and what is put into a list there is
     * forgotten. The receive is behind it, so that the header in front of it, too, points there; all of its pointers but that are null.
     */
    private static final MemorySegment MEMORY = Arena.global().allocate(PAGE, PAGE);
    private static final long RECEIVE = MEMORY.address() + NOBODYS;

    static {
        for (long word = 0; word < NOBODYS; word += ADDRESS.byteSize()) {
            MEMORY.set(ADDRESS, word, MEMORY);
        }
        MEMORY.set(JAVA_INT, NOBODYS + fi_context.sizeof(), RXM_RX);
    }

    private HalfReceivedWrites() {
    }

    /** The context of a failed operation, as it was before the replacement looked at it: other queues have it, too. */
    static long contextOf(MemorySegment entry) {
        long context = fi_cq_err_entry.op_context(entry).address();
        return context == RECEIVE ? 0 : context;
    }

    /**
     * Replaces it in the table that all queues of a provider have.
     *
     * @return 0, or the error with which the provider refused to show its table
     */
    static int replaceIn(Handle domain) {
        Out queue = DomainOps.fi_cq_open(domain, 0, FabricConstants.FI_CQ_FORMAT_DATA, fabric_h.FI_WAIT_NONE(), -1);
        if (queue.status() == 0) {
            MemorySegment table = queue.handle().pointer().reinterpret(fid_cq.sizeof())
                    .get(ADDRESS, fid_cq.ops$offset()).reinterpret(fi_ops_cq.sizeof());
            MemorySegment original = fi_ops_cq.readerr(table);
            fi_cq_err_entry.op_context$offset(); // initialised here, and not in somebody's call
            Replaced.in(table, fi_ops_cq.readerr$offset(), () -> fi_ops_cq.readerr
                    .allocate((cq, entry, flags) -> read(original, cq, entry, flags), Arena.global()));
            FidOps.fi_close(queue.handle());
        }
        return queue.status();
    }

    private static long read(MemorySegment original, MemorySegment queue, MemorySegment entry, long flags) {
        long count = fi_ops_cq.readerr.invoke(original, queue, entry, flags);
        MemorySegment read = entry.reinterpret(fi_cq_err_entry.sizeof());
        if (count > 0 && fi_cq_err_entry.op_context(read).address() == 0) {
            fi_cq_err_entry.op_context(read, MemorySegment.ofAddress(RECEIVE));
        }
        return count;
    }
}
