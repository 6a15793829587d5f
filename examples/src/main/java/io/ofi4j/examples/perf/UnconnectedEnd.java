package io.ofi4j.examples.perf;

import io.ofi4j.Access;
import io.ofi4j.AddressVector;
import io.ofi4j.Endpoint;
import io.ofi4j.info.EndpointAddress;
import io.ofi4j.Peer;
import java.time.Duration;

/** An end that reaches others by their address. */
final class UnconnectedEnd extends End {
    private final AddressVector vector;
    private final Endpoint endpoint;
    private Peer admitted;

    UnconnectedEnd(Device device, Plan plan, boolean isTarget) {
        super(device, plan, isTarget);
        try {
            vector = keep(device.domain().openAddressVector());
            endpoint = keep(device.domain().openEndpoint()).bind(vector).bind(queue()).enable();
            receive(endpoint);
        } catch (RuntimeException e) {
            close();
            throw e;
        }
    }

    @Override
    EndpointAddress address() { return endpoint.address(); }

    @Override
    byte[] introduction() { return endpoint.address().toBytes(); }

    @Override
    void admit(byte[] introduction) { admitted = vector.insert(EndpointAddress.of(introduction)); }

    @Override
    Peer peer() { return admitted; }

    @Override
    Peer reach(EndpointAddress address, Runnable meanwhile, Duration deadline) { return vector.insert(address); }

    @Override
    Endpoint endpoint() { return endpoint; }
}
