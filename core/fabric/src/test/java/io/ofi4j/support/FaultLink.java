package io.ofi4j.support;

import io.ofi4j.AddressVector;
import io.ofi4j.CompletionHandler;
import io.ofi4j.CompletionQueue;
import io.ofi4j.Domain;
import io.ofi4j.Endpoint;
import io.ofi4j.EventQueue;
import io.ofi4j.Fabric;
import io.ofi4j.Peer;
import io.ofi4j.Rma;
import io.ofi4j.info.EndpointAddress;
import io.ofi4j.info.EndpointType;

/** An endpoint of its own, connected where its type is, that reaches one peer. */
public final class FaultLink implements AutoCloseable {
    private final CompletionQueue queue;
    private final EventQueue events;
    private final AddressVector vector;
    private final Endpoint endpoint;
    private final Peer peer;

    public FaultLink(Fabric fabric, Domain domain, EndpointAddress address) {
        queue = domain.openCompletionQueue();
        if (domain.info().endpoint().type() == EndpointType.MSG) {
            vector = null;
            events = fabric.openEventQueue();
            endpoint = domain.openEndpoint(domain.info().withDestination(address)).bind(events).bind(queue).enable();
            endpoint.connection().connect(address, Pair.DEADLINE);
            peer = endpoint.connection().peer();
        } else {
            events = null;
            vector = domain.openAddressVector();
            endpoint = domain.openEndpoint().bind(vector).bind(queue).enable();
            peer = vector.insert(address);
        }
        endpoint.postTimeout(Pair.DEADLINE);
    }

    public Rma rma() { return endpoint.rma(); }

    public Peer peer() { return peer; }

    /** {@return true} */
    public boolean polled(CompletionHandler handler) {
        queue.poll(handler, 16);
        return true;
    }

    @Override
    public void close() {
        endpoint.close();
        if (vector != null) { vector.close(); }
        if (events != null) { events.close(); }
        queue.close();
    }
}
