package io.ofi4j.verbs;

/**
 * Receives completions from {@link VerbsCompletionQueue#poll} on the polling thread. It may post operations and poll.
 */
@FunctionalInterface
public interface WorkHandler {
    /** A flag: the word is the peer's immediate. */
    int IMMEDIATE = 1 << 1;
    /** A flag: the word is the key of a window that the peer has invalidated. */
    int INVALIDATED = 1 << 3;

    /**
     * An operation has completed; {@code struct ibv_wc}, ibv_poll_cq(3).
     *
     * @param token the token given when the operation was posted
     * @param kind the kind of operation
     * @param length the number of bytes received; meaningful for receives only
     * @param flags {@link #IMMEDIATE} and {@link #INVALIDATED}, for receives only; otherwise 0
     * @param word the number that the flags name; otherwise 0
     */
    void onCompletion(long token, WorkKind kind, int length, int flags, int word);

    /**
     * An operation has failed. Its queue pair is in the error state, and all operations after it come back as
     * {@link WorkStatus#FLUSHED}. The default throws the error; later completions stay in the queue.
     *
     * @param error the failed operation and the cause
     */
    default void onError(WorkError error) { throw error.toException(); }
}
