package io.ofi4j.internal.os;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;

/** DMA-bufs: memory, mostly of devices, that the kernel knows by a descriptor; Linux's driver-api/dma-buf. */
public final class DmaBufs {
    private static final MemorySegment FSTATFS = LibC.function("fstatfs");
    private static final MemorySegment LSEEK = LibC.function("lseek");

    private static final int SEEK_END = 2;
    /** At least the length of {@code struct statfs}, whose first field is the type of the file system. */
    private static final long STATFS = 256;
    /** DMA_BUF_MAGIC of linux/magic.h: the type of the file system that has DMA-bufs only. */
    private static final long MAGIC = 0x444d4142;

    private DmaBufs() {}

    /** The reason why a descriptor is not a DMA-buf, as the end of a sentence; empty if it is one. */
    public static String describeProblem(int descriptor) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment system = arena.allocate(STATFS, Long.BYTES);
            if (Downcalls.callForInt(FSTATFS, descriptor, system) != 0) { return "is not open"; }
            return system.get(JAVA_LONG, 0) == MAGIC ? "" : "is " + target(descriptor) + ", not a DMA-buf";
        }
    }

    private static String target(int descriptor) {
        try {
            return Files.readSymbolicLink(Path.of("/proc/self/fd", Integer.toString(descriptor))).toString();
        } catch (IOException e) {
            return "another file";
        }
    }

    /** The number of bytes of a DMA-buf. */
    public static long size(int descriptor) {
        return Downcalls.callForLong(LSEEK, descriptor, 0, SEEK_END);
    }
}
