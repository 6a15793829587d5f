package io.ofi4j.durable;

import io.ofi4j.MemoryRegion;
import io.ofi4j.info.MemoryKind;

/** How long bytes last that a peer has written, in rising order. */
public enum Durability {
    /** They are in the target's memory. */
    DELIVERED,
    /** They survive the death of the target's process, but perhaps not that of its machine. */
    PROCESS_SAFE,
    /** They survive a loss of power, as far as the disk and its file system keep what they promise of fsync(2). */
    POWER_SAFE;

    /** {@return whether bytes that last so long last as long as that level demands} */
    public boolean meets(Durability demanded) {
        return compareTo(demanded) >= 0;
    }

    /**
     * {@return the highest level of a region of this kind of memory} {@link MemoryRegion#kind} and a peer's region say
     * the kind.
     */
    public static Durability of(MemoryKind kind) {
        return switch (kind) {
            case ANONYMOUS, DEVICE -> DELIVERED;
            case MEMORY_FILE -> PROCESS_SAFE;
            case FILE, PERSISTENT -> POWER_SAFE;
        };
    }
}
