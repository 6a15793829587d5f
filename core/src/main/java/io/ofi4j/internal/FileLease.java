package io.ofi4j.internal;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;

/**
 * Asks the kernel whether any process has a file open or mapped: it grants a lease for writing only where none has. Other
 * than a look at process numbers, that is true across containers which share a folder and not their processes.
 */
@SuppressWarnings("restricted")
final class FileLease {
    private static final int O_RDWR = 2;
    private static final int O_CLOEXEC = 0x80000;
    private static final int F_SETLEASE = 1024;
    private static final int F_WRLCK = 1;
    private static final int F_UNLCK = 2;

    private static final MethodHandle OPEN = LibC.handle("open", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT),
            Linker.Option.firstVariadicArg(2));
    private static final MethodHandle FCNTL = LibC.handle("fcntl",
            FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT), Linker.Option.firstVariadicArg(2));
    private static final MethodHandle CLOSE = LibC.handle("close", FunctionDescriptor.of(JAVA_INT, JAVA_INT));

    private FileLease() {
    }

    /** Whether no process has it open or mapped; false, too, where this process may not know. */
    static boolean isUnused(Path file) {
        if (!Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
            return false;
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment path = arena.allocateFrom(file.toString());
            int descriptor = (int) OPEN.invokeExact(path, O_RDWR | O_CLOEXEC);
            if (descriptor < 0) {
                return false;
            }
            boolean unused = (int) FCNTL.invokeExact(descriptor, F_SETLEASE, F_WRLCK) == 0;
            if (unused) {
                int ignored = (int) FCNTL.invokeExact(descriptor, F_SETLEASE, F_UNLCK);
            }
            int ignored = (int) CLOSE.invokeExact(descriptor);
            return unused;
        } catch (Throwable t) {
            throw Downcalls.unexpected(t);
        }
    }
}
