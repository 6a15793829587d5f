package io.ofi4j.command.perf;

import io.ofi4j.Connection.State;
import io.ofi4j.Domain;
import io.ofi4j.Endpoint;
import io.ofi4j.info.EndpointAddress;
import io.ofi4j.Event;
import io.ofi4j.EventQueue;
import io.ofi4j.PassiveEndpoint;
import io.ofi4j.RemoteRegion;
import io.ofi4j.Waiting;
import io.ofi4j.command.CommandFailure;
import java.time.Duration;

/** An end that connects to another, or takes one connection while it is polled. */
final class ConnectedEnd extends FabricEnd {
    private static final byte[] NOTHING = {};

    private final FabricDevice device;
    private final Domain domain;
    private final EventQueue events;
    /** Of an end that is to be reached. */
    private PassiveEndpoint passive;
    private Endpoint endpoint;
    private boolean connected;
    /** Of who connects: the connection says who that is. */
    private byte[] peersRegion = NOTHING;

    ConnectedEnd(FabricDevice device, Plan plan, boolean isTarget) {
        super(device, plan, isTarget);
        this.device = device;
        domain = device.domain();
        try {
            events = keep(device.openEventQueue());
        } catch (RuntimeException e) {
            close();
            throw e;
        }
    }

    @Override
    byte[] address() {
        if (passive == null) { passive = keep(device.openPassiveEndpoint()).bind(events).listen(); }
        return passive.address().toBytes();
    }

    @Override
    byte[] introduction() { return NOTHING; }

    /** Who connects is let in: the first. */
    @Override
    void admit(byte[] introduction, byte[] remote) { peersRegion = remote; }

    @Override
    void reach(byte[] bytes, byte[] remote, Runnable meanwhile, Duration deadline) {
        EndpointAddress address = EndpointAddress.of(bytes);
        RemoteRegion region = remoteOf(remote);
        endpoint = promised(keep(domain.openEndpoint(domain.info().withDestination(address)))).bind(events)
                .bind(queue()).enable();
        postWith(endpoint);
        endpoint.connection().connect(address);
        boolean answered = Waiting.YIELD.tryUntil(() -> {
            meanwhile.run();
            events.progress();
            return endpoint.connection().state() != State.CONNECTING;
        }, deadline);
        if (!answered) {
            throw new CommandFailure("The other end did not take a connection within " + deadline.toSeconds()
                    + " s: give a longer --timeout.");
        }
        endpoint.connection().awaitConnected(deadline); // which throws what went wrong
        connected = true;
        towards(endpoint.connection().peer(), region);
    }

    /** The peer's first message may have arrived before the event that says who it is: it is taken after that. */
    @Override
    boolean poll(Completions completions) {
        if (!connected) { answer(); }
        return connected && super.poll(completions);
    }

    private void answer() {
        events.read().ifPresent(event -> {
            if (event instanceof Event.ConnectionRequested(var request) && endpoint == null) {
                endpoint = promised(keep(domain.openEndpoint(request))).bind(events).bind(queue()).enable();
                postWith(endpoint);
                endpoint.connection().accept();
            }
        });
        connected = endpoint != null && endpoint.connection().state() != State.CONNECTING;
        if (connected && endpoint.connection().state() == State.CONNECTED) {
            admitted(endpoint.connection().peer(), peersRegion);
        }
    }
}
