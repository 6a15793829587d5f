package io.ofi4j.command.perf;

import io.ofi4j.Domain;
import io.ofi4j.info.EndpointType;
import io.ofi4j.EventQueue;
import io.ofi4j.Fabric;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.Libfabric;
import io.ofi4j.PassiveEndpoint;
import java.util.Optional;

/** An open fabric and its domain. */
final class FabricDevice implements Device {
    private final Libfabric libfabric;
    private final Fabric fabric;
    private final Domain domain;
    private final Optional<MemoryChoice> memory;

    FabricDevice(Libfabric libfabric, FabricInfo info) { this(libfabric, info, Optional.empty()); }

    /** @param memory whose memory its ends have, where one of two ends is on a device */
    FabricDevice(Libfabric libfabric, FabricInfo info, Optional<MemoryChoice> memory) {
        this.memory = memory;
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

    Optional<MemoryChoice> memory() { return memory; }

    FabricInfo info() { return domain.info(); }

    @Override
    public Traits traits() { return Traits.of(info(), libfabric.version()); }

    private boolean isConnected() { return info().endpoint().type() == EndpointType.MSG; }

    @Override
    public String kind() {
        return info().provider() + (isConnected() ? " with connections" : "")
                + (memory.isPresent() ? " with memory of devices" : "");
    }

    @Override
    public End open(Plan plan, boolean isTarget) {
        return isConnected() ? new ConnectedEnd(this, plan, isTarget) : new UnconnectedEnd(this, plan, isTarget);
    }

    @Override
    public Device again() { return new FabricDevice(libfabric, info(), memory); }

    EventQueue openEventQueue() { return fabric.openEventQueue(); }

    PassiveEndpoint openPassiveEndpoint() { return fabric.openPassiveEndpoint(info()); }

    @Override
    public void close() {
        domain.close();
        fabric.close();
    }
}
