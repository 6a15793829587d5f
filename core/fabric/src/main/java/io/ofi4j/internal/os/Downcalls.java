package io.ofi4j.internal.os;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.ref.Reference;
import java.util.Collections;

/**
 * Calls of C functions. All arguments are {@code long}s: a pointer is its address, and an {@code int} or {@code enum}
 * has a register or eight bytes of the stack to itself on 64-bit Linux, of which the function reads the lower half. So
 * only their number tells one call from another, and a call may pass more than its function takes: the caller removes
 * them from the stack. There are handles of 6, 8, 12 and 16 arguments. The JDK takes some 8 ms to make the first
 * handle of a type, in each process, and the zeros of the longest call cost a nanosecond.
 *
 * <p>The calls whose arguments are {@code long}s allocate nothing, also where they are interpreted. A critical call is
 * for functions that neither block nor call back. The thread stays in the Java state, which saves about 5 ns and delays
 * safepoints until the call returns.
 *
 * <p>{@code call} takes the segment of a function, whose class, scope and address the linker checks for each call: half
 * a nanosecond. {@code invoke} takes a handle of one function, whose checks the compiler has made.
 */
@SuppressWarnings("restricted")
public final class Downcalls {
    /** A provider may copy the data inside the call. A larger copy would delay safepoints. */
    public static final long CRITICAL_LIMIT = 64 * 1024;

    private static final int FEW = 6;
    private static final int SOME = 8;
    private static final int MANY = 12;

    private Downcalls() {}

    /**
     * A handle for {@code invoke}, of one function for good, whose segment is a constant for the compiler: its checks
     * cost nothing.
     */
    public static MethodHandle critical(MemorySegment function, int arguments) {
        return Functions.handle(function, longs(arguments <= FEW ? FEW : SOME), Linker.Option.critical(false));
    }

    private static MethodHandle handle(int arguments, Linker.Option... options) {
        return Functions.handle(longs(arguments), options);
    }

    private static FunctionDescriptor longs(int arguments) {
        return FunctionDescriptor.of(JAVA_LONG, Collections.nCopies(arguments, JAVA_LONG).toArray(MemoryLayout[]::new));
    }

    /**
     * Makes all handles and links all calls, with a function that takes no arguments and only returns. Where a first
     * use came with too little stack, it would fail, and so would all later uses.
     */
    public static void prepare() {
        MemorySegment function = LibC.function("getppid");
        for (boolean critical : new boolean[]{true, false}) {
            call(critical, function, 0, 0, 0, 0, 0, 0);
            call(critical, function, 0, 0, 0, 0, 0, 0, 0, 0);
            call(critical, function, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
            call(critical, function, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
        }
        callForInt(function);
        try (Arena arena = Arena.ofConfined()) {
            callWithErrno(arena.allocate(JAVA_INT), function);
        }
    }

    /**
     * A call off the data path, of a function that returns an {@code int}. The arguments are numbers, and segments for
     * pointers, which stay reachable meanwhile.
     */
    public static int callForInt(MemorySegment function, Object... arguments) {
        return (int) callForLong(function, arguments);
    }

    /** As {@link #callForInt}, of a function that returns a {@code long}, a {@code ssize_t} or a pointer. */
    public static long callForLong(MemorySegment function, Object... arguments) {
        long[] a = numbers(arguments, MANY);
        try {
            return arguments.length <= FEW
                    ? call(false, function, a[0], a[1], a[2], a[3], a[4], a[5])
                    : call(false, function, a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11]);
        } finally {
            Reference.reachabilityFence(arguments);
        }
    }

    /** As {@link #callForLong}, with the {@code errno} that the function leaves, an {@code int}; up to 6 arguments. */
    public static long callWithErrno(MemorySegment errno, MemorySegment function, Object... arguments) {
        long[] a = numbers(arguments, FEW);
        try {
            return (long) WithErrno.HANDLE.invokeExact(function, errno, a[0], a[1], a[2], a[3], a[4], a[5]);
        } catch (Throwable t) {
            throw LibC.unexpected(t);
        } finally {
            Reference.reachabilityFence(arguments);
        }
    }

    private static long[] numbers(Object[] arguments, int count) {
        long[] numbers = new long[count];
        for (int i = 0; i < arguments.length; i++) {
            numbers[i] = arguments[i] instanceof MemorySegment segment
                    ? segment.address()
                    : ((Number) arguments[i]).longValue();
        }
        return numbers;
    }

    public static long invoke(MethodHandle function, long a, long b, long c) {
        try {
            return (long) function.invokeExact(a, b, c, 0L, 0L, 0L);
        } catch (Throwable t) {
            throw LibC.unexpected(t);
        }
    }

    public static long invoke(MethodHandle function, long a, long b, long c, long d, long e, long f) {
        try {
            return (long) function.invokeExact(a, b, c, d, e, f);
        } catch (Throwable t) {
            throw LibC.unexpected(t);
        }
    }

    public static long invoke(MethodHandle function, long a, long b, long c, long d, long e, long f, long g) {
        try {
            return (long) function.invokeExact(a, b, c, d, e, f, g, 0L);
        } catch (Throwable t) {
            throw LibC.unexpected(t);
        }
    }

    public static long invoke(MethodHandle function, long a, long b, long c, long d, long e, long f, long g, long h) {
        try {
            return (long) function.invokeExact(a, b, c, d, e, f, g, h);
        } catch (Throwable t) {
            throw LibC.unexpected(t);
        }
    }

    // Each passes its zeros itself: one method that calls another would be a level more for the compiler to inline.

    public static long call(boolean critical, MemorySegment function, long a) {
        try {
            return critical
                    ? (long) Of6.CRITICAL.invokeExact(function, a, 0L, 0L, 0L, 0L, 0L)
                    : (long) Of6.PLAIN.invokeExact(function, a, 0L, 0L, 0L, 0L, 0L);
        } catch (Throwable t) {
            throw LibC.unexpected(t);
        }
    }

    public static long call(boolean critical, MemorySegment function, long a, long b) {
        try {
            return critical
                    ? (long) Of6.CRITICAL.invokeExact(function, a, b, 0L, 0L, 0L, 0L)
                    : (long) Of6.PLAIN.invokeExact(function, a, b, 0L, 0L, 0L, 0L);
        } catch (Throwable t) {
            throw LibC.unexpected(t);
        }
    }

    public static long call(boolean critical, MemorySegment function, long a, long b, long c) {
        try {
            return critical
                    ? (long) Of6.CRITICAL.invokeExact(function, a, b, c, 0L, 0L, 0L)
                    : (long) Of6.PLAIN.invokeExact(function, a, b, c, 0L, 0L, 0L);
        } catch (Throwable t) {
            throw LibC.unexpected(t);
        }
    }

    public static long call(boolean critical, MemorySegment function, long a, long b, long c, long d) {
        try {
            return critical
                    ? (long) Of6.CRITICAL.invokeExact(function, a, b, c, d, 0L, 0L)
                    : (long) Of6.PLAIN.invokeExact(function, a, b, c, d, 0L, 0L);
        } catch (Throwable t) {
            throw LibC.unexpected(t);
        }
    }

    public static long call(boolean critical, MemorySegment function, long a, long b, long c, long d, long e) {
        try {
            return critical
                    ? (long) Of6.CRITICAL.invokeExact(function, a, b, c, d, e, 0L)
                    : (long) Of6.PLAIN.invokeExact(function, a, b, c, d, e, 0L);
        } catch (Throwable t) {
            throw LibC.unexpected(t);
        }
    }

    public static long call(boolean critical, MemorySegment function, long a, long b, long c, long d, long e, long f) {
        try {
            return critical
                    ? (long) Of6.CRITICAL.invokeExact(function, a, b, c, d, e, f)
                    : (long) Of6.PLAIN.invokeExact(function, a, b, c, d, e, f);
        } catch (Throwable t) {
            throw LibC.unexpected(t);
        }
    }

    public static long call(boolean critical, MemorySegment function, long a, long b, long c, long d, long e, long f,
            long g) {
        try {
            return critical
                    ? (long) Of8.CRITICAL.invokeExact(function, a, b, c, d, e, f, g, 0L)
                    : (long) Of8.PLAIN.invokeExact(function, a, b, c, d, e, f, g, 0L);
        } catch (Throwable t) {
            throw LibC.unexpected(t);
        }
    }

    public static long call(boolean critical, MemorySegment function, long a, long b, long c, long d, long e, long f,
            long g, long h) {
        try {
            return critical
                    ? (long) Of8.CRITICAL.invokeExact(function, a, b, c, d, e, f, g, h)
                    : (long) Of8.PLAIN.invokeExact(function, a, b, c, d, e, f, g, h);
        } catch (Throwable t) {
            throw LibC.unexpected(t);
        }
    }

    public static long call(boolean critical, MemorySegment function, long a, long b, long c, long d, long e, long f,
            long g, long h, long i) {
        try {
            return critical
                    ? (long) Of12.CRITICAL.invokeExact(function, a, b, c, d, e, f, g, h, i, 0L, 0L, 0L)
                    : (long) Of12.PLAIN.invokeExact(function, a, b, c, d, e, f, g, h, i, 0L, 0L, 0L);
        } catch (Throwable t) {
            throw LibC.unexpected(t);
        }
    }

    public static long call(boolean critical, MemorySegment function, long a, long b, long c, long d, long e, long f,
            long g, long h, long i, long j) {
        try {
            return critical
                    ? (long) Of12.CRITICAL.invokeExact(function, a, b, c, d, e, f, g, h, i, j, 0L, 0L)
                    : (long) Of12.PLAIN.invokeExact(function, a, b, c, d, e, f, g, h, i, j, 0L, 0L);
        } catch (Throwable t) {
            throw LibC.unexpected(t);
        }
    }

    public static long call(boolean critical, MemorySegment function, long a, long b, long c, long d, long e, long f,
            long g, long h, long i, long j, long k) {
        try {
            return critical
                    ? (long) Of12.CRITICAL.invokeExact(function, a, b, c, d, e, f, g, h, i, j, k, 0L)
                    : (long) Of12.PLAIN.invokeExact(function, a, b, c, d, e, f, g, h, i, j, k, 0L);
        } catch (Throwable t) {
            throw LibC.unexpected(t);
        }
    }

    public static long call(boolean critical, MemorySegment function, long a, long b, long c, long d, long e, long f,
            long g, long h, long i, long j, long k, long l) {
        try {
            return critical
                    ? (long) Of12.CRITICAL.invokeExact(function, a, b, c, d, e, f, g, h, i, j, k, l)
                    : (long) Of12.PLAIN.invokeExact(function, a, b, c, d, e, f, g, h, i, j, k, l);
        } catch (Throwable t) {
            throw LibC.unexpected(t);
        }
    }

    public static long call(boolean critical, MemorySegment function, long a, long b, long c, long d, long e, long f,
            long g, long h, long i, long j, long k, long l, long m) {
        try {
            return critical
                    ? (long) Of16.CRITICAL.invokeExact(function, a, b, c, d, e, f, g, h, i, j, k, l, m, 0L, 0L, 0L)
                    : (long) Of16.PLAIN.invokeExact(function, a, b, c, d, e, f, g, h, i, j, k, l, m, 0L, 0L, 0L);
        } catch (Throwable t) {
            throw LibC.unexpected(t);
        }
    }

    public static long call(boolean critical, MemorySegment function, long a, long b, long c, long d, long e, long f,
            long g, long h, long i, long j, long k, long l, long m, long n) {
        try {
            return critical
                    ? (long) Of16.CRITICAL.invokeExact(function, a, b, c, d, e, f, g, h, i, j, k, l, m, n, 0L, 0L)
                    : (long) Of16.PLAIN.invokeExact(function, a, b, c, d, e, f, g, h, i, j, k, l, m, n, 0L, 0L);
        } catch (Throwable t) {
            throw LibC.unexpected(t);
        }
    }

    public static long call(boolean critical, MemorySegment function, long a, long b, long c, long d, long e, long f,
            long g, long h, long i, long j, long k, long l, long m, long n, long o, long p) {
        try {
            return critical
                    ? (long) Of16.CRITICAL.invokeExact(function, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p)
                    : (long) Of16.PLAIN.invokeExact(function, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p);
        } catch (Throwable t) {
            throw LibC.unexpected(t);
        }
    }

    // A class each, so that a method has only the handles that it calls. See prepare().

    private static final class Of6 {
        static final MethodHandle CRITICAL = handle(6, Linker.Option.critical(false));
        static final MethodHandle PLAIN = handle(6);
    }

    private static final class Of8 {
        static final MethodHandle CRITICAL = handle(8, Linker.Option.critical(false));
        static final MethodHandle PLAIN = handle(8);
    }

    private static final class Of12 {
        static final MethodHandle CRITICAL = handle(12, Linker.Option.critical(false));
        static final MethodHandle PLAIN = handle(12);
    }

    private static final class Of16 {
        static final MethodHandle CRITICAL = handle(16, Linker.Option.critical(false));
        static final MethodHandle PLAIN = handle(16);
    }

    private static final class WithErrno {
        static final MethodHandle HANDLE = handle(FEW, Linker.Option.captureCallState("errno"));
    }
}
