package io.ofi4j.internal.os;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/** File descriptors to wait on: poll(2), epoll(7) and eventfd(2) of the C library. */
@SuppressWarnings("restricted")
public final class Descriptors {
    private static final MethodHandle POLL = find("poll", ADDRESS, JAVA_LONG, JAVA_INT);
    private static final MethodHandle EPOLL_CREATE1 = find("epoll_create1", JAVA_INT);
    private static final MethodHandle EPOLL_CTL = find("epoll_ctl", JAVA_INT, JAVA_INT, JAVA_INT, ADDRESS);
    private static final MethodHandle EVENTFD = find("eventfd", JAVA_INT, JAVA_INT);
    private static final MethodHandle EVENTFD_READ = find("eventfd_read", JAVA_INT, ADDRESS);
    private static final MethodHandle EVENTFD_WRITE = find("eventfd_write", JAVA_INT, JAVA_LONG);
    private static final MethodHandle TIMERFD_CREATE = find("timerfd_create", JAVA_INT, JAVA_INT);
    private static final MethodHandle TIMERFD_SETTIME = find("timerfd_settime", JAVA_INT, JAVA_INT, ADDRESS, ADDRESS);
    private static final MethodHandle CLOSE = find("close", JAVA_INT);
    private static final MethodHandle FCNTL = LibC.handle("fcntl", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT),
            Linker.Option.firstVariadicArg(2));
    private static final MethodHandle SYSCONF = LibC.handle("sysconf", FunctionDescriptor.of(JAVA_LONG, JAVA_INT));

    private static final int F_GETFD = 1;
    private static final int SC_OPEN_MAX = 4;

    /** {@code struct pollfd}: descriptor, requested events, returned events. */
    private static final long POLLFD = 8;
    private static final long POLLFD_EVENTS = 4;
    private static final short POLLIN = 1;
    private static final int EPOLL_CTL_ADD = 1;
    private static final int EPOLL_CTL_DEL = 2;
    private static final int EPOLLIN = 1;
    /** {@code struct epoll_event} is packed on x86-64; elsewhere it has 16 bytes, and begins alike. */
    private static final long EPOLL_EVENT = 16;
    private static final int CLOCK_MONOTONIC = 1;
    /** {@code struct itimerspec}: seconds and nanoseconds of the interval, then of the first expiration. */
    private static final long ITIMERSPEC = 32;
    private static final long INTERVAL_NANOS = 8;
    private static final long FIRST_NANOS = 24;
    private static final int CLOEXEC = 0x80000;
    private static final int NONBLOCK = 0x800;

    private static MethodHandle find(String name, MemoryLayout... arguments) {
        return LibC.handle(name, FunctionDescriptor.of(JAVA_INT, arguments));
    }

    /** poll(2): waits until one is readable, a signal came, or the milliseconds are over; the number of readable ones. */
    public static int poll(int milliseconds, int... descriptors) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment entries = arena.allocate(POLLFD * descriptors.length, POLLFD);
            for (int i = 0; i < descriptors.length; i++) {
                entries.set(JAVA_INT, i * POLLFD, descriptors[i]);
                entries.set(JAVA_SHORT, i * POLLFD + POLLFD_EVENTS, POLLIN);
            }
            return Math.max(0, (int) POLL.invokeExact(entries, (long) descriptors.length, milliseconds));
        } catch (Throwable t) {
            throw LibC.unexpected(t);
        }
    }

    /** epoll_create1: a descriptor that is readable while one of the given is, or below 0. */
    public static int epoll(int... descriptors) {
        try (Arena arena = Arena.ofConfined()) {
            int all = (int) EPOLL_CREATE1.invokeExact(CLOEXEC);
            MemorySegment event = arena.allocate(EPOLL_EVENT, EPOLL_EVENT);
            event.set(JAVA_INT, 0, EPOLLIN);
            int status = 0;
            for (int one : descriptors) {
                status |= (int) EPOLL_CTL.invokeExact(all, EPOLL_CTL_ADD, one, event);
            }
            if (all >= 0 && status != 0) { close(all); }
            return status == 0 ? all : status;
        } catch (Throwable t) {
            throw LibC.unexpected(t);
        }
    }

    /** epoll_ctl: replaces one descriptor by another. */
    public static void replace(int all, int one, int other) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment event = arena.allocate(EPOLL_EVENT, EPOLL_EVENT);
            event.set(JAVA_INT, 0, EPOLLIN);
            int ignored = (int) EPOLL_CTL.invokeExact(all, EPOLL_CTL_DEL, one, event);
            ignored = (int) EPOLL_CTL.invokeExact(all, EPOLL_CTL_ADD, other, event);
        } catch (Throwable t) {
            throw LibC.unexpected(t);
        }
    }

    /** timerfd_create: a descriptor that becomes readable at this interval, until {@link #reset}; or below 0. */
    public static int timer(int nanos) {
        try (Arena arena = Arena.ofConfined()) {
            int timer = (int) TIMERFD_CREATE.invokeExact(CLOCK_MONOTONIC, CLOEXEC | NONBLOCK);
            MemorySegment times = arena.allocate(ITIMERSPEC, JAVA_LONG.byteAlignment());
            times.set(JAVA_LONG, INTERVAL_NANOS, nanos);
            times.set(JAVA_LONG, FIRST_NANOS, nanos);
            int ignored = (int) TIMERFD_SETTIME.invokeExact(timer, 0, times, MemorySegment.NULL);
            return timer;
        } catch (Throwable t) {
            throw LibC.unexpected(t);
        }
    }

    /** eventfd: a descriptor that is readable after {@link #signal} until {@link #reset}, or below 0. */
    public static int event() {
        return (int) LibC.call(() -> (int) EVENTFD.invokeExact(0, CLOEXEC | NONBLOCK));
    }

    /** Whether fewer descriptors are free than this count. Takes none, not even for a moment. */
    public static boolean areFewerThan(int count) {
        long limit = LibC.call(() -> (long) SYSCONF.invokeExact(SC_OPEN_MAX)); // below 0: unlimited
        int free = limit < 0 ? count : 0;
        for (int descriptor = 0; descriptor < limit && free < count; descriptor++) {
            free += isOpen(descriptor) ? 0 : 1;
        }
        return free < count;
    }

    private static boolean isOpen(int descriptor) {
        return LibC.call(() -> (int) FCNTL.invokeExact(descriptor, F_GETFD)) >= 0;
    }

    public static void signal(int event) {
        LibC.call(() -> (int) EVENTFD_WRITE.invokeExact(event, 1L)); // full means readable already
    }

    public static void reset(int event) {
        try (Arena arena = Arena.ofConfined()) {
            int ignored = (int) EVENTFD_READ.invokeExact(event, arena.allocate(JAVA_LONG)); // an error means empty
        } catch (Throwable t) {
            throw LibC.unexpected(t);
        }
    }

    public static void close(int descriptor) { LibC.call(() -> (int) CLOSE.invokeExact(descriptor)); }
}
