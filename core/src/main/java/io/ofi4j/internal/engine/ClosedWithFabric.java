package io.ofi4j.internal.engine;

import io.ofi4j.internal.ffi.FidOps;
import io.ofi4j.internal.ffi.Handle;
import java.util.ArrayList;
import java.util.List;

/** Passive endpoints and queues that are closed in Java and stay open in libfabric until their fabric is closed. */
public final class ClosedWithFabric {
    private final List<Handle> passiveEndpoints = new ArrayList<>();
    private final List<Handle> queues = new ArrayList<>();

    public synchronized void passiveEndpoint(Handle handle) { passiveEndpoints.add(handle); }

    public synchronized void queue(Handle handle) { queues.add(handle); }

    public synchronized void close() {
        passiveEndpoints.forEach(FidOps::fi_close);
        queues.forEach(FidOps::fi_close);
    }
}
