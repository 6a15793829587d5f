package io.ofi4j;

import io.ofi4j.info.Capability;
import io.ofi4j.internal.quirks.Fact;

/** The families of operations of an endpoint: made on first use, because enabling may replace the tables of functions. */
final class EndpointFamilies {
    private final Endpoint endpoint;
    private Rma rma;
    private Messages messages;
    private Tagged tagged;
    private Atomics atomics;
    private Collectives collectives;

    EndpointFamilies(Endpoint endpoint) { this.endpoint = endpoint; }

    Rma rma() {
        require(Capability.RMA);
        if (rma == null) { rma = new Rma(endpoint); }
        return rma;
    }

    Messages messages() {
        require(Capability.MSG);
        if (messages == null) { messages = new Messages(endpoint); }
        return messages;
    }

    Tagged tagged() {
        require(Capability.TAGGED);
        if (collectives != null) { endpoint.quirks.require(Fact.COLLECTIVES_USE_TAGS); }
        endpoint.quirks.require(Fact.CONNECTED_TAGS_CRASH);
        if (tagged == null) { tagged = new Tagged(endpoint); }
        return tagged;
    }

    Atomics atomics() {
        require(Capability.ATOMIC);
        if (atomics == null) { atomics = new Atomics(endpoint); }
        return atomics;
    }

    Collectives collectives() {
        require(Capability.COLLECTIVE);
        if (tagged != null) { endpoint.quirks.require(Fact.COLLECTIVES_USE_TAGS); }
        if (collectives == null) { collectives = new Collectives(endpoint, endpoint.atProvider.joinEvents()); }
        return collectives;
    }

    /** Before the endpoint closes. */
    void close() { if (rma != null) { rma.closeFlush(); } }

    /** Without it, providers crash, or do what they like. */
    private void require(Capability needed) {
        endpoint.requireEnabled();
        if (needed == Capability.RMA || needed == Capability.ATOMIC) {
            endpoint.bindings.requireSending();
            if (endpoint.bindings.isOfConnection()) { endpoint.connection().requireConnected(); }
        }
        endpoint.atProvider.requireThere();
        long capabilities = endpoint.info().capabilityBits() & endpoint.domain.info().capabilityBits();
        if ((capabilities & needed.bit()) == 0) {
            throw new UnsupportedOperationException(endpoint + " was opened without Capability." + needed
                    + ": ask for it with FabricHints.capabilities, and open the domain with that info");
        }
    }
}
