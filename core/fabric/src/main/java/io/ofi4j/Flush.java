package io.ofi4j;

import io.ofi4j.info.AtomicForm;
import io.ofi4j.info.AtomicOperation;
import io.ofi4j.info.Capability;
import io.ofi4j.info.Datatype;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.info.MessageOrder;
import io.ofi4j.info.OperationFlag;
import io.ofi4j.internal.engine.ContextSlab;
import io.ofi4j.internal.ffi.FabricConstants;
import io.ofi4j.internal.ffi.PreparedRmaStruct;
import io.ofi4j.internal.ffi.RmaOps;
import io.ofi4j.internal.quirks.Fact;

/**
 * The flush of an endpoint: one operation that the peer answers after everything that the endpoint has posted to it
 * before. The struct is used inside the guard of the endpoint's transmit queue.
 */
final class Flush implements AutoCloseable {
    private static final int LENGTH = Long.BYTES;

    private static final long FLAGS = OperationFlag.DELIVERY_COMPLETE.bit() | FabricConstants.FI_COMPLETION;

    final Mechanism mechanism;
    /** The target of the read, or the source of the write. */
    final MemoryRegion scratch;
    /** Carries out the flush if the mechanism is {@link Mechanism#FETCH}; otherwise null. */
    final Atomics atomics;
    /** The endpoint's number, for an operation that is reported. */
    final long number;
    private final PreparedRmaStruct struct = new PreparedRmaStruct(1, 1);

    /** The operation that the peer answers. */
    enum Mechanism {
        /** A write of no bytes with DELIVERY_COMPLETE. */
        WRITE(0, Access.WRITE, Access.REMOTE_WRITE),
        /** A read of one byte. DELIVERY_COMPLETE keeps the provider from bypassing the peer. */
        READ(1, Access.READ, Access.REMOTE_READ),
        /** An atomic read, which comes after writes and atomic operations. */
        FETCH(LENGTH, Access.READ, Access.REMOTE_READ);

        final long length;
        final long localRight;
        final long remoteRight;

        Mechanism(long length, Access local, Access remote) {
            this.length = length;
            this.localRight = local.bit();
            this.remoteRight = remote.bit();
        }
    }

    /** @throws UnsupportedOperationException if the provider promises no order that a flush could rely on */
    Flush(Endpoint endpoint) {
        this.mechanism = mechanism(endpoint);
        this.atomics = mechanism == Mechanism.FETCH ? endpoint.atomics() : null;
        this.number = ContextSlab.endpoint(endpoint.number) | (mechanism == Mechanism.READ ? ContextSlab.READ : 0);
        this.scratch = endpoint.domain.allocate(LENGTH, Access.READ, Access.WRITE);
        struct.localCount(1, mechanism.length);
        struct.remoteCount(1);
        struct.local.set(0, scratch.address, mechanism.length, scratch.descriptor);
    }

    private static Mechanism mechanism(Endpoint endpoint) {
        boolean isInOrder = endpoint.quirks.has(Fact.FLUSHES_IN_ORDER);
        if (!isInOrder) { requireOrder(endpoint.info()); }
        if (hasAtomics(endpoint) && (!isInOrder || endpoint.quirks.has(Fact.ATOMICS_GO_APART))) {
            return Mechanism.FETCH;
        }
        boolean isAnswered = isInOrder && !endpoint.quirks.has(Fact.EMPTY_DELIVERIES_HANG)
                && !endpoint.quirks.has(Fact.EMPTY_DELIVERIES_OVERTAKE);
        return isAnswered ? Mechanism.WRITE : Mechanism.READ;
    }

    private static boolean hasAtomics(Endpoint endpoint) {
        if ((endpoint.info().capabilityBits() & Capability.ATOMIC.bit()) == 0
                || endpoint.quirks.has(Fact.ATOMICS_BREAK)) {
            return false;
        }
        try {
            return endpoint.atomics().valid(AtomicForm.FETCH, AtomicOperation.ATOMIC_READ, Datatype.INT64) > 0;
        } catch (UnsupportedOperationException e) { // some claim them, and have none
            return false;
        }
    }

    private static void requireOrder(FabricInfo info) {
        boolean isOrdered = info.transmit().messageOrder().contains(MessageOrder.RMA_RAW)
                && Long.compareUnsigned(info.endpoint().maximumOrderReadAfterWrite(),
                        info.endpoint().maximumMessageSize()) >= 0;
        if (!isOrdered) {
            throw new UnsupportedOperationException("the provider " + info.provider()
                    + " does not promise to carry out a read after all earlier writes, so a flush cannot tell that they"
                    + " have arrived: give each write DELIVERY_COMPLETE, and await its completion");
        }
    }

    /** Posts the flush. Returns a status. */
    long post(RmaOps ops, Peer peer, RemoteRegion remote, long context) {
        struct.remote.set(0, remote.base(), mechanism.length, remote.key());
        struct.peer(peer.fabricAddress);
        struct.context(context);
        return mechanism == Mechanism.READ ? ops.fi_readmsg(struct, FLAGS) : ops.fi_writemsg(struct, FLAGS);
    }

    @Override
    public void close() { scratch.close(); }
}
