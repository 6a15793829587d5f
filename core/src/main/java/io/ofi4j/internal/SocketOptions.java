package io.ofi4j.internal;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/** Options of the sockets of this process, whoever opened them: getsockopt(2) and setsockopt(2), of the level SOL_SOCKET. */
@SuppressWarnings("restricted")
final class SocketOptions {
    static final int SOL_SOCKET = 1;
    static final int SO_RCVBUF = 8;
    static final int SO_RCVLOWAT = 18;
    static final int SO_ATTACH_FILTER = 26;
    static final int SO_PROTOCOL = 38;
    static final int IPPROTO_TCP = 6;
    static final int IPPROTO_UDP = 17;

    private static final MethodHandle GETSOCKOPT = LibC.handle("getsockopt",
            FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT, ADDRESS, ADDRESS));
    private static final MethodHandle SETSOCKOPT = LibC.handle("setsockopt",
            FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT));

    private SocketOptions() {
    }

    /**
     * The value of an option that is a number, or below 0 where the descriptor is none of a socket.
     *
     * @param value where the system may write it
     * @param length where the system may write how long it is
     */
    static int get(int descriptor, int name, MemorySegment value, MemorySegment length) {
        try {
            length.set(JAVA_INT, 0, Integer.BYTES);
            int status = (int) GETSOCKOPT.invokeExact(descriptor, SOL_SOCKET, name, value, length);
            return status == 0 ? value.get(JAVA_INT, 0) : -1;
        } catch (Throwable t) {
            throw Downcalls.unexpected(t);
        }
    }

    /** Sets an option to what stands in so many bytes. Whether that could be done. */
    static boolean set(int descriptor, int name, MemorySegment value, long length) {
        try {
            return (int) SETSOCKOPT.invokeExact(descriptor, SOL_SOCKET, name, value, (int) length) == 0;
        } catch (Throwable t) {
            throw Downcalls.unexpected(t);
        }
    }
}
