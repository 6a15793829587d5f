package io.ofi4j;

import io.ofi4j.info.CompletionFlags;
/** Receives completions from {@link CompletionQueue#poll} on the polling thread. It may post operations and poll. */
@FunctionalInterface
public interface CompletionHandler {
    /**
     * The token of a completion that belongs to no operation of this process, such as a peer's write with data. A
     * program may post with this token too, but then its handler cannot tell the two apart.
     */
    long NO_TOKEN = -1;

    /**
     * An operation has completed; {@code struct fi_cq_data_entry}, fi_cq(3).
     *
     * @param token the token given when it was posted, or {@link #NO_TOKEN}
     * @param flags the kind of operation, as {@link CompletionFlags}
     * @param length the number of bytes received; meaningful for receives only
     * @param data the peer's completion data, if the flags have {@link CompletionFlags#REMOTE_CQ_DATA}
     */
    void onCompletion(long token, long flags, long length, long data);

    /**
     * An operation has failed. The default throws the error of an operation that this process has posted; later
     * completions stay in the queue. It ignores an error of no operation of its own, {@link CompletionError#posted}: a
     * peer that leaves shall not end the loop that polls. Failed injects are among these, for an inject has no token.
     * Statistics count them, and a program that needs each of them overrides this method.
     *
     * @param error the failed operation and the cause
     */
    default void onError(CompletionError error) { if (error.posted()) { throw error.toException(); } }
}
