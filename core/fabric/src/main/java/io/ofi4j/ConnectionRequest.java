package io.ofi4j;

import io.ofi4j.errors.ConnectionException;
import io.ofi4j.errors.FabricException;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.internal.engine.ConnectionData;
import io.ofi4j.internal.engine.NativeFabricInfo;
import io.ofi4j.internal.engine.StackRoom;
import io.ofi4j.internal.ffi.InfoHandle;

/**
 * A peer's request for a connection to a {@link PassiveEndpoint}; the fi_info of FI_CONNREQ, fi_cm(3). Accept it with
 * an endpoint from {@link Domain#openEndpoint(ConnectionRequest)}, or reject it. Closing a pending request or its
 * passive endpoint rejects it. If an endpoint was opened for it, closing that endpoint without accepting rejects it.
 * Any thread may use it.
 */
public final class ConnectionRequest implements AutoCloseable {
    /** The state of a request. */
    private enum State {
        PENDING,
        /** An endpoint was opened for it and owns the connection. */
        TAKEN,
        FINISHED
    }

    private final PassiveEndpoint passiveEndpoint;
    private final InfoHandle handle;
    private final FabricInfo info;
    private final byte[] data;
    /** Changed inside the fabric's lock. */
    private volatile State state = State.PENDING;

    /** Takes over the native info of an event. */
    ConnectionRequest(PassiveEndpoint passiveEndpoint, InfoHandle handle, byte[] data) {
        this.passiveEndpoint = passiveEndpoint;
        this.handle = handle;
        NativeFabricInfo listening = NativeFabricInfo.of(passiveEndpoint.info());
        handle.copySharedContexts(listening.handle());
        this.info = listening.with(handle.withoutRequest(listening.handle()));
        this.data = data;
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
    public boolean isPending() {
        return state == State.PENDING;
    }

    /**
     * Rejects the connection; fi_reject. The peer gets a {@link ConnectionException}.
     *
     * @param reason passed to the peer, at most {@link PassiveEndpoint#maximumDataSize} bytes; if empty, the peer
     *         cannot tell the rejection from the absence of a listener
     * @throws IllegalArgumentException if the reason is too long
     * @throws IllegalStateException if it was rejected or closed, or an endpoint was opened for it
     * @throws FabricException if libfabric reports an error; the request has ended nevertheless
     */
    public void reject(byte... reason) {
        StackRoom.require();
        ConnectionData.require(reason, passiveEndpoint.maximumDataSize(), passiveEndpoint);
        passiveEndpoint.lock.locked(() -> {
            if (!finishFrom(State.PENDING)) { throw finished(); }
            passiveEndpoint.reject(this, reason);
        });
    }

    /** Ends the request if it is in this state; inside the lock. Returns whether it was. */
    private boolean finishFrom(State expected) {
        boolean isIn = state == expected;
        if (isIn) { state = State.FINISHED; }
        return isIn;
    }

    /** Hands out the native info, once, to open an endpoint; inside the fabric's lock. */
    InfoHandle take() {
        if (state != State.PENDING) { throw finished(); }
        state = State.TAKEN;
        return handle;
    }

    /**
     * Ends the request, unless it has ended, after its endpoint failed to open or closed without accepting.
     *
     * @param owned whether an endpoint had the connection
     */
    void release(boolean owned) {
        passiveEndpoint.lock.locked(() -> {
            if (finishFrom(State.TAKEN)) { passiveEndpoint.abandon(this, owned); }
        });
    }

    /** Ends the request before its passive endpoint closes; inside the lock. */
    void end() {
        if (finishFrom(State.PENDING)) { passiveEndpoint.abandon(this, false); }
    }

    /** Ends the request after the provider accepted it; inside the lock. */
    void accepted() {
        state = State.FINISHED;
        passiveEndpoint.forget(this);
    }

    boolean isTaken() { return state == State.TAKEN; }

    /** The provider's handle of the request. */
    long identity() { return handle.request(); }

    private IllegalStateException finished() {
        return new IllegalStateException(this
                + (isTaken() ? " has an endpoint: accept with it or close it" : " was accepted, rejected or closed"));
    }

    /** Rejects the connection if the request is pending. */
    @Override
    public void close() { if (isPending()) { passiveEndpoint.lock.locked(this::end); } }

    @Override
    public String toString() { return "ConnectionRequest to " + passiveEndpoint; }
}
