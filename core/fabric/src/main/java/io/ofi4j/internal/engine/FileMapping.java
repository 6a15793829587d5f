package io.ofi4j.internal.engine;

import io.ofi4j.info.MemoryKind;
import io.ofi4j.internal.os.Errno;
import io.ofi4j.internal.os.FileMappings;
import io.ofi4j.internal.os.NativeFile;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.ProviderMismatchException;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Optional;

/**
 * Part of a file in memory, in an arena of its own. A program gets a view of the memory, which it cannot use any more
 * once the region is closed; the mapping may have to stay for peers, see {@link RegionQuarantine}.
 *
 * @param kind of memory
 */
public record FileMapping(MemorySegment memory, Arena arena, MemoryKind kind) {
    // a constant of ExtendedMapMode, whose module may be absent
    private static final String SYNCHRONOUS = "READ_WRITE_SYNC";

    public interface Source {
        FileMapping map() throws IOException;
    }

    public static FileMapping of(Path file, MapMode mode, long offset, long length) throws IOException {
        requireRange(offset, length);
        if (!isRegular(file)) { // to open a pipe may block
            throw new FileSystemException(file.toString(), null, "not a regular file: only such a file can be mapped");
        }
        try (FileChannel channel = mode == MapMode.READ_ONLY
                ? FileChannel.open(file, StandardOpenOption.READ)
                : FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            boolean isWritable = mode == MapMode.READ_WRITE || mode.toString().equals(SYNCHRONOUS);
            // before it is mapped, which makes the file longer: others may have mapped it by then, too
            if (isWritable && !reserve(file, channel, offset, length)) {
                throw new FileSystemException(file.toString(), null, "no room for " + length + " bytes at offset "
                        + offset + ": free some, or map a FileChannel, for which no room is reserved");
            }
            return of(channel, mode, offset, length); // outlives the channel
        }
    }

    private static boolean isRegular(Path file) throws IOException {
        try {
            return Files.readAttributes(file, BasicFileAttributes.class).isRegularFile();
        } catch (ProviderMismatchException e) {
            throw new IllegalArgumentException("the path is a " + file.getClass().getName()
                    + ", which is not of the default file system: use Path.of", e);
        }
    }

    /**
     * Reserves disk space for holes: without it, a write to a mapping of a full disk ends the process. False if the
     * disk is full; true also if the file system cannot tell. A full disk may have given all that it had, as ext4 does,
     * and gets that back.
     */
    private static boolean reserve(Path file, FileChannel channel, long offset, long length) throws IOException {
        try (NativeFile open = NativeFile.open(file)) {
            int error = open.error() == 0 ? open.reserve(offset, length) : 0;
            if (error != Errno.ENOSPC && error != Errno.EDQUOT) { return true; }
            open.giveBackBehind(channel.size()); // the length of now: others may have mapped the file meanwhile
            return false;
        }
    }

    public static FileMapping of(FileChannel channel, MapMode mode, long offset, long length) throws IOException {
        requireRange(offset, length);
        if (channel.getClass().getModule() != FileChannel.class.getModule()) {
            throw new IllegalArgumentException("the channel is a " + channel.getClass().getName()
                    + ", whose mappings are not files in memory: use FileChannel.open of the default file system");
        }
        Arena arena = Arena.ofShared();
        try {
            MemorySegment memory = channel.map(mode, offset, length, arena);
            MemoryKind unknown = mode == MapMode.PRIVATE ? MemoryKind.ANONYMOUS : MemoryKind.MEMORY_FILE;
            return new FileMapping(memory, arena,
                    mode.toString().equals(SYNCHRONOUS) ? MemoryKind.PERSISTENT : kindOf(memory, unknown));
        } catch (Throwable t) {
            arena.close();
            throw t;
        }
    }

    /** The kind of any native memory: the one with the fewest guarantees if the kernel does not say what it is. */
    public static MemoryKind kindOf(MemorySegment memory) {
        return kindOf(memory, MemoryKind.ANONYMOUS);
    }

    private static MemoryKind kindOf(MemorySegment memory, MemoryKind unknown) {
        if (!memory.isMapped()) { return MemoryKind.ANONYMOUS; }
        Optional<FileMappings.Mapping> found = FileMappings.at(memory.address());
        if (found.isEmpty()) { return unknown; }
        FileMappings.Mapping mapping = found.get();
        if (!mapping.isShared()) { return MemoryKind.ANONYMOUS; }
        if (mapping.isInMemory()) { return MemoryKind.MEMORY_FILE; }
        return mapping.mayBeDirect() && FileMappings.isSynchronous(memory.address())
                ? MemoryKind.PERSISTENT
                : MemoryKind.FILE;
    }

    private static void requireRange(long offset, long length) {
        if (length < 1) { throw new IllegalArgumentException("a memory region has at least 1 byte, not " + length); }
        if (offset < 0) { throw new IllegalArgumentException("an offset in a file is 0 or more, not " + offset); }
    }
}
