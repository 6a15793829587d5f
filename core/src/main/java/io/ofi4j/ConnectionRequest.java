package io.ofi4j;

import io.ofi4j.info.FabricInfo;
import io.ofi4j.internal.engine.ConnectionData;
import io.ofi4j.internal.engine.FoundInfo;
import io.ofi4j.internal.ffi.InfoHandle;
import java.util.Optional;

/**
 * A peer's request for a connection to a {@link PassiveEndpoint}; the fi_info of FI_CONNREQ, fi_cm(3). Accept it with an
 * endpoint from {@link Domain#openEndpoint(ConnectionRequest)}, or reject it. A pending request is rejected when it or the
 * passive endpoint is closed; one with an endpoint, when that endpoint is closed without accepting. Any thread may use it.
 */
public final class ConnectionRequest implements AutoCloseable {
    /** The state of a request. */
    private enum State {
        PENDING,
        /** An endpoint was opened for it and owns the connection. */
        TAKEN,
        OVER
    }

    private final PassiveEndpoint passiveEndpoint;
    private final InfoHandle handle;
    private final FabricInfo info;
    private final byte[] data;
    private State state = State.PENDING;

    private ConnectionRequest(PassiveEndpoint passiveEndpoint, InfoHandle handle, byte[] data) {
        this.passiveEndpoint = passiveEndpoint;
        this.handle = handle;
        FoundInfo listening = FoundInfo.of(passiveEndpoint.info());
        this.info = listening.with(handle.withoutRequest(listening.handle()));
        this.data = data;
    }

    /** Makes a request from an event; empty if its passive endpoint is closed, which rejects it. */
    static Optional<ConnectionRequest> arrived(PassiveEndpoint passiveEndpoint, InfoHandle handle, byte[] data) {
        ConnectionRequest request = new ConnectionRequest(passiveEndpoint, handle, data);
        return passiveEndpoint.admit(request) ? Optional.of(request) : Optional.empty();
    }

    /** {@return the passive endpoint it was sent to} */
    public PassiveEndpoint passiveEndpoint() {
        return passiveEndpoint;
    }

    /** {@return the info of the offered connection; its destination address is the peer's} */
    public FabricInfo info() {
        return info;
    }

    /** {@return a copy of the data the peer passed to connect, possibly empty} */
    public byte[] data() {
        return data.clone();
    }

    /** {@return whether it is neither accepted nor rejected, and has no endpoint} */
    public synchronized boolean isPending() {
        return state == State.PENDING;
    }

    /**
     * Rejects the connection; fi_reject. The peer gets a {@link ConnectionException}.
     *
     * @param reason passed to the peer, at most {@link PassiveEndpoint#maximumDataSize} bytes; if empty, the peer cannot tell
     *         the rejection from the absence of a listener
     * @throws IllegalArgumentException if the reason is too long
     * @throws IllegalStateException if it was rejected or closed, or an endpoint was opened for it
     * @throws FabricException if libfabric reports an error; the request is over all the same
     */
    public void reject(byte... reason) {
        ConnectionData.require(reason, passiveEndpoint.maximumDataSize(), passiveEndpoint);
        if (!rejectIfPending(reason)) { throw over(); }
    }

    private boolean rejectIfPending(byte[] reason) {
        synchronized (this) {
            if (state != State.PENDING) { return false; }
            state = State.OVER;
        }
        passiveEndpoint.reject(this, reason);
        return true;
    }

    /** Hands out the native info, once, to open an endpoint. */
    synchronized InfoHandle take() {
        if (state != State.PENDING) { throw over(); }
        state = State.TAKEN;
        return handle;
    }

    /**
     * Ends the request after its endpoint failed to open, or closed without accepting.
     *
     * @param owned whether an endpoint had the connection
     */
    void giveBack(boolean owned) {
        synchronized (this) {
            state = State.OVER;
        }
        passiveEndpoint.abandon(this, owned);
    }

    /** Ends the request after the provider accepted it. */
    void accepted() {
        synchronized (this) {
            state = State.OVER;
        }
        passiveEndpoint.forget(this);
    }

    synchronized boolean isTaken() { return state == State.TAKEN; }

    /** The provider's handle of the request. */
    long identity() { return handle.request(); }

    private IllegalStateException over() {
        return new IllegalStateException(this
                + (isTaken() ? " has an endpoint: accept with it or close it" : " was accepted, rejected or closed"));
    }

    /** Rejects the connection if the request is pending. */
    @Override
    public void close() { rejectIfPending(new byte[0]); }

    @Override
    public String toString() { return "ConnectionRequest to " + passiveEndpoint; }
}
