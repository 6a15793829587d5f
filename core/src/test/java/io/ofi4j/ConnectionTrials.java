package io.ofi4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.util.Map;

/** Trials of the calls of fi_cm(3). */
final class ConnectionTrials {
    private static final byte[] SAID = {1, 2, 3};

    private ConnectionTrials() {
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
