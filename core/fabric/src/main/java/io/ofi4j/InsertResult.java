package io.ofi4j;

import java.util.Optional;

/**
 * The result for one of several addresses inserted together, by {@link AddressVector#insertAll} and
 * {@link AddressVector#insertSymmetric}: a peer, or the reason for the failure.
 */
public final class InsertResult {
    private final Peer peer;
    private final RuntimeException failure;

    private InsertResult(Peer peer, RuntimeException failure) {
        this.peer = peer;
        this.failure = failure;
    }

    static InsertResult of(Peer peer) { return new InsertResult(peer, null); }

    static InsertResult failed(RuntimeException failure) { return new InsertResult(null, failure); }

    /** {@return whether there is a peer} */
    public boolean succeeded() { return peer != null; }

    /**
     * {@return the peer}
     *
     * @throws RuntimeException the {@link #failure}, if there is no peer
     */
    public Peer peer() {
        if (peer == null) { throw failure; }
        return peer;
    }

    /** {@return the exception that {@link AddressVector#insert} would have thrown; empty if there is a peer} */
    public Optional<RuntimeException> failure() {
        return Optional.ofNullable(failure);
    }

    @Override
    public String toString() { return peer != null ? peer.toString() : failure.getMessage(); }
}
