package io.ofi4j;

import io.ofi4j.info.Capability;
import io.ofi4j.info.DomainAttributes;
import io.ofi4j.info.EndpointAttributes;
import io.ofi4j.info.OperationFlag;
import io.ofi4j.info.PeekAction;
import io.ofi4j.internal.engine.ContextSlab;
import io.ofi4j.internal.engine.ThreadGuard;
import io.ofi4j.internal.ffi.FabricConstants;
import io.ofi4j.internal.ffi.PreparedMessageStruct;
import io.ofi4j.internal.ffi.TaggedOps;
import io.ofi4j.internal.quirks.Fact;
import io.ofi4j.internal.quirks.Quirks;
import java.util.Objects;

/**
 * Messages with tags, which are matched with posted receives by their tag; fi_tagged(3). Returned by
 * {@link Endpoint#tagged}. A receive takes the first message whose tag equals its own in all bits that are not ignored.
 * A message without a matching receive waits. Messages with the same tag from the same peer are matched in order.
 * {@link Messages} have the same queues, but other receives: a receive without a tag never takes a message with a tag,
 * or the reverse. Offsets and lengths are in bytes. Posting allocates nothing.
 *
 * <p>Completions and their order, messages that are longer than their receive, full queues and errors are as in
 * {@link Messages}. In addition, every operation throws IllegalArgumentException if the tag has bits that the provider
 * does not match: {@link EndpointAttributes#tagFormat}. A {@link DetailedCompletionHandler} gets the tag of a
 * completion.
 */
public final class Tagged extends TwoSided {
    private final TaggedOps ops;
    /** The struct for peeks, and for receives of claimed messages; used inside the guard of receives. */
    private final PreparedMessageStruct peekStruct = new PreparedMessageStruct(true, 1);
    private final long tagBits;
    /** Why calls are refused, or null; the same holds for the strings below. */
    private final String maskRefusal;
    private final String peekRefusal;
    private final String claimRefusal;
    private final String discardRefusal;

    Tagged(Endpoint endpoint) {
        super(endpoint, true, Capability.TAGGED_DIRECTED_RECV.bit());
        this.ops = new TaggedOps(endpoint.handle, endpoint.domain.queues.hasCriticalPosts(endpoint),
                endpoint.domain.queues.hasCriticalReceives(endpoint));
        long format = endpoint.info().endpoint().tagFormat();
        this.tagBits = format == 0 ? -1 : (Long.highestOneBit(format) << 1) - 1;
        this.maskRefusal = endpoint.quirks.refusal(Fact.MASKS_IGNORED);
        this.peekRefusal = endpoint.bindings.role == EndpointBindings.Role.SHARED_RECEIVE
                ? endpoint.quirks.refusal(Fact.SHARED_LOOKS_CRASH, Fact.PEEK_RECEIVES)
                : endpoint.quirks.refusal(Fact.PEEK_RECEIVES);
        this.claimRefusal = endpoint.quirks.refusal(Fact.CLAIMS_TRUNCATE, Fact.CLAIMS_LOSE_MESSAGES,
                Fact.CLAIMS_TAKE_ONE_SEGMENT);
        this.discardRefusal = endpoint.quirks.refusal(Fact.DISCARDED_SENDS_HANG, Fact.DISCARDS_OVERWRITE,
                Fact.DISCARDS_HANG, Fact.DISCARDS_INCOMPLETE);
    }

    /** {@return the bits of a tag that the provider matches} */
    public long tagBits() { return tagBits; }

    /**
     * Starts sending a message if there is room; fi_tsend, fi_tagged(3).
     *
     * @param local the bytes to send; needs {@link Access#SEND}
     * @param offset the start of the message in the region, in bytes
     * @param length the number of bytes, 0 to {@link #maximumMessageSize}
     * @param peer the receiver
     * @param tag the tag of the message
     * @param token comes back with the completion
     * @return whether the message was accepted
     * @throws UnsupportedOperationException if the message has no bytes, {@link OperationFlag#DELIVERY_COMPLETE} is a
     *         default flag, and the provider would never complete the send
     */
    public boolean trySend(MemoryRegion local, long offset, long length, Peer peer, long tag, long token) {
        boolean entered = ThreadGuard.enter(guard, unlockedThread);
        try {
            requireTag(tag);
            requireSend(local, offset, length, peer);
            if (length == 0) { requireEmptyCompletes(defaultFlags); }
            long context = contexts.acquire(token, number, local.number);
            return context != ContextSlab.NONE && accepted(context,
                    ops.fi_tsend(local.address + offset, length, local.descriptor, peer.fabricAddress, tag, context),
                    "fi_tsend", peer);
        } finally {
            ThreadGuard.exit(guard, entered);
        }
    }

    /** As {@link #trySend(MemoryRegion, long, long, Peer, long, long)}, but sends a slice, and waits for room. */
    public void send(MemoryRegion.Slice local, Peer peer, long tag, long token) {
        if (!trySend(local.region(), local.offset(), local.length(), peer, tag, token)) {
            awaitRoom("fi_tsend", peer,
                    () -> trySend(local.region(), local.offset(), local.length(), peer, tag, token));
        }
    }

    /**
     * As {@link #trySend(MemoryRegion, long, long, Peer, long, long)}, but sends a header and a body as one message, as
     * {@link Messages#trySend(MemoryRegion, long, long, MemoryRegion, long, long, Peer, long)} does; fi_tsendv.
     *
     * @param header the first bytes of the message; needs {@link Access#SEND}
     * @param headerOffset the start of the header in its region, in bytes
     * @param headerLength the number of bytes of the header; 0 is possible
     * @param body the bytes after the header; needs {@link Access#SEND}
     * @param bodyOffset the start of the body in its region, in bytes
     * @param bodyLength the number of bytes of the body; 0 is possible
     * @param peer the receiver
     * @param tag the tag of the message
     * @param token comes back with the completion
     * @return whether the message was accepted
     */
    public boolean trySend(MemoryRegion header, long headerOffset, long headerLength, MemoryRegion body,
            long bodyOffset, long bodyLength, Peer peer, long tag, long token) {
        boolean entered = ThreadGuard.enter(guard, unlockedThread);
        try {
            requireTag(tag);
            long context = acquire(header, headerOffset, headerLength, body, bodyOffset, bodyLength, peer, token);
            if (context == ContextSlab.NONE) { return false; }
            twoSegments.tag(tag, 0);
            return accepted(context, ops.fi_tsendv(twoSegments, context), "fi_tsendv", peer);
        } finally {
            ThreadGuard.exit(guard, entered);
        }
    }

    /**
     * As {@link #trySend(MemoryRegion, long, long, MemoryRegion, long, long, Peer, long, long)}, but sends slices, and
     * waits for room.
     */
    public void send(MemoryRegion.Slice header, MemoryRegion.Slice body, Peer peer, long tag, long token) {
        if (!trySend(header.region(), header.offset(), header.length(), body.region(), body.offset(), body.length(),
                peer, tag, token)) {
            awaitRoom("fi_tsendv", peer, () -> trySend(header.region(), header.offset(), header.length(), body.region(),
                    body.offset(), body.length(), peer, tag, token));
        }
    }

    /**
     * As {@link #trySend(MemoryRegion, long, long, Peer, long, long)}, but without a completion, for up to
     * {@link #injectSize} bytes; fi_tinject. The local bytes may be changed when this returns.
     */
    public boolean tryInject(MemoryRegion local, long offset, long length, Peer peer, long tag) {
        requireInjectable(length);
        boolean entered = ThreadGuard.enter(guard, unlockedThread);
        try {
            requireTag(tag);
            requireSend(local, offset, length, peer);
            return accepted(ops.fi_tinject(local.address + offset, length, peer.fabricAddress, tag), "fi_tinject",
                    peer);
        } finally {
            ThreadGuard.exit(guard, entered);
        }
    }

    /** As {@link #tryInject}, but sends a slice, and waits for room. */
    public void inject(MemoryRegion.Slice local, Peer peer, long tag) {
        if (!tryInject(local.region(), local.offset(), local.length(), peer, tag)) {
            awaitRoom("fi_tinject", peer, () -> tryInject(local.region(), local.offset(), local.length(), peer, tag));
        }
    }

    /**
     * As {@link #trySend(MemoryRegion, long, long, Peer, long, long)}, with data for the peer's completion;
     * fi_tsenddata.
     *
     * @param data the data, of up to {@link DomainAttributes#completionDataSize} bytes
     * @throws UnsupportedOperationException if the provider does not carry data, or as
     *         {@link #trySend(MemoryRegion, long, long, Peer, long, long)}
     */
    public boolean trySendData(MemoryRegion local, long offset, long length, long data, Peer peer, long tag,
            long token) {
        requireData(data);
        boolean entered = ThreadGuard.enter(guard, unlockedThread);
        try {
            requireTag(tag);
            requireSend(local, offset, length, peer);
            if (length == 0) { requireEmptyCompletes(defaultFlags); }
            long context = contexts.acquire(token, number, local.number);
            return context != ContextSlab.NONE && accepted(context, ops.fi_tsenddata(local.address + offset, length,
                    local.descriptor, data, peer.fabricAddress, tag, context), "fi_tsenddata", peer);
        } finally {
            ThreadGuard.exit(guard, entered);
        }
    }

    /** As {@link #trySendData}, but sends a slice, and waits for room. */
    public void sendData(MemoryRegion.Slice local, long data, Peer peer, long tag, long token) {
        if (!trySendData(local.region(), local.offset(), local.length(), data, peer, tag, token)) {
            awaitRoom("fi_tsenddata", peer,
                    () -> trySendData(local.region(), local.offset(), local.length(), data, peer, tag, token));
        }
    }

    /** As {@link #tryInject}, with data for the peer's completion as in {@link #trySendData}; fi_tinjectdata. */
    public boolean tryInjectData(MemoryRegion local, long offset, long length, long data, Peer peer, long tag) {
        requireInjectable(length);
        requireData(data);
        boolean entered = ThreadGuard.enter(guard, unlockedThread);
        try {
            requireTag(tag);
            requireSend(local, offset, length, peer);
            return accepted(ops.fi_tinjectdata(local.address + offset, length, data, peer.fabricAddress, tag),
                    "fi_tinjectdata", peer);
        } finally {
            ThreadGuard.exit(guard, entered);
        }
    }

    /** As {@link #tryInjectData}, but sends a slice, and waits for room. */
    public void injectData(MemoryRegion.Slice local, long data, Peer peer, long tag) {
        if (!tryInjectData(local.region(), local.offset(), local.length(), data, peer, tag)) {
            awaitRoom("fi_tinjectdata", peer,
                    () -> tryInjectData(local.region(), local.offset(), local.length(), data, peer, tag));
        }
    }

    /**
     * Posts a receive for the next matching message of any peer if there is room; fi_trecv, fi_tagged(3).
     *
     * @param local the region that receives the message; needs {@link Access#RECEIVE}
     * @param offset the start of the message in the region, in bytes
     * @param length the number of bytes of the longest message
     * @param tag the tag to receive
     * @param ignore the bits of the tag that need not match
     * @param token comes back with the completion
     * @return whether the receive was accepted
     * @throws UnsupportedOperationException if bits are to be ignored and the provider compares them in messages that
     *         come before their receive
     */
    public boolean tryReceive(MemoryRegion local, long offset, long length, long tag, long ignore, long token) {
        boolean entered = ThreadGuard.enter(receiveGuard, receiveUnlockedThread);
        try {
            requireTag(tag);
            requireMask(ignore);
            requireReceive(local, offset, length);
            long context = receiveContexts.acquire(token, receiveNumber, local.number);
            return context != ContextSlab.NONE && acceptedReceive(context,
                    ops.fi_trecv(local.address + offset, length, local.descriptor, ANY, tag, ignore, context),
                    "fi_trecv");
        } finally {
            ThreadGuard.exit(receiveGuard, entered);
        }
    }

    /**
     * As {@link #tryReceive(MemoryRegion, long, long, long, long, long)}, but receives into a slice, and waits for
     * room.
     */
    public void receive(MemoryRegion.Slice local, long tag, long ignore, long token) {
        if (!tryReceive(local.region(), local.offset(), local.length(), tag, ignore, token)) {
            awaitReceiveRoom("fi_trecv",
                    () -> tryReceive(local.region(), local.offset(), local.length(), tag, ignore, token));
        }
    }

    /**
     * As {@link #tryReceive(MemoryRegion, long, long, long, long, long)}, but takes a message of one peer only.
     *
     * @param peer the sender
     * @throws UnsupportedOperationException if the endpoint lacks {@link Capability#DIRECTED_RECV} and
     *         {@link Capability#TAGGED_DIRECTED_RECV}, the provider would not recognize the peer, or as
     *         {@link #tryReceive(MemoryRegion, long, long, long, long, long)}
     */
    public boolean tryReceive(MemoryRegion local, long offset, long length, Peer peer, long tag, long ignore,
            long token) {
        boolean entered = ThreadGuard.enter(receiveGuard, receiveUnlockedThread);
        try {
            requireTag(tag);
            requireMask(ignore);
            requireReceive(local, offset, length);
            long source = source(peer);
            long context = receiveContexts.acquire(token, receiveNumber, local.number);
            return context != ContextSlab.NONE && acceptedReceive(context,
                    ops.fi_trecv(local.address + offset, length, local.descriptor, source, tag, ignore, context),
                    "fi_trecv");
        } finally {
            ThreadGuard.exit(receiveGuard, entered);
        }
    }

    /**
     * As {@link #tryReceive(MemoryRegion, long, long, Peer, long, long, long)}, but receives into a slice, and waits
     * for room.
     */
    public void receive(MemoryRegion.Slice local, Peer peer, long tag, long ignore, long token) {
        if (!tryReceive(local.region(), local.offset(), local.length(), peer, tag, ignore, token)) {
            awaitReceiveRoom("fi_trecv",
                    () -> tryReceive(local.region(), local.offset(), local.length(), peer, tag, ignore, token));
        }
    }

    /**
     * Looks for a message of any peer that has come and that no receive has taken yet, and keeps, drops or claims it,
     * if there is room for the operation; fi_trecvmsg with FI_PEEK, fi_tagged(3). The completion has the length and the
     * tag of the message. If there is none, the operation completes with the error {@code ENOMSG} (42).
     *
     * @param action what happens to the message
     * @param tag the tag to look for
     * @param ignore the bits of the tag that need not match
     * @param token comes back with the completion
     * @return whether it was accepted
     * @throws UnsupportedOperationException if the provider would receive the message, end the process, cut a long
     *         message that is claimed short, or have the sender of a long message that is dropped wait for ever
     */
    public boolean tryPeek(PeekAction action, long tag, long ignore, long token) {
        return tryPeekFrom(null, action, tag, ignore, token);
    }

    /** As {@link #tryPeek(PeekAction, long, long, long)}, but waits for room. */
    public void peek(PeekAction action, long tag, long ignore, long token) {
        if (!tryPeek(action, tag, ignore, token)) {
            awaitReceiveRoom("fi_trecvmsg", () -> tryPeek(action, tag, ignore, token));
        }
    }

    /**
     * As {@link #tryPeek(PeekAction, long, long, long)}, for a message of one peer.
     *
     * @param peer the sender
     * @throws UnsupportedOperationException as {@link #tryPeek(PeekAction, long, long, long)}, or as a receive of
     *         messages of one peer
     */
    public boolean tryPeek(PeekAction action, Peer peer, long tag, long ignore, long token) {
        return tryPeekFrom(Objects.requireNonNull(peer, "peer"), action, tag, ignore, token);
    }

    /** As {@link #tryPeek(PeekAction, Peer, long, long, long)}, but waits for room. */
    public void peek(PeekAction action, Peer peer, long tag, long ignore, long token) {
        if (!tryPeek(action, peer, tag, ignore, token)) {
            awaitReceiveRoom("fi_trecvmsg", () -> tryPeek(action, peer, tag, ignore, token));
        }
    }

    /** The peer is null for any. */
    private boolean tryPeekFrom(Peer peer, PeekAction action, long tag, long ignore, long token) {
        long flags = FabricConstants.FI_PEEK | switch (action) {
            case KEEP -> 0;
            case DISCARD -> {
                Quirks.require(discardRefusal);
                yield FabricConstants.FI_DISCARD;
            }
            case CLAIM -> {
                Quirks.require(claimRefusal);
                yield FabricConstants.FI_CLAIM;
            }
        };
        Quirks.require(peekRefusal);
        boolean entered = ThreadGuard.enter(receiveGuard, receiveUnlockedThread);
        try {
            requireTag(tag);
            requireMask(ignore);
            requireReceiving();
            long source = peer == null ? ANY : source(peer);
            long claimMark = action == PeekAction.CLAIM ? ContextSlab.PEEK_TO_CLAIM : 0;
            long context = receiveContexts.acquire(token, receiveNumber | claimMark, 0);
            if (context == ContextSlab.NONE) { return false; }
            peekStruct.count(0, 0);
            peekStruct.peer(source);
            peekStruct.tag(tag, ignore);
            peekStruct.context(context);
            return acceptedReceive(context, ops.fi_trecvmsg(peekStruct, flags | FabricConstants.FI_COMPLETION),
                    "fi_trecvmsg");
        } finally {
            ThreadGuard.exit(receiveGuard, entered);
        }
    }

    /**
     * Receives the message that a {@link PeekAction#CLAIM} has kept; fi_trecvmsg with FI_CLAIM. As {@link
     * #tryReceive}, but the tag, its ignored bits and the token are those of the claim. Poll the completion of the
     * claim first.
     *
     * @throws IllegalArgumentException if no message is kept with this token
     */
    public boolean tryReceiveClaimed(MemoryRegion local, long offset, long length, long tag, long ignore, long token) {
        boolean entered = ThreadGuard.enter(receiveGuard, receiveUnlockedThread);
        try {
            requireReceive(local, offset, length);
            long context = requireClaimed(token);
            peekStruct.local.set(0, local.address + offset, length, local.descriptor);
            peekStruct.count(1, length);
            return takeClaimed(context, tag, ignore, local.number, FabricConstants.FI_CLAIM);
        } finally {
            ThreadGuard.exit(receiveGuard, entered);
        }
    }

    /** As {@link #tryReceiveClaimed}, but receives into a slice, and waits for room. */
    public void receiveClaimed(MemoryRegion.Slice local, long tag, long ignore, long token) {
        if (!tryReceiveClaimed(local.region(), local.offset(), local.length(), tag, ignore, token)) {
            awaitReceiveRoom("fi_trecvmsg",
                    () -> tryReceiveClaimed(local.region(), local.offset(), local.length(), tag, ignore, token));
        }
    }

    private long requireClaimed(long token) {
        long context = receiveContexts.claimed(endpoint.number, token);
        if (context == ContextSlab.NONE) {
            throw new IllegalArgumentException("no claimed message has token " + token + " on " + endpoint
                    + ": claim one, and poll its completion");
        }
        return context;
    }

    private boolean takeClaimed(long context, long tag, long ignore, int region, long flags) {
        peekStruct.peer(ANY);
        peekStruct.tag(tag, ignore);
        peekStruct.context(context);
        receiveContexts.beginReceive(context, receiveNumber, region);
        long status = ops.fi_trecvmsg(peekStruct, flags | FabricConstants.FI_COMPLETION);
        if (status != 0) { receiveContexts.undoReceive(context, receiveNumber); }
        return accepted(status, "fi_trecvmsg", null);
    }

    /**
     * Drops the message that a {@link PeekAction#CLAIM} has kept; fi_trecvmsg with FI_CLAIM and FI_DISCARD. It
     * completes with the token of the claim. As {@link #tryReceiveClaimed}, but without a region.
     *
     * @throws IllegalArgumentException if no message is kept with this token
     * @throws UnsupportedOperationException if the sender of a long message would wait for ever
     */
    public boolean tryDiscardClaimed(long tag, long ignore, long token) {
        Quirks.require(discardRefusal);
        boolean entered = ThreadGuard.enter(receiveGuard, receiveUnlockedThread);
        try {
            requireReceiving();
            long context = requireClaimed(token);
            peekStruct.count(0, 0);
            return takeClaimed(context, tag, ignore, 0, FabricConstants.FI_CLAIM | FabricConstants.FI_DISCARD);
        } finally {
            ThreadGuard.exit(receiveGuard, entered);
        }
    }

    /** As {@link #tryDiscardClaimed}, but waits for room. */
    public void discardClaimed(long tag, long ignore, long token) {
        if (!tryDiscardClaimed(tag, ignore, token)) {
            awaitReceiveRoom("fi_trecvmsg", () -> tryDiscardClaimed(tag, ignore, token));
        }
    }

    void requireTag(long tag) {
        if ((tag & ~tagBits) != 0) {
            throw new IllegalArgumentException("provider " + provider + " matches only the tag bits 0x"
                    + Long.toHexString(tagBits) + ", and the tag 0x" + Long.toHexString(tag) + " has others");
        }
    }

    void requireMask(long ignore) { if (ignore != 0) { Quirks.require(maskRefusal); } }

    /**
     * {@return a prepared message without segments, for messages and receives of several segments, flags, and repeated
     * posts}
     */
    public PreparedMessage prepare() { return prepared(true); }

    @Override
    long submit(PreparedMessageStruct struct, PreparedMessage.Call call, long flags, long context) {
        return switch (call) {
            case SEND -> ops.fi_tsendmsg(struct, flags);
            case RECEIVE -> ops.fi_trecvmsg(struct, flags);
            case SEND_VECTOR -> ops.fi_tsendv(struct, context);
            case RECEIVE_VECTOR -> ops.fi_trecvv(struct, context);
        };
    }
}
