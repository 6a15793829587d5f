package io.ofi4j.info;

import java.util.EnumSet;
import java.util.Set;

/** How a single operation is carried out; the operation flags of fi_rma(3) and fi_endpoint(3). */
public enum OperationFlag {
    /** Sends completion data to the peer, set with {@link io.ofi4j.PreparedRma#data}. Writes only. */
    REMOTE_CQ_DATA(17),
    /** More operations follow at once, so that the provider may delay its doorbell. */
    MORE(18),
    /**
     * Requests a completion where the queue was bound with {@link io.ofi4j.Endpoint#bindSelective}; elsewhere each
     * operation has one.
     */
    COMPLETION(24),
    /**
     * The operation starts after earlier operations to the same peer have completed; needs {@link Capability#FENCE}.
     */
    FENCE(21),
    /**
     * The local bytes may be changed as soon as the call returns. The limit of injects holds. The operation still gives
     * a completion. An endpoint that has it as a default flag has messages alone, with and without tags, none of them
     * longer than an inject.
     */
    INJECT(25),
    /** The completion says that the local bytes may be changed. */
    INJECT_COMPLETE(26),
    /** The completion says that the operation no longer depends on this side. */
    TRANSMIT_COMPLETE(27),
    /**
     * The completion says that the bytes are in the peer's memory. Some providers never complete an operation of no
     * bytes with it: it is refused with an {@link UnsupportedOperationException}.
     */
    DELIVERY_COMPLETE(28),
    /** The completion says that the bytes are persistent at the peer; needs {@link Capability#RMA_PMEM}. */
    COMMIT_COMPLETE(30),
    /**
     * The completion says that the peer has matched the message with a receive (libfabric 1.22 and newer). Few
     * providers have it, and others ignore it. Ask for it with {@link FabricHints#operationFlags}, which finds only
     * providers that have it: a single operation may have the flag only if it is a default flag of the endpoint.
     */
    MATCH_COMPLETE(31);

    private static final Set<OperationFlag> DEFAULTS = EnumSet.of(COMPLETION, INJECT, INJECT_COMPLETE,
            TRANSMIT_COMPLETE, DELIVERY_COMPLETE, COMMIT_COMPLETE, MATCH_COMPLETE);

    private final long bit;

    OperationFlag(int shift) { this.bit = 1L << shift; }

    /** {@return whether it can be a default flag of an endpoint; see {@link FabricHints#operationFlags}} */
    public boolean canBeDefault() {
        return DEFAULTS.contains(this);
    }

    /** {@return libfabric's flag for it} */
    public long bit() { return bit; }

    /** {@return the flags that are set} */
    public static Set<OperationFlag> setOf(long bits) {
        return Constants.subset(OperationFlag.class, flag -> (bits & flag.bit) != 0);
    }
}
