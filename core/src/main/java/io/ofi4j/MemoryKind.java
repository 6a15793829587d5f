package io.ofi4j;

import java.lang.foreign.MemorySegment;

/** Where the bytes of a memory region are. */
public enum MemoryKind {
    /** In memory that vanishes with the process. */
    ANONYMOUS,
    /** In a file that is mapped into memory; {@link MemoryRegion#force()} makes them durable. */
    FILE;

    /** Of memory that this library did not make. */
    static MemoryKind of(MemorySegment memory) {
        return memory.isMapped() ? FILE : ANONYMOUS;
    }
}
