package io.ofi4j;

import io.ofi4j.info.Capability;
import io.ofi4j.info.CompletionFormat;

/** A {@link CompletionHandler} that receives everything a queue knows of a completion. */
@FunctionalInterface
public interface DetailedCompletionHandler extends CompletionHandler {
    /**
     * As {@link CompletionHandler#onCompletion}, with all fields of {@code struct fi_cq_tagged_entry} and the source of
     * fi_cq_readfrom, fi_cq(3). Fields that the queue's {@link CompletionFormat} lacks are 0.
     *
     * @param buffer the address of the memory, if the provider reports it
     * @param tag the message's tag
     * @param source the peer that caused it, as {@link Peer#fabricAddress}; {@link Peer#ADDRESS_NOT_AVAILABLE} if no
     *         peer did, {@link Capability#SOURCE} was not requested, the provider does not report it, the format is
     *         {@link CompletionFormat#CONTEXT}, or the completion was first read for a handler of the other kind, which
     *         threw
     */
    void onCompletion(long token, long flags, long length, long data, long buffer, long tag, long source);

    @Override
    default void onCompletion(long token, long flags, long length, long data) {
        onCompletion(token, flags, length, data, 0, 0, Peer.ADDRESS_NOT_AVAILABLE);
    }
}
