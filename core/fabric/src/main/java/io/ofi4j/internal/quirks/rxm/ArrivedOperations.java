package io.ofi4j.internal.quirks.rxm;

import io.ofi4j.info.VersionRange;
import io.ofi4j.internal.ffi.FunctionSlot;
import io.ofi4j.internal.ffi.Handle;
import io.ofi4j.internal.os.Downcalls;
import io.ofi4j.internal.os.NativeMemory;
import io.ofi4j.internal.os.NativeWords;
import io.ofi4j.internal.quirks.EndpointView;
import java.util.List;
import java.util.function.IntSupplier;

/**
 * Has {@code ofi_rxm} answer what has come before it closes an endpoint, and keeps from it what comes meanwhile; see
 * {@link LateCloses}. A function is replaced during the close alone, and for the one queue that the endpoint has of the
 * provider below, which is looked for in the memory of the endpoint.
 */
final class ArrivedOperations extends CoreProviderPatch {
    private static final String UPSTREAM = """
            Where an endpoint is closed before ofi_rxm has looked at the atomic operations and long messages that \
            have come, it closes the connection first and then answers them through it; the process ends.""";
    /** An endpoint of ofi_rxm has 13 KB from 1.17 to 2.6, and the pointer to the queue 350 bytes before its end. */
    private static final long SEARCHED_BYTES = 13 << 10;
    /** No pointer is below. */
    private static final long LOWEST_ADDRESS = 1 << 16;
    private static final long HIGHEST_ADDRESS = 1L << 56;
    private static final long ALIGNMENT = 2 * Long.BYTES;
    /** Of an object, its class, its context and its tables. */
    private static final long OBJECT_BYTES = 64;
    private static final long PAGE = 4096;
    /** ofi_rxm takes 32 completions in each, and has 4096 receives. */
    private static final int MAX_CALLS = 1024;

    /** Seen in each of 1.17, 1.19, 1.22, 2.1 and 2.6; 697688386 mended it after 2.6. */
    private static final VersionRange VERSIONS = VersionRange.from(1, 17).to(2, 6);

    ArrivedOperations() {
        super("rxm-arrived-operations", provider -> provider.hasCore("tcp", "net"), VERSIONS, UPSTREAM,
                "ArrivingAtomicsTest");
    }

    @Override
    int replaceIn(Handle domain) { return withQueue(domain, LateCloses::prepare); }

    @Override
    protected int close(EndpointView endpoint, IntSupplier close) {
        long below = queueBelow(endpoint.handle().address());
        LateCloses emptied = below == 0 ? null : LateCloses.begin(below);
        if (emptied == null) { return close.getAsInt(); }
        int status = 0;
        try {
            List<Handle> queues = endpoint.queues().stream().map(queue -> queue.handle()).toList();
            for (int call = 0; call < MAX_CALLS && emptied.rounds() == 0; call++) {
                for (Handle queue : queues) {
                    Downcalls.call(false, FunctionSlot.read(queue).function(), queue.address(), 0L, 0L);
                }
            }
            emptied.dropReceives(); // ofi_rxm may have looked for connections meanwhile, which brings more
            status = close.getAsInt();
            return status;
        } finally {
            LateCloses.forget(below, status == 0);
        }
    }

    /** The queue of the provider below that an endpoint has; 0 if none is found. */
    private static long queueBelow(long endpoint) {
        for (long word = 0; word < SEARCHED_BYTES; word += Long.BYTES) {
            boolean beginsPage = word == 0 || (endpoint + word) % PAGE == 0;
            if (beginsPage && !NativeMemory.isReadable(endpoint + word)) { return 0; }
            long value = NativeWords.get(endpoint, word);
            boolean mayPoint = value >= LOWEST_ADDRESS && value < HIGHEST_ADDRESS && value % ALIGNMENT == 0;
            if (mayPoint && NativeMemory.isReadable(value) && NativeMemory.isReadable(value + OBJECT_BYTES)
                    && FunctionSlot.isQueue(value) && LateCloses.knows(value)) {
                return value;
            }
        }
        return 0;
    }
}
