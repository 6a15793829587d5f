package io.ofi4j.util;

import io.ofi4j.CompletionError;

/**
 * Receives the completions of a {@link Pipeline}, on the thread that polls it. It may submit further operations.
 *
 * @param <C> the type of the context of an operation
 */
public interface PipelineHandler<C> {
    /**
     * An operation has completed.
     *
     * @param context the object that was submitted with it
     * @param length the number of bytes received; meaningful for receives only
     * @param data the peer's completion data, meaningful for a receive whose message carried data
     */
    void onCompletion(C context, long length, long data);

    /**
     * An operation has failed.
     *
     * @param context the object that was submitted with it
     * @param error the failed operation and the cause
     */
    void onError(C context, CompletionError error);

    /**
     * A completion that belongs to no operation of the pipeline, such as a peer's write with data. The default ignores
     * it.
     *
     * @param token the token, or {@link io.ofi4j.CompletionHandler#NO_TOKEN}
     * @param flags the kind of operation, as {@link io.ofi4j.info.CompletionFlags}
     * @param length the number of bytes received
     * @param data the peer's completion data
     */
    default void onOther(long token, long flags, long length, long data) {}
}
