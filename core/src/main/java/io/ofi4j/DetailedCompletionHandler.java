package io.ofi4j;

import io.ofi4j.info.Capability;
import io.ofi4j.info.CompletionFormat;

/** Takes completions with everything that a queue knows of them; as {@link CompletionHandler} otherwise. */
@FunctionalInterface
public interface DetailedCompletionHandler extends CompletionHandler {
    /**
     * An operation has completed; {@code struct fi_cq_tagged_entry}, and the source of fi_cq_readfrom, fi_cq(3). What the
     * queue's {@link CompletionFormat} lacks is 0.
     *
     * @param token what was given when it was posted, or {@link #NO_TOKEN}
     * @param flags what completed, as {@link CompletionFlags}
     * @param length how many bytes came in; meaningful for receives only
     * @param data the peer's completion data, where the flags say that there is some
     * @param buffer the address of the memory, where the provider tells it
     * @param tag the message's tag
     * @param source who caused it, an {@code fi_addr_t} as of {@link Peer#fabricAddress}; {@link Peer#ADDRESS_NOT_AVAILABLE}
     *        where it is not a peer's doing, {@link Capability#SOURCE} was not asked for, the provider does not tell, the
     *        format is {@link CompletionFormat#CONTEXT}, or it was read for a handler of the other kind, which threw
     */
    void onCompletion(long token, long flags, long length, long data, long buffer, long tag, long source);

    @Override
    default void onCompletion(long token, long flags, long length, long data) {
        onCompletion(token, flags, length, data, 0, 0, Peer.ADDRESS_NOT_AVAILABLE);
    }
}
