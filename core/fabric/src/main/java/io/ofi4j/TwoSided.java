package io.ofi4j;

import io.ofi4j.info.Capability;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.info.OperationFlag;
import io.ofi4j.internal.engine.ContextSlab;
import io.ofi4j.internal.engine.ThreadGuard;
import io.ofi4j.internal.ffi.EndpointOps;
import io.ofi4j.internal.ffi.FabricConstants;
import io.ofi4j.internal.os.Errno;
import io.ofi4j.internal.quirks.Fact;
import io.ofi4j.internal.quirks.Status;
import java.util.function.BooleanSupplier;

/** What messages with and without tags share: the state of both directions of one endpoint, and prepared messages. */
abstract sealed class TwoSided permits Messages, Tagged {
    /** Instead of a peer: any. */
    static final long ANY = FabricConstants.FI_ADDR_UNSPEC;

    private static final long DIRECTED = Capability.DIRECTED_RECV.bit();

    final TransferChecks checks;
    final PostOutcome sends;
    final PostOutcome receives;
    final ContextSlab sendContexts;
    final ContextSlab receiveContexts;
    final ThreadGuard sendGuard;
    final ThreadGuard receiveGuard;
    final Thread sendUnlocked;
    final Thread receiveUnlocked;
    /** For operations without flags of their own, as are the numbers of the endpoint. */
    final long defaultFlags;
    final long sendNumber;
    final long receiveNumber;
    final int endpointNumber;
    final Endpoint endpoint;
    private final boolean losesData;
    private final boolean injectsHang;
    private final boolean claimsTruncate;
    private final boolean directed;
    /** The cause to refuse receives from one peer, or null. */
    private final String whyUndirected;
    private final boolean forgetsSpelling;
    private final boolean fullIsNoMemory;
    private final boolean isShared;
    /** Whether a message can be looked at before it is received. */
    final boolean looks;
    private final boolean endsSilently;

    /** The cause to refuse receives from one peer without tags, or null. */
    static String whyUndirected(Endpoint endpoint) {
        String receive = "a receive over " + endpoint.info().provider();
        if (endpoint.quirks.has(Fact.DIRECTED_RECEIVES_IGNORED)) {
            return receive + " takes the messages of any peer: receive with tags from one";
        }
        return endpoint.quirks.has(Fact.DIRECTED_RECEIVES_CRASH)
                ? receive + " of this libfabric that takes the messages of one peer may end the process:"
                        + " receive with tags from one"
                : null;
    }

    TwoSided(Endpoint endpoint, long directedBits, String whyUndirected) {
        this.whyUndirected = whyUndirected;
        this.endpoint = endpoint;
        this.checks = new TransferChecks(endpoint);
        this.sends = new PostOutcome(endpoint);
        this.receives = new PostOutcome(endpoint, endpoint.bindings.receiveQueue());
        this.sendContexts = endpoint.bindings.transmitQueue().contexts;
        this.receiveContexts = endpoint.bindings.receiveQueue().contexts;
        this.sendGuard = endpoint.bindings.transmitQueue().guard;
        this.receiveGuard = endpoint.bindings.receiveQueue().guard;
        this.sendUnlocked = sendGuard.unlocked();
        this.receiveUnlocked = receiveGuard.unlocked();
        this.defaultFlags = endpoint.info().transmit().operationFlags();
        this.sendNumber = sends.numberFor(defaultFlags);
        this.endpointNumber = endpoint.number;
        this.receiveNumber = ContextSlab.endpoint(endpoint.number) | ContextSlab.RECEIVE;
        this.fullIsNoMemory = endpoint.quirks.has(Fact.FULL_RECEIVES_LACK_MEMORY);
        this.losesData = endpoint.quirks.has(Fact.MESSAGES_LOSE_DATA);
        this.claimsTruncate = endpoint.quirks.has(Fact.CLAIMS_TRUNCATE);
        this.injectsHang = endpoint.quirks.has(Fact.INJECTED_MESSAGES_HANG);
        this.isShared = endpoint.bindings.role == EndpointBindings.Role.SHARED_RECEIVE;
        this.looks = !endpoint.quirks.has(Fact.PEEK_RECEIVES)
                && !(isShared && endpoint.quirks.has(Fact.SHARED_LOOKS_CRASH));
        this.endsSilently = isShared && endpoint.quirks.has(Fact.SHARED_RECEIVES_END_SILENTLY);
        this.forgetsSpelling = endpoint.quirks.has(Fact.RESPELLED_PEERS_UNRECOGNIZED);
        this.directed = (endpoint.info().capabilityBits() & (DIRECTED | directedBits)) != 0;
    }

    /** Posts a prepared message with its context. */
    abstract long submit(PreparedMessage message, PreparedMessage.Call call, long context);

    void requireData(long data) {
        checks.requireData(data);
        if (losesData) {
            throw new UnsupportedOperationException("messages over " + checks.provider
                    + " may lose their completion data: put the data into the message, or use another provider");
        }
    }

    UnsupportedOperationException noLooks() {
        return new UnsupportedOperationException("a look for a message over " + checks.provider
                + (isShared ? " in a shared context ends the process" : " of this libfabric receives it")
                + ": post a receive");
    }

    /** The number of a peer to receive from. Inside the guard of receives. */
    long source(Peer peer) {
        if (!directed) {
            throw new UnsupportedOperationException("a receive from one peer needs Capability.DIRECTED_RECV, which "
                    + endpoint + " lacks: ask for it in FabricHints, or receive from any peer");
        }
        String why = isShared ? endpoint + " takes the messages of any peer" : whyUndirected;
        if (why != null) { throw new UnsupportedOperationException(why); }
        checks.requireReachable(peer);
        if (forgetsSpelling && peer.entry.isRespelled) {
            throw new UnsupportedOperationException(
                    "a receive from one peer over " + checks.provider + " of this libfabric does not recognize " + peer
                            + ", which is in this process or has chosen its name:"
                            + " receive from any peer, or let the provider choose the name");
        }
        return peer.fabricAddress;
    }

    void requireClaims() {
        if (claimsTruncate) {
            throw new UnsupportedOperationException(
                    "a message that is claimed over " + checks.provider + " may be cut short: receive it");
        }
    }

    IllegalArgumentException notClaimed(long token) {
        return new IllegalArgumentException(
                "no message is kept with token " + token + " on " + endpoint + ": claim one, and poll its completion");
    }

    boolean endSend(long context, long status, String operation, Peer peer) {
        return status == 0 || sends.refused(context, status, operation, peer);
    }

    boolean endReceive(long context, long status, String operation) {
        return status == 0 || receives.refused(context,
                fullIsNoMemory && status == -Errno.ENOMEM ? -Errno.EAGAIN : status, operation, null);
    }

    void retrySend(String operation, Peer peer, BooleanSupplier attempt) {
        PostRetry.until(endpoint, operation, peer, attempt);
    }

    void retryReceive(String operation, BooleanSupplier attempt) {
        PostRetry.until(endpoint, endpoint.bindings.receiveQueue(), operation, null, attempt);
    }

    /** A message that these operations post. */
    PreparedMessage prepare(boolean tagged) {
        FabricInfo info = endpoint.info();
        return new PreparedMessage(this, info.transmit().iovLimit(), info.receive().iovLimit(), tagged);
    }

    /** As {@link Messages#cancel}. */
    void cancelReceive(long token) {
        boolean entered = ThreadGuard.enter(receiveGuard, receiveUnlocked);
        try {
            checks.requireReceiving();
            if (endsSilently) {
                throw new UnsupportedOperationException("a receive of a shared context of " + checks.provider
                        + " that is canceled does not come back: close the context, which ends its receives");
            }
            long[] found = receiveContexts.receives(endpoint.number, token);
            if (found.length == 0) {
                throw new IllegalArgumentException("no receive with token " + token + " is posted on " + endpoint
                        + ": it may have completed, and wait for a poll");
            }
            for (long context : found) {
                int status = (int) EndpointOps.fi_cancel(endpoint.handle, context);
                if (status == -Errno.ENOSYS) {
                    throw new UnsupportedOperationException("fi_cancel is not offered by the provider "
                            + checks.provider + " here: close the endpoint, which ends its receives");
                }
                if (status != -Errno.ENOENT) { // a message has come for it
                    Status.check(status, "fi_cancel", checks.provider);
                }
            }
        } finally {
            ThreadGuard.exit(receiveGuard, entered);
        }
    }

    boolean tryPost(PreparedMessage message, PreparedMessage.Call call, long token) {
        return call.isReceive ? tryReceive(message, call, token) : trySend(message, call, token);
    }

    private boolean trySend(PreparedMessage message, PreparedMessage.Call call, long token) {
        boolean entered = ThreadGuard.enter(sendGuard, sendUnlocked);
        try {
            long flags = call.hasFlags ? message.flags : defaultFlags;
            requireSendable(message, flags);
            long number = call.hasFlags ? sends.numberFor(flags) : sendNumber;
            long context = sendContexts.acquire(token, number, message.firstRegion());
            if (context == ContextSlab.NONE) { return false; }
            message.noteRegions(sendContexts, context);
            return endSend(context, submit(message, call, context), call.operation, message.peer);
        } finally {
            ThreadGuard.exit(sendGuard, entered);
        }
    }

    /** Inside the guard of sends. */
    void requireSendable(PreparedMessage message, long flags) {
        if ((message.flags & FabricConstants.FI_REMOTE_CQ_DATA) != 0) { requireData(0); }
        checks.requireOpen(message.regions, message.count, message.peer);
        if (message.length == 0) { sends.requireEmptyWriteCompletes(flags); }
        if (injectsHang && (flags & OperationFlag.INJECT.bit()) != 0) { throw injectHangs(); }
    }

    /** Inside the guard of receives. */
    void requireReceivable(PreparedMessage message) {
        checks.requireReceiving();
        checks.requireOpen(message.regions, message.count);
        if (message.peer != null) { source(message.peer); }
    }

    private UnsupportedOperationException injectHangs() {
        return new UnsupportedOperationException("a message with INJECT never completes over " + checks.provider
                + ": use inject, or leave the flag out");
    }

    private boolean tryReceive(PreparedMessage message, PreparedMessage.Call call, long token) {
        boolean entered = ThreadGuard.enter(receiveGuard, receiveUnlocked);
        try {
            requireReceivable(message);
            long context = receiveContexts.acquire(token, receiveNumber, message.firstRegion());
            if (context == ContextSlab.NONE) { return false; }
            message.noteRegions(receiveContexts, context);
            return endReceive(context, submit(message, call, context), call.operation);
        } finally {
            ThreadGuard.exit(receiveGuard, entered);
        }
    }
}
