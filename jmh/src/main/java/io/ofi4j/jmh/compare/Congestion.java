package io.ofi4j.jmh.compare;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/**
 * Gives each TCP connection of this process the congestion control that every Linux has; {@code main.c} says why, and
 * does the same.
 */
final class Congestion {
    /** No file of a worker has a higher number. */
    private static final int FILES = 8_192;
    private static final int IPPROTO_TCP = 6;
    private static final int TCP_CONGESTION = 13;
    private static final String CONTROL = "reno";

    private Congestion() {}

    @SuppressWarnings("restricted")
    static void settle() {
        Linker linker = Linker.nativeLinker();
        MethodHandle setsockopt = linker.downcallHandle(linker.defaultLookup().find("setsockopt").orElseThrow(),
                FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.JAVA_INT,
                        ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.JAVA_INT));
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment control = arena.allocateFrom(CONTROL);
            for (int file = 0; file < FILES; file++) { // refused where it is no connection
                int _ = (int) setsockopt.invokeExact(file, IPPROTO_TCP, TCP_CONGESTION, control, CONTROL.length());
            }
        } catch (Throwable e) {
            throw new AssertionError(e); // a downcall throws nothing
        }
    }
}
