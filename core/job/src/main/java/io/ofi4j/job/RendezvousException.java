package io.ofi4j.job;

/**
 * A {@link Rendezvous} could not be opened, joined or used: no server listens at the address, the secret differs, or
 * the server has gone.
 */
public final class RendezvousException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    RendezvousException(String message, Throwable cause) { super(message, cause); }
}
