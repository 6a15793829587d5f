package io.ofi4j.internal.os;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/** Pages of this process: mmap(2) and its like. Addresses and lengths are whole pages unless said otherwise. */
@SuppressWarnings("restricted")
public final class NativeMemory {
    private static final MethodHandle MMAP = LibC.handle("mmap",
            FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG));
    private static final MethodHandle MUNMAP = LibC.handle("munmap",
            FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle MADVISE = LibC.handle("madvise",
            FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_INT));

    public static final long PAGE = 4096;
    /** Of x86-64. */
    public static final long HUGE_PAGE = 2 << 20;

    private static final int HEXADECIMAL = 16;
    private static final int READ_AND_WRITE = 3;
    private static final int PRIVATE_AND_ANONYMOUS = 0x22;
    private static final int FIXED_AND_NOT_RESERVED = 0x4010;
    private static final int POPULATE = 0x8000;
    private static final int DONTNEED = 4;
    private static final int HUGE_PAGES = 14;
    private static final int POPULATE_FOR_WRITING = 23;
    private static final long FAILED = -1;

    private NativeMemory() {
    }

    /** Whether an address is in memory that may be written; not where the system does not tell. */
    public static boolean isWritable(long address) {
        try (Stream<String> mappings = Files.lines(Path.of("/proc/self/maps"), StandardCharsets.ISO_8859_1)) {
            return mappings.map(line -> line.split("[- ]", 4)) // "address-end rights offset device inode file"
                    .anyMatch(words -> Long.compareUnsigned(Long.parseUnsignedLong(words[0], HEXADECIMAL), address) <= 0
                            && Long.compareUnsigned(Long.parseUnsignedLong(words[1], HEXADECIMAL), address) > 0
                            && words[2].contains("w"));
        } catch (IOException e) {
            return false;
        }
    }

    /** How many bytes the pages have that hold so many. */
    public static long wholePages(long length) {
        return (length + PAGE - 1) / PAGE * PAGE;
    }

    /**
     * Zeroed pages, which are there before they are touched. Where there is room for huge ones, the system is asked for them: a
     * transfer of a megabyte is 256 pages otherwise, each of which the kernel or an adapter looks up.
     */
    public static long map(long length) {
        if (length < HUGE_PAGE) {
            return mapped(length, POPULATE);
        }
        long room = mapped(length + HUGE_PAGE, 0);
        long address = (room + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
        if (address > room) {
            unmap(room, address - room);
        }
        if (address < room + HUGE_PAGE) {
            unmap(address + length, room + HUGE_PAGE - address);
        }
        advise(address, length, HUGE_PAGES); // as far as it wants to
        if (!advise(address, length, POPULATE_FOR_WRITING)) { // Linux before 5.14
            MemorySegment.ofAddress(address).reinterpret(length).fill((byte) 0);
        }
        return address;
    }

    private static long mapped(long length, int flags) {
        long address = mmap(0, length, PRIVATE_AND_ANONYMOUS | flags);
        if (address == FAILED) {
            throw new OutOfMemoryError("the system gives this process no " + length
                    + " bytes of memory: close regions, or raise its limits ('ulimit -v', the container's)");
        }
        return address;
    }

    public static void unmap(long address, long length) {
        try {
            int ignored = (int) MUNMAP.invokeExact(address, length);
        } catch (Throwable t) {
            throw LibC.unexpected(t);
        }
    }

    private static boolean advise(long address, long length, int advice) {
        try {
            return (int) MADVISE.invokeExact(address, length, advice) == 0;
        } catch (Throwable t) {
            throw LibC.unexpected(t);
        }
    }

    /**
     * Replaces pages, or a file's mapping, by an empty mapping without a claim on the system's memory; of any address and length. The
     * pages or the file are let go. What is written later comes to new pages, which nobody reads.
     */
    public static void cover(long address, long length) {
        long begin = address / PAGE * PAGE;
        long pages = wholePages(address + length - begin);
        if (mmap(begin, pages, PRIVATE_AND_ANONYMOUS | FIXED_AND_NOT_RESERVED) == FAILED) { // too many mappings
            advise(begin, pages, DONTNEED);
        }
    }

    private static long mmap(long address, long length, int flags) {
        try {
            return (long) MMAP.invokeExact(address, length, READ_AND_WRITE, flags, -1, 0L);
        } catch (Throwable t) {
            throw LibC.unexpected(t);
        }
    }

    /** Memory as it is seen until an arena is closed; then something is done. */
    public static MemorySegment view(long address, long length, Arena arena, Runnable afterwards) {
        return MemorySegment.ofAddress(address).reinterpret(length, arena, ignored -> afterwards.run());
    }
}
