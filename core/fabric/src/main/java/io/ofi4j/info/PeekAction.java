package io.ofi4j.info;

/**
 * What {@link io.ofi4j.Tagged#tryPeek(PeekAction, long, long, long)} does with the message that it finds; fi_tagged(3).
 */
public enum PeekAction {
    /** The message stays for any receive that matches it; FI_PEEK. */
    KEEP,
    /** The message is dropped; FI_PEEK with FI_DISCARD. */
    DISCARD,
    /**
     * The message stays for {@link io.ofi4j.Tagged#tryReceiveClaimed} or {@link io.ofi4j.Tagged#tryDiscardClaimed} with
     * the same token, and no other receive takes it; FI_PEEK with FI_CLAIM. It occupies a slot of the queue until then.
     */
    CLAIM
}
