package io.ofi4j.internal.ffi;

import io.ofi4j.internal.os.Downcalls;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.List;
import java.util.Objects;

/**
 * The most frequent functions of the first object of its kind in this process whose calls are critical. Most processes
 * use one provider, so that later objects have the same functions. A handle that is made of one of them is a constant
 * for the compiler.
 */
final class FirstFunctions {
    private volatile List<MemorySegment> functions;

    /** Whether these are the functions of the first object; the first call says what they are. */
    synchronized boolean are(MemorySegment... candidates) {
        if (functions == null) { functions = List.of(candidates); }
        return functions.equals(List.of(candidates));
    }

    /** Called with the handles where an object is opened: the data path makes none. */
    static void made(MethodHandle... handles) {
        for (MethodHandle handle : handles) {
            Objects.requireNonNull(handle);
        }
    }

    /** A handle of the function that has this place among them, from 0, and so many arguments. */
    MethodHandle handle(int place, int arguments) {
        return Downcalls.critical(functions.get(place), arguments);
    }
}
