package io.ofi4j.verbs;

/**
 * Receives completions from {@link VerbsCompletionQueue#poll} on the polling thread. It may post operations and poll.
 */
@FunctionalInterface
public interface WorkHandler {
    /** In the flags: the word is the peer's immediate. */
    int IMMEDIATE = 1 << 1;
    /** In the flags: the word is the key of a window that the peer has invalidated. */
    int INVALIDATED = 1 << 3;

    /**
     * An operation has completed; {@code struct ibv_wc}, ibv_poll_cq(3).
     *
     * @param token the token given when it was posted
     * @param kind what it was
     * @param length the number of bytes that were received; meaningful for receives only
     * @param flags {@link #IMMEDIATE} and {@link #INVALIDATED}; 0 but for receives
     * @param word what the flags say, else 0
     */
    void onCompletion(long token, WorkKind kind, int length, int flags, int word);

    /**
     * An operation has failed. Its queue pair is in the error state, and all behind it come back
     * {@link WorkStatus#FLUSHED}. The default throws the error; later completions stay in the queue.
     *
     * @param error the failed operation and the cause
     */
    default void onError(WorkError error) { throw error.toException(); }
}
