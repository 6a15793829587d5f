package io.ofi4j.internal.os;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** File descriptors to wait on: poll(2), epoll(7) and eventfd(2) of the C library. */
@SuppressWarnings("restricted")
public final class Descriptors {
    private static final MemorySegment POLL = LibC.function("poll");
    private static final MemorySegment PPOLL = LibC.function("ppoll");
    private static final MemorySegment EPOLL_CREATE1 = LibC.function("epoll_create1");
    private static final MemorySegment EPOLL_CTL = LibC.function("epoll_ctl");
    private static final MemorySegment EVENTFD = LibC.function("eventfd");
    private static final MemorySegment EVENTFD_READ = LibC.function("eventfd_read");
    private static final MemorySegment EVENTFD_WRITE = LibC.function("eventfd_write");
    private static final MemorySegment TIMERFD_CREATE = LibC.function("timerfd_create");
    private static final MemorySegment TIMERFD_SETTIME = LibC.function("timerfd_settime");
    private static final MemorySegment CLOSE = LibC.function("close");
    private static final MemorySegment FCNTL = LibC.function("fcntl");
    private static final MemorySegment SYSCONF = LibC.function("sysconf");

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
            return Math.max(0, Downcalls.callForInt(POLL, entries, count, milliseconds));
        }
    }

    /** ppoll(2) with the memory at these addresses; the number of readable descriptors, or below 0. */
    static int ppoll(long entries, long count, long timespec) {
        return (int) Downcalls.call(false, PPOLL, entries, count, timespec, 0);
    }

    /** epoll_create1: a descriptor that is readable while one of the given is, or below 0. */
    public static int epoll(int... descriptors) {
        int all = Downcalls.callForInt(EPOLL_CREATE1, CLOEXEC);
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
        return Downcalls.callForInt(EPOLL_CTL, all, change, descriptor, EPOLLIN);
    }

    /** timerfd_create: a descriptor that becomes readable at this interval, until {@link #reset}; or below 0. */
    public static int timer(int nanos) {
        int timer = Downcalls.callForInt(TIMERFD_CREATE, CLOCK_MONOTONIC, CLOEXEC | NONBLOCK);
        try (Arena arena = Arena.ofConfined()) {
            // struct itimerspec: seconds and nanoseconds of the interval, then of the first expiration
            MemorySegment times = arena.allocateFrom(JAVA_LONG, 0, nanos, 0, nanos);
            Downcalls.callForInt(TIMERFD_SETTIME, timer, 0, times, MemorySegment.NULL);
            return timer;
        }
    }

    /** eventfd: a descriptor that is readable after {@link #signal} until {@link #reset}, or below 0. */
    public static int event() {
        return Downcalls.callForInt(EVENTFD, 0, CLOEXEC | NONBLOCK);
    }

    /** {@return a sentence for an exception if this process may open fewer files than this count; else empty} */
    public static String shortage(int count) {
        return hasFewerFree(count)
                ? " This process may open " + (count == 1 ? "no" : "fewer than " + count) + " more files." + RAISE_LIMIT
                : "";
    }

    /** Whether fewer descriptors are free than this count. Takes none, not even for a moment. */
    private static boolean hasFewerFree(int count) {
        long limit = Downcalls.callForLong(SYSCONF, SC_OPEN_MAX); // below 0: unlimited
        int free = limit < 0 ? count : 0;
        for (int descriptor = 0; descriptor < limit && free < count; descriptor++) {
            free += fcntl(descriptor, F_GETFD, 0) < 0 ? 1 : 0;
        }
        return free < count;
    }

    /** fcntl(2): reads of the descriptor return instead of waiting. */
    public static void nonBlocking(int descriptor) {
        fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL, 0) | NONBLOCK);
    }

    static int fcntl(int descriptor, int command, int argument) {
        return (int) Downcalls.call(false, FCNTL, descriptor, command, argument);
    }

    public static void signal(int event) {
        Downcalls.call(false, EVENTFD_WRITE, event, 1); // full means readable already
    }

    public static void reset(int event) {
        Downcalls.call(false, EVENTFD_READ, event, IGNORED_ADDRESS); // an error means empty
    }

    public static void close(int descriptor) { Downcalls.call(false, CLOSE, descriptor); }
}
