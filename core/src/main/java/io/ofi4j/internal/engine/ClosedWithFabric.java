package io.ofi4j.internal.engine;

import io.ofi4j.internal.ffi.FidOps;
import io.ofi4j.internal.ffi.Handle;
import java.util.ArrayList;
import java.util.List;

/** What is closed in Java, but must stay in libfabric until its fabric is closed. */
public final class ClosedWithFabric {
    private final List<Handle> passiveEndpoints = new ArrayList<>();
    private final List<Handle> queues = new ArrayList<>();

    public synchronized void passiveEndpoint(Handle handle) {
        passiveEndpoints.add(handle);
    }

    public synchronized void queue(Handle handle) {
        queues.add(handle);
    }

    /** Closes all, before the fabric. */
    public synchronized void close() {
        passiveEndpoints.forEach(FidOps::fi_close);
        queues.forEach(FidOps::fi_close);
    }
}
