package io.ofi4j.internal;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * The memory of an shm endpoint of libfabric 1.x of this process. Another process that is killed while it posts leaves it locked:
 * then this process, which takes the lock to look for commands, and all others that post, wait for ever.
 */
public final class ShmOwnMemory {
    /** Of what one operation takes there may be too much noted as room. */
    private static final int MOST_COMMANDS_OF_ONE = 2;

    private final Path file;
    private final ShmHeader header;
    /** Who may hold the lock; null where it was free at the last look. */
    private LockSuspects suspects;

    private ShmOwnMemory(Path file, ShmHeader header) {
        this.file = file;
        this.header = header;
    }

    /** Of a file in /dev/shm; nothing where its layout is another. */
    public static Optional<ShmOwnMemory> of(Path file) {
        try {
            if (ShmHeader.process(file) == 0) {
                return Optional.empty();
            }
            List<ShmHeader> mapped = ShmHeader.mapped(file, ShmHeader.inode(file));
            return mapped.size() == 1 ? Optional.of(new ShmOwnMemory(file, mapped.getFirst())) : Optional.empty();
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    public boolean isOf(Path other) {
        return file.equals(other);
    }

    /** Whether the lock is locked, and nothing was posted or worked off since the last look. */
    public boolean isStill() {
        boolean isStill = header.isStill();
        if (!isStill) {
            suspects = null;
        }
        return isStill;
    }

    /** Whether nobody who lives can hold the lock that has been locked since the first such question. */
    public boolean isHeldByNobody() {
        try {
            if (suspects == null) {
                suspects = LockSuspects.thatMap(file);
            }
            return suspects.areInnocent();
        } catch (IOException e) {
            suspects = null;
            return false;
        }
    }

    /** Takes out what was not posted as a whole, and unlocks. Whoever held the lock is dead: until then nobody else changes anything. */
    public void free() {
        if (header.commands().dropHalf()) {
            header.room(Math.max(0, header.room() - MOST_COMMANDS_OF_ONE));
            header.signal();
            header.unlock();
        }
    }
}
