package io.ofi4j.internal.quirks.shm;

import io.ofi4j.errors.FabricException;
import io.ofi4j.info.EndpointAddress;
import io.ofi4j.info.VersionRange;
import io.ofi4j.internal.os.Errno;
import io.ofi4j.internal.os.NativeFile;
import io.ofi4j.internal.os.NativeMemory;
import io.ofi4j.internal.quirks.Quirk;
import io.ofi4j.internal.quirks.Status;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.IntSupplier;
import java.util.function.Supplier;

/**
 * Reserves the room in /dev/shm that the file of an endpoint may need, and refuses with ENOSPC if there is none. A
 * peer's file gets its room when the peer is inserted; without address space for it the peer is refused with ENOMEM.
 * That file is another process's, so this is an exception to the rule of {@link Quirk}: pages are allocated, and
 * neither the content nor the length of the file changes. A file of the endpoint's own name that nobody has open is
 * removed first. It asks the kernel for the length of a file and the allocated
 * pages; it does not know what the provider keeps in the file.
 */
final class ShmFileReservation extends Quirk {
    private static final String UPSTREAM = """
            An endpoint's file is sparse; where /dev/shm is full when a page of it is written first, the kernel ends \
            the process (SIGBUS). A file that a killed process has left keeps its room, and may keep its name.""";
    /** {@code false} reserves nothing: less of /dev/shm is used, and the process ends where it becomes full. */
    private static final boolean RESERVES = !"false".equals(System.getProperty("io.ofi4j.shm.reserve"));
    /** An endpoint's file, with the provider's default number of receives. */
    private static final long DEFAULT_LENGTH = 16L << 20;
    private static final long DEFAULT_RECEIVES = 1024;
    private static final Duration LOCK_TIMEOUT = Duration.ofSeconds(2);
    /** The provider reads this many bytes of an existing file before it checks the file's length. */
    private static final long MIN_LENGTH = 4096;

    /** The lengths of the files of this process's endpoints. */
    private final Map<Sizes, Long> lengths = new ConcurrentHashMap<>();

    /** What the length of an endpoint's file depends on. */
    private record Sizes(long transmit, long receive) {}

    ShmFileReservation() {
        super("shm-room", provider -> provider.is("shm"), VersionRange.from(1, 15), UPSTREAM, "ShmFileReservationTest");
    }

    /**
     * Enables one endpoint at a time in all processes that use this library, so that no other endpoint takes the room
     * that was found free, or the name.
     */
    @Override
    protected int enable(Supplier<EndpointAddress> address, long transmitSize, long receiveSize, IntSupplier enable) {
        Optional<Path> path = ShmFiles.path(address.get());
        if (path.isEmpty()) { return enable.getAsInt(); }
        try (NativeFile folder = NativeFile.openFolder(ShmFiles.DIRECTORY)) {
            if (folder.error() != 0 && folder.error() != Errno.EACCES) { return -folder.error(); }
            if (folder.error() == 0) {
                // a process that keeps the lock delays this one only for a time
                folder.lock(LOCK_TIMEOUT);
            }
            int failure = removeLeft(path.get());
            if (failure != 0) { return -failure; }
            Sizes sizes = new Sizes(transmitSize, receiveSize);
            if (RESERVES && usableSpace() < expectedLength(sizes)) { return -Errno.ENOSPC; }
            int status = enable.getAsInt();
            if (status != 0) { return status; }
            lengths.put(sizes, path.get().toFile().length());
            return reserve(path.get());
        }
    }

    /**
     * Removes the file of this name that a killed process has left, an exception to the rule of {@link Quirk}: nobody
     * has it open, and the provider would write over it or refuse the name. Returns 0, or the error number.
     */
    private static int removeLeft(Path file) {
        int error = conflict(file);
        if (error == Errno.EEXIST) {
            throw new FabricException(
                    "fi_enable failed on provider shm: the name is taken by " + file
                            + ", which is not an endpoint's file: remove it, or choose another name.",
                    "fi_enable", Errno.EADDRINUSE);
        }
        if (error != 0) { return error; }
        try {
            Files.deleteIfExists(file);
            return 0;
        } catch (IOException e) {
            return Errno.EADDRINUSE;
        }
    }

    /** Whether there is such a file, and it was not left by an endpoint whose process was killed. */
    static boolean isTaken(Path file) {
        return conflict(file) != 0;
    }

    /**
     * 0 if there is no such file, or an endpoint's that nobody has open; EADDRINUSE if a process has it open, or this
     * process is not allowed to ask; EEXIST if it is not an endpoint's.
     */
    private static int conflict(Path file) {
        try (NativeFile open = NativeFile.open(file)) {
            return switch (open.error()) {
                case 0 -> !open.isUnused() ? Errno.EADDRINUSE : open.size() < MIN_LENGTH ? Errno.EEXIST : 0;
                case Errno.ENOENT -> 0;
                case Errno.EMFILE, Errno.ENFILE -> open.error();
                default -> Errno.EADDRINUSE;
            };
        }
    }

    /**
     * The length of the last file of these sizes. Before there is one, a length that grows with the number of receives.
     */
    private long expectedLength(Sizes sizes) {
        return lengths.getOrDefault(sizes, DEFAULT_LENGTH * Math.max(1, Math.ceilDiv(sizes.receive, DEFAULT_RECEIVES)));
    }

    @Override
    protected void beforeInsert(EndpointAddress address) {
        ShmFiles.find(address).ifPresent(file -> {
            Status.check(reserve(file), "fi_av_insert", "shm");
            long length = file.toFile().length();
            // the provider maps the file next, and does not check the result
            if (length > 0 && !NativeMemory.hasRoom(length)) {
                throw Status.exception(-Errno.ENOMEM, "fi_av_insert", "shm");
            }
        });
    }

    /** How many bytes there is room for. */
    private static long usableSpace() {
        try {
            return Files.getFileStore(ShmFiles.DIRECTORY).getUsableSpace();
        } catch (IOException e) {
            return Long.MAX_VALUE; // the provider will say what is wrong
        }
    }

    /** Gives a file the room that it lacks. Returns 0, or the error number negated. */
    private static int reserve(Path file) {
        if (!RESERVES || !Files.isRegularFile(file)) { return 0; }
        try (NativeFile open = NativeFile.open(file)) {
            if (open.error() != 0) {
                return open.error() == Errno.EMFILE ? -open.error() : 0; // another user's, or the provider will say so
            }
            long missing = open.unallocatedBytes();
            if (missing <= 0) { return 0; }
            if (usableSpace() < missing) { return -Errno.ENOSPC; }
            int error = open.reserve(0, open.size());
            return error == Errno.ENOSPC || error == Errno.ENOMEM ? -error : 0; // not all file systems know fallocate
        }
    }
}
