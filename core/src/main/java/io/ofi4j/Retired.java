package io.ofi4j;

import io.ofi4j.internal.FidOps;
import io.ofi4j.internal.Handle;
import java.util.ArrayList;
import java.util.List;

/** What is closed in Java, but must stay in libfabric until its fabric is closed. */
final class Retired {
    private final List<Handle> passiveEndpoints = new ArrayList<>();
    private final List<Handle> queues = new ArrayList<>();

    synchronized void passiveEndpoint(Handle handle) {
        passiveEndpoints.add(handle);
    }

    synchronized void queue(Handle handle) {
        queues.add(handle);
    }

    /** Closes all, before the fabric. */
    synchronized void close() {
        passiveEndpoints.forEach(FidOps::fi_close);
        queues.forEach(FidOps::fi_close);
    }
}
