package io.ofi4j.examples.perf;

import io.ofi4j.Domain;
import io.ofi4j.info.EndpointType;
import io.ofi4j.EventQueue;
import io.ofi4j.Fabric;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.Libfabric;
import io.ofi4j.PassiveEndpoint;

/** An open fabric and its domain. */
final class FabricDevice implements Device {
    private final Libfabric libfabric;
    private final Fabric fabric;
    private final Domain domain;

    FabricDevice(Libfabric libfabric, FabricInfo info) {
        this.libfabric = libfabric;
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

    @Override
    public Traits traits() { return Traits.of(info(), libfabric.version()); }

    private boolean isConnected() { return info().endpoint().type() == EndpointType.MSG; }

    @Override
    public String kind() { return isConnected() ? info().provider() + " with connections" : info().provider(); }

    @Override
    public End open(Plan plan, boolean isTarget) {
        return isConnected() ? new ConnectedEnd(this, plan, isTarget) : new UnconnectedEnd(this, plan, isTarget);
    }

    @Override
    public Device again() { return new FabricDevice(libfabric, info()); }

    EventQueue openEventQueue() { return fabric.openEventQueue(); }

    PassiveEndpoint openPassiveEndpoint() { return fabric.openPassiveEndpoint(info()); }

    @Override
    public void close() {
        domain.close();
        fabric.close();
    }
}
