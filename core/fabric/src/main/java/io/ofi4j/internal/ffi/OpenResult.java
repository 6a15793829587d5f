package io.ofi4j.internal.ffi;

import static java.lang.foreign.ValueLayout.ADDRESS;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.function.Function;
import java.util.function.ToIntFunction;

/** The result of a call that opens something: the status, 0 or a negated error, and the object or null. */
public record OpenResult(int status, Handle handle) {
    /** Calls libfabric with the address of the new object's pointer; the arena is closed afterwards. */
    interface Call {
        int open(Arena arena, MemorySegment out);
    }

    /** Makes the Java object of the native one; closes the native one if that fails. */
    public <T> T adopt(Function<Handle, T> constructor, ToIntFunction<Handle> close) {
        try {
            return constructor.apply(handle);
        } catch (Throwable t) {
            close.applyAsInt(handle);
            throw t;
        }
    }

    static OpenResult of(String provider, Call call) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment out = arena.allocate(ADDRESS);
            int status = call.open(arena, out);
            return new OpenResult(status, status == 0 ? new Handle(out.get(ADDRESS, 0), provider) : null);
        }
    }
}
