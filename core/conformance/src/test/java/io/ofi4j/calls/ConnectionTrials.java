package io.ofi4j.calls;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.ofi4j.ChosenAddressTest;
import io.ofi4j.Connection;
import io.ofi4j.ConnectionRequest;
import io.ofi4j.Endpoint;
import io.ofi4j.Event;
import io.ofi4j.PassiveEndpoint;
import io.ofi4j.errors.ConnectionException;
import io.ofi4j.info.EndpointAddress;
import io.ofi4j.info.EndpointType;
import io.ofi4j.support.Listener;
import io.ofi4j.support.Pair;
import java.util.Map;
import java.util.function.UnaryOperator;

/** Trials of the calls of fi_cm(3). */
final class ConnectionTrials {
    private static final byte[] SAID = {1, 2, 3};

    /** The end that peers come to is elsewhere, or that one of a connection which has asked for it. */
    private static final Pair.Wiring CHOSEN = new Pair.Wiring() {
        @Override
        public Endpoint bindNear(Pair pair, Endpoint endpoint) {
            return choose(pair, endpoint.bind(pair.queue), EndpointType.MSG);
        }

        @Override
        public Endpoint bindFar(Pair pair, Endpoint endpoint) {
            return choose(pair, endpoint.bind(pair.farQueue), EndpointType.RDM);
        }
    };

    private ConnectionTrials() {}

    private static Endpoint choose(Pair pair, Endpoint endpoint, EndpointType which) {
        return endpoint.info().endpoint().type() == which
                ? endpoint.address(ChosenAddressTest.free(provider(pair)))
                : endpoint;
    }

    private static String provider(Pair pair) {
        String name = pair.domain.info().provider();
        return pair.domain.info().endpoint().type() == EndpointType.MSG ? "MSG " + name : name;
    }

    /** What is tried on a passive endpoint that listens. */
    interface Body {
        void run(Listener listener);
    }

    static CallTrial of(Body body) {
        return column -> {
            if (!column.isConnected()) {
                throw new UnsupportedOperationException(column + " has endpoints that are not connected");
            }
            try (Listener listener = new Listener(column.hints())) {
                body.run(listener);
            }
        };
    }

    static void addTo(Map<String, CallTrial> all) {
        all.put("fi_getname", CallTrial.of(t -> assertThat(t.pair.endpoint.address().toBytes()).isNotEmpty()));
        all.put("fi_setname", CallTrial.of(UnaryOperator.identity(), CHOSEN, t -> {
            boolean isConnected = t.pair.vector == null;
            ChosenAddressTest.requireAt((isConnected ? t.pair.endpoint : t.pair.farEndpoint).address(),
                    ChosenAddressTest.free(provider(t.pair)), provider(t.pair));
            t.write();
        }));
        all.put("fi_setname of a passive endpoint", of(listener -> {
            String provider = "MSG " + listener.fabric.info().provider();
            try (PassiveEndpoint passive = listener.fabric.openPassiveEndpoint(listener.fabric.info())
                    .bind(listener.events)) {
                EndpointAddress chosen = ChosenAddressTest.free(provider);
                ChosenAddressTest.requireAt(passive.address(chosen).listen().address(), chosen, provider);
            }
        }));
        all.put("fi_passive_ep, fi_listen",
                of(listener -> assertThat(listener.passive.address().toBytes()).isNotEmpty()));
        all.put("fi_connect, fi_accept", of(listener -> {
            for (Endpoint end : listener.connect()) {
                assertThat(end.connection().state()).isEqualTo(Connection.State.CONNECTED);
            }
        }));
        all.put("fi_connect, fi_accept, data", of(ConnectionTrials::say));
        all.put("fi_reject, data", of(ConnectionTrials::reject));
        all.put("fi_shutdown", of(listener -> {
            Endpoint[] ends = listener.connect();
            ends[0].connection().shutdown();
            assertThat(listener.await(listener.events)).isEqualTo(new Event.ShutDown(ends[1]));
        }));
        all.put("fi_getpeer", of(listener -> assertThat(listener.connect()[0].connection().peerAddress())
                .isEqualTo(listener.passive.address())));
        all.put("fi_control: BACKLOG", of(listener -> {
            try (PassiveEndpoint passive = listener.fabric.openPassiveEndpoint(listener.fabric.info())) {
                passive.backlog(3);
            }
        }));
    }

    private static void say(Listener listener) {
        Endpoint client = listener.client();
        client.connection().connect(listener.passive.address(), SAID);
        ConnectionRequest request = listener.request();
        assertThat(request.data()).isEqualTo(SAID);
        Endpoint server = listener.server(request);
        server.connection().accept(Pair.DEADLINE, SAID);
        assertThat(client.connection().awaitConnected(Pair.DEADLINE)).isEqualTo(SAID);
    }

    private static void reject(Listener listener) {
        Endpoint client = listener.client();
        client.connection().connect(listener.passive.address());
        listener.request().reject(SAID);
        ConnectionException e = catchThrowableOfType(ConnectionException.class,
                () -> client.connection().awaitConnected(Pair.DEADLINE));
        assertThat(e.reason()).isEqualTo(ConnectionException.Reason.REJECTED);
        assertThat(e.data()).isEqualTo(SAID);
    }
}
