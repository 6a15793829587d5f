package io.ofi4j.internal;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/** The memory of a provider's own structure of a region ({@code struct fid_mr} and what stands behind it), after fi_close has freed it. */
@SuppressWarnings("restricted")
public final class RegionStructure {
    private static final MethodHandle MALLOC = LibC.handle("malloc", FunctionDescriptor.of(JAVA_LONG, JAVA_LONG));
    private static final MethodHandle FREE = LibC.handle("free", FunctionDescriptor.ofVoid(JAVA_LONG));
    private static final MethodHandle USABLE_SIZE = LibC.handle("malloc_usable_size",
            FunctionDescriptor.of(JAVA_LONG, JAVA_LONG));
    /** The C library keeps seven freed pieces of a size for a thread, and gives out the latest first. */
    private static final int KEPT_FOR_A_THREAD = 7;

    private RegionStructure() {
    }

    /** What fi_close gave, and the memory that is nobody's now, to be freed by the caller; 0 where it could not be had. */
    public record Closed(int status, long memory) {
    }

    /** fi_close, after which the structure's memory is there all the same, and zero: a plain region of the system's memory. */
    public static Closed close(Handle region) {
        try {
            long size = (long) USABLE_SIZE.invokeExact(region.address());
            long[] room = new long[KEPT_FOR_A_THREAD];
            for (int i = 0; i < KEPT_FOR_A_THREAD; i++) {
                room[i] = (long) MALLOC.invokeExact(size);
            }
            int status = FidOps.fi_close(region);
            long memory = status == 0 ? again(region.address(), size) : 0;
            for (long piece : room) {
                free(piece);
            }
            return new Closed(status, memory);
        } catch (Throwable t) {
            throw Downcalls.unexpected(t);
        }
    }

    private static long again(long address, long size) throws Throwable {
        long memory = (long) MALLOC.invokeExact(size);
        if (memory != address) {
            free(memory);
            return 0;
        }
        MemorySegment.ofAddress(memory).reinterpret(size).fill((byte) 0);
        return memory;
    }

    public static void free(long memory) {
        try {
            FREE.invokeExact(memory);
        } catch (Throwable t) {
            throw Downcalls.unexpected(t);
        }
    }
}
