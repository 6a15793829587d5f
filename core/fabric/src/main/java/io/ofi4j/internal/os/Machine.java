package io.ofi4j.internal.os;

/**
 * Constants and sizes of Linux and its C library that depend on the machine, each with all its values. Constants that
 * are the same on x86-64 and aarch64 stand where they are used. A test compares both kinds with the C compiler.
 */
public final class Machine {
    private static final String NAME = System.getProperty("os.arch");
    private static final boolean IS_X86_64 = NAME.equals("amd64");
    private static final boolean IS_AARCH64 = NAME.equals("aarch64");

    private static final int SC_PAGESIZE = 30;

    /** The bytes of a page: 4 KiB on x86-64; 4, 16 or 64 KiB on aarch64, as its kernel was built. */
    public static final long PAGE = pageSize();

    /** open(2): the file must be a folder. Some machines have a value of their own, aarch64 among them. */
    static final int O_DIRECTORY = IS_AARCH64 ? 0x4000 : 0x10000;

    /** open(2): a file without a name is made in the folder; the bit is that of every machine here. */
    static final int O_TMPFILE = 0x400000 | O_DIRECTORY;

    /** The number of rt_sigprocmask(2): of x86-64, and of machines that have the kernel's common table. */
    static final long RT_SIGPROCMASK = IS_X86_64 ? 14 : 135;

    /** The bytes of a pthread_mutex_t. */
    public static final long PTHREAD_MUTEX = IS_AARCH64 ? 48 : 40;

    private Machine() {}

    private static long pageSize() {
        long size = Downcalls.callForLong(LibC.function("sysconf"), SC_PAGESIZE);
        return size > 0 ? size : 4096;
    }
}
