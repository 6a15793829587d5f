package io.ofi4j.internal;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.Arrays;

/**
 * The few bytes that stand unread in TCP connections of this process, whoever opened them: less than a message's beginning, which a
 * reader may leave where they are until the rest of it has come. But what TCP has joined to one piece takes its memory until the last
 * byte is read; with the long segments of the loopback interface nothing may be left to announce to the sender, and the rest never
 * comes. Nothing here opens a descriptor or allocates, except for the first time that it is done.
 */
@SuppressWarnings("restricted")
public final class UnreadBytes {
    static final long FIONREAD = 0x541B;

    private static final MethodHandle IOCTL = LibC.handle("ioctl",
            FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_LONG, ADDRESS), Linker.Option.firstVariadicArg(2));
    /** The system gives the lowest number that is free, so that none is open behind so many that are not. */
    private static final int MOST_FREE = 512;
    /** Several times what TCP joins to one piece. */
    private static final int ENOUGH = 4 << 20;

    private final int limit;
    private final Arena arena = Arena.ofAuto();
    private final MemorySegment value = arena.allocate(JAVA_INT);
    private final MemorySegment length = arena.allocate(JAVA_INT);
    /** By descriptor, how many there were at the last look. */
    private int[] before = new int[MOST_FREE];

    /** @param limit how many bytes at least are a message's beginning */
    public UnreadBytes(int limit) {
        this.limit = limit;
    }

    /**
     * Looks once, and enlarges the receive buffer of each connection that had just as many bytes at the last look. For one thread.
     *
     * @return how many buffers were enlarged
     */
    public int enlargeWhereTheyStay() {
        int enlarged = 0;
        int free = 0;
        for (int descriptor = 0; free < MOST_FREE; descriptor++) {
            boolean isOpen = Descriptors.isOpen(descriptor);
            int unread = isOpen && option(descriptor, SocketOptions.SO_PROTOCOL) == SocketOptions.IPPROTO_TCP
                    ? unread(descriptor)
                    : 0;
            if (descriptor == before.length) {
                before = Arrays.copyOf(before, 2 * before.length);
            }
            if (unread > 0 && unread == before[descriptor] && enlarge(descriptor)) {
                enlarged++;
            }
            before[descriptor] = unread;
            free = isOpen ? 0 : free + 1;
        }
        return enlarged;
    }

    /** How many bytes stand unread; 0, too, where a message may begin with them. */
    private int unread(int descriptor) {
        try {
            boolean known = (int) IOCTL.invokeExact(descriptor, FIONREAD, value) == 0; // not of one that listens
            int count = value.get(JAVA_INT, 0);
            return known && count < limit ? count : 0;
        } catch (Throwable t) {
            throw Downcalls.unexpected(t);
        }
    }

    /**
     * By asking for many bytes at once, for a moment: of the ways to a larger buffer the one that leaves it to the system to enlarge
     * it further. A reader that looks at the bytes again, without taking them, makes TCP tell the sender.
     */
    private boolean enlarge(int descriptor) {
        int size = option(descriptor, SocketOptions.SO_RCVBUF);
        int atOnce = option(descriptor, SocketOptions.SO_RCVLOWAT);
        if (size <= 0 || size >= ENOUGH || atOnce <= 0) {
            return false;
        }
        setOption(descriptor, SocketOptions.SO_RCVLOWAT, 2 * size);
        setOption(descriptor, SocketOptions.SO_RCVLOWAT, atOnce);
        if (option(descriptor, SocketOptions.SO_RCVBUF) == size) { // somebody has set it, or the system does not do that
            setOption(descriptor, SocketOptions.SO_RCVBUF, size); // of which it makes twice as much
        }
        return option(descriptor, SocketOptions.SO_RCVBUF) > size;
    }

    /** Below 0 where there is none. */
    private int option(int descriptor, int name) {
        return SocketOptions.get(descriptor, name, value, length);
    }

    private void setOption(int descriptor, int name, int newValue) {
        value.set(JAVA_INT, 0, newValue);
        SocketOptions.set(descriptor, name, value, value.byteSize());
    }
}
