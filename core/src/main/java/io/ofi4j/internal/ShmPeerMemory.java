package io.ofi4j.internal;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Optional;

/**
 * The memory of another process's shm endpoint of libfabric 1.x, which this process has mapped, too. A process that is killed while
 * it works off what was posted leaves it locked.
 */
@SuppressWarnings("restricted")
public final class ShmPeerMemory implements AutoCloseable {
    private final Path file;
    private final String inode;
    private final OtherProcess process;
    private final Arena arena = Arena.ofShared();
    /** Mapped once more, to be looked at: the provider unmaps its own when a peer comes back under the same name. */
    private final ShmHeader header;

    private ShmPeerMemory(Path file, String inode, OtherProcess process) throws IOException {
        this.file = file;
        this.inode = inode;
        this.process = process;
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            this.header = new ShmHeader(channel.map(MapMode.READ_ONLY, 0, ShmHeader.PAGE, arena).address());
        }
    }

    /** Of a file in /dev/shm; nothing where its layout is another, or its process is this one or cannot be seen. */
    public static Optional<ShmPeerMemory> of(Path file) {
        try {
            String inode = ShmHeader.inode(file);
            int number = ShmHeader.process(file);
            Optional<OtherProcess> process = number == ProcessHandle.current().pid()
                    ? Optional.empty()
                    : OtherProcess.thatMaps(file, number);
            return process.isEmpty() ? Optional.empty() : Optional.of(new ShmPeerMemory(file, inode, process.get()));
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    /** Ends the looks. */
    @Override
    public void close() {
        arena.close();
    }

    /** Whether a file is this memory's: another endpoint may have the same name later. */
    public boolean isOf(Path other) {
        try {
            return file.equals(other) && inode.equals(ShmHeader.inode(other));
        } catch (IOException e) {
            return false;
        }
    }

    public boolean hasLostItsProcess() {
        return process.hasEnded();
    }

    /** Whether the lock is locked, and nobody has done anything since the last look. */
    public boolean isStill() {
        return header.isStill();
    }

    /**
     * Puts a copy of the header in the place of what is shared, which only this process sees. In it the lock is free and there is
     * no room for commands, so that who waits for the lock gets it, and is told to try again later. What other processes see, and
     * who of them may hold the lock, stays as it is.
     *
     * @return whether that has happened: the system may have no more memory
     */
    public boolean detach() {
        try {
            return ShmHeader.mapped(file, inode).stream().allMatch(ShmPeerMemory::isDetached);
        } catch (IOException e) {
            return false;
        }
    }

    private static boolean isDetached(ShmHeader shared) {
        ShmHeader copy = new ShmHeader(NativeMemory.map(ShmHeader.PAGE));
        MemorySegment.ofAddress(copy.address()).reinterpret(ShmHeader.PAGE)
                .copyFrom(MemorySegment.ofAddress(shared.address()).reinterpret(ShmHeader.PAGE));
        copy.room(0);
        copy.unlock();
        return NativeMemory.movePage(copy.address(), shared.address());
    }
}
