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
import java.lang.invoke.VarHandle;
import java.util.HashSet;
import java.util.Set;

/**
 * Writes with completion data whose connection ends before all of their bytes have come. To the provider below ofi_rxm such a
 * write is a failed operation without a context; ofi_rxm looks into the context of every failed operation, and the process ends.
 *
 * <p>So fi_cq_readerr of the provider below is replaced, for all of its queues, and gives those that have no context one: that of a
 * receive that nobody has posted, which ofi_rxm puts back where it seems to come from, and says nothing. The replacement is Java,
 * which a critical call must not come to, nor wait for a lock whose owner does.
 */
@SuppressWarnings("restricted")
public final class HalfReceivedWrites {
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

    private static final Set<String> HARMLESS = new HashSet<>();

    static {
        for (long word = 0; word < NOBODYS; word += ADDRESS.byteSize()) {
            MEMORY.set(ADDRESS, word, MEMORY);
        }
        MEMORY.set(JAVA_INT, NOBODYS + fi_context.sizeof(), RXM_RX);
    }

    private HalfReceivedWrites() {
    }

    /** Whether calls of a provider may come to the replacement. */
    static boolean concern(String provider) {
        return provider.equals("tcp;ofi_rxm") || provider.equals("net;ofi_rxm");
    }

    /** The context of a failed operation, as it was before the replacement looked at it: other queues have it, too. */
    static long contextOf(MemorySegment entry) {
        long context = fi_cq_err_entry.op_context(entry).address();
        return context == RECEIVE ? 0 : context;
    }

    /**
     * To be called before a domain of a provider is opened; does something once for each.
     *
     * @return 0, or the error with which the provider below refused to show its functions
     */
    public static synchronized int makeHarmless(String provider) {
        if (!concern(provider) || HARMLESS.contains(provider)) {
            return 0;
        }
        String below = provider.substring(0, provider.indexOf(';'));
        FabricCalls.Found found = FabricCalls.fi_getinfo(FabricCalls.fi_version(), null, null, 0,
                new Hints().provider(below).endpointType(fabric_h.FI_EP_MSG()).info());
        int status = found.status() != 0 ? found.status() : replaceIn(found.infos().getFirst(), below);
        if (status == 0) {
            HARMLESS.add(provider);
        }
        return status;
    }

    private static int replaceIn(InfoHandle info, String provider) {
        Out fabric = FabricCalls.fi_fabric(info, provider);
        if (fabric.status() != 0) {
            return fabric.status();
        }
        Out domain = FabricOps.fi_domain(fabric.handle(), info);
        if (domain.status() == 0) {
            Out queue = DomainOps.fi_cq_open(domain.handle(), 0, FabricConstants.FI_CQ_FORMAT_DATA,
                    fabric_h.FI_WAIT_NONE(), -1);
            if (queue.status() == 0) {
                replace(queue.handle());
                FidOps.fi_close(queue.handle());
            }
            FidOps.fi_close(domain.handle());
            FidOps.fi_close(fabric.handle());
            return queue.status();
        }
        FidOps.fi_close(fabric.handle());
        return domain.status();
    }

    /** All queues of a provider have one table. Where the library has it in memory that is not to be written, it stays. */
    private static void replace(Handle queue) {
        long offset = fid_cq.ops$offset();
        MemorySegment table = queue.pointer().reinterpret(fid_cq.sizeof()).get(ADDRESS, offset)
                .reinterpret(fi_ops_cq.sizeof());
        if (!NativeMemory.isWritable(table.address())) {
            return;
        }
        MemorySegment original = fi_ops_cq.readerr(table);
        fi_cq_err_entry.op_context$offset(); // initialised here, and not in somebody's call
        MemorySegment replacement = fi_ops_cq.readerr.allocate((cq, entry, flags) -> read(original, cq, entry, flags),
                Arena.global());
        VarHandle.fullFence(); // before another thread may call it
        fi_ops_cq.readerr(table, replacement);
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
