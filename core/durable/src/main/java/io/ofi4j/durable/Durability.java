package io.ofi4j.durable;

import io.ofi4j.MemoryRegion;
import io.ofi4j.info.MemoryKind;

/** What bytes that were written to a peer survive, in rising order. */
public enum Durability {
    /** The bytes are in the target's memory. */
    DELIVERED,
    /** The bytes survive the end of the target's process, but perhaps not a crash of its machine. */
    PROCESS_SAFE,
    /** The bytes survive a loss of power, if the disk and its file system do what fsync(2) promises. */
    POWER_SAFE;

    /** {@return whether this level is at least the demanded one} */
    public boolean meets(Durability demanded) {
        return compareTo(demanded) >= 0;
    }

    /**
     * {@return the highest level that this kind of memory can reach} {@link MemoryRegion#kind} and
     * {@link io.ofi4j.RemoteRegion#kind} return the kind.
     */
    public static Durability of(MemoryKind kind) {
        return switch (kind) {
            case ANONYMOUS, DEVICE -> DELIVERED;
            case MEMORY_FILE -> PROCESS_SAFE;
            case FILE, PERSISTENT -> POWER_SAFE;
        };
    }
}
