package io.ofi4j.internal;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntConsumer;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** The sockets of this process that are bound or connected to an address, whoever opened them. */
@SuppressWarnings("restricted")
public final class BoundSockets {
    private static final MethodHandle GETSOCKNAME = LibC.handle("getsockname",
            FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS, ADDRESS));
    private static final MethodHandle GETPEERNAME = LibC.handle("getpeername",
            FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS, ADDRESS));
    private static final MethodHandle SHUTDOWN = LibC.handle("shutdown",
            FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT));
    private static final int SHUT_RDWR = 2;
    private static final int SOCKADDR_STORAGE_LENGTH = 128;
    private static final int PORT_END = 4;
    private static final int MOST_DESCRIPTORS = 1 << 16;

    private BoundSockets() {
    }

    /**
     * Ends what goes in and out of them; shutdown(2). A listening one takes nobody any more.
     *
     * @param address a {@code sockaddr_in} or {@code sockaddr_in6}
     * @return how many there are, also of those that were shut down before
     */
    public static int shutdown(byte[] address) {
        return shutdown(GETSOCKNAME, address);
    }

    /** Ends what goes in and out of those whose other end is at an address, as {@link #shutdown}. */
    public static int shutdownConnectedTo(byte[] address) {
        return shutdown(GETPEERNAME, address);
    }

    private static int shutdown(MethodHandle nameOf, byte[] address) {
        return forEach(nameOf, address, descriptor -> {
            try {
                int ignored = (int) SHUTDOWN.invokeExact(descriptor, SHUT_RDWR);
            } catch (Throwable t) {
                throw Downcalls.unexpected(t);
            }
        });
    }

    /** Does something with the descriptor of each that is bound to an address; how many there are. */
    static int forEach(byte[] address, IntConsumer action) {
        return forEach(GETSOCKNAME, address, action);
    }

    private static int forEach(MethodHandle nameOf, byte[] address, IntConsumer action) {
        int count = 0;
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment name = arena.allocate(SOCKADDR_STORAGE_LENGTH);
            MemorySegment length = arena.allocate(JAVA_INT);
            for (int descriptor : descriptors()) {
                length.set(JAVA_INT, 0, SOCKADDR_STORAGE_LENGTH);
                if ((int) nameOf.invokeExact(descriptor, name, length) == 0 && isSame(address, name)) {
                    action.accept(descriptor);
                    count++;
                }
            }
        } catch (Throwable t) {
            throw Downcalls.unexpected(t);
        }
        return count;
    }

    /** Whether family and port are the same, and the rest too unless the address stands for every interface. */
    private static boolean isSame(byte[] address, MemorySegment name) {
        byte[] other = name.asSlice(0, address.length).toArray(JAVA_BYTE);
        boolean isAny = Arrays.equals(address, PORT_END, address.length, new byte[address.length], PORT_END,
                address.length);
        return Arrays.equals(address, 0, isAny ? PORT_END : address.length, other, 0,
                isAny ? PORT_END : address.length);
    }

    private static List<Integer> descriptors() {
        try (Stream<Path> files = Files.list(Path.of("/proc/self/fd"))) {
            return files.map(file -> Integer.valueOf(file.getFileName().toString())).toList();
        } catch (IOException | UncheckedIOException e) {
            // No descriptor is left to look at the others with, so all that there may be are tried.
            return IntStream.range(0, MOST_DESCRIPTORS).boxed().toList();
        }
    }
}
