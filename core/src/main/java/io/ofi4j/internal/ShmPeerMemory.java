package io.ofi4j.internal;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * The memory of another process's shm endpoint of libfabric 1.x, which this process has mapped, too. A process that is killed while
 * it works off what was posted leaves it locked.
 */
@SuppressWarnings("restricted")
public final class ShmPeerMemory {
    private final Path file;
    private final String inode;
    private final OtherProcess process;
    /** Where it is; empty where that is to be looked up. */
    private List<ShmHeader> mapped = List.of();

    private ShmPeerMemory(Path file, String inode, OtherProcess process) {
        this.file = file;
        this.inode = inode;
        this.process = process;
    }

    /** Of a file in /dev/shm; nothing where its layout is another, or its process cannot be seen. */
    public static Optional<ShmPeerMemory> of(Path file) {
        try {
            String inode = ShmHeader.inode(file);
            return OtherProcess.thatMaps(file, ShmHeader.process(file))
                    .map(process -> new ShmPeerMemory(file, inode, process));
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    /** Whether a file is this memory's: another endpoint may have the same name later. */
    public boolean isOf(Path other) {
        try {
            return file.equals(other) && inode.equals(ShmHeader.inode(other));
        } catch (IOException e) {
            return false;
        }
    }

    public boolean isOfThisProcess() {
        return process.number() == ProcessHandle.current().pid();
    }

    public boolean hasLostItsProcess() {
        return process.hasEnded();
    }

    /** A vector has mapped it, or will unmap it; it must not be looked at meanwhile. */
    public void mappingsChange() {
        mapped = List.of();
    }

    /** Whether the lock is locked, and nobody has done anything since the last look. */
    public boolean isStill() {
        if (mapped.isEmpty()) {
            mapped = ShmHeader.mapped(file, inode);
        }
        return !mapped.isEmpty() && mapped.getFirst().isStill(); // elsewhere it is the same
    }

    /**
     * Puts a copy of the header in the place of what is shared, which only this process sees. In it the lock is free and there is
     * no room for commands, so that who waits for the lock gets it, and is told to try again later. What other processes see, and
     * who of them may hold the lock, stays as it is.
     *
     * @return whether that has happened: the system may have no more memory
     */
    public boolean detach() {
        return mapped.stream().allMatch(ShmPeerMemory::isDetached);
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
