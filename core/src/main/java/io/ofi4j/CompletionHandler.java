package io.ofi4j;

/**
 * Takes completions from {@link CompletionQueue#poll}, on the polling thread. It may post operations, and
 * poll.
 */
@FunctionalInterface
public interface CompletionHandler {
    /** The token of a completion that belongs to no operation of this process, such as a peer's write with data. */
    long NO_TOKEN = -1;

    /**
     * An operation has completed; {@code struct fi_cq_data_entry}, fi_cq(3).
     *
     * @param token what was given when it was posted, or {@link #NO_TOKEN}
     * @param flags what completed, as FI_* flags of fi_cq(3)
     * @param length how many bytes came in; meaningful for receives only
     * @param data the peer's completion data, where the flags say that there is some
     */
    void onCompletion(long token, long flags, long length, long data);

    /**
     * An operation has failed. Unless overridden, throws the error; completions behind it stay in the queue.
     *
     * @param error what failed and why
     */
    default void onError(CompletionError error) {
        throw error.toException();
    }
}
