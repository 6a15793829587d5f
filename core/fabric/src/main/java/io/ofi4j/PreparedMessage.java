package io.ofi4j;

import io.ofi4j.info.DomainAttributes;
import io.ofi4j.info.OperationFlag;
import io.ofi4j.internal.engine.ContextSlab;
import io.ofi4j.internal.ffi.MessageStruct;
import java.util.Arrays;
import java.util.Objects;

/**
 * A prepared message or receive: segments, peer, tag, flags and completion data, which can be changed one by one and posted again;
 * {@code struct fi_msg} and {@code fi_msg_tagged}. Made by {@link Messages#message} or {@link Tagged#message}, for one endpoint.
 * Offsets and lengths are in bytes. Changes allocate nothing. Only the thread that made it may change and post it; others get
 * WrongThreadException. Setters return this message. Methods without {@code try} wait for room as those of {@link Messages} do.
 *
 * <p>Setters throw IndexOutOfBoundsException if a segment is not all inside its region, and IllegalArgumentException if a region
 * belongs to another domain, a peer to another vector, or the data is too long. Posting methods throw what {@link Messages} does;
 * also IllegalArgumentException if there are too many segments, or flags that the call does not take, and IllegalStateException if a
 * send has no peer.
 */
public final class PreparedMessage {
    final MessageStruct struct;
    final MemoryRegion[] regions;
    int count;
    long length;
    long rights;
    long flags;
    /** Null: any. */
    Peer peer;

    /** Who made it: another thread could change it under a post. */
    private final Thread owner = Thread.currentThread();
    /** The numbers of the regions after the first, for the queue. */
    private final int[] furtherRegions;
    private final TwoSided family;
    private final TransferChecks checks;
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

    PreparedMessage(TwoSided family, long sendLimit, long receiveLimit, boolean tagged) {
        this.family = family;
        this.checks = family.checks;
        this.sendLimit = (int) Math.min(sendLimit, ContextSlab.FURTHER + 1);
        this.receiveLimit = (int) Math.min(receiveLimit, ContextSlab.FURTHER + 1);
        int limit = Math.max(this.sendLimit, this.receiveLimit);
        this.struct = new MessageStruct(tagged, limit);
        this.regions = new MemoryRegion[limit];
        this.furtherRegions = new int[limit];
        clear();
        anyPeer();
    }

    /** {@return the largest number of segments of a send} */
    public int sendLimit() { return sendLimit; }

    /** {@return the largest number of segments of a receive} */
    public int receiveLimit() { return receiveLimit; }

    /** Removes every segment; flags, data, tag and peer stay. */
    public PreparedMessage clear() {
        requireOwner();
        count = 0;
        length = 0;
        rights = Access.ALL;
        struct.count(0, 0);
        return this;
    }

    /**
     * Adds a segment: this range of a region of the endpoint's domain.
     *
     * @throws IllegalArgumentException if there are {@link #sendLimit} and {@link #receiveLimit} already
     */
    public PreparedMessage segment(MemoryRegion region, long offset, long bytes) {
        requireOwner();
        if (count == regions.length) {
            throw new IllegalArgumentException("provider " + checks.provider + " takes at most " + regions.length
                    + " segments per operation: post several operations");
        }
        put(count, region, offset, bytes);
        count++;
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
        checks.requireInside(region, offset, bytes);
        Objects.checkIndex(index, count);
        put(index, region, offset, bytes);
        return counted();
    }

    private void put(int index, MemoryRegion region, long offset, long bytes) {
        checks.requireInside(region, offset, bytes);
        checks.requireDomain(region);
        struct.segment(index, region.address + offset, bytes, region.descriptor);
        regions[index] = region;
        if (index > 0) { furtherRegions[index - 1] = region.number; }
    }

    private PreparedMessage counted() {
        length = 0;
        rights = Access.ALL;
        for (int i = 0; i < count; i++) {
            long bytes = struct.bytes(i);
            length = length > Long.MAX_VALUE - bytes ? Long.MAX_VALUE : length + bytes;
            rights &= regions[i].accessBits;
        }
        struct.count(count, length);
        return this;
    }

    /** Sets the peer to send to, or to receive from: one of the endpoint's vector. */
    public PreparedMessage peer(Peer whose) {
        requireOwner();
        checks.requireVector(whose);
        peer = whose;
        struct.peer(whose.fabricAddress);
        return this;
    }

    /** Lets a receive take the messages of any peer, as one without a peer does. */
    public PreparedMessage anyPeer() {
        requireOwner();
        peer = null;
        struct.peer(TwoSided.ANY);
        return this;
    }

    /**
     * Sets the tag to send with or to receive.
     *
     * @throws IllegalStateException if it was made by {@link Messages#message}
     * @throws IllegalArgumentException if the provider does not match all bits of the tag
     */
    public PreparedMessage tag(long newTag) { return tag(newTag, 0); }

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
     * Sets the flags of sends, instead of all that were set before. If it throws, nothing is changed.
     *
     * @throws UnsupportedOperationException if the endpoint lacks the capability that a flag needs, or the provider carries no data
     */
    public PreparedMessage flags(OperationFlag... how) {
        requireOwner();
        long wanted = 0;
        for (OperationFlag flag : how) {
            checks.requireOffered(flag);
            wanted |= flag.bit();
        }
        flags = wanted;
        return this;
    }

    /**
     * Sets the data of the peer's completion, for {@link OperationFlag#REMOTE_CQ_DATA}.
     *
     * @param data up to {@link DomainAttributes#completionDataSize} bytes
     * @throws UnsupportedOperationException if the provider carries no data or may lose it
     */
    public PreparedMessage data(long data) {
        requireOwner();
        family.requireData(data);
        struct.data(data);
        return this;
    }

    /**
     * Starts sending the segments as one message if there is room; fi_sendmsg, fi_tsendmsg.
     *
     * @param token comes back with the completion
     * @return whether it was accepted
     * @throws UnsupportedOperationException if it has no bytes and {@link OperationFlag#DELIVERY_COMPLETE}, which shm of libfabric
     *         1.x never completes, or {@link OperationFlag#INJECT}, which {@code ofi_rxd} never completes
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

    private boolean tryPost(Call call, long token) {
        requireSuits(call);
        return family.tryPost(this, call, token);
    }

    private void post(Call call, long token) {
        requireSuits(call);
        if (family.tryPost(this, call, token)) { return; }
        if (call.isReceive) {
            family.retryReceive(call.operation, () -> family.tryPost(this, call, token));
        } else {
            family.retrySend(call.operation, peer, () -> family.tryPost(this, call, token));
        }
    }

    Endpoint endpoint() { return family.endpoint; }

    MemoryRegion[] regionsInUse() { return Arrays.copyOf(regions, count); }

    /** What a post checks inside the guard. */
    void requirePostable(Call call) {
        if (call.isReceive) {
            family.requireReceivable(this);
        } else {
            family.requireSendable(this, flags);
        }
    }

    void requireSuits(Call call) {
        requireOwner();
        if (peer == null && !call.isReceive) {
            throw new IllegalStateException("the message has no peer: set one with peer(...)");
        }
        int limit = call.isReceive ? receiveLimit : sendLimit;
        if (count > limit) {
            throw new IllegalArgumentException("provider " + checks.provider + " takes at most " + limit
                    + " segments of this operation, not " + count);
        }
        if (flags != 0 && (call.isReceive || !call.hasFlags)) {
            throw new IllegalArgumentException("receives and vectored calls take no flags: remove them, or use send");
        }
        checks.require(this, call);
    }

    int firstRegion() { return count == 0 ? 0 : regions[0].number; }

    void noteRegions(ContextSlab contexts, long context) {
        if (count > 1) { contexts.alsoConcerns(context, furtherRegions, count - 1); }
    }

    private void requireOwner() {
        if (owner != Thread.currentThread()) {
            throw new WrongThreadException("this message was made by thread '" + owner.getName()
                    + "', which alone may change and post it: let thread '" + Thread.currentThread().getName()
                    + "' make one of its own with message()");
        }
    }
}
