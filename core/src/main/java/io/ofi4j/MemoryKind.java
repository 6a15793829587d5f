package io.ofi4j;

import java.lang.foreign.MemorySegment;

/** Where the bytes of a memory region are. */
public enum MemoryKind {
    /** In memory that ends with the process. */
    ANONYMOUS,
    /** In a file that is mapped into memory; {@link MemoryRegion#force()} makes them durable. */
    FILE;

    static MemoryKind of(MemorySegment memory) { return memory.isMapped() ? FILE : ANONYMOUS; }
}
