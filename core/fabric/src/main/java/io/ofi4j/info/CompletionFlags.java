package io.ofi4j.info;

/** The flags of a completion, tested with {@code &}; fi_cq(3). */
public final class CompletionFlags {
    /** A message without a tag. */
    public static final long MSG = 1L << 1;
    /** A one-sided operation. */
    public static final long RMA = 1L << 2;
    /** A message with a tag. */
    public static final long TAGGED = 1L << 3;
    /** An atomic operation. */
    public static final long ATOMIC = 1L << 4;
    /** A read of this process. */
    public static final long READ = 1L << 8;
    /** A write of this process. */
    public static final long WRITE = 1L << 9;
    /** A receive. */
    public static final long RECV = 1L << 10;
    /** A send. */
    public static final long SEND = 1L << 11;
    /** A peer's read of this process's memory. */
    public static final long REMOTE_READ = 1L << 12;
    /** A peer's write to this process's memory. */
    public static final long REMOTE_WRITE = 1L << 13;
    /** The last completion of a receive of many messages: its memory is the application's again. */
    public static final long MULTI_RECV = 1L << 16;
    /** The completion carries a peer's data. */
    public static final long REMOTE_CQ_DATA = 1L << 17;

    private CompletionFlags() {}
}
