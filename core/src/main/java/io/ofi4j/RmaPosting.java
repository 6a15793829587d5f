package io.ofi4j;

import io.ofi4j.internal.engine.ContextSlab;
import io.ofi4j.internal.engine.ThreadGuard;
import io.ofi4j.internal.ffi.FabricConstants;
import io.ofi4j.internal.ffi.RmaOps;

/** Posts one endpoint's prepared operations. */
final class RmaPosting {
    private final Endpoint endpoint;
    private final RmaOps ops;
    private final TransferChecks checks;
    private final PostOutcome slots;
    private final ContextSlab contexts;
    private final ThreadGuard guard;
    /** From the guard. */
    private final Thread unlocked;
    /** The endpoint's number, for operations without flags of their own. */
    private final long number;
    private final boolean emptyReadsHang;

    RmaPosting(Endpoint endpoint, RmaOps ops, TransferChecks checks, PostOutcome slots) {
        this.endpoint = endpoint;
        this.ops = ops;
        this.checks = checks;
        this.slots = slots;
        this.contexts = endpoint.transmitQueue().contexts;
        this.guard = endpoint.transmitQueue().guard;
        this.unlocked = guard.unlocked();
        this.number = slots.numberFor(endpoint.info().transmit().operationFlags());
        this.emptyReadsHang = slots.emptyReadsHang();
    }

    /** Posts a checked message through this call if there is room. */
    boolean tryPost(RmaMessage message, RmaMessage.Call call, long token) {
        boolean entered = ThreadGuard.enter(guard, unlocked);
        try {
            checks.requireOpen(message);
            long as = call.hasFlags ? slots.numberFor(message.flags) : number;
            if (emptyReadsHang && message.localLength == 0 && call.isRead) { return slots.readsNothing(as, token); }
            if (message.localLength == 0 && !call.isRead) { requireEmptyWriteCompletes(message, call); }
            long context = contexts.acquire(token, call.isRead ? as | ContextSlab.READ : as, message.regions[0].number);
            if (context == ContextSlab.NONE) { return false; }
            if (message.localCount > 1) {
                contexts.alsoConcerns(context, message.furtherRegions, message.localCount - 1);
            }
            long status = submit(message, call, context);
            return status == 0 || slots.refused(context, status, call.operation);
        } finally {
            ThreadGuard.exit(guard, entered);
        }
    }

    private void requireEmptyWriteCompletes(RmaMessage message, RmaMessage.Call call) {
        if (call.hasFlags) {
            slots.requireEmptyWriteCompletes(message.flags);
        } else {
            slots.requireEmptyWriteCompletes();
        }
    }

    private long submit(RmaMessage message, RmaMessage.Call call, long context) {
        message.struct.context(context);
        return switch (call) {
            case WRITE -> ops.fi_writemsg(message.struct, message.flags | FabricConstants.FI_COMPLETION);
            case READ -> ops.fi_readmsg(message.struct, message.flags | FabricConstants.FI_COMPLETION);
            case WRITE_VECTOR -> ops.fi_writev(message.struct, context);
            case READ_VECTOR -> ops.fi_readv(message.struct, context);
        };
    }

    /** As {@link #tryPost}, but waits until there is room. */
    void post(RmaMessage message, RmaMessage.Call call, long token) {
        if (!tryPost(message, call, token)) {
            PostRetry retry = new PostRetry(endpoint, call.operation);
            while (!tryPost(message, call, token)) {
                retry.progress();
            }
            retry.accepted();
        }
    }
}
