package io.ofi4j.info;

/** Where the bytes of a memory region are. */
public enum MemoryKind {
    /** In memory that ends with the process. A private mapping of a file is such memory. */
    ANONYMOUS,
    /** In a file that the machine keeps in memory, such as one of tmpfs, or in a file of an unknown kind. */
    MEMORY_FILE,
    /**
     * In a file that is mapped into memory through the page cache; {@link io.ofi4j.MemoryRegion#force()} writes it to
     * the disk.
     */
    FILE,
    /**
     * In persistent memory: a file on a file system with DAX that is mapped with MAP_SYNC, in Java
     * {@code ExtendedMapMode.READ_WRITE_SYNC}. {@link io.ofi4j.MemoryRegion#force()} makes its bytes durable.
     */
    PERSISTENT,
    /** In the memory of a device, which this process does not read or write itself. */
    DEVICE
}
