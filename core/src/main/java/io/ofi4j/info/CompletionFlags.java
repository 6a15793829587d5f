package io.ofi4j.info;

/** The flags of a completion, tested with {@code &}; fi_cq(3). */
public final class CompletionFlags {
    /** A one-sided operation. */
    public static final long RMA = 1L << 2;
    /** An atomic operation. */
    public static final long ATOMIC = 1L << 4;
    /** A read of this process. */
    public static final long READ = 1L << 8;
    /** A write of this process. */
    public static final long WRITE = 1L << 9;
    /** A peer's read of this process's memory. */
    public static final long REMOTE_READ = 1L << 12;
    /** A peer's write to this process's memory. */
    public static final long REMOTE_WRITE = 1L << 13;
    /** The completion carries a peer's data. */
    public static final long REMOTE_CQ_DATA = 1L << 17;

    private CompletionFlags() {}
}
