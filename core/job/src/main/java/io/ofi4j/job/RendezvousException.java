package io.ofi4j.job;

/**
 * A {@link Rendezvous} could not be opened, joined or used, or a {@link PeerServer} not opened or connected to: no
 * server listens at the address, the secret differs, or the server has gone.
 */
public final class RendezvousException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final boolean isServerGone;

    RendezvousException(String message, Throwable cause) { this(message, cause, false); }

    RendezvousException(String message, Throwable cause, boolean isServerGone) {
        super(message, cause);
        this.isServerGone = isServerGone;
    }

    boolean isServerGone() { return isServerGone; }
}
