package io.ofi4j.internal.os;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/** Pages of this process: mmap(2) and related calls. Addresses and lengths are whole pages unless said otherwise. */
@SuppressWarnings("restricted")
public final class NativeMemory {
    private static final MemorySegment MMAP = LibC.function("mmap");
    private static final MemorySegment MUNMAP = LibC.function("munmap");
    private static final MemorySegment MSYNC = LibC.function("msync");
    private static final MemorySegment MINCORE = LibC.function("mincore");
    private static final MemorySegment SYSCALL = LibC.function("syscall");
    private static final MemorySegment MADVISE = LibC.function("madvise");

    /**
     * As many pages as a table of them, which fills a page, has entries of 8 bytes: 2 MiB, or 32 MiB where a page has
     * 16 KiB.
     */
    public static final long HUGE_PAGE = Machine.PAGE * (Machine.PAGE / Long.BYTES);

    private static final int HEXADECIMAL = 16;
    private static final int NO_ACCESS = 0;
    private static final int READ_AND_WRITE = 3;
    private static final int PRIVATE_AND_ANONYMOUS = 0x22;
    private static final int FIXED = 0x10;
    private static final int NOT_RESERVED = 0x4000;
    private static final int SYNCHRONOUSLY = 4;
    private static final int POPULATE = 0x8000;
    private static final int DONTNEED = 4;
    private static final int HUGE_PAGES = 14;
    private static final int POPULATE_FOR_WRITING = 23;
    private static final long FAILED = -1;
    private static final long NO_SUCH_CHANGE = -1;

    /** Whether an address is in writable memory, by /proc/self/maps; false without it. */
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

    /**
     * Whether this process can read at an address. An invalid address causes no signal: rt_sigprocmask(2) copies the
     * set of signals, and fails with EFAULT if it cannot, before it refuses the invalid operation.
     */
    public static boolean isReadable(long address) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment errno = arena.allocate(JAVA_INT);
            long set = address & -Long.BYTES; // inside the same page
            long status = Downcalls.callWithErrno(errno, SYSCALL, Machine.RT_SIGPROCMASK, NO_SUCH_CHANGE, set, 0,
                    Long.BYTES);
            return status == 0 || errno.get(JAVA_INT, 0) != Errno.EFAULT;
        }
    }

    /** Rounds up to whole pages. */
    public static long wholePages(long length) {
        return (length + Machine.PAGE - 1) / Machine.PAGE * Machine.PAGE;
    }

    /**
     * Zeroed and populated pages; huge ones if there is room: otherwise a transfer of a megabyte is 256 pages for the
     * kernel or an adapter to look up.
     */
    public static long map(long length) {
        if (length < HUGE_PAGE) { return mapped(length, POPULATE); }
        long room = mapped(length + HUGE_PAGE, 0);
        long address = (room + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
        if (address > room) { unmap(room, address - room); }
        if (address < room + HUGE_PAGE) { unmap(address + length, room + HUGE_PAGE - address); }
        advise(address, length, HUGE_PAGES); // a hint
        if (!advise(address, length, POPULATE_FOR_WRITING)) { // Linux before 5.14
            MemorySegment.ofAddress(address).reinterpret(length).fill((byte) 0);
        }
        return address;
    }

    private static long mapped(long length, int flags) {
        long address = mmap(0, length, READ_AND_WRITE, PRIVATE_AND_ANONYMOUS | flags);
        if (address == FAILED) {
            throw new OutOfMemoryError("the system refuses this process " + length
                    + " bytes of memory: close regions, or raise its limits ('ulimit -v', the container's)");
        }
        return address;
    }

    /** Whether the address space of this process has room for so many bytes more, now. */
    public static boolean hasRoom(long length) {
        long address = mmap(0, length, NO_ACCESS, PRIVATE_AND_ANONYMOUS | NOT_RESERVED);
        if (address == FAILED) { return false; }
        unmap(address, length);
        return true;
    }

    /**
     * Pages that take memory when they are written first, and not before; 0 if there is no room for so many.
     *
     * @param hint where they are if there is room, or 0
     */
    public static long reserve(long length, long hint) {
        long address = mmap(hint, length, READ_AND_WRITE, PRIVATE_AND_ANONYMOUS | NOT_RESERVED);
        return address == FAILED ? 0 : address;
    }

    public static void unmap(long address, long length) { Downcalls.call(false, MUNMAP, address, length); }

    private static boolean advise(long address, long length, int advice) {
        return Downcalls.callForInt(MADVISE, address, length, advice) == 0;
    }

    /**
     * Replaces pages, or a mapped file, by an empty mapping that reserves no memory; of any address and length. The
     * pages or the file are released. Later writes go to new pages that are never read.
     */
    public static void discard(long address, long length) {
        long begin = address / Machine.PAGE * Machine.PAGE;
        long pages = wholePages(address + length - begin);
        int flags = PRIVATE_AND_ANONYMOUS | FIXED | NOT_RESERVED;
        if (mmap(begin, pages, READ_AND_WRITE, flags) == FAILED) { // too many mappings
            advise(begin, pages, DONTNEED);
        }
    }

    private static long mmap(long address, long length, int protection, int flags) {
        return Downcalls.callForLong(MMAP, address, length, protection, flags, -1, 0);
    }

    /** msync(2) of mapped memory of any address and length: 0, or the errno. */
    public static int sync(long address, long length) {
        long begin = address / Machine.PAGE * Machine.PAGE;
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment errno = arena.allocate(JAVA_INT);
            long size = address + length - begin;
            int status = (int) Downcalls.callWithErrno(errno, MSYNC, begin, size, SYNCHRONOUSLY);
            return status == 0 ? 0 : errno.get(JAVA_INT, 0);
        }
    }

    /** Whether the system has any page of mapped memory of any address and length; true also if it does not say. */
    public static boolean isAnyPresent(long address, long length) {
        long begin = address / Machine.PAGE * Machine.PAGE;
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment pages = arena.allocate(wholePages(address + length - begin) / Machine.PAGE);
            if (Downcalls.callForInt(MINCORE, begin, address + length - begin, pages) != 0) { return true; }
            return pages.elements(JAVA_BYTE).anyMatch(page -> (page.get(JAVA_BYTE, 0) & 1) != 0);
        }
    }

    /** A view of memory for the life of an arena, and an action when that is closed. */
    public static MemorySegment view(long address, long length, Arena arena, Runnable afterwards) {
        return MemorySegment.ofAddress(address).reinterpret(length, arena, ignored -> afterwards.run());
    }
}
