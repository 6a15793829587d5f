package io.ofi4j.jmh;

import io.ofi4j.Domain;
import io.ofi4j.Fabric;
import io.ofi4j.info.FabricHints;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.Libfabric;
import io.ofi4j.info.ThreadingModel;

/** A layer over {@link RawFabric}: no checks, no bookkeeping, one context that is used again and again. */
public abstract class RawLayer extends Layer {
    RawFabric raw;

    @Override
    final void open() {
        makeSafe();
        raw = new RawFabric(provider, sourceNode(), ThreadingModel.valueOf(threading).value(), size, BATCH);
        prepare();
    }

    /** Reads the functions and addresses that the calls need. */
    abstract void prepare();

    @Override
    final void close() { raw.close(); }

    /**
     * Loads libfabric, and opens an endpoint through the public API, which keeps the JVM's signal handlers in force:
     * the shm provider replaces them with its own when the first one of the process is opened, and only then.
     */
    private void makeSafe() {
        Libfabric libfabric = Libfabric.load();
        FabricHints hints = FabricHints.rma().provider(provider);
        FabricInfo info = libfabric.info(sourceNode() == null ? hints : hints.source(sourceNode(), null)).get(0);
        try (Fabric fabric = libfabric.openFabric(info); Domain domain = fabric.openDomain()) {
            domain.openEndpoint().close();
        }
    }
}
