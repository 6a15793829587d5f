package io.ofi4j;

/** Where the bytes of a memory region are. */
public enum MemoryKind {
    /** In memory that vanishes with the process. */
    ANONYMOUS,
    /** In a file that is mapped into memory; {@link MemoryRegion#force()} makes them durable. */
    FILE
}
