package io.ofi4j.command.doctor;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;

/** Calls of the C library that Java has no methods for: leases on files, and another process's memory. */
@SuppressWarnings("restricted")
final class SystemCalls {
    private static final StructLayout STATE = Linker.Option.captureStateLayout();
    private static final long ERRNO_OFFSET = STATE.byteOffset(MemoryLayout.PathElement.groupElement("errno"));
    /** {@code struct iovec}: an address and a length. */
    private static final long IOVEC_BYTES = 16;
    private static final int O_RDWR = 2;
    private static final int O_NONBLOCK = 0x800;
    private static final int O_CLOEXEC = 0x80000;
    private static final int F_SETSIG = 10;
    private static final int F_SETLEASE = 1024;
    private static final int F_WRLCK = 1;
    private static final int F_UNLCK = 2;
    /** A process ignores it by default. The kernel's choice, SIGIO, would end the process. */
    private static final int SIGURG = 23;

    private final MethodHandle open;
    private final MethodHandle fcntl;
    private final MethodHandle close;
    private final MethodHandle readMemory;
    private final MethodHandle strerror;

    /**
     * Looks the functions up. It is no static initializer, which would fail with another exception from the second time
     * on.
     *
     * @throws IllegalCallerException if the JVM refuses native access
     */
    SystemCalls() {
        open = handle("open", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT), Linker.Option.firstVariadicArg(2));
        fcntl = handle("fcntl", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT),
                Linker.Option.firstVariadicArg(2));
        close = handle("close", FunctionDescriptor.of(JAVA_INT, JAVA_INT));
        readMemory = handle("process_vm_readv",
                FunctionDescriptor.of(JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG, ADDRESS, JAVA_LONG, JAVA_LONG),
                Linker.Option.captureCallState("errno"));
        strerror = handle("strerror", FunctionDescriptor.of(ADDRESS, JAVA_INT));
    }

    private static MethodHandle handle(String name, FunctionDescriptor descriptor, Linker.Option... options) {
        Linker linker = Linker.nativeLinker();
        return linker.downcallHandle(linker.defaultLookup().find(name).orElseThrow(), descriptor, options);
    }

    /** {@return the descriptor of a file that is opened to read and write, or -1; open(2)} */
    int open(Path file) {
        try (Arena arena = Arena.ofConfined()) {
            return (int) open.invokeExact(arena.allocateFrom(file.toString()), O_RDWR | O_NONBLOCK | O_CLOEXEC);
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    /**
     * Takes a lease for writing; fcntl(2). The kernel grants it where nobody else has the file open or mapped. Until
     * {@link #close}, whoever opens the file waits, or is refused.
     *
     * @return whether it was granted
     */
    boolean lease(int descriptor) {
        return fcntl(descriptor, F_SETSIG, SIGURG) == 0 && fcntl(descriptor, F_SETLEASE, F_WRLCK) == 0;
    }

    /** Gives the lease back, if there is one, and closes the file. */
    void close(int descriptor) {
        // a child that is being forked may have the descriptor for a moment longer
        fcntl(descriptor, F_SETLEASE, F_UNLCK);
        try {
            int ignored = (int) close.invokeExact(descriptor);
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    private int fcntl(int descriptor, int command, int argument) {
        try {
            return (int) fcntl.invokeExact(descriptor, command, argument);
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    /** {@return 0 if eight bytes of another process can be read, or the error number; process_vm_readv(2)} */
    int readMemory(long process, long address) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(STATE);
            MemorySegment local = vector(arena, arena.allocate(Long.BYTES));
            MemorySegment remote = vector(arena, MemorySegment.ofAddress(address));
            long read = (long) readMemory.invokeExact(state, (int) process, local, 1L, remote, 1L, 0L);
            return read == Long.BYTES ? 0 : state.get(JAVA_INT, ERRNO_OFFSET);
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    private static MemorySegment vector(Arena arena, MemorySegment bytes) {
        MemorySegment vector = arena.allocate(IOVEC_BYTES, Long.BYTES);
        vector.set(ADDRESS, 0, bytes);
        vector.set(JAVA_LONG, Long.BYTES, Long.BYTES);
        return vector;
    }

    /** {@return the text of an error number; strerror(3)} */
    String text(int error) {
        try {
            return ((MemorySegment) strerror.invokeExact(error)).reinterpret(Long.MAX_VALUE).getString(0);
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    private static AssertionError unexpected(Throwable failure) {
        return new AssertionError("a call of the C library threw", failure);
    }
}
