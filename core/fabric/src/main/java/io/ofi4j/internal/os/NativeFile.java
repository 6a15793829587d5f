package io.ofi4j.internal.os;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.function.ToLongFunction;

/** An open file, for calls that Java lacks. Errors are positive errno values. */
@SuppressWarnings("restricted")
public final class NativeFile implements AutoCloseable {
    private static final MemorySegment OPEN = LibC.function("open");
    private static final MemorySegment FALLOCATE = LibC.function("fallocate");
    private static final MemorySegment FTRUNCATE = LibC.function("ftruncate");
    private static final MemorySegment SYNC_FILE_RANGE = LibC.function("sync_file_range");
    private static final MemorySegment POSIX_FADVISE = LibC.function("posix_fadvise");
    private static final MemorySegment STATX = LibC.function("statx");
    private static final MemorySegment FLOCK = LibC.function("flock");

    private static final int O_RDONLY = 0;
    private static final int O_RDWR = 2;
    private static final int F_SETSIG = 10;
    private static final int F_SETLEASE = 1024;
    private static final int F_WRLCK = 1;
    private static final int F_UNLCK = 2;
    /** A signal that is ignored by default, unlike SIGIO. */
    private static final int SIGURG = 23;
    private static final int LOCK_EXCLUSIVELY_NOW = 6;
    private static final int OWNER_ONLY = 0600;
    private static final int AT_EMPTY_PATH = 0x1000;
    private static final int FALLOC_FL_KEEP_SIZE = 1;
    private static final int POSIX_FADV_DONTNEED = 4;
    private static final int SYNC_FILE_RANGE_WAIT_BEFORE = 1;
    /** With these sync_file_range(2) says that it does not know such files, or that the kernel has no such call. */
    private static final Set<Integer> CANNOT_TELL = Set.of(Errno.EINVAL, Errno.ESPIPE, Errno.ENOSYS, Errno.EPERM);
    private static final int STATX_FIELDS = 0xf0a; // mode, owner, number, size, blocks and birth
    private static final long STATX_LENGTH = 256;
    private static final long STATX_OWNER_AT = 20;
    private static final long STATX_MODE_AT = 28;
    private static final long STATX_NUMBER_AT = 32;
    private static final long STATX_SIZE_AT = 40;
    private static final long STATX_BLOCKS_AT = 48;
    private static final long STATX_BIRTH_AT = 80;
    private static final long NANOS_PER_SECOND = 1_000_000_000;
    private static final long BLOCK = 512;

    private final int descriptor;
    private final int error;

    private NativeFile(int result) {
        this.descriptor = Math.max(result, -1);
        this.error = Math.max(-result, 0);
    }

    /** Opens a regular file to read and write; see {@link #error}. */
    public static NativeFile open(Path file) {
        return new NativeFile(
                open(file.toString(), StandardCharsets.UTF_8, O_RDWR | Descriptors.NONBLOCK | Descriptors.CLOEXEC));
    }

    /**
     * Opens the file of a mapping once more, to ask for {@link #writebackError}; empty if that fails, or the file is
     * not where the mapping says.
     */
    public static Optional<NativeFile> openAgain(FileMappings.Mapping mapping) {
        NativeFile file = new NativeFile(open(mapping.path(), StandardCharsets.ISO_8859_1,
                O_RDONLY | Descriptors.NONBLOCK | Descriptors.CLOEXEC));
        if (file.error == 0 && file.number() == mapping.number()) { return Optional.of(file); }
        file.close();
        return Optional.empty();
    }

    /** Opens a folder, to be locked; see {@link #error}. */
    public static NativeFile openFolder(Path folder) {
        return new NativeFile(
                open(folder.toString(), StandardCharsets.UTF_8, Machine.O_DIRECTORY | Descriptors.CLOEXEC));
    }

    /**
     * Makes a file without a name in a folder, which is gone when it is closed: whether one can be made there. See
     * {@link #error}; EOPNOTSUPP if the folder's file system has no such files.
     */
    public static NativeFile createUnnamed(Path folder) {
        return new NativeFile(
                open(folder.toString(), StandardCharsets.UTF_8, Machine.O_TMPFILE | O_RDWR | Descriptors.CLOEXEC));
    }

    /** Whether no other file descriptor or mapping of it exists; also false if this process is not allowed to ask. */
    public boolean isUnused() {
        boolean isUnused = Descriptors.fcntl(descriptor, F_SETSIG, SIGURG) == 0
                && Descriptors.fcntl(descriptor, F_SETLEASE, F_WRLCK) == 0;
        return isUnused & Descriptors.fcntl(descriptor, F_SETLEASE, F_UNLCK) == 0;
    }

    /**
     * flock(2) until it is closed. It returns without the lock if another process or thread has it for so long. The
     * file must be open.
     */
    public void lock(Duration timeout) {
        long begin = System.nanoTime();
        while (!tryLock() && System.nanoTime() - begin < timeout.toNanos()) {
            Thread.yield();
        }
    }

    private boolean tryLock() {
        if (error != 0) { throw new IllegalStateException("the file could not be opened: " + LibC.strerror(error)); }
        return Downcalls.callForInt(FLOCK, descriptor, LOCK_EXCLUSIVELY_NOW) == 0;
    }

    private static int open(String path, Charset charset, int flags) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment errno = arena.allocate(JAVA_INT);
            MemorySegment name = arena.allocateFrom(path, charset);
            int result = (int) Downcalls.callWithErrno(errno, OPEN, name, flags, OWNER_ONLY);
            return result < 0 ? -errno.get(JAVA_INT, 0) : result;
        }
    }

    /** The errno of the open; 0 if it is open. */
    public int error() { return error; }

    /** fallocate(2) of a range whose content stays, as does the length of the file: 0, or the errno. */
    public int reserve(long offset, long length) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment errno = arena.allocate(JAVA_INT);
            while ((int) Downcalls.callWithErrno(errno, FALLOCATE, descriptor, FALLOC_FL_KEEP_SIZE, offset,
                    length) != 0) {
                if (errno.get(JAVA_INT, 0) != Errno.EINTR) { return errno.get(JAVA_INT, 0); }
            }
            return 0;
        }
    }

    /**
     * Gives back what was reserved behind the end of the file. Bytes that another process has added behind that length
     * are lost.
     *
     * @param length of the file, now
     */
    public void giveBackBehind(long length) { Downcalls.callForInt(FTRUNCATE, descriptor, length); }

    /**
     * The errno with which the system has failed to write bytes of the file to its device, since it was opened here or
     * this was last called; 0 if there is none, or the system cannot tell. Linux tells each such error once to each
     * descriptor.
     */
    public int writebackError() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment errno = arena.allocate(JAVA_INT);
            // the range says only which writes are waited for
            int status = (int) Downcalls.callWithErrno(errno, SYNC_FILE_RANGE, descriptor, 0, 1,
                    SYNC_FILE_RANGE_WAIT_BEFORE);
            int found = status == 0 ? 0 : errno.get(JAVA_INT, 0);
            return CANNOT_TELL.contains(found) ? 0 : found;
        }
    }

    /**
     * Has the system forget the pages of the file that it has in memory, but those that are changed or used; false if
     * it refuses.
     */
    public boolean dropPages() {
        return Downcalls.callForInt(POSIX_FADVISE, descriptor, 0, 0, POSIX_FADV_DONTNEED) == 0;
    }

    /** Its number in its file system. */
    private long number() {
        return stat(fields -> fields.get(JAVA_LONG, STATX_NUMBER_AT));
    }

    /** When it was made, in nanoseconds; 0 where its file system does not know. A later file may have its number. */
    public long birth() {
        return stat(fields -> fields.get(JAVA_LONG, STATX_BIRTH_AT) * NANOS_PER_SECOND
                + fields.get(JAVA_INT, STATX_BIRTH_AT + Long.BYTES));
    }

    public long size() { return stat(fields -> fields.get(JAVA_LONG, STATX_SIZE_AT)); }

    /** The number of bytes without disk space. */
    public long unallocatedBytes() {
        return stat(fields -> fields.get(JAVA_LONG, STATX_SIZE_AT) - fields.get(JAVA_LONG, STATX_BLOCKS_AT) * BLOCK);
    }

    /** The number of the user who owns it. */
    public int owner() {
        return (int) stat(fields -> fields.get(JAVA_INT, STATX_OWNER_AT));
    }

    /** Its kind, and who may do what with it. */
    public int mode() {
        return (int) stat(fields -> Short.toUnsignedLong(fields.get(JAVA_SHORT, STATX_MODE_AT)));
    }

    private long stat(ToLongFunction<MemorySegment> field) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment fields = arena.allocate(STATX_LENGTH, Long.BYTES);
            MemorySegment name = arena.allocateFrom("");
            Downcalls.callForInt(STATX, descriptor, name, AT_EMPTY_PATH, STATX_FIELDS, fields);
            return field.applyAsLong(fields);
        }
    }

    @Override
    public void close() { if (error == 0) { Descriptors.close(descriptor); } }
}
