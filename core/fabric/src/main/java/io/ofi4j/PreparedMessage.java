package io.ofi4j;

import io.ofi4j.info.OperationFlag;
import io.ofi4j.internal.engine.ContextSlab;
import io.ofi4j.internal.engine.ThreadGuard;
import io.ofi4j.internal.ffi.FabricConstants;
import io.ofi4j.internal.ffi.MessageStruct;
import java.util.Arrays;

/**
 * A prepared message or receive: segments, peer, tag, flags and completion data, which can be changed one by one and posted again;
 * {@code struct fi_msg} and {@code fi_msg_tagged}. Made by {@link Messages#message} or {@link Tagged#message}, for one endpoint.
 * Offsets and lengths are in bytes. Changes allocate nothing. Only the thread that made it may change and post it; others get
 * WrongThreadException. Setters return this message. A receive without a peer takes the messages of any.
 *
 * <p>Setters throw IndexOutOfBoundsException if a segment is not all inside its region, and IllegalArgumentException if a region
 * belongs to another domain, a peer to another vector, there are too many segments, or the data is too long. Posting methods throw
 * what those of {@link Messages} and {@link Tagged} throw; IllegalArgumentException also if there are too many segments, or flags that
 * the call does not take; IllegalStateException also if a send has no peer.
 */
public final class PreparedMessage extends Prepared<PreparedMessage> {
    final MessageStruct struct;
    private final TwoSided family;
    private final Segments local;
    private final int sendLimit;
    private final int receiveLimit;

    /** The libfabric call that posts it. */
    enum Call {
        SEND("fi_sendmsg", false, true),
        RECEIVE("fi_recvmsg", true, true),
        SEND_VECTOR("fi_sendv", false, false),
        RECEIVE_VECTOR("fi_recvv", true, false);

        final String operation;
        final boolean isReceive;
        final boolean hasFlags;

        Call(String operation, boolean isReceive, boolean hasFlags) {
            this.operation = operation;
            this.isReceive = isReceive;
            this.hasFlags = hasFlags;
        }
    }

    PreparedMessage(TwoSided family, MessageStruct struct, int sendLimit, int receiveLimit) {
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
     * Adds a segment: this range of a region of the endpoint's domain. There is room for {@link #sendLimit} or {@link #receiveLimit}
     * segments.
     */
    public PreparedMessage segment(MemoryRegion region, long offset, long bytes) {
        requireOwner();
        family.requireInside(region, offset, bytes);
        local.add(region, offset, bytes);
        return counted();
    }

    /**
     * Replaces one segment; the others stay.
     *
     * @param index its position, from 0, in the order of addition
     * @param region a region of the endpoint's domain
     * @param offset the start of the segment in the region
     * @param bytes the number of bytes
     */
    public PreparedMessage replace(int index, MemoryRegion region, long offset, long bytes) {
        requireOwner();
        family.requireInside(region, offset, bytes);
        local.replace(index, region, offset, bytes);
        return counted();
    }

    private PreparedMessage counted() {
        struct.count(local.count, local.amount);
        return this;
    }

    /** Lets a receive take the messages of any peer, as one without a peer does. */
    public PreparedMessage anyPeer() {
        requireOwner();
        peer = null;
        struct.peer(TwoSided.ANY);
        return this;
    }

    /** Sets the tag to send with or to receive, as {@link #tag(long, long)} without bits to ignore. */
    public PreparedMessage tag(long newTag) {
        return tag(newTag, 0);
    }

    /**
     * Sets the tag to receive, and the bits of it that need not match.
     *
     * @throws IllegalStateException if it was made by {@link Messages#message}
     * @throws IllegalArgumentException if the provider does not match all bits of the tag
     * @throws UnsupportedOperationException as for {@link Tagged#tryReceive(MemoryRegion, long, long, long, long, long)}
     */
    public PreparedMessage tag(long newTag, long newIgnore) {
        requireOwner();
        if (!(family instanceof Tagged tags)) {
            throw new IllegalStateException("this message has no tag: make it with Tagged.message()");
        }
        tags.requireTag(newTag);
        tags.requireMask(newIgnore);
        struct.tag(newTag, newIgnore);
        return this;
    }

    /**
     * Starts sending the segments as one message if there is room; fi_sendmsg, fi_tsendmsg.
     *
     * @param token comes back with the completion
     * @return whether it was accepted
     * @throws UnsupportedOperationException as {@link Messages#trySend(MemoryRegion, long, long, Peer, long)} does, or if the provider
     *         never completes a message with {@link OperationFlag#INJECT}
     */
    public boolean trySend(long token) { return tryPost(Call.SEND, token); }

    /** As {@link #trySend}, but waits for room. */
    public void send(long token) { post(Call.SEND, token); }

    /**
     * Posts a receive into the segments, one after the other, if there is room; fi_recvmsg, fi_trecvmsg.
     *
     * @param token comes back with the completion
     * @return whether it was accepted
     * @throws UnsupportedOperationException if it has a peer, as for {@link Messages#tryReceive(MemoryRegion, long, long, Peer, long)}
     */
    public boolean tryReceive(long token) { return tryPost(Call.RECEIVE, token); }

    /** As {@link #tryReceive}, but waits for room. */
    public void receive(long token) { post(Call.RECEIVE, token); }

    /** As {@link #trySend}, but without flags; fi_sendv, fi_tsendv. */
    public boolean trySendVector(long token) {
        return tryPost(Call.SEND_VECTOR, token);
    }

    /** As {@link #trySendVector}, but waits for room. */
    public void sendVector(long token) {
        post(Call.SEND_VECTOR, token);
    }

    /** As {@link #tryReceive}; fi_recvv, fi_trecvv. */
    public boolean tryReceiveVector(long token) {
        return tryPost(Call.RECEIVE_VECTOR, token);
    }

    /** As {@link #tryReceiveVector}, but waits for room. */
    public void receiveVector(long token) {
        post(Call.RECEIVE_VECTOR, token);
    }

    private void post(Call call, long token) {
        if (tryPost(call, token)) { return; }
        if (call.isReceive) {
            family.awaitReceiveRoom(call.operation, () -> tryPost(call, token));
        } else {
            family.awaitRoom(call.operation, peer, () -> tryPost(call, token));
        }
    }

    private boolean tryPost(Call call, long token) {
        requireSuits(call);
        return call.isReceive ? tryReceive(call, token) : trySend(call, token);
    }

    private boolean trySend(Call call, long token) {
        boolean entered = ThreadGuard.enter(family.guard, family.unlockedThread);
        try {
            long effectiveFlags = call.hasFlags ? flags : family.defaultFlags;
            requireSendable(effectiveFlags);
            long context = family.contexts.acquire(token, family.numberFor(effectiveFlags), local.firstRegion());
            if (context == ContextSlab.NONE) { return false; }
            local.addExtraRegions(family.contexts, context);
            struct.context(context);
            return family.accepted(context, family.submit(struct, call, flags | FabricConstants.FI_COMPLETION, context),
                    call.operation, peer);
        } finally {
            ThreadGuard.exit(family.guard, entered);
        }
    }

    private boolean tryReceive(Call call, long token) {
        boolean entered = ThreadGuard.enter(family.receiveGuard, family.receiveUnlockedThread);
        try {
            requireReceivable();
            long context = family.receiveContexts.acquire(token, family.receiveNumber, local.firstRegion());
            if (context == ContextSlab.NONE) { return false; }
            local.addExtraRegions(family.receiveContexts, context);
            struct.context(context);
            return family.acceptedReceive(context, family.submit(struct, call, FabricConstants.FI_COMPLETION, context),
                    call.operation);
        } finally {
            ThreadGuard.exit(family.receiveGuard, entered);
        }
    }

    private void requireSendable(long effectiveFlags) {
        family.requireOpen(local, peer);
        if (local.amount == 0) { family.requireEmptyCompletes(effectiveFlags); }
        family.requireInjectCompletes(effectiveFlags);
    }

    private void requireReceivable() {
        family.requireReceiving();
        family.requireOpen(local);
        if (peer != null) { family.source(peer); }
    }

    MemoryRegion[] regionsInUse() { return Arrays.copyOf(local.regions, local.count); }

    /** What a post checks inside the guard. */
    void requirePostable(Call call) {
        if (call.isReceive) {
            requireReceivable();
        } else {
            requireSendable(flags);
        }
    }

    /** What a post checks before the guard. */
    void requireSuits(Call call) {
        requireOwner();
        if (!call.isReceive) { requirePeer(); }
        int limit = call.isReceive ? receiveLimit : sendLimit;
        if (local.count > limit) {
            throw new IllegalArgumentException("provider " + family.provider + " takes at most " + limit
                    + " segments of this operation, not " + local.count);
        }
        if (flags != 0 && (call.isReceive || !call.hasFlags)) {
            throw new IllegalArgumentException("receives and vectored calls take no flags: remove them, or use send");
        }
        if (!call.isReceive) {
            if (has(OperationFlag.INJECT)) { family.requireInjectable(local.amount); }
            family.requireLength(local.amount, peer);
        }
        local.requireRights(call.isReceive ? TwoSided.RECEIVE : TwoSided.SEND);
    }
}
