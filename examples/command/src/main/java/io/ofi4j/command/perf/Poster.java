package io.ofi4j.command.perf;

/** Posts operations of one end, whose memory they are in; each returns whether there was room. */
interface Poster {
    boolean tryWrite(long offset, long size, long targetOffset, long token);

    /** Also gives the peer a completion. */
    boolean tryWriteData(long offset, long size, long data, long targetOffset, long token);

    /** Without a completion. */
    boolean tryInject(long offset, long size, long targetOffset);

    boolean tryRead(long offset, long size, long targetOffset, long token);

    /** Adds the number at an offset to one of the target's, and fetches what that was. */
    boolean tryFetchAdd(long offset, long result, long targetOffset, long token);

    boolean trySend(long offset, long size, long tag, long token);

    boolean tryReceive(long offset, long size, long tag, long token);

    /** {@return how many bytes the memory of the target has} */
    long targetLength();
}
