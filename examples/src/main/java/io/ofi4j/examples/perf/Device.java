package io.ofi4j.examples.perf;

import io.ofi4j.Domain;
import io.ofi4j.info.EndpointType;
import io.ofi4j.EventQueue;
import io.ofi4j.Fabric;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.Libfabric;
import io.ofi4j.PassiveEndpoint;

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

    Domain domain() { return domain; }

    FabricInfo info() { return domain.info(); }

    /** {@return whether its endpoints have one peer, to which they are connected} */
    boolean isConnected() {
        return info().endpoint().type() == EndpointType.MSG;
    }

    /** {@return the provider, and what both ends must have in common beside it} */
    String kind() {
        return isConnected() ? info().provider() + " with connections" : info().provider();
    }

    EventQueue openEventQueue() { return fabric.openEventQueue(); }

    PassiveEndpoint openPassiveEndpoint() { return fabric.openPassiveEndpoint(info()); }

    @Override
    public void close() {
        domain.close();
        fabric.close();
    }
}
