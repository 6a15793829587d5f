package io.ofi4j;

import io.ofi4j.info.FabricInfo;
import io.ofi4j.internal.engine.ConnectionData;
import io.ofi4j.internal.engine.FoundInfo;
import io.ofi4j.internal.ffi.InfoHandle;
import java.util.Optional;

/**
 * A peer asks a {@link PassiveEndpoint} for a connection; the fi_info of FI_CONNREQ, fi_cm(3). Accept it with an endpoint that
 * {@link Domain#openEndpoint(ConnectionRequest)} opens, or reject it. What is neither accepted nor rejected is rejected when the
 * request, its endpoint or the passive endpoint is closed. Threads: any.
 */
public final class ConnectionRequest implements AutoCloseable {
    /** What became of it. */
    private enum State {
        PENDING,
        /** An endpoint was opened for it, and owns the connection. */
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

    /** A request that was read; nothing where its passive endpoint is closed: then it is rejected. */
    static Optional<ConnectionRequest> arrived(PassiveEndpoint passiveEndpoint, InfoHandle handle, byte[] data) {
        ConnectionRequest request = new ConnectionRequest(passiveEndpoint, handle, data);
        return passiveEndpoint.admit(request) ? Optional.of(request) : Optional.empty();
    }

    /** {@return whom it was addressed to} */
    public PassiveEndpoint passiveEndpoint() {
        return passiveEndpoint;
    }

    /** {@return what a connection would have; its destination address is the peer's} */
    public FabricInfo info() {
        return info;
    }

    /** {@return a copy of what the peer said, perhaps no bytes} */
    public byte[] data() {
        return data.clone();
    }

    /** {@return whether it waits to be accepted or rejected} */
    public synchronized boolean isPending() {
        return state == State.PENDING;
    }

    /**
     * Rejects the connection; fi_reject. The peer gets a {@link ConnectionException}.
     *
     * @param reason what the peer is told, at most {@link PassiveEndpoint#maximumDataSize} bytes; without any, it cannot tell
     *        this from nobody listening
     * @throws IllegalArgumentException if the reason is too long
     * @throws IllegalStateException if it was rejected or closed, or an endpoint was opened for it
     * @throws FabricException if the provider cannot; the request is over all the same
     */
    public void reject(byte... reason) {
        ConnectionData.require(reason, passiveEndpoint.maximumDataSize(), passiveEndpoint);
        if (!rejectIfPending(reason)) {
            throw over();
        }
    }

    private boolean rejectIfPending(byte[] reason) {
        synchronized (this) {
            if (state != State.PENDING) {
                return false;
            }
            state = State.OVER;
        }
        passiveEndpoint.reject(this, reason);
        return true;
    }

    /** What names the request to the provider; an endpoint is opened with it once. */
    synchronized InfoHandle take() {
        if (state != State.PENDING) {
            throw over();
        }
        state = State.TAKEN;
        return handle;
    }

    /**
     * No endpoint could be opened for it, or that was closed without accepting.
     *
     * @param owned whether an endpoint had the connection
     */
    void giveBack(boolean owned) {
        synchronized (this) {
            state = State.OVER;
        }
        passiveEndpoint.abandon(this, owned);
    }

    /** The provider has accepted it. */
    void accepted() {
        synchronized (this) {
            state = State.OVER;
        }
        passiveEndpoint.forget(this);
    }

    synchronized boolean isTaken() {
        return state == State.TAKEN;
    }

    /** What the provider knows it by. */
    long identity() {
        return handle.request();
    }

    private IllegalStateException over() {
        return new IllegalStateException(this
                + (isTaken() ? " has an endpoint: accept with it, or close it" : " was accepted, rejected or closed"));
    }

    /** Rejects the connection if it is neither accepted nor rejected nor has an endpoint. */
    @Override
    public void close() {
        rejectIfPending(new byte[0]);
    }

    @Override
    public String toString() {
        return "ConnectionRequest to " + passiveEndpoint;
    }
}
