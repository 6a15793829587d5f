package io.ofi4j;

import io.ofi4j.internal.ffi.EqOps;
import io.ofi4j.internal.ffi.FabricConstants;
import io.ofi4j.internal.ffi.Handle;
import io.ofi4j.internal.ffi.InfoHandle;
import io.ofi4j.internal.os.Errno;
import io.ofi4j.internal.quirks.Status;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;

/** Converts native events to {@link Event}s and updates the connections concerned. Used inside the fabric's lock. */
final class EventReader {
    private final EqOps ops;
    private final String provider;
    /** The endpoints, active and passive, by their native addresses. */
    private final Map<Long, Object> bound = new HashMap<>();

    EventReader(Handle queue) {
        this.ops = new EqOps(queue);
        this.provider = queue.provider();
    }

    void add(Object endpoint, Handle object) { bound.put(object.address(), endpoint); }

    /** A new endpoint may have the same native address by now. */
    void remove(Object endpoint, Handle object) {
        bound.remove(object.address(), endpoint);
    }

    long write(long context, long data) { return ops.fi_eq_write(context, data); }

    /** Reads one event; returns whether there was one, even if its object is closed. */
    boolean read(Consumer<Event> taker) {
        for (Object one : bound.values()) {
            if (one instanceof Endpoint endpoint) { endpoint.bindings.checkThread(); }
        }
        EqOps.Read read = ops.fi_eq_read();
        if (read.status() == -Errno.EAGAIN || read.status() == 0 || read.status() == -Errno.EINTR) { return false; }
        Event event = read.status() == -Errno.EAVAIL ? failure() : event(read);
        if (event != null) { taker.accept(event); }
        return true;
    }

    /** The event that was read; null if its object is closed. */
    private Event event(EqOps.Read read) {
        Status.check(read.status(), "fi_eq_read", provider);
        return switch (read.code()) {
            case FabricConstants.FI_NOTIFY -> new Event.Notification(ops.context(), ops.data());
            case FabricConstants.FI_CONNREQ -> requested(ops.connectionData(read.status()));
            case FabricConstants.FI_CONNECTED ->
                told(connection -> connection.connected(ops.connectionData(read.status())));
            case FabricConstants.FI_SHUTDOWN -> told(Connection::wasShutDown);
            case FabricConstants.FI_MR_COMPLETE -> new Event.MemoryRegionComplete(ops.context(), ops.data());
            case FabricConstants.FI_AV_COMPLETE -> new Event.AddressVectorComplete(ops.context(), ops.data());
            case FabricConstants.FI_JOIN_COMPLETE -> new Event.JoinComplete(ops.context(), ops.data());
            default -> new Event.Unknown(read.code(), ops.bytes(read.status()));
        };
    }

    private Event requested(byte[] data) {
        InfoHandle info = ops.info(); // freed when unreachable
        if (!(bound.get(ops.object()) instanceof PassiveEndpoint passiveEndpoint)) { return null; }
        ConnectionRequest request = new ConnectionRequest(passiveEndpoint, info, data);
        return passiveEndpoint.admit(request) ? new Event.ConnectionRequested(request) : null;
    }

    private Event told(Function<Connection, Event> change) {
        return bound.get(ops.object()) instanceof Endpoint endpoint
                ? change.apply(endpoint.bindings.requireConnection())
                : null;
    }

    private Event failure() {
        EqOps.ErrorEntry entry = ops.fi_eq_readerr();
        if (entry == null) { return null; }
        Endpoint endpoint = bound.get(entry.object()) instanceof Endpoint known ? known : null;
        EventError error = new EventError(Optional.ofNullable(endpoint), entry.context(), entry.data(), entry.errno(),
                entry.providerErrno(), entry.providerText(), entry.errorData(), provider);
        if (endpoint != null) { endpoint.bindings.requireConnection().failed(error); }
        return new Event.Failed(error);
    }
}
