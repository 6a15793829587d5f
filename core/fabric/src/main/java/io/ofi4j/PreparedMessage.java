package io.ofi4j;

import io.ofi4j.info.OperationFlag;
import io.ofi4j.internal.engine.ContextSlab;
import io.ofi4j.internal.engine.ThreadGuard;
import io.ofi4j.internal.ffi.FabricConstants;
import io.ofi4j.internal.ffi.PreparedMessageStruct;
import io.ofi4j.internal.quirks.Quirks;
import java.util.Arrays;

/**
 * A prepared message or receive: segments, peer, tag, flags and completion data, which can be changed one by one and
 * posted again; fi_msg(3) and fi_tagged(3). Made by {@link Messages#prepare} or {@link Tagged#prepare}, for one
 * endpoint. One without flags makes the call fi_sendv or fi_recvv, one with flags fi_sendmsg or fi_recvmsg, or those
 * with tags. A receive takes no flag but {@link OperationFlag#COMPLETION}. Offsets and lengths are in bytes. Changes
 * allocate nothing. Only the thread that made it may change and post it; others get WrongThreadException. Setters
 * return this message. A receive without a peer takes messages of any peer.
 *
 * <p>Setters throw IndexOutOfBoundsException if a segment is not all inside its region, and IllegalArgumentException if
 * a region belongs to another domain, a peer to another vector, there are too many segments, or the data is too long.
 * Posting methods throw what those of {@link Messages} and {@link Tagged} throw. In addition, they throw
 * IllegalArgumentException if there are too many segments, or the call does not take the flags, and
 * IllegalStateException if a send has no peer.
 */
public final class PreparedMessage extends Prepared<PreparedMessage> {
    final PreparedMessageStruct struct;
    private final TwoSided family;
    private final Segments local;
    private final int sendLimit;
    private final int receiveLimit;

    /** The libfabric call that posts it. */
    enum Call {
        SEND("fi_sendmsg", false),
        RECEIVE("fi_recvmsg", true),
        SEND_VECTOR("fi_sendv", false),
        RECEIVE_VECTOR("fi_recvv", true);

        final String operation;
        final boolean isReceive;

        Call(String operation, boolean isReceive) {
            this.operation = operation;
            this.isReceive = isReceive;
        }
    }

    PreparedMessage(TwoSided family, PreparedMessageStruct struct, int sendLimit, int receiveLimit) {
        super(family, struct);
        this.family = family;
        this.struct = struct;
        this.local = Segments.local(family, "", struct.local);
        this.sendLimit = sendLimit;
        this.receiveLimit = receiveLimit;
        anyPeer();
    }

    /** {@return the largest number of segments of a send} */
    public int sendLimit() { return sendLimit; }

    /** {@return the largest number of segments of a receive} */
    public int receiveLimit() { return receiveLimit; }

    /** Removes every segment; flags, data, tag and peer stay. */
    public PreparedMessage clear() {
        requireOwner();
        local.clear();
        return counted();
    }

    /**
     * Adds a segment: a range of a region of the endpoint's domain. A send has at most {@link #sendLimit} segments, a
     * receive {@link #receiveLimit}.
     *
     * @param region the region
     * @param offset the start of the segment in the region, in bytes
     * @param bytes the number of bytes
     */
    public PreparedMessage local(MemoryRegion region, long offset, long bytes) {
        requireOwner();
        family.requireInside(region, offset, bytes);
        local.add(region, offset, bytes);
        return counted();
    }

    /**
     * Replaces one segment. The other segments stay.
     *
     * @param index its position, from 0, in the order of addition
     * @param region a region of the endpoint's domain
     * @param offset the start of the segment in the region, in bytes
     * @param bytes the number of bytes
     */
    public PreparedMessage replaceLocal(int index, MemoryRegion region, long offset, long bytes) {
        requireOwner();
        family.requireInside(region, offset, bytes);
        local.replace(index, region, offset, bytes);
        return counted();
    }

    private PreparedMessage counted() {
        struct.count(local.count, local.amount);
        return this;
    }

    /** Removes the peer: a receive then takes messages of any peer. */
    public PreparedMessage anyPeer() {
        requireOwner();
        peer = null;
        struct.peer(TwoSided.ANY);
        return this;
    }

    /** Sets the tag of a send or a receive. As {@link #tag(long, long)}, with no bits to ignore. */
    public PreparedMessage tag(long newTag) {
        return tag(newTag, 0);
    }

    /**
     * Sets the tag of a receive, and the bits of it that need not match.
     *
     * @param newTag the tag
     * @param newIgnore the bits that are ignored
     * @throws IllegalStateException if this message was made by {@link Messages#prepare}
     * @throws IllegalArgumentException if the provider does not match all bits of the tag
     * @throws UnsupportedOperationException as {@link Tagged#tryReceive(MemoryRegion, long, long, long, long, long)}
     */
    public PreparedMessage tag(long newTag, long newIgnore) {
        requireOwner();
        if (!(family instanceof Tagged tags)) {
            throw new IllegalStateException("this message has no tag: make it with Tagged.prepare()");
        }
        tags.requireTag(newTag);
        tags.requireMask(newIgnore);
        struct.tag(newTag, newIgnore);
        return this;
    }

    /**
     * Starts sending the segments as one message if there is room; fi_sendv or fi_sendmsg, fi_msg(3), or fi_tsendv or
     * fi_tsendmsg, fi_tagged(3).
     *
     * @param token comes back with the completion
     * @return whether it was accepted
     * @throws UnsupportedOperationException if the provider would never complete the message (one with
     *         {@link OperationFlag#INJECT}, or one of no bytes with {@link OperationFlag#DELIVERY_COMPLETE}), or end
     *         the process with several segments
     */
    public boolean trySend(long token) {
        Call call = sendCall();
        requireSuits(call);
        boolean entered = ThreadGuard.enter(family.guard, family.unlockedThread);
        try {
            requireSendable(effectiveFlags());
            long context = family.contexts.acquire(token, family.numberFor(effectiveFlags()), local.firstRegion);
            if (context == ContextSlab.NONE) { return false; }
            local.addExtraRegions(family.contexts, context);
            struct.context(context);
            return family.accepted(context, family.submit(struct, call, flags | FabricConstants.FI_COMPLETION, context),
                    call.operation, peer);
        } finally {
            ThreadGuard.exit(family.guard, entered);
        }
    }

    /** As {@link #trySend}, but waits for room. */
    public void send(long token) {
        if (!trySend(token)) { family.awaitRoom(sendCall().operation, peer, () -> trySend(token)); }
    }

    /**
     * Posts a receive if there is room; fi_recvv or fi_recvmsg, fi_msg(3), or fi_trecvv or fi_trecvmsg, fi_tagged(3).
     * The message fills the segments in the order of addition.
     *
     * @param token comes back with the completion
     * @return whether it was accepted
     * @throws UnsupportedOperationException if it has a peer, as
     *         {@link Messages#tryReceive(MemoryRegion, long, long, Peer, long)}; or several segments, as
     *         {@link #trySend}
     */
    public boolean tryReceive(long token) {
        Call call = receiveCall();
        requireSuits(call);
        boolean entered = ThreadGuard.enter(family.receiveGuard, family.receiveUnlockedThread);
        try {
            requireReceivable();
            long context = family.receiveContexts.acquire(token, family.receiveNumber, local.firstRegion);
            if (context == ContextSlab.NONE) { return false; }
            local.addExtraRegions(family.receiveContexts, context);
            struct.context(context);
            return family.acceptedReceive(context, family.submit(struct, call, FabricConstants.FI_COMPLETION, context),
                    call.operation);
        } finally {
            ThreadGuard.exit(family.receiveGuard, entered);
        }
    }

    /** As {@link #tryReceive}, but waits for room. */
    public void receive(long token) {
        if (!tryReceive(token)) { family.awaitReceiveRoom(receiveCall().operation, () -> tryReceive(token)); }
    }

    private Call sendCall() { return flags == 0 ? Call.SEND_VECTOR : Call.SEND; }

    private Call receiveCall() { return flags == 0 ? Call.RECEIVE_VECTOR : Call.RECEIVE; }

    private void requireSendable(long effectiveFlags) {
        family.requireOpen(local, peer);
        if (local.amount == 0) { family.requireEmptyCompletes(effectiveFlags); }
        family.requireInjectCompletes(effectiveFlags);
    }

    private void requireReceivable() {
        family.requireReceiving();
        family.requireRoom(local.amount);
        family.requireOpen(local);
        if (peer != null) { family.source(peer); }
    }

    MemoryRegion[] regionsInUse() { return Arrays.copyOf(local.regions, local.count); }

    /** Makes the checks of a post that need the guard. */
    void requirePostable(Call call) {
        if (call.isReceive) {
            requireReceivable();
        } else {
            requireSendable(flags);
        }
    }

    /** Makes the checks of a post that do not need the guard. */
    void requireSuits(Call call) {
        requireOwner();
        if (!call.isReceive) { requirePeer(); }
        if (local.count > 1) { Quirks.require(family.segmentRefusal); }
        int limit = call.isReceive ? receiveLimit : sendLimit;
        if (local.count > limit) {
            throw new IllegalArgumentException("provider " + family.provider + " takes at most " + limit
                    + " segments of this operation, not " + local.count);
        }
        if (call.isReceive && (flags & ~OperationFlag.COMPLETION.bit()) != 0) {
            throw new IllegalArgumentException("a receive takes no flag but COMPLETION: remove the others");
        }
        if (!call.isReceive) {
            if (has(OperationFlag.INJECT)) { family.requireInjectable(local.amount); }
            family.requireLength(local.amount, flags == 0 ? family.maximumMessageSize : family.maximumWithFlags, peer);
        }
        local.requireRights(call.isReceive ? TwoSided.RECEIVE : TwoSided.SEND);
    }
}
