package io.ofi4j.internal.os;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/** File descriptors to wait on: poll(2), epoll(7) and eventfd(2) of the C library. */
@SuppressWarnings("restricted")
public final class Descriptors {
    private static final MethodHandle POLL = LibC.handle("poll", ADDRESS, JAVA_LONG, JAVA_INT);
    private static final MethodHandle PPOLL = LibC.handle("ppoll", JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG);
    private static final MethodHandle EPOLL_CREATE1 = LibC.handle("epoll_create1", JAVA_INT);
    private static final MethodHandle EPOLL_CTL = LibC.handle("epoll_ctl", JAVA_INT, JAVA_INT, JAVA_INT, ADDRESS);
    private static final MethodHandle EVENTFD = LibC.handle("eventfd", JAVA_INT, JAVA_INT);
    private static final MethodHandle EVENTFD_READ = LibC.handle("eventfd_read", JAVA_INT, JAVA_LONG);
    private static final MethodHandle EVENTFD_WRITE = LibC.handle("eventfd_write", JAVA_INT, JAVA_LONG);
    private static final MethodHandle TIMERFD_CREATE = LibC.handle("timerfd_create", JAVA_INT, JAVA_INT);
    private static final MethodHandle TIMERFD_SETTIME = LibC.handle("timerfd_settime", JAVA_INT, JAVA_INT, ADDRESS,
            ADDRESS);
    private static final MethodHandle CLOSE = LibC.handle("close", JAVA_INT);
    private static final MethodHandle FCNTL = LibC.handle("fcntl",
            FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT), Linker.Option.firstVariadicArg(2));
    private static final MethodHandle SYSCONF = LibC.handle("sysconf", FunctionDescriptor.of(JAVA_LONG, JAVA_INT));

    /** What to do where this process may open no more files. */
    public static final String RAISE_LIMIT = " Raise the limit of open files ('ulimit -n').";

    private static final int F_GETFD = 1;
    private static final int F_GETFL = 3;
    private static final int F_SETFL = 4;
    private static final int SC_OPEN_MAX = 4;

    /** {@code struct pollfd}: descriptor, requested events, returned events. */
    private static final long POLLFD = 8;
    private static final long POLLFD_EVENTS = 4;
    private static final short POLLIN = 1;
    private static final int EPOLL_CTL_ADD = 1;
    private static final int EPOLL_CTL_DEL = 2;
    /**
     * {@code struct epoll_event}: EPOLLIN, no data. It is packed on x86-64; elsewhere it has 16 bytes, and begins
     * alike.
     */
    private static final MemorySegment EPOLLIN = Arena.global().allocateFrom(JAVA_INT, 1, 0, 0, 0);
    /** Memory for counts that are not read. */
    private static final long IGNORED_ADDRESS = Arena.global().allocate(JAVA_LONG).address();
    private static final int CLOCK_MONOTONIC = 1;
    static final int CLOEXEC = 0x80000;
    static final int NONBLOCK = 0x800;

    /**
     * poll(2): waits until one is readable, a signal came, or the milliseconds are over; the number of readable ones.
     */
    public static int poll(int milliseconds, int... descriptors) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment entries = arena.allocate(POLLFD * descriptors.length, POLLFD);
            for (int i = 0; i < descriptors.length; i++) {
                entries.set(JAVA_INT, i * POLLFD, descriptors[i]);
                entries.set(JAVA_SHORT, i * POLLFD + POLLFD_EVENTS, POLLIN);
            }
            long count = descriptors.length;
            return (int) Math.max(0, LibC.call(() -> (int) POLL.invokeExact(entries, count, milliseconds)));
        }
    }

    /** ppoll(2) with the memory at these addresses; the number of readable descriptors, or below 0. */
    static int ppoll(long entries, long count, long timespec) {
        try {
            return (int) PPOLL.invokeExact(entries, count, timespec, 0L);
        } catch (Throwable t) {
            throw LibC.unexpected(t);
        }
    }

    /** epoll_create1: a descriptor that is readable while one of the given is, or below 0. */
    public static int epoll(int... descriptors) {
        int all = (int) LibC.call(() -> (int) EPOLL_CREATE1.invokeExact(CLOEXEC));
        int status = 0;
        for (int one : descriptors) {
            status |= change(all, EPOLL_CTL_ADD, one);
        }
        if (all >= 0 && status != 0) { close(all); }
        return status == 0 ? all : status;
    }

    /** epoll_ctl: replaces one descriptor by another. */
    public static void replace(int all, int one, int other) {
        change(all, EPOLL_CTL_DEL, one);
        change(all, EPOLL_CTL_ADD, other);
    }

    private static int change(int all, int change, int descriptor) {
        return (int) LibC.call(() -> (int) EPOLL_CTL.invokeExact(all, change, descriptor, EPOLLIN));
    }

    /** timerfd_create: a descriptor that becomes readable at this interval, until {@link #reset}; or below 0. */
    public static int timer(int nanos) {
        int timer = (int) LibC.call(() -> (int) TIMERFD_CREATE.invokeExact(CLOCK_MONOTONIC, CLOEXEC | NONBLOCK));
        try (Arena arena = Arena.ofConfined()) {
            // struct itimerspec: seconds and nanoseconds of the interval, then of the first expiration
            MemorySegment times = arena.allocateFrom(JAVA_LONG, 0, nanos, 0, nanos);
            LibC.call(() -> (int) TIMERFD_SETTIME.invokeExact(timer, 0, times, MemorySegment.NULL));
            return timer;
        }
    }

    /** eventfd: a descriptor that is readable after {@link #signal} until {@link #reset}, or below 0. */
    public static int event() {
        return (int) LibC.call(() -> (int) EVENTFD.invokeExact(0, CLOEXEC | NONBLOCK));
    }

    /** {@return a sentence for an exception if this process may open fewer files than this count; else empty} */
    public static String shortage(int count) {
        return hasFewerFree(count)
                ? " This process may open " + (count == 1 ? "no" : "fewer than " + count) + " more files." + RAISE_LIMIT
                : "";
    }

    /** Whether fewer descriptors are free than this count. Takes none, not even for a moment. */
    private static boolean hasFewerFree(int count) {
        long limit = LibC.call(() -> (long) SYSCONF.invokeExact(SC_OPEN_MAX)); // below 0: unlimited
        int free = limit < 0 ? count : 0;
        for (int descriptor = 0; descriptor < limit && free < count; descriptor++) {
            free += fcntl(descriptor, F_GETFD, 0) < 0 ? 1 : 0;
        }
        return free < count;
    }

    /** fcntl(2): reads of the descriptor return instead of waiting. */
    public static void nonBlocking(int descriptor) {
        fcntl(descriptor, F_SETFL, (int) fcntl(descriptor, F_GETFL, 0) | NONBLOCK);
    }

    static long fcntl(int descriptor, int command, int argument) {
        return LibC.call(() -> (int) FCNTL.invokeExact(descriptor, command, argument));
    }

    public static void signal(int event) {
        try {
            int _ = (int) EVENTFD_WRITE.invokeExact(event, 1L); // full means readable already
        } catch (Throwable t) {
            throw LibC.unexpected(t);
        }
    }

    public static void reset(int event) {
        try {
            int _ = (int) EVENTFD_READ.invokeExact(event, IGNORED_ADDRESS); // an error means empty
        } catch (Throwable t) {
            throw LibC.unexpected(t);
        }
    }

    public static void close(int descriptor) { LibC.call(() -> (int) CLOSE.invokeExact(descriptor)); }
}
