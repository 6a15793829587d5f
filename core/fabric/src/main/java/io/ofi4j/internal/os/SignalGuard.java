package io.ofi4j.internal.os;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.ofi4j.bindings.libc.sigaction;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Supplier;

/**
 * Keeps the JVM's signal handlers in force across a native call that installs its own.
 *
 * <p>HotSpot uses SIGSEGV for NullPointerException and safepoints, and ends on SIGTERM through its own handler. PSM,
 * which is loaded with libfabric, and the first endpoint of shm replace them.
 */
public final class SignalGuard {
    private static final MemorySegment SIGACTION = LibC.function("sigaction");
    private static final int SIGNALS = 31;
    /** The signals that HotSpot handles itself, and dies of otherwise. */
    private static final Map<Integer, String> VITAL = new TreeMap<>(
            Map.of(4, "SIGILL", 7, "SIGBUS", 8, "SIGFPE", 11, "SIGSEGV"));
    /** The handlers before libfabric was loaded. */
    private static final MemorySegment ORIGINAL = current(Arena.global());

    public static synchronized <T> T call(Supplier<T> call) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment saved = current(arena);
            MemorySegment now = sigaction.allocate(arena);
            try {
                return call.get();
            } finally {
                for (int signal = 1; signal <= SIGNALS; signal++) {
                    MemorySegment before = sigaction.asSlice(saved, signal);
                    if (sigaction(signal, MemorySegment.NULL, now) == 0 && !isSame(now, before)) {
                        sigaction(signal, before, MemorySegment.NULL);
                    }
                }
            }
        }
    }

    private static MemorySegment current(Arena arena) {
        MemorySegment handlers = sigaction.allocateArray(SIGNALS + 1, arena);
        for (int signal = 1; signal <= SIGNALS; signal++) {
            sigaction(signal, MemorySegment.NULL, sigaction.asSlice(handlers, signal));
        }
        return handlers;
    }

    private static int sigaction(int signal, MemorySegment action, MemorySegment before) {
        return Downcalls.callForInt(SIGACTION, signal, action, before);
    }

    /** The vital signals whose JVM handlers were replaced. */
    public static List<String> replacedHandlers() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment now = current(arena);
            return VITAL.entrySet().stream().filter(signal -> !isSame(sigaction.asSlice(now, signal.getKey()),
                    sigaction.asSlice(ORIGINAL, signal.getKey()))).map(Map.Entry::getValue).toList();
        }
    }

    /** Compares what the kernel keeps: 64 signals of the mask; libc leaves the bytes behind it undefined. */
    private static boolean isSame(MemorySegment one, MemorySegment other) {
        return one.get(JAVA_LONG, 0) == other.get(JAVA_LONG, 0)
                && sigaction.sa_mask(one).get(JAVA_LONG, 0) == sigaction.sa_mask(other).get(JAVA_LONG, 0)
                && sigaction.sa_flags(one) == sigaction.sa_flags(other);
    }
}
