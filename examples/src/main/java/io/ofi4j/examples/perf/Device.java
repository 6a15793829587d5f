package io.ofi4j.examples.perf;

import io.ofi4j.Domain;
import io.ofi4j.Fabric;
import io.ofi4j.FabricInfo;
import io.ofi4j.Libfabric;

/** An open fabric and its domain. */
final class Device implements AutoCloseable {
    private final Fabric fabric;
    private final Domain domain;

    Device(Libfabric libfabric, FabricInfo info) {
        fabric = libfabric.openFabric(info);
        try {
            domain = fabric.openDomain();
        } catch (RuntimeException e) {
            fabric.close();
            throw e;
        }
    }

    Domain domain() {
        return domain;
    }

    FabricInfo info() {
        return domain.info();
    }

    @Override
    public void close() {
        domain.close();
        fabric.close();
    }
}
