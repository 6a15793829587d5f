package io.ofi4j.internal.ffi;

import io.ofi4j.internal.os.LibC;
import java.lang.invoke.MethodHandle;

/** Calls of functions that post an operation: of pointers and integers only, and with a {@code ssize_t} as the result. */
final class Posts {
    /** A provider may copy the data inside the call. A larger copy would delay safepoints. */
    static final long CRITICAL_LIMIT = 64 * 1024;

    private static final MethodHandle SHORT_4 = Downcalls.critical(Downcalls.longs(4));
    private static final MethodHandle LONG_4 = Downcalls.plain(Downcalls.longs(4));
    private static final MethodHandle SHORT_5 = Downcalls.critical(Downcalls.longs(5));
    private static final MethodHandle LONG_5 = Downcalls.plain(Downcalls.longs(5));
    private static final MethodHandle SHORT_6 = Downcalls.critical(Downcalls.longs(6));
    private static final MethodHandle LONG_6 = Downcalls.plain(Downcalls.longs(6));
    private static final MethodHandle SHORT_7 = Downcalls.critical(Downcalls.longs(7));
    private static final MethodHandle LONG_7 = Downcalls.plain(Downcalls.longs(7));
    private static final MethodHandle SHORT_8 = Downcalls.critical(Downcalls.longs(8));
    private static final MethodHandle LONG_8 = Downcalls.plain(Downcalls.longs(8));

    private Posts() {}

    static long call(boolean critical, long function, long a, long b, long c, long d) {
        try {
            return critical
                    ? (long) SHORT_4.invokeExact(function, a, b, c, d)
                    : (long) LONG_4.invokeExact(function, a, b, c, d);
        } catch (Throwable t) {
            throw LibC.unexpected(t);
        }
    }

    static long call(boolean critical, long function, long a, long b, long c, long d, long e) {
        try {
            return critical
                    ? (long) SHORT_5.invokeExact(function, a, b, c, d, e)
                    : (long) LONG_5.invokeExact(function, a, b, c, d, e);
        } catch (Throwable t) {
            throw LibC.unexpected(t);
        }
    }

    static long call(boolean critical, long function, long a, long b, long c, long d, long e, long f) {
        try {
            return critical
                    ? (long) SHORT_6.invokeExact(function, a, b, c, d, e, f)
                    : (long) LONG_6.invokeExact(function, a, b, c, d, e, f);
        } catch (Throwable t) {
            throw LibC.unexpected(t);
        }
    }

    static long call(boolean critical, long function, long a, long b, long c, long d, long e, long f, long g) {
        try {
            return critical
                    ? (long) SHORT_7.invokeExact(function, a, b, c, d, e, f, g)
                    : (long) LONG_7.invokeExact(function, a, b, c, d, e, f, g);
        } catch (Throwable t) {
            throw LibC.unexpected(t);
        }
    }

    static long call(boolean critical, long function, long a, long b, long c, long d, long e, long f, long g, long h) {
        try {
            return critical
                    ? (long) SHORT_8.invokeExact(function, a, b, c, d, e, f, g, h)
                    : (long) LONG_8.invokeExact(function, a, b, c, d, e, f, g, h);
        } catch (Throwable t) {
            throw LibC.unexpected(t);
        }
    }
}
