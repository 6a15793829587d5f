package io.ofi4j.internal;

import static java.lang.foreign.ValueLayout.ADDRESS;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.util.HashSet;
import java.util.Set;
import java.util.function.Supplier;

/** Functions of providers that were replaced by such of this library, for the rest of the process' life. */
final class Replaced {
    private static final Set<Long> PLACES = new HashSet<>();

    private Replaced() {
    }

    /**
     * Replaces a function once. Where the library has its table in memory that is not to be written, it stays.
     *
     * @param replacement makes it, once
     */
    static synchronized void in(MemorySegment table, long offset, Supplier<MemorySegment> replacement) {
        long place = table.address() + offset;
        if (PLACES.contains(place) || !NativeMemory.isWritable(place)) {
            return;
        }
        MemorySegment function = replacement.get();
        VarHandle.fullFence(); // before another thread may call it
        table.set(ADDRESS, offset, function);
        PLACES.add(place);
    }
}
