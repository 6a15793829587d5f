package io.ofi4j.internal;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.ofi4j.bindings.libc.libc_h;
import io.ofi4j.bindings.libc.sigaction;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.function.Supplier;

/**
 * Keeps the JVM's signal handlers in force over a native call that installs its own.
 *
 * <p>HotSpot turns SIGSEGV into NullPointerException and polls safepoints with it, and ends on SIGTERM through its own
 * handler. Libraries that are loaded with libfabric (PSM), and the first endpoint of the shm provider, replace them.
 */
final class SignalGuard {
    private static final int SIGNALS = 31;
    private static final int SIGKILL = 9;
    private static final int SIGSTOP = 19;

    private SignalGuard() {
    }

    static synchronized <T> T call(Supplier<T> call) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment saved = sigaction.allocateArray(SIGNALS + 1, arena);
            MemorySegment now = sigaction.allocate(arena);
            for (int signal = 1; signal <= SIGNALS; signal++) {
                if (isCatchable(signal)) {
                    libc_h.sigaction(signal, MemorySegment.NULL, sigaction.asSlice(saved, signal));
                }
            }
            try {
                return call.get();
            } finally {
                for (int signal = 1; signal <= SIGNALS; signal++) {
                    if (isCatchable(signal)) {
                        restore(signal, sigaction.asSlice(saved, signal), now);
                    }
                }
            }
        }
    }

    private static void restore(int signal, MemorySegment before, MemorySegment now) {
        libc_h.sigaction(signal, MemorySegment.NULL, now);
        if (!isSame(now, before)) {
            libc_h.sigaction(signal, before, MemorySegment.NULL);
        }
    }

    /** Compares what the kernel keeps: of the mask that is 64 signals, behind which libc leaves bytes undefined. */
    static boolean isSame(MemorySegment one, MemorySegment other) {
        return one.get(JAVA_LONG, 0) == other.get(JAVA_LONG, 0)
                && sigaction.sa_mask(one).get(JAVA_LONG, 0) == sigaction.sa_mask(other).get(JAVA_LONG, 0)
                && sigaction.sa_flags(one) == sigaction.sa_flags(other);
    }

    private static boolean isCatchable(int signal) {
        return signal != SIGKILL && signal != SIGSTOP;
    }
}
