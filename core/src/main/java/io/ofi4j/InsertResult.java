package io.ofi4j;

import java.util.Optional;

/**
 * What became of one address of several that were inserted together: a peer, or the reason why there is none. Given by
 * {@link AddressVector#insertAll} and {@link AddressVector#insertSymmetric}.
 */
public final class InsertResult {
    private final Peer peer;
    private final RuntimeException failure;

    private InsertResult(Peer peer, RuntimeException failure) {
        this.peer = peer;
        this.failure = failure;
    }

    static InsertResult of(Peer peer) {
        return new InsertResult(peer, null);
    }

    static InsertResult failed(RuntimeException failure) {
        return new InsertResult(null, failure);
    }

    /** {@return whether there is a peer} */
    public boolean succeeded() {
        return peer != null;
    }

    /**
     * {@return the peer}
     *
     * @throws RuntimeException the {@link #failure}, if there is none
     */
    public Peer peer() {
        if (peer == null) {
            throw failure;
        }
        return peer;
    }

    /** {@return why there is no peer, as {@link AddressVector#insert} would have thrown it; empty where there is one} */
    public Optional<RuntimeException> failure() {
        return Optional.ofNullable(failure);
    }

    @Override
    public String toString() {
        return peer != null ? peer.toString() : failure.getMessage();
    }
}
