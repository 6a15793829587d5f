package io.ofi4j.internal.quirks.rxm;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.ofi4j.info.VersionRange;
import io.ofi4j.internal.ffi.CqErrorEntry;
import io.ofi4j.internal.ffi.FunctionSlot;
import io.ofi4j.internal.ffi.Handle;
import io.ofi4j.internal.os.Downcalls;
import io.ofi4j.internal.os.NativeWords;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;

/**
 * Gives a context to failed operations that have none. fi_cq_readerr of the provider below is replaced for all of its
 * queues. The context is that of a receive that was never posted, which {@code ofi_rxm} discards without an error.
 */
final class HalfReceivedWrites extends CoreProviderPatch {
    private static final String UPSTREAM = """
            Where a connection ends before all bytes of a write with completion data have come, the provider below \
            reports a failed operation without a context; ofi_rxm looks into the context of every one, and the \
            process ends.""";
    private static final FunctionDescriptor READERR = FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG);
    /** What ofi_rxm calls a buffer that is posted for whatever comes, from libfabric 1.11 to 2.6 at least. */
    private static final int RXM_RX = 3;
    /** {@code sizeof(struct fi_context)}, which stands before it. */
    private static final long CONTEXT = 32;
    private static final long PAGE = 4096;
    private static final long HALF_PAGE = PAGE / 2;

    /**
     * Each word of the first half contains the address of the first half: pointers in it lead back to it, and an entry
     * put into a list there is lost. The receive is in the second half, so that the header in front of the receive
     * points to the first half, too.
     */
    private static final MemorySegment MEMORY = Arena.global().allocate(PAGE, PAGE);
    private static final long RECEIVE = MEMORY.address() + HALF_PAGE;

    static {
        for (long word = 0; word < HALF_PAGE; word += Long.BYTES) {
            MEMORY.set(JAVA_LONG, word, MEMORY.address());
        }
        MEMORY.set(JAVA_INT, HALF_PAGE + CONTEXT, RXM_RX);
    }

    /**
     * Up to the newest that was tested. By the source, all of them begin a context and drop a receive in the same way.
     */
    private static final VersionRange VERSIONS = VersionRange.from(1, 15).to(2, 6);

    HalfReceivedWrites() {
        super("rxm-half-received-writes", provider -> provider.hasCore("tcp", "net"), VERSIONS, UPSTREAM,
                "PeerSurvivalTest");
    }

    @Override
    int replaceIn(Handle domain) {
        return withQueue(domain,
                queue -> replace(FunctionSlot.readerr(queue), MethodHandles.lookup(), "readerr", READERR));
    }

    /** An upcall: what it threw would end the process. */
    private static long readerr(MemorySegment original, long queue, long entry, long flags) {
        try {
            long count = Downcalls.call(false, original, queue, entry, flags);
            if (count > 0 && NativeWords.get(entry, CqErrorEntry.CONTEXT) == 0) {
                NativeWords.set(entry, CqErrorEntry.CONTEXT, RECEIVE);
            }
            return count;
        } catch (Throwable t) { // the error stays in the queue, and is read again
            return 0;
        }
    }
}
