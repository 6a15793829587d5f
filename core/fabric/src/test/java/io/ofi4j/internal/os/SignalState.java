package io.ofi4j.internal.os;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.ofi4j.bindings.libc.libc_h;
import io.ofi4j.bindings.libc.sigaction;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/** What every signal does, for tests that compare. */
public final class SignalState {
    /**
     * SA_RESTORER, which the C library adds to what it is given: a signal that was ignored from the start gets it by
     * restoring.
     */
    private static final int RESTORER = 0x0400_0000;

    private SignalState() {}

    /** The number of each signal, its handler's address and its flags. */
    public static List<String> handlers() {
        List<String> handlers = new ArrayList<>();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment action = sigaction.allocate(arena);
            for (int signal = 1; signal <= 31; signal++) {
                libc_h.sigaction(signal, MemorySegment.NULL, action);
                handlers.add(signal + " " + Long.toHexString(action.get(JAVA_LONG, 0)) + " "
                        + Integer.toHexString(sigaction.sa_flags(action) & ~RESTORER));
            }
        }
        return handlers;
    }
}
