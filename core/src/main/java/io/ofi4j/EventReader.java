package io.ofi4j;

import io.ofi4j.internal.engine.DomainListLock;
import io.ofi4j.internal.ffi.EqOps;
import io.ofi4j.internal.ffi.FabricConstants;
import io.ofi4j.internal.ffi.Handle;
import io.ofi4j.internal.os.Errno;
import io.ofi4j.internal.quirks.Status;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;

/** Converts native events to {@link Event}s and updates the connections concerned. Used inside the queue's lock. */
final class EventReader {
    private final EqOps ops;
    private final DomainListLock domainList;
    private final String provider;
    private final Map<Long, Endpoint> endpoints = new HashMap<>();
    private final Map<Long, PassiveEndpoint> passiveEndpoints = new HashMap<>();

    EventReader(Handle queue, DomainListLock domainList) {
        this.domainList = domainList;
        this.ops = new EqOps(queue);
        this.provider = queue.provider();
    }

    void add(Endpoint endpoint, Handle object) { endpoints.put(object.address(), endpoint); }

    void add(PassiveEndpoint endpoint, Handle object) { passiveEndpoints.put(object.address(), endpoint); }

    /** A new endpoint may have the same native address by now. */
    void remove(Endpoint endpoint, Handle object) {
        endpoints.remove(object.address(), endpoint);
    }

    void remove(PassiveEndpoint endpoint, Handle object) { passiveEndpoints.remove(object.address(), endpoint); }

    long write(long context, long data) { return ops.fi_eq_write(context, data); }

    /** Reads one event, waiting for a time at most; returns whether there was one, even if its object is closed. */
    boolean read(int milliseconds, Consumer<Event> taker) {
        endpoints.values().forEach(Endpoint::checkThread);
        EqOps.Read read = domainList.walk(() -> milliseconds == 0 ? ops.fi_eq_read() : ops.fi_eq_sread(milliseconds));
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
            case FabricConstants.FI_CONNECTED -> connected(ops.connectionData(read.status()));
            case FabricConstants.FI_SHUTDOWN -> shutDown();
            case FabricConstants.FI_MR_COMPLETE -> new Event.MemoryRegionComplete(ops.context(), ops.data());
            case FabricConstants.FI_AV_COMPLETE -> new Event.AddressVectorComplete(ops.context(), ops.data());
            case FabricConstants.FI_JOIN_COMPLETE -> new Event.JoinComplete(ops.context(), ops.data());
            default -> new Event.Unknown(read.code(), ops.bytes(read.status()));
        };
    }

    private Event requested(byte[] data) {
        PassiveEndpoint passiveEndpoint = passiveEndpoints.get(ops.object());
        if (passiveEndpoint == null) {
            ops.info(); // takes ownership; freed when unreachable
            return null;
        }
        return ConnectionRequest.arrived(passiveEndpoint, ops.info(), data).map(Event.ConnectionRequested::new)
                .orElse(null);
    }

    private Event connected(byte[] data) {
        Endpoint endpoint = endpoints.get(ops.object());
        return endpoint == null ? null : endpoint.connection().connected(data);
    }

    private Event shutDown() {
        Endpoint endpoint = endpoints.get(ops.object());
        return endpoint == null ? null : endpoint.connection().wasShutDown();
    }

    private Event failure() {
        EqOps.ErrorEntry entry = ops.fi_eq_readerr();
        if (entry == null) { return null; }
        Endpoint endpoint = endpoints.get(entry.object());
        EventError error = new EventError(Optional.ofNullable(endpoint), entry.context(), entry.data(), entry.errno(),
                entry.providerErrno(), entry.providerText(), entry.errorData(), provider);
        if (endpoint != null) { endpoint.connection().failed(error); }
        return new Event.Failed(error);
    }
}
