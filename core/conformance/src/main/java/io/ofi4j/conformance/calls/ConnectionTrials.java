package io.ofi4j.conformance.calls;

import io.ofi4j.Connection;
import io.ofi4j.errors.ConnectionException;
import io.ofi4j.ConnectionRequest;
import io.ofi4j.Endpoint;
import io.ofi4j.Event;
import io.ofi4j.PassiveEndpoint;
import io.ofi4j.conformance.Check;
import io.ofi4j.conformance.Ends;
import io.ofi4j.conformance.Listening;
import io.ofi4j.conformance.Trial;
import io.ofi4j.info.EndpointAddress;
import io.ofi4j.info.EndpointType;
import java.util.Map;
import java.util.function.UnaryOperator;

/** Trials of the calls of fi_cm(3). */
final class ConnectionTrials {
    private static final byte[] SAID = {1, 2, 3};

    /** The end that peers come to is elsewhere, or that one of a connection which has asked for it. */
    private static final Ends.Wiring CHOSEN = new Ends.Wiring() {
        @Override
        public Endpoint bindNear(Ends ends, Endpoint endpoint) {
            return choose(ends, endpoint.bind(ends.near.queue), EndpointType.MSG);
        }

        @Override
        public Endpoint bindFar(Ends ends, Endpoint endpoint) {
            return choose(ends, endpoint.bind(ends.far.queue), EndpointType.RDM);
        }
    };

    private ConnectionTrials() {}

    private static Endpoint choose(Ends ends, Endpoint endpoint, EndpointType which) {
        return endpoint.info().endpoint().type() == which
                ? endpoint.address(ChosenAddress.free(ends.domain.info()))
                : endpoint;
    }

    /** What is tried on a passive endpoint that listens. */
    interface Body {
        void run(Listening listener);
    }

    static Trial of(Body body) {
        return subject -> {
            if (!subject.isConnected()) {
                throw new UnsupportedOperationException(subject + " has endpoints that are not connected");
            }
            try (Listening listener = new Listening(subject)) {
                body.run(listener);
            }
        };
    }

    static void addTo(Map<String, Trial> all) {
        all.put("fi_getname", RmaTrial
                .of(t -> Check.holds("an address has bytes", t.near.endpoint().address().toBytes().length > 0)));
        all.put("fi_setname", RmaTrial.of(UnaryOperator.identity(), CHOSEN, t -> {
            ChosenAddress.require((t.ends.vector == null ? t.near : t.far).endpoint().address(),
                    ChosenAddress.free(t.ends.domain.info()), t.ends.domain.info());
            t.write();
        }));
        all.put("fi_setname of a passive endpoint", of(listener -> {
            try (PassiveEndpoint passive = listener.fabric.openPassiveEndpoint(listener.fabric.info())
                    .bind(listener.events)) {
                EndpointAddress chosen = ChosenAddress.free(listener.fabric.info());
                ChosenAddress.require(passive.address(chosen).listen().address(), chosen, listener.fabric.info());
            }
        }));
        all.put("fi_passive_ep, fi_listen",
                of(listener -> Check.holds("an address has bytes", listener.passive.address().toBytes().length > 0)));
        all.put("fi_connect, fi_accept", of(listener -> {
            for (Endpoint end : listener.connect()) {
                Check.equal("the state", end.connection().state(), Connection.State.CONNECTED);
            }
        }));
        all.put("fi_connect, fi_accept, data", of(ConnectionTrials::say));
        all.put("fi_reject, data", of(ConnectionTrials::reject));
        all.put("fi_shutdown", of(listener -> {
            Endpoint[] ends = listener.connect();
            ends[0].connection().shutdown();
            Check.equal("the event", listener.await(listener.events), new Event.ShutDown(ends[1]));
        }));
        all.put("fi_getpeer", of(listener -> Check.equal("the address of the peer",
                listener.connect()[0].connection().peerAddress(), listener.passive.address())));
        all.put("fi_control: BACKLOG", of(listener -> {
            try (PassiveEndpoint passive = listener.fabric.openPassiveEndpoint(listener.fabric.info())) {
                passive.backlog(3);
            }
        }));
    }

    private static void say(Listening listener) {
        Endpoint client = listener.client();
        client.connection().connect(listener.passive.address(), SAID);
        ConnectionRequest request = listener.request();
        Check.equal("the data of the request", request.data(), SAID);
        Endpoint server = listener.server(request);
        server.connection().accept(listener.deadline(), SAID);
        Check.equal("the data of the answer", client.connection().awaitConnected(listener.deadline()), SAID);
    }

    private static void reject(Listening listener) {
        Endpoint client = listener.client();
        client.connection().connect(listener.passive.address());
        listener.request().reject(SAID);
        ConnectionException e = Check.thrown("a connection that was rejected", ConnectionException.class,
                () -> client.connection().awaitConnected(listener.deadline()));
        Check.equal("the reason", e.reason(), ConnectionException.Reason.REJECTED);
        Check.equal("the data of the rejection", e.data(), SAID);
    }
}
