package io.ofi4j;

import io.ofi4j.info.Capability;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.info.OperationFlag;
import io.ofi4j.internal.engine.ContextSlab;
import io.ofi4j.internal.engine.ThreadGuard;
import io.ofi4j.internal.ffi.EndpointOps;
import io.ofi4j.internal.ffi.FabricConstants;
import io.ofi4j.internal.ffi.PreparedMessageStruct;
import io.ofi4j.internal.os.Errno;
import io.ofi4j.internal.quirks.Fact;
import io.ofi4j.internal.quirks.Quirks;
import io.ofi4j.internal.quirks.Status;
import java.util.function.BooleanSupplier;

/**
 * What messages with and without tags have in common: the path of receives beside that of sends, and prepared messages.
 */
abstract sealed class TwoSided extends PostPath permits Messages, Tagged {
    static final long SEND = Access.SEND.bit();
    static final long RECEIVE = Access.RECEIVE.bit();
    /** Any peer, instead of the number of one. */
    static final long ANY = FabricConstants.FI_ADDR_UNSPEC;

    private static final long DIRECTED = Capability.DIRECTED_RECV.bit();

    /** The queue of receives, its slots and its guard. */
    final CompletionQueue receiveQueue;
    final ContextSlab receiveContexts;
    final ThreadGuard receiveGuard;
    Thread receiveUnlockedThread;
    final long receiveNumber;
    private final long shortestReceive;
    private final boolean directed;
    private final boolean reportsFullAsNoMemory;
    /** Why calls are refused, or null; the same holds for the strings below. */
    private final String directedReceiveRefusal;
    private final String respelledPeerRefusal;
    private final String injectRefusal;
    private final String cancelRefusal;
    /** The struct of sends of a header and a body, and the number of its second region; used inside the guard. */
    final PreparedMessageStruct twoSegments;
    private final int[] secondRegion = new int[1];
    /** Why a message has one segment only; null where it may have more. */
    final String segmentRefusal;
    private final boolean takesTwoSegments;

    /**
     *
     * @param isTagged whether its messages have tags
     * @param directedBits receives from one peer need one of these capabilities
     * @param undirected receives from one peer are refused where one of these facts is known
     */
    TwoSided(Endpoint endpoint, boolean isTagged, long directedBits, Fact... undirected) {
        super(endpoint);
        this.twoSegments = new PreparedMessageStruct(isTagged, 2);
        Quirks quirks = endpoint.quirks;
        this.segmentRefusal = quirks.refusal(Fact.MESSAGES_HAVE_ONE_SEGMENT);
        this.takesTwoSegments = endpoint.info().transmit().iovLimit() >= 2 && segmentRefusal == null;
        boolean isShared = endpoint.bindings.role == EndpointBindings.Role.SHARED_RECEIVE;
        this.receiveQueue = endpoint.bindings.receiveQueue();
        this.receiveContexts = receiveQueue.contexts;
        this.receiveGuard = receiveQueue.guard;
        this.receiveUnlockedThread = receiveGuard.unlockedThread();
        this.shortestReceive = endpoint.shortestReceive();
        this.receiveNumber = ContextSlab.endpoint(endpoint.number) | ContextSlab.RECEIVE;
        this.reportsFullAsNoMemory = quirks.has(Fact.FULL_RECEIVES_LACK_MEMORY);
        this.directedReceiveRefusal = isShared
                ? endpoint + " takes the messages of any peer: receive from any"
                : quirks.refusal(undirected);
        this.respelledPeerRefusal = quirks.refusal(Fact.RESPELLED_PEERS_UNRECOGNIZED);
        this.injectRefusal = quirks.refusal(Fact.INJECTED_MESSAGES_HANG);
        if (endpoint.injectsByDefault()) { Quirks.require(injectRefusal); }
        this.cancelRefusal = isShared ? quirks.refusal(Fact.SHARED_RECEIVES_END_SILENTLY) : null;
        this.directed = (endpoint.info().capabilityBits() & (DIRECTED | directedBits)) != 0;
    }

    @Override
    final void unlockedThread(Thread thread) {
        super.unlockedThread(thread);
        receiveUnlockedThread = thread;
    }

    /** {@return the largest number of bytes of a message} */
    public final long maximumMessageSize() {
        return maximumMessageSize;
    }

    /** {@return the largest number of bytes of an inject} */
    public final long injectSize() { return injectSize; }

    /**
     * Cancels the posted receives with this token; fi_cancel, fi_endpoint(3). Each completes with {@code ECANCELED}
     * (125); a receive for which a message has already come completes with that message.
     *
     * @throws IllegalArgumentException if no receive with this token is posted
     * @throws UnsupportedOperationException if the provider does not cancel receives, or would give no completion for
     *         them
     */
    public final void cancel(long token) {
        boolean entered = ThreadGuard.enter(receiveGuard, receiveUnlockedThread);
        try {
            requireReceiving();
            Quirks.require(cancelRefusal);
            long[] found = receiveContexts.postedReceives(endpoint.number, token);
            if (found.length == 0) {
                throw new IllegalArgumentException("no receive with token " + token + " is posted on " + endpoint
                        + ": it may have completed, so poll its queue");
            }
            for (long context : found) {
                int status = (int) EndpointOps.fi_cancel(endpoint.handle, context);
                if (status == -Errno.ENOSYS) {
                    throw new UnsupportedOperationException("fi_cancel is not offered by the provider " + provider
                            + " here: close the endpoint, which ends its receives");
                }
                if (status != -Errno.ENOENT) { // a message has come for it
                    Status.check(status, "fi_cancel", provider);
                }
            }
        } finally {
            ThreadGuard.exit(receiveGuard, entered);
        }
    }

    /** {@return a new operation, to be prepared} */
    final PreparedMessage prepared(boolean tagged) {
        FabricInfo info = endpoint.info();
        int sendLimit = (int) Math.min(info.transmit().iovLimit(), Prepared.MAX_SEGMENTS);
        int receiveLimit = (int) Math.min(info.receive().iovLimit(), Prepared.MAX_SEGMENTS);
        PreparedMessageStruct struct = new PreparedMessageStruct(tagged, Math.max(sendLimit, receiveLimit));
        return new PreparedMessage(this, struct, sendLimit, receiveLimit);
    }

    /** Posts a prepared operation, whose context is set. */
    abstract long submit(PreparedMessageStruct struct, PreparedMessage.Call call, long flags, long context);

    /** As {@link #accepted(long, long, String, Peer)}, for a receive. */
    final boolean acceptedReceive(long context, long status, String operation) {
        if (status != 0) {
            boolean isFull = reportsFullAsNoMemory && status == -Errno.ENOMEM;
            refused(receiveContexts, context, isFull ? -Errno.EAGAIN : status, operation, null);
        }
        return status == 0;
    }

    /** As {@link #awaitRoom}, for a receive. */
    final void awaitReceiveRoom(String operation, BooleanSupplier attempt) {
        endpoint.awaitRoom(receiveQueue, operation, null, attempt);
    }

    /** Checks a message to a peer, as {@link OneSided#require} does a transfer. */
    final void requireSend(MemoryRegion local, long offset, long length, Peer peer) {
        long room = local.length - length;
        if ((offset | length | room | room - offset | maximumMessageSize - length | peer.maxMessageSize - length) < 0
                || (local.rights & SEND) == 0 || local.domain != domain
                || peer.reachableVector != endpoint.reachableVector || !local.isMemoryAlive()) {
            requireInside(local, offset, length);
            throw notAllowed(local, length, peer);
        }
    }

    private RuntimeException notAllowed(MemoryRegion local, long length, Peer peer) {
        endpoint.bindings.requireSending();
        requireLength("a message", length);
        requireDomain(local);
        requireVector(peer);
        requireLength(length, maximumMessageSize, peer);
        return (local.accessBits & SEND) == 0 ? lacking(local, SEND) : closed(local, peer);
    }

    /**
     * Checks a message of a header and a body, fills {@link #twoSegments}, and returns the context of a slot, or
     * {@link ContextSlab#NONE}. Inside the guard of sends.
     */
    final long acquire(MemoryRegion header, long headerOffset, long headerLength, MemoryRegion body, long bodyOffset,
            long bodyLength, Peer peer, long token) {
        requireSend(header, headerOffset, headerLength, peer);
        requireSend(body, bodyOffset, bodyLength, peer);
        long length = headerLength + bodyLength; // both are in memory: the sum does not overflow
        if (!takesTwoSegments) { throw tooManySegments(); }
        requireLength(length, maximumMessageSize, peer);
        if (length == 0) { requireEmptyCompletes(defaultFlags); }
        long context = contexts.acquire(token, number, header.number);
        if (context == ContextSlab.NONE) { return context; }
        if (body != header) {
            secondRegion[0] = body.number;
            contexts.addExtraRegions(context, secondRegion, 1);
        }
        twoSegments.local.set(0, header.address + headerOffset, headerLength, header.descriptor);
        twoSegments.local.set(1, body.address + bodyOffset, bodyLength, body.descriptor);
        twoSegments.count(2, length);
        twoSegments.peer(peer.fabricAddress);
        return context;
    }

    private IllegalArgumentException tooManySegments() {
        return new IllegalArgumentException("provider " + provider
                + " takes one segment of a message, not a header and a body: put them next to each other");
    }

    /** Checks the length of a message to a peer. */
    final void requireLength(long length, long limit, Peer peer) {
        if (length > limit) { throw tooLong("a message", length, limit); }
        if (length > peer.maxMessageSize) { throw tooLong("a message to " + peer, length, peer.maxMessageSize); }
    }

    /** Inside the guard of receives. */
    final void requireReceive(MemoryRegion local, long offset, long length) {
        long room = local.length - length;
        if ((offset | length | room | room - offset | length - shortestReceive) < 0 || (local.rights & RECEIVE) == 0
                || local.domain != domain || !endpoint.mayReceive || !local.isMemoryAlive()) {
            requireInside(local, offset, length);
            requireReceiving();
            requireRoom(length);
            requireDomain(local);
            throw (local.accessBits & RECEIVE) == 0 ? lacking(local, RECEIVE) : closed(local);
        }
    }

    /** Checks that a receive has room for the longest message. */
    final void requireRoom(long length) {
        if (length < shortestReceive) {
            throw new IllegalArgumentException("a receive of " + endpoint + " needs at least " + shortestReceive
                    + " bytes, the length of its longest message, not " + length);
        }
    }

    final void requireReceiving() { if (!endpoint.mayReceive) { throw receivesNothing(); } }

    private RuntimeException receivesNothing() {
        if (endpoint.isClosed()) { return endpoint.closed(); }
        if (!endpoint.bindings.role.canReceive()) {
            return new UnsupportedOperationException(
                    endpoint + " receives nothing: post receives to a receive context");
        }
        Endpoint shared = endpoint.bindings.sharedReceive();
        return new IllegalStateException(shared == null
                ? endpoint + " has lost its connection"
                : endpoint + " receives through " + shared + ": post the receive there");
    }

    /** {@return the number of a peer to receive from} Called inside the guard of receives. */
    final long source(Peer peer) {
        if (!directed) {
            throw new UnsupportedOperationException("a receive from one peer needs Capability.DIRECTED_RECV, which "
                    + endpoint + " lacks: ask for it in FabricHints, or receive from any peer");
        }
        Quirks.require(directedReceiveRefusal);
        requireReachable(peer);
        if (peer.entry.isRespelled) { Quirks.require(respelledPeerRefusal); }
        return peer.fabricAddress;
    }

    final void requireInjectCompletes(long flags) {
        if ((flags & OperationFlag.INJECT.bit()) != 0) { Quirks.require(injectRefusal); }
    }
}
