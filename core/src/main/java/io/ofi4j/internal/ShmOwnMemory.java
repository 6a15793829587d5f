package io.ofi4j.internal;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * The memory of an shm endpoint of this process. Another process that is killed while it posts may leave it locked, with libfabric 1.x:
 * then this process, which takes the lock to look for commands, and all others that post, wait for ever. With 2.x it may leave a place
 * in the queue claimed, which hides all that is posted later.
 */
public final class ShmOwnMemory {
    private final Path file;
    private final ShmStall stall;
    /** Who may be about to end it; null where there was none at the last look. */
    private LockSuspects suspects;

    private ShmOwnMemory(Path file, ShmStall stall) {
        this.file = file;
        this.stall = stall;
    }

    /** Of a file in /dev/shm; nothing where its layout is another. */
    public static Optional<ShmOwnMemory> of(Path file) {
        try {
            int places = ShmClaim.places(file);
            if (places == 0 && ShmHeader.process(file) == 0) {
                return Optional.empty();
            }
            List<ShmHeader> mapped = ShmHeader.mapped(file, ShmHeader.inode(file));
            if (mapped.size() != 1) {
                return Optional.empty();
            }
            ShmHeader header = mapped.getFirst();
            ShmStall stall = places > 0 ? ShmClaim.at(header.address(), places) : header;
            return Optional.of(new ShmOwnMemory(file, stall));
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    public boolean isOf(Path other) {
        return file.equals(other);
    }

    /** Whether nobody gets on, and nothing was posted or worked off since the last look. */
    public boolean isStill() {
        boolean isStill = stall.isStill();
        if (!isStill) {
            suspects = null;
        }
        return isStill;
    }

    /** Whether nobody who lives can hold what has been held since the first such question. */
    public boolean isHeldByNobody() {
        try {
            if (suspects == null) {
                suspects = LockSuspects.thatMap(file);
            }
            return stall.isNoneOf(suspects);
        } catch (IOException e) {
            suspects = null;
            return false;
        }
    }

    /** Takes out what was not posted as a whole, so that others get on. */
    public void free() {
        stall.end();
    }
}
