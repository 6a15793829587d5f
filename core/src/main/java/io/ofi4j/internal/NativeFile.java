package io.ofi4j.internal;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;

/** An open file, for what Java has no words: room for its bytes, a name given later. Errors are the system's numbers, above 0. */
@SuppressWarnings("restricted")
final class NativeFile implements AutoCloseable {
    static final int EEXIST = 17;
    static final int EDQUOT = 122;

    private static final Linker.Option ERRNO = Linker.Option.captureCallState("errno");
    private static final MethodHandle OPEN = LibC.handle("open",
            FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT, JAVA_INT), ERRNO, Linker.Option.firstVariadicArg(2));
    private static final MethodHandle FALLOCATE = LibC.handle("fallocate",
            FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_LONG), ERRNO);
    private static final MethodHandle LINKAT = LibC.handle("linkat",
            FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT, ADDRESS, JAVA_INT), ERRNO);
    private static final MethodHandle STATX = LibC.handle("statx",
            FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT, JAVA_INT, ADDRESS));
    private static final MethodHandle PWRITE = LibC.handle("pwrite",
            FunctionDescriptor.of(JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle CLOSE = LibC.handle("close", FunctionDescriptor.of(JAVA_INT, JAVA_INT));

    private static final int O_RDWR = 2;
    private static final int O_NONBLOCK = 0x800;
    private static final int O_CLOEXEC = 0x80000;
    private static final int O_TMPFILE = 0x410000;
    private static final int OWNERS = 0600;
    private static final int AT_FDCWD = -100;
    private static final int AT_SYMLINK_FOLLOW = 0x400;
    private static final int AT_EMPTY_PATH = 0x1000;
    private static final int FALLOC_FL_KEEP_SIZE = 1;
    private static final int STATX_SIZE_AND_BLOCKS = 0x600;
    private static final long STATX_LENGTH = 256;
    private static final long STATX_SIZE_AT = 40;
    private static final long STATX_BLOCKS_AT = 48;
    private static final long BLOCK = 512;

    private final int descriptor;
    private final int error;

    private NativeFile(int result) {
        this.descriptor = Math.max(result, -1);
        this.error = Math.max(-result, 0);
    }

    /** Opens a regular file to read and write; {@link #error} says whether that went well. */
    static NativeFile open(Path file) {
        return new NativeFile(open(file, O_RDWR | O_NONBLOCK | O_CLOEXEC));
    }

    /** Opens a new file that has no name yet. */
    static NativeFile unnamed(Path folder) {
        return new NativeFile(open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC));
    }

    private static int open(Path path, int flags) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment errno = arena.allocate(JAVA_INT);
            int result = (int) OPEN.invokeExact(errno, arena.allocateFrom(path.toString()), flags, OWNERS);
            return result < 0 ? -errno.get(JAVA_INT, 0) : result;
        } catch (Throwable t) {
            throw Downcalls.unexpected(t);
        }
    }

    /** Why it is not open; 0 where it is. */
    int error() {
        return error;
    }

    Path path() {
        return Path.of("/proc/self/fd/" + descriptor);
    }

    /**
     * Makes room for some of its bytes, whose content stays; fallocate(2).
     *
     * @param grows whether it may become longer
     * @return 0, or why not
     */
    int reserve(long offset, long length, boolean grows) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment errno = arena.allocate(JAVA_INT);
            int mode = grows ? 0 : FALLOC_FL_KEEP_SIZE;
            while ((int) FALLOCATE.invokeExact(errno, descriptor, mode, offset, length) != 0) {
                if (errno.get(JAVA_INT, 0) != Errno.EINTR) {
                    return errno.get(JAVA_INT, 0);
                }
            }
            return 0;
        } catch (Throwable t) {
            throw Downcalls.unexpected(t);
        }
    }

    long size() {
        return fact(STATX_SIZE_AT);
    }

    /** How many of its bytes have no room yet. */
    long missing() {
        return fact(STATX_SIZE_AT) - fact(STATX_BLOCKS_AT) * BLOCK;
    }

    private long fact(long at) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment facts = arena.allocate(STATX_LENGTH, Long.BYTES);
            int ignored = (int) STATX.invokeExact(descriptor, arena.allocateFrom(""), AT_EMPTY_PATH,
                    STATX_SIZE_AND_BLOCKS, facts);
            return facts.get(JAVA_LONG, at);
        } catch (Throwable t) {
            throw Downcalls.unexpected(t);
        }
    }

    void write(byte[] bytes, long offset) {
        try (Arena arena = Arena.ofConfined()) {
            long ignored = (long) PWRITE.invokeExact(descriptor, arena.allocateFrom(JAVA_BYTE, bytes),
                    (long) bytes.length, offset);
        } catch (Throwable t) {
            throw Downcalls.unexpected(t);
        }
    }

    /** Gives it a name that no file has; 0, or why not. */
    int link(Path name) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment errno = arena.allocate(JAVA_INT);
            int status = (int) LINKAT.invokeExact(errno, AT_FDCWD, arena.allocateFrom(path().toString()), AT_FDCWD,
                    arena.allocateFrom(name.toString()), AT_SYMLINK_FOLLOW);
            return status == 0 ? 0 : errno.get(JAVA_INT, 0);
        } catch (Throwable t) {
            throw Downcalls.unexpected(t);
        }
    }

    @Override
    public void close() {
        if (error != 0) {
            return;
        }
        try {
            int ignored = (int) CLOSE.invokeExact(descriptor);
        } catch (Throwable t) {
            throw Downcalls.unexpected(t);
        }
    }
}
