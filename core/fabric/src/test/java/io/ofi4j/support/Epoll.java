package io.ofi4j.support;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/** An application's own epoll(7), and an eventfd(2), with calls of its own: nothing here is this library's. */
@SuppressWarnings("restricted")
public final class Epoll implements AutoCloseable {
    private static final MethodHandle CREATE = find("epoll_create1", JAVA_INT);
    private static final MethodHandle CONTROL = find("epoll_ctl", JAVA_INT, JAVA_INT, JAVA_INT, ADDRESS);
    private static final MethodHandle WAIT = find("epoll_wait", JAVA_INT, ADDRESS, JAVA_INT, JAVA_INT);
    private static final MethodHandle EVENTFD = find("eventfd", JAVA_INT, JAVA_INT);
    private static final MethodHandle CLOSE = find("close", JAVA_INT);
    private static final int ADD = 1;
    private static final int IN = 1;
    private static final int MAX_EVENTS = 8;
    /** {@code struct epoll_event} is packed on x86-64, and only there. */
    private static final boolean PACKED = System.getProperty("os.arch").equals("amd64");
    private static final long DATA = PACKED ? 4 : 8;
    private static final long SIZE = DATA + Long.BYTES;

    private final Arena arena = Arena.ofConfined();
    private final MemorySegment events = arena.allocate(SIZE * MAX_EVENTS, Long.BYTES);
    private final int number = positive(CREATE, 0);
    private final List<Integer> own = new ArrayList<>(List.of(number));

    private static MethodHandle find(String name, MemoryLayout... arguments) {
        Linker linker = Linker.nativeLinker();
        return linker.downcallHandle(linker.defaultLookup().find(name).orElseThrow(),
                FunctionDescriptor.of(JAVA_INT, arguments));
    }

    private static int positive(MethodHandle call, Object... arguments) {
        int result = call(call, arguments);
        assertThat(result).isNotNegative();
        return result;
    }

    private static int call(MethodHandle call, Object... arguments) {
        try {
            return (int) call.invokeWithArguments(arguments);
        } catch (Throwable t) {
            throw new AssertionError(t);
        }
    }

    /** EPOLL_CTL_ADD: from now on {@link #await} tells of it by this name. */
    public void add(int descriptor, long name) {
        events.set(JAVA_INT_UNALIGNED, 0, IN);
        events.set(JAVA_LONG_UNALIGNED, DATA, name);
        positive(CONTROL, number, ADD, descriptor, events);
    }

    /** Adds a descriptor of the application's own that is readable. */
    public void addReadable(long name) {
        int descriptor = positive(EVENTFD, 1, 0);
        own.add(descriptor);
        add(descriptor, name);
    }

    /** epoll_wait: the names of those that are readable; nobody's where the time is over, or a signal came. */
    public List<Long> await(int milliseconds) {
        int found = Math.max(0, call(WAIT, number, events, MAX_EVENTS, milliseconds));
        return IntStream.range(0, found).mapToObj(i -> events.get(JAVA_LONG_UNALIGNED, i * SIZE + DATA)).toList();
    }

    @Override
    public void close() {
        own.forEach(descriptor -> positive(CLOSE, descriptor));
        arena.close();
    }
}
