package io.ofi4j;

import io.ofi4j.info.DomainAttributes;
import io.ofi4j.info.OperationFlag;
import io.ofi4j.internal.engine.ContextSlab;
import io.ofi4j.internal.ffi.PreparedStruct;

/**
 * What prepared operations have in common: the thread that may use them, the peer, the flags and the completion data.
 */
abstract sealed class Prepared<P extends Prepared<P>> permits PreparedRma, PreparedMessage, PreparedAtomic {
    /** The most local segments that the queue remembers. */
    static final int MAX_SEGMENTS = ContextSlab.MAX_EXTRA_REGIONS + 1;

    /** The peer, or null if none is set. */
    Peer peer;
    long flags;
    /** The call for which nothing but the state of other objects must be checked, or null after a change. */
    Object suits;

    private final PostPath path;
    private final PreparedStruct struct;
    /** The thread that made it. Another thread could change it during a post. */
    private final Thread owner = Thread.currentThread();

    Prepared(PostPath path, PreparedStruct struct) {
        this.path = path;
        this.struct = struct;
    }

    @SuppressWarnings("unchecked")
    final P self() { return (P) this; }

    final Endpoint endpoint() { return path.endpoint; }

    /**
     * Sets the peer.
     *
     * @param whose a peer of the endpoint's vector
     */
    public final P peer(Peer whose) {
        requireOwner();
        path.requireVector(whose);
        suits = null;
        peer = whose;
        struct.peer(whose.fabricAddress);
        return self();
    }

    /**
     * Sets the flags, in place of all that were set before, and of the endpoint's default flags. Without flags, as a
     * new operation is, the default flags hold. If it throws, nothing has changed.
     *
     * @param how the flags; none for the default flags
     * @throws UnsupportedOperationException if the endpoint lacks the capability that a flag needs, the provider does
     *         not carry data, or does not do what a flag says
     */
    public final P flags(OperationFlag... how) {
        requireOwner();
        long wanted = 0;
        for (OperationFlag flag : how) {
            path.requireOffered(flag);
            wanted |= flag.bit();
        }
        suits = null;
        flags = wanted;
        return self();
    }

    /**
     * Sets the data of the peer's completion, for {@link OperationFlag#REMOTE_CQ_DATA}.
     *
     * @param data up to {@link DomainAttributes#completionDataSize} bytes
     * @throws UnsupportedOperationException if the provider does not carry data
     */
    public final P data(long data) {
        requireOwner();
        path.requireData(data);
        struct.data(data);
        return self();
    }

    final boolean has(OperationFlag flag) { return (flags & flag.bit()) != 0; }

    final void requirePeer() {
        if (peer == null) { throw new IllegalStateException("the operation has no peer: set one with peer(...)"); }
    }

    /** {@return the flags of this operation: its own, or the endpoint's if it has none} */
    final long effectiveFlags() {
        return flags == 0 ? path.defaultFlags : flags;
    }

    final void requireOwner() {
        if (owner != Thread.currentThread()) {
            throw new WrongThreadException("this operation was prepared by thread '" + owner.getName()
                    + "', which alone may change and post it: let thread '" + Thread.currentThread().getName()
                    + "' make one of its own with " + path.getClass().getSimpleName() + ".prepare()");
        }
    }
}
