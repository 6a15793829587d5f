package io.ofi4j.info;

import io.ofi4j.MemoryRegion;
import java.lang.foreign.MemorySegment;

/** Where the bytes of a memory region are. */
public enum MemoryKind {
    /** In memory that ends with the process. */
    ANONYMOUS,
    /** In a file that is mapped into memory; {@link MemoryRegion#force()} makes them durable. */
    FILE;

    /** {@return what it is made of} */
    public static MemoryKind of(MemorySegment memory) {
        return memory.isMapped() ? FILE : ANONYMOUS;
    }
}
