package io.ofi4j;

import io.ofi4j.errors.FabricException;
import io.ofi4j.errors.FabricTimeoutException;
import io.ofi4j.info.Capability;
import io.ofi4j.info.CompletionFlags;
import io.ofi4j.info.CompletionFormat;
import io.ofi4j.info.DomainAttributes;
import io.ofi4j.info.EndpointOption;
import io.ofi4j.info.MessageOrder;
import io.ofi4j.info.OperationFlag;
import io.ofi4j.info.ReceiveAttributes;
import io.ofi4j.info.ThreadingModel;
import io.ofi4j.info.TransmitAttributes;
import io.ofi4j.internal.engine.ContextSlab;
import io.ofi4j.internal.engine.ThreadGuard;
import io.ofi4j.internal.ffi.FabricConstants;
import io.ofi4j.internal.ffi.PreparedMessageStruct;
import io.ofi4j.internal.ffi.MsgOps;
import io.ofi4j.internal.quirks.Fact;
import io.ofi4j.internal.quirks.Quirks;

/**
 * Messages without tags, which are matched with posted receives in order; fi_msg(3). Returned by
 * {@link Endpoint#messages}. Offsets and lengths are in bytes. Posting allocates nothing.
 *
 * <p><b>Completions.</b> A send gives one completion on the transmit queue, except an inject; a receive gives one on
 * the receive queue, with the length of the message. Both return the token that they were posted with. Before the
 * completion, do not change the bytes of a send, and do not read those of a receive. A posted receive is an operation
 * in flight: its region is not freed before it completes, it takes one of the slots of its queue
 * ({@link CompletionQueue#size}), and when the endpoint closes, it completes with {@code ECANCELED} (125).
 *
 * <p><b>Order.</b> The messages of one peer are matched with receives in the order of their sends, where the info has
 * {@link MessageOrder#SAS}. Their completions may come in another order: a short message may complete before a long one
 * that took an earlier receive. {@link ReceiveAttributes#completesInOrder} says whether the provider promises more. The
 * token tells which receive has completed.
 *
 * <p><b>A message longer than its receive</b> completes the receive with the error {@code ETRUNC} (265) where the
 * provider notices. What happens otherwise depends on the provider: it may continue, end the connection and lose the
 * next message, report success and drop the rest, or never return from a poll; {@code core/guide/MESSAGES.md} has a
 * table. Agree on a largest message, and post receives of that length.
 *
 * <p><b>Full queues.</b> A {@code try} form returns false if the provider has no room or the queue's limit of
 * operations in flight is reached: poll, and try again. The form without {@code try} makes progress on the domain's
 * queues until there is room, for {@link Endpoint#postTimeout()} at most, and then throws FabricTimeoutException;
 * nothing was posted then. A send to a peer without a posted receive is accepted, and waits at this side or at the
 * peer; over connections some providers report an error instead.
 *
 * <p><b>Errors.</b> Everything is checked before native code is reached. Every operation throws
 * IndexOutOfBoundsException if the bytes are not all inside the region; IllegalArgumentException if the region lacks
 * the right or belongs to another domain, the peer belongs to another vector, there are too many bytes, or a receive is
 * shorter than {@link Endpoint#longestMessage};
 * IllegalStateException if the endpoint or the region is closed, or the peer was removed; WrongThreadException where
 * the domain's {@link ThreadingModel} gives the endpoint to another thread; FabricException if the provider reports an
 * error; UnsupportedOperationException if the provider would get it wrong, which the table of refusals in
 * {@code core/guide/REFUSALS.md} lists.
 */
public final class Messages extends TwoSided {
    private final MsgOps ops;
    /** The struct of receives of many messages; used inside the guard of receives. */
    private final PreparedMessageStruct multiReceiveStruct = new PreparedMessageStruct(false, 1);
    /** Why receives of many messages are refused, or null. */
    private final String multiReceiveRefusal;
    private final boolean reportsBuffers;

    Messages(Endpoint endpoint) {
        super(endpoint, false, 0, Fact.DIRECTED_RECEIVES_IGNORED, Fact.DIRECTED_RECEIVES_CRASH);
        this.ops = new MsgOps(endpoint.handle, endpoint.domain.queues.hasCriticalPosts(endpoint),
                endpoint.domain.queues.hasCriticalReceives(endpoint));
        this.multiReceiveRefusal = multiReceiveRefusal(endpoint);
        this.reportsBuffers = endpoint.bindings.receiveQueue().reportsBuffers;
        multiReceiveStruct.peer(ANY);
    }

    private static String multiReceiveRefusal(Endpoint endpoint) {
        if (!endpoint.info().capabilities().contains(Capability.MULTI_RECV)) {
            return "a receive of many messages needs Capability.MULTI_RECV, which " + endpoint
                    + " lacks: ask for it in FabricHints, or post a receive for each message";
        }
        return endpoint.lifeCycle.longestMessage() > 0 ? null : endpoint.quirks.refusal(Fact.LONG_MESSAGES_OVERWRITE);
    }

    /**
     * Starts sending a message if there is room; fi_send, fi_msg(3).
     *
     * @param local the bytes to send; needs {@link Access#SEND}
     * @param offset the start of the message in the region, in bytes
     * @param length the number of bytes, 0 to {@link #maximumMessageSize}
     * @param peer the receiver
     * @param token comes back with the completion
     * @return whether the message was accepted
     * @throws UnsupportedOperationException if the message has no bytes, {@link OperationFlag#DELIVERY_COMPLETE} is a
     *         default flag, and the provider would never complete the send
     */
    public boolean trySend(MemoryRegion local, long offset, long length, Peer peer, long token) {
        boolean entered = ThreadGuard.enter(guard, unlockedThread);
        try {
            requireSend(local, offset, length, peer);
            if (length == 0) { requireEmptyCompletes(defaultFlags); }
            long context = contexts.acquire(token, number, local.number);
            return context != ContextSlab.NONE && accepted(context,
                    ops.fi_send(local.address + offset, length, local.descriptor, peer.fabricAddress, context),
                    "fi_send", peer);
        } finally {
            ThreadGuard.exit(guard, entered);
        }
    }

    /** As {@link #trySend(MemoryRegion, long, long, Peer, long)}, but sends a slice, and waits for room. */
    public void send(MemoryRegion.Slice local, Peer peer, long token) {
        if (!trySend(local.region(), local.offset(), local.length(), peer, token)) {
            awaitRoom("fi_send", peer, () -> trySend(local.region(), local.offset(), local.length(), peer, token));
        }
    }

    /**
     * As {@link #trySend(MemoryRegion, long, long, Peer, long)}, but sends a header and a body as one message, whose
     * bytes follow each other at the receiver; fi_sendv. Both may be in the same region. The provider must take two
     * segments of a send ({@link TransmitAttributes#iovLimit}); otherwise it throws IllegalArgumentException.
     *
     * @param header the first bytes of the message; needs {@link Access#SEND}
     * @param headerOffset the start of the header in its region, in bytes
     * @param headerLength the number of bytes of the header; 0 is possible
     * @param body the bytes after the header; needs {@link Access#SEND}
     * @param bodyOffset the start of the body in its region, in bytes
     * @param bodyLength the number of bytes of the body; 0 is possible
     * @param peer the receiver
     * @param token comes back with the completion
     * @return whether the message was accepted
     */
    public boolean trySend(MemoryRegion header, long headerOffset, long headerLength, MemoryRegion body,
            long bodyOffset, long bodyLength, Peer peer, long token) {
        boolean entered = ThreadGuard.enter(guard, unlockedThread);
        try {
            long context = acquire(header, headerOffset, headerLength, body, bodyOffset, bodyLength, peer, token);
            return context != ContextSlab.NONE
                    && accepted(context, ops.fi_sendv(twoSegments, context), "fi_sendv", peer);
        } finally {
            ThreadGuard.exit(guard, entered);
        }
    }

    /**
     * As {@link #trySend(MemoryRegion, long, long, MemoryRegion, long, long, Peer, long)}, but sends slices, and waits
     * for room.
     */
    public void send(MemoryRegion.Slice header, MemoryRegion.Slice body, Peer peer, long token) {
        if (!trySend(header.region(), header.offset(), header.length(), body.region(), body.offset(), body.length(),
                peer, token)) {
            awaitRoom("fi_sendv", peer, () -> trySend(header.region(), header.offset(), header.length(), body.region(),
                    body.offset(), body.length(), peer, token));
        }
    }

    /**
     * As {@link #trySend(MemoryRegion, long, long, Peer, long)}, but without a completion, for up to
     * {@link #injectSize} bytes; fi_inject. The local bytes may be changed when this returns.
     */
    public boolean tryInject(MemoryRegion local, long offset, long length, Peer peer) {
        requireInjectable(length);
        boolean entered = ThreadGuard.enter(guard, unlockedThread);
        try {
            requireSend(local, offset, length, peer);
            return accepted(ops.fi_inject(local.address + offset, length, peer.fabricAddress), "fi_inject", peer);
        } finally {
            ThreadGuard.exit(guard, entered);
        }
    }

    /** As {@link #tryInject}, but sends a slice, and waits for room. */
    public void inject(MemoryRegion.Slice local, Peer peer) {
        if (!tryInject(local.region(), local.offset(), local.length(), peer)) {
            awaitRoom("fi_inject", peer, () -> tryInject(local.region(), local.offset(), local.length(), peer));
        }
    }

    /**
     * As {@link #trySend(MemoryRegion, long, long, Peer, long)}, with data for the peer's completion; fi_senddata.
     *
     * @param data the data, of up to {@link DomainAttributes#completionDataSize} bytes
     * @throws UnsupportedOperationException if the provider does not carry data, or as
     *         {@link #trySend(MemoryRegion, long, long, Peer, long)}
     */
    public boolean trySendData(MemoryRegion local, long offset, long length, long data, Peer peer, long token) {
        requireData(data);
        boolean entered = ThreadGuard.enter(guard, unlockedThread);
        try {
            requireSend(local, offset, length, peer);
            if (length == 0) { requireEmptyCompletes(defaultFlags); }
            long context = contexts.acquire(token, number, local.number);
            return context != ContextSlab.NONE && accepted(context, ops.fi_senddata(local.address + offset, length,
                    local.descriptor, data, peer.fabricAddress, context), "fi_senddata", peer);
        } finally {
            ThreadGuard.exit(guard, entered);
        }
    }

    /** As {@link #trySendData}, but sends a slice, and waits for room. */
    public void sendData(MemoryRegion.Slice local, long data, Peer peer, long token) {
        if (!trySendData(local.region(), local.offset(), local.length(), data, peer, token)) {
            awaitRoom("fi_senddata", peer,
                    () -> trySendData(local.region(), local.offset(), local.length(), data, peer, token));
        }
    }

    /** As {@link #tryInject}, with data for the peer's completion as in {@link #trySendData}; fi_injectdata. */
    public boolean tryInjectData(MemoryRegion local, long offset, long length, long data, Peer peer) {
        requireInjectable(length);
        requireData(data);
        boolean entered = ThreadGuard.enter(guard, unlockedThread);
        try {
            requireSend(local, offset, length, peer);
            return accepted(ops.fi_injectdata(local.address + offset, length, data, peer.fabricAddress),
                    "fi_injectdata", peer);
        } finally {
            ThreadGuard.exit(guard, entered);
        }
    }

    /** As {@link #tryInjectData}, but sends a slice, and waits for room. */
    public void injectData(MemoryRegion.Slice local, long data, Peer peer) {
        if (!tryInjectData(local.region(), local.offset(), local.length(), data, peer)) {
            awaitRoom("fi_injectdata", peer,
                    () -> tryInjectData(local.region(), local.offset(), local.length(), data, peer));
        }
    }

    /**
     * Posts a receive for the next message of any peer if there is room; fi_recv, fi_msg(3). A connected endpoint takes
     * receives as soon as it is enabled: post them before the connection is established, so that no message comes too
     * early.
     *
     * @param local the region that receives the message; needs {@link Access#RECEIVE}
     * @param offset the start of the message in the region, in bytes
     * @param length the number of bytes of the longest message
     * @param token comes back with the completion
     * @return whether the receive was accepted
     */
    public boolean tryReceive(MemoryRegion local, long offset, long length, long token) {
        boolean entered = ThreadGuard.enter(receiveGuard, receiveUnlockedThread);
        try {
            requireReceive(local, offset, length);
            long context = receiveContexts.acquire(token, receiveNumber, local.number);
            return context != ContextSlab.NONE && acceptedReceive(context,
                    ops.fi_recv(local.address + offset, length, local.descriptor, ANY, context), "fi_recv");
        } finally {
            ThreadGuard.exit(receiveGuard, entered);
        }
    }

    /** As {@link #tryReceive(MemoryRegion, long, long, long)}, but receives into a slice, and waits for room. */
    public void receive(MemoryRegion.Slice local, long token) {
        if (!tryReceive(local.region(), local.offset(), local.length(), token)) {
            awaitReceiveRoom("fi_recv", () -> tryReceive(local.region(), local.offset(), local.length(), token));
        }
    }

    /**
     * As {@link #tryReceive(MemoryRegion, long, long, long)}, but takes a message of one peer only.
     *
     * @param peer the sender
     * @throws UnsupportedOperationException if the endpoint lacks {@link Capability#DIRECTED_RECV}, or its provider
     *         would take messages of other peers or might end the process
     */
    public boolean tryReceive(MemoryRegion local, long offset, long length, Peer peer, long token) {
        boolean entered = ThreadGuard.enter(receiveGuard, receiveUnlockedThread);
        try {
            requireReceive(local, offset, length);
            long source = source(peer);
            long context = receiveContexts.acquire(token, receiveNumber, local.number);
            return context != ContextSlab.NONE && acceptedReceive(context,
                    ops.fi_recv(local.address + offset, length, local.descriptor, source, context), "fi_recv");
        } finally {
            ThreadGuard.exit(receiveGuard, entered);
        }
    }

    /** As {@link #tryReceive(MemoryRegion, long, long, Peer, long)}, but receives into a slice, and waits for room. */
    public void receive(MemoryRegion.Slice local, Peer peer, long token) {
        if (!tryReceive(local.region(), local.offset(), local.length(), peer, token)) {
            awaitReceiveRoom("fi_recv", () -> tryReceive(local.region(), local.offset(), local.length(), peer, token));
        }
    }

    /**
     * Posts a region for many messages if there is room; fi_recvmsg with FI_MULTI_RECV, fi_msg(3). The provider puts
     * the messages next to each other, until fewer bytes are left than {@link EndpointOption#MINIMUM_MULTI_RECEIVE}.
     * {@link Endpoint#longestMessage} sets it to the length of the longest message. A message that does not fit waits,
     * or is an error. Each message gives a completion with this token and the message's length; a {@link
     * DetailedCompletionHandler} also gets the address of its first byte. The completion whose flags have {@link
     * CompletionFlags#MULTI_RECV} is the last one. Then the region is the application's again.
     *
     * @param local the region that receives the messages; needs {@link Access#RECEIVE}
     * @param offset the start of the messages in the region, in bytes
     * @param length the number of bytes
     * @param token comes back with every message
     * @return whether the receive was accepted
     * @throws UnsupportedOperationException if the endpoint lacks {@link Capability#MULTI_RECV}, or the provider would
     *         write a long message beyond the end of the region and {@link Endpoint#longestMessage} was not called
     * @throws IllegalArgumentException if the receive has no bytes
     * @throws IllegalStateException if the receive queue's {@link CompletionFormat} has no addresses
     */
    public boolean tryReceiveMany(MemoryRegion local, long offset, long length, long token) {
        requireMultiReceive();
        boolean entered = ThreadGuard.enter(receiveGuard, receiveUnlockedThread);
        try {
            requireReceive(local, offset, length);
            if (length == 0) {
                throw new IllegalArgumentException("a receive of many messages needs at least 1 byte, not 0");
            }
            long context = receiveContexts.acquire(token, receiveNumber | ContextSlab.MULTI_RECEIVE, local.number);
            if (context == ContextSlab.NONE) { return false; }
            multiReceiveStruct.local.set(0, local.address + offset, length, local.descriptor);
            multiReceiveStruct.count(1, length);
            multiReceiveStruct.context(context);
            return acceptedReceive(context,
                    ops.fi_recvmsg(multiReceiveStruct, FabricConstants.FI_MULTI_RECV | FabricConstants.FI_COMPLETION),
                    "fi_recvmsg");
        } finally {
            ThreadGuard.exit(receiveGuard, entered);
        }
    }

    /** As {@link #tryReceiveMany}, but receives into a slice, and waits for room. */
    public void receiveMany(MemoryRegion.Slice local, long token) {
        if (!tryReceiveMany(local.region(), local.offset(), local.length(), token)) {
            awaitReceiveRoom("fi_recvmsg", () -> tryReceiveMany(local.region(), local.offset(), local.length(), token));
        }
    }

    private void requireMultiReceive() {
        Quirks.require(multiReceiveRefusal);
        if (!reportsBuffers) {
            throw new IllegalStateException("the receive queue does not report where a message begins: open it with"
                    + " CompletionFormat.DATA or TAGGED");
        }
    }

    /**
     * {@return a prepared message without segments, for messages and receives of several segments, flags, and repeated
     * posts}
     */
    public PreparedMessage prepare() { return prepared(false); }

    @Override
    long submit(PreparedMessageStruct struct, PreparedMessage.Call call, long flags, long context) {
        return switch (call) {
            case SEND -> ops.fi_sendmsg(struct, flags);
            case RECEIVE -> ops.fi_recvmsg(struct, flags);
            case SEND_VECTOR -> ops.fi_sendv(struct, context);
            case RECEIVE_VECTOR -> ops.fi_recvv(struct, context);
        };
    }
}
