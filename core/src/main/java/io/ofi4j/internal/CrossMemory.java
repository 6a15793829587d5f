package io.ofi4j.internal;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.BufferedReader;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/** process_vm_readv(2), with which the shm provider copies what is long, tried with a process that is there for nothing else. */
@SuppressWarnings("restricted")
public final class CrossMemory {
    private static final StructLayout ERRNO = Linker.Option.captureStateLayout();
    private static final long ERRNO_OFFSET = ERRNO.byteOffset(MemoryLayout.PathElement.groupElement("errno"));
    private static final MethodHandle PROCESS_VM_READV = LibC.handle("process_vm_readv",
            FunctionDescriptor.of(JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG, ADDRESS, JAVA_LONG, JAVA_LONG),
            Linker.Option.captureCallState("errno"));
    private static final MethodHandle STRERROR = LibC.handle("strerror", FunctionDescriptor.of(ADDRESS, JAVA_INT));
    private static final int HEXADECIMAL = 16;
    /** {@code struct iovec}: where, and how many bytes. Not that of the bindings, which may not be touched without libfabric. */
    private static final long IOVEC = 16;

    private CrossMemory() {
    }

    /** Why the memory of a process of this user cannot be read; nothing where it can. */
    public static Optional<String> refusal() {
        Process other = null;
        try {
            other = new ProcessBuilder("sleep", "60").start();
            return refusal(other.pid());
        } catch (IOException e) {
            return Optional.of("no process could be started to try it with: " + e.getMessage());
        } finally {
            if (other != null) {
                other.destroyForcibly();
            }
        }
    }

    private static Optional<String> refusal(long process) {
        int error = read(process, beginning(process));
        return error == 0 || error == Errno.EFAULT // the page is not there: the kernel lets this process look for it
                ? Optional.empty()
                : Optional.of("process_vm_readv says " + text(error) + " (" + error + ")");
    }

    /** Where the first of its pages is, or where none is in case that this is not told. */
    private static long beginning(long process) {
        try (BufferedReader maps = Files.newBufferedReader(Path.of("/proc", Long.toString(process), "maps"))) {
            String first = maps.readLine();
            return first == null ? 0 : Long.parseUnsignedLong(first.replaceFirst("-.*", ""), HEXADECIMAL);
        } catch (IOException e) {
            return 0;
        }
    }

    /** The error's number, or 0. */
    private static int read(long process, long address) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(ERRNO);
            MemorySegment here = vector(arena, arena.allocate(Long.BYTES));
            MemorySegment there = vector(arena, MemorySegment.ofAddress(address));
            long read = (long) PROCESS_VM_READV.invokeExact(state, (int) process, here, 1L, there, 1L, 0L);
            return read == Long.BYTES ? 0 : state.get(JAVA_INT, ERRNO_OFFSET);
        } catch (Throwable t) {
            throw Downcalls.unexpected(t);
        }
    }

    private static MemorySegment vector(Arena arena, MemorySegment bytes) {
        MemorySegment vector = arena.allocate(IOVEC, Long.BYTES);
        vector.set(ADDRESS, 0, bytes);
        vector.set(JAVA_LONG, Long.BYTES, Long.BYTES);
        return vector;
    }

    private static String text(int error) {
        try {
            return LibC.string((MemorySegment) STRERROR.invokeExact(error));
        } catch (Throwable t) {
            throw Downcalls.unexpected(t);
        }
    }
}
