package io.ofi4j.command.perf;

import io.ofi4j.AddressVector;
import io.ofi4j.Endpoint;
import io.ofi4j.Peer;
import io.ofi4j.info.EndpointAddress;
import java.time.Duration;

/** An end that reaches others by their address. */
final class UnconnectedEnd extends FabricEnd {
    private final AddressVector vector;
    private final Endpoint endpoint;

    UnconnectedEnd(FabricDevice device, Plan plan, boolean isTarget) {
        super(device, plan, isTarget);
        try {
            vector = keep(device.domain().openAddressVector());
            endpoint = promised(keep(device.domain().openEndpoint())).bind(vector).bind(queue()).enable();
            postWith(endpoint);
        } catch (RuntimeException e) {
            close();
            throw e;
        }
    }

    @Override
    byte[] address() { return endpoint.address().toBytes(); }

    @Override
    byte[] introduction() { return endpoint.address().toBytes(); }

    @Override
    void admit(byte[] introduction, byte[] remote) { admitted(insert(introduction), remote); }

    @Override
    void reach(byte[] address, byte[] remote, Runnable meanwhile, Duration deadline) {
        towards(insert(address), remoteOf(remote));
    }

    private Peer insert(byte[] address) {
        return vector.insert(EndpointAddress.of(address, endpoint.address().format()));
    }
}
