package io.ofi4j;

import java.util.Optional;

/**
 * What became of one address of several that were inserted together: a peer, or the reason why there is none. Given by
 * {@link AddressVector#insertAll} and {@link AddressVector#insertSymmetric}.
 */
public final class Insertion {
    private final Peer peer;
    private final RuntimeException failure;

    private Insertion(Peer peer, RuntimeException failure) {
        this.peer = peer;
        this.failure = failure;
    }

    static Insertion of(Peer peer) {
        return new Insertion(peer, null);
    }

    static Insertion failed(RuntimeException failure) {
        return new Insertion(null, failure);
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
