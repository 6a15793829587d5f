package io.ofi4j.internal;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/** Memory that lives longer than the application sees it. */
@SuppressWarnings("restricted")
public final class NativeMemory {
    private static final MethodHandle MADVISE = Linker.nativeLinker().downcallHandle(
            Linker.nativeLinker().defaultLookup().find("madvise").orElseThrow(),
            FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_LONG, JAVA_INT));
    private static final int DONTNEED = 4;
    private static final long PAGE = 4096;

    private NativeMemory() {
    }

    /** The same memory, seen as long as an arena is open; then something is done. */
    public static MemorySegment view(MemorySegment memory, Arena arena, Runnable afterwards) {
        return MemorySegment.ofAddress(memory.address()).reinterpret(memory.byteSize(), arena,
                ignored -> afterwards.run());
    }

    /** madvise(2): gives whole pages back to the system; the addresses stay, and what is written to them later comes to new pages. */
    public static void discard(MemorySegment memory) {
        long begin = (memory.address() + PAGE - 1) / PAGE * PAGE;
        long end = (memory.address() + memory.byteSize()) / PAGE * PAGE;
        if (end <= begin) {
            return;
        }
        try {
            int ignored = (int) MADVISE.invokeExact(MemorySegment.ofAddress(begin), end - begin, DONTNEED);
        } catch (Throwable t) {
            throw Downcalls.unexpected(t);
        }
    }
}
