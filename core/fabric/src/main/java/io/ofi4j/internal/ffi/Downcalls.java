package io.ofi4j.internal.ffi;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.ofi4j.internal.os.Functions;
import io.ofi4j.internal.os.LibC;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.Collections;

/**
 * Calls of C functions, which allocate nothing, also where they are interpreted. The result is a {@code ssize_t}. All
 * arguments are {@code long}s, so that only their number tells one call from another: a pointer is its address, and an
 * {@code int} or {@code enum} has a register or eight bytes of the stack to itself on 64-bit Linux, of which the
 * function reads the lower half.
 *
 * <p>A critical call is for functions that neither block nor call back. The thread stays in the Java state, which saves
 * about 5 ns and delays safepoints until the call returns.
 *
 * <p>{@code call} takes the segment of a function, whose class, scope and address the linker checks for each call: half
 * a nanosecond. {@code invoke} takes a handle of one function, whose checks the compiler has made; see
 * {@link FirstFunctions}.
 */
@SuppressWarnings("restricted")
final class Downcalls {
    /** A provider may copy the data inside the call. A larger copy would delay safepoints. */
    static final long CRITICAL_LIMIT = 64 * 1024;

    private Downcalls() {}

    /** A handle of one function for good, whose segment is a constant for the compiler: its checks cost nothing. */
    static MethodHandle critical(MemorySegment function, int arguments) {
        return Functions.handle(function, longs(arguments), Linker.Option.critical(false));
    }

    private static MethodHandle critical(int arguments) {
        return Functions.handle(longs(arguments), Linker.Option.critical(false));
    }

    private static MethodHandle plain(int arguments) { return Functions.handle(longs(arguments)); }

    private static FunctionDescriptor longs(int arguments) {
        return FunctionDescriptor.of(JAVA_LONG, Collections.nCopies(arguments, JAVA_LONG).toArray(MemoryLayout[]::new));
    }

    /**
     * Makes all handles and links all calls, with a function that takes no arguments and only returns. Where a first
     * use came with too little stack, it would fail, and so would all later uses.
     */
    static void prepare() {
        MemorySegment function = LibC.function("getppid");
        for (boolean critical : new boolean[]{true, false}) {
            call(critical, function, 0);
            call(critical, function, 0, 0, 0);
            call(critical, function, 0, 0, 0, 0);
            call(critical, function, 0, 0, 0, 0, 0);
            call(critical, function, 0, 0, 0, 0, 0, 0);
            call(critical, function, 0, 0, 0, 0, 0, 0, 0);
            call(critical, function, 0, 0, 0, 0, 0, 0, 0, 0);
            call(critical, function, 0, 0, 0, 0, 0, 0, 0, 0, 0);
            call(critical, function, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
            call(critical, function, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
            call(critical, function, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
            call(critical, function, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
            call(critical, function, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
            call(critical, function, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
        }
    }

    static long invoke(MethodHandle function, long a, long b, long c) {
        try {
            return (long) function.invokeExact(a, b, c);
        } catch (Throwable t) {
            throw LibC.unexpected(t);
        }
    }

    static long invoke(MethodHandle function, long a, long b, long c, long d, long e, long f) {
        try {
            return (long) function.invokeExact(a, b, c, d, e, f);
        } catch (Throwable t) {
            throw LibC.unexpected(t);
        }
    }

    static long invoke(MethodHandle function, long a, long b, long c, long d, long e, long f, long g) {
        try {
            return (long) function.invokeExact(a, b, c, d, e, f, g);
        } catch (Throwable t) {
            throw LibC.unexpected(t);
        }
    }

    static long invoke(MethodHandle function, long a, long b, long c, long d, long e, long f, long g, long h) {
        try {
            return (long) function.invokeExact(a, b, c, d, e, f, g, h);
        } catch (Throwable t) {
            throw LibC.unexpected(t);
        }
    }

    static long call(boolean critical, MemorySegment function, long a) {
        try {
            return critical ? (long) Of1.CRITICAL.invokeExact(function, a) : (long) Of1.PLAIN.invokeExact(function, a);
        } catch (Throwable t) {
            throw LibC.unexpected(t);
        }
    }

    static long call(boolean critical, MemorySegment function, long a, long b, long c) {
        try {
            return critical
                    ? (long) Of3.CRITICAL.invokeExact(function, a, b, c)
                    : (long) Of3.PLAIN.invokeExact(function, a, b, c);
        } catch (Throwable t) {
            throw LibC.unexpected(t);
        }
    }

    static long call(boolean critical, MemorySegment function, long a, long b, long c, long d) {
        try {
            return critical
                    ? (long) Of4.CRITICAL.invokeExact(function, a, b, c, d)
                    : (long) Of4.PLAIN.invokeExact(function, a, b, c, d);
        } catch (Throwable t) {
            throw LibC.unexpected(t);
        }
    }

    static long call(boolean critical, MemorySegment function, long a, long b, long c, long d, long e) {
        try {
            return critical
                    ? (long) Of5.CRITICAL.invokeExact(function, a, b, c, d, e)
                    : (long) Of5.PLAIN.invokeExact(function, a, b, c, d, e);
        } catch (Throwable t) {
            throw LibC.unexpected(t);
        }
    }

    static long call(boolean critical, MemorySegment function, long a, long b, long c, long d, long e, long f) {
        try {
            return critical
                    ? (long) Of6.CRITICAL.invokeExact(function, a, b, c, d, e, f)
                    : (long) Of6.PLAIN.invokeExact(function, a, b, c, d, e, f);
        } catch (Throwable t) {
            throw LibC.unexpected(t);
        }
    }

    static long call(boolean critical, MemorySegment function, long a, long b, long c, long d, long e, long f, long g) {
        try {
            return critical
                    ? (long) Of7.CRITICAL.invokeExact(function, a, b, c, d, e, f, g)
                    : (long) Of7.PLAIN.invokeExact(function, a, b, c, d, e, f, g);
        } catch (Throwable t) {
            throw LibC.unexpected(t);
        }
    }

    static long call(boolean critical, MemorySegment function, long a, long b, long c, long d, long e, long f, long g,
            long h) {
        try {
            return critical
                    ? (long) Of8.CRITICAL.invokeExact(function, a, b, c, d, e, f, g, h)
                    : (long) Of8.PLAIN.invokeExact(function, a, b, c, d, e, f, g, h);
        } catch (Throwable t) {
            throw LibC.unexpected(t);
        }
    }

    static long call(boolean critical, MemorySegment function, long a, long b, long c, long d, long e, long f, long g,
            long h, long i) {
        try {
            return critical
                    ? (long) Of9.CRITICAL.invokeExact(function, a, b, c, d, e, f, g, h, i)
                    : (long) Of9.PLAIN.invokeExact(function, a, b, c, d, e, f, g, h, i);
        } catch (Throwable t) {
            throw LibC.unexpected(t);
        }
    }

    static long call(boolean critical, MemorySegment function, long a, long b, long c, long d, long e, long f, long g,
            long h, long i, long j) {
        try {
            return critical
                    ? (long) Of10.CRITICAL.invokeExact(function, a, b, c, d, e, f, g, h, i, j)
                    : (long) Of10.PLAIN.invokeExact(function, a, b, c, d, e, f, g, h, i, j);
        } catch (Throwable t) {
            throw LibC.unexpected(t);
        }
    }

    static long call(boolean critical, MemorySegment function, long a, long b, long c, long d, long e, long f, long g,
            long h, long i, long j, long k) {
        try {
            return critical
                    ? (long) Of11.CRITICAL.invokeExact(function, a, b, c, d, e, f, g, h, i, j, k)
                    : (long) Of11.PLAIN.invokeExact(function, a, b, c, d, e, f, g, h, i, j, k);
        } catch (Throwable t) {
            throw LibC.unexpected(t);
        }
    }

    static long call(boolean critical, MemorySegment function, long a, long b, long c, long d, long e, long f, long g,
            long h, long i, long j, long k, long l) {
        try {
            return critical
                    ? (long) Of12.CRITICAL.invokeExact(function, a, b, c, d, e, f, g, h, i, j, k, l)
                    : (long) Of12.PLAIN.invokeExact(function, a, b, c, d, e, f, g, h, i, j, k, l);
        } catch (Throwable t) {
            throw LibC.unexpected(t);
        }
    }

    static long call(boolean critical, MemorySegment function, long a, long b, long c, long d, long e, long f, long g,
            long h, long i, long j, long k, long l, long m) {
        try {
            return critical
                    ? (long) Of13.CRITICAL.invokeExact(function, a, b, c, d, e, f, g, h, i, j, k, l, m)
                    : (long) Of13.PLAIN.invokeExact(function, a, b, c, d, e, f, g, h, i, j, k, l, m);
        } catch (Throwable t) {
            throw LibC.unexpected(t);
        }
    }

    static long call(boolean critical, MemorySegment function, long a, long b, long c, long d, long e, long f, long g,
            long h, long i, long j, long k, long l, long m, long n) {
        try {
            return critical
                    ? (long) Of14.CRITICAL.invokeExact(function, a, b, c, d, e, f, g, h, i, j, k, l, m, n)
                    : (long) Of14.PLAIN.invokeExact(function, a, b, c, d, e, f, g, h, i, j, k, l, m, n);
        } catch (Throwable t) {
            throw LibC.unexpected(t);
        }
    }

    static long call(boolean critical, MemorySegment function, long a, long b, long c, long d, long e, long f, long g,
            long h, long i, long j, long k, long l, long m, long n, long o, long p) {
        try {
            return critical
                    ? (long) Of16.CRITICAL.invokeExact(function, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p)
                    : (long) Of16.PLAIN.invokeExact(function, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p);
        } catch (Throwable t) {
            throw LibC.unexpected(t);
        }
    }

    // A class each, so that a method has only the handles that it calls. See prepare().

    private static final class Of1 {
        static final MethodHandle CRITICAL = critical(1);
        static final MethodHandle PLAIN = plain(1);
    }

    private static final class Of3 {
        static final MethodHandle CRITICAL = critical(3);
        static final MethodHandle PLAIN = plain(3);
    }

    private static final class Of4 {
        static final MethodHandle CRITICAL = critical(4);
        static final MethodHandle PLAIN = plain(4);
    }

    private static final class Of5 {
        static final MethodHandle CRITICAL = critical(5);
        static final MethodHandle PLAIN = plain(5);
    }

    private static final class Of6 {
        static final MethodHandle CRITICAL = critical(6);
        static final MethodHandle PLAIN = plain(6);
    }

    private static final class Of7 {
        static final MethodHandle CRITICAL = critical(7);
        static final MethodHandle PLAIN = plain(7);
    }

    private static final class Of8 {
        static final MethodHandle CRITICAL = critical(8);
        static final MethodHandle PLAIN = plain(8);
    }

    private static final class Of9 {
        static final MethodHandle CRITICAL = critical(9);
        static final MethodHandle PLAIN = plain(9);
    }

    private static final class Of10 {
        static final MethodHandle CRITICAL = critical(10);
        static final MethodHandle PLAIN = plain(10);
    }

    private static final class Of11 {
        static final MethodHandle CRITICAL = critical(11);
        static final MethodHandle PLAIN = plain(11);
    }

    private static final class Of12 {
        static final MethodHandle CRITICAL = critical(12);
        static final MethodHandle PLAIN = plain(12);
    }

    private static final class Of13 {
        static final MethodHandle CRITICAL = critical(13);
        static final MethodHandle PLAIN = plain(13);
    }

    private static final class Of14 {
        static final MethodHandle CRITICAL = critical(14);
        static final MethodHandle PLAIN = plain(14);
    }

    private static final class Of16 {
        static final MethodHandle CRITICAL = critical(16);
        static final MethodHandle PLAIN = plain(16);
    }
}
