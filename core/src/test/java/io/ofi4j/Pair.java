package io.ofi4j;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Two endpoints in one process, connected or not, each with a queue of its own, and what the tests do with them. */
final class Pair implements AutoCloseable {
    static final Duration DEADLINE = Duration.ofSeconds(20);

    final Fabric fabric;
    final Domain domain;
    final CompletionQueue queue;
    final CompletionQueue farQueue;
    final AddressVector vector;
    /** Of connected endpoints; null otherwise. */
    final EventQueue events;
    final PassiveEndpoint passive;
    final Endpoint endpoint;
    final Endpoint farEndpoint;
    final Peer far;
    final List<Long> completed = new ArrayList<>();
    final List<CompletionError> errors = new ArrayList<>();
    final List<CompletionError> farErrors = new ArrayList<>();

    private final CompletionHandler recorder = new CompletionHandler() {
        @Override
        public void onCompletion(long token, long flags, long length, long data) {
            completed.add(token);
        }

        @Override
        public void onError(CompletionError error) {
            errors.add(error);
        }
    };

    /** The target may learn, too, that a transfer broke off: sockets reports it there. */
    private final CompletionHandler farHandler = new CompletionHandler() {
        @Override
        public void onCompletion(long token, long flags, long length, long data) {
            // Nothing that the tests of this end look at.
        }

        @Override
        public void onError(CompletionError error) {
            farErrors.add(error);
        }
    };

    Pair(String provider) {
        this(TestProviders.hints(provider));
    }

    Pair(FabricHints hints) {
        this(hints, CompletionQueueAttributes.defaults());
    }

    Pair(FabricHints hints, CompletionQueueAttributes attributes) {
        FabricInfo info = TestProviders.info(hints);
        fabric = Libfabric.load().openFabric(info);
        domain = fabric.openDomain();
        queue = domain.openCompletionQueue(attributes);
        farQueue = domain.openCompletionQueue(attributes);
        if (info.endpoint().type() == EndpointType.MSG) {
            vector = null;
            events = fabric.openEventQueue();
            passive = fabric.openPassiveEndpoint(info).bind(events).listen();
            endpoint = domain.openEndpoint(info.withDestination(passive.address())).bind(events).bind(queue).enable();
            farEndpoint = connect();
            far = endpoint.connection().peer();
        } else {
            events = null;
            passive = null;
            vector = domain.openAddressVector();
            endpoint = domain.openEndpoint().bind(vector).bind(queue).enable();
            farEndpoint = domain.openEndpoint().bind(vector).bind(farQueue).enable();
            far = vector.insert(farEndpoint.address());
        }
    }

    /** Connects the near end, and opens the far one. */
    private Endpoint connect() {
        endpoint.connection().connect(passive.address());
        if (!(events.read(DEADLINE) instanceof Event.ConnectionRequested(ConnectionRequest request))) {
            throw new AssertionError("no connection was asked for");
        }
        Endpoint accepting = domain.openEndpoint(request).bind(events).bind(farQueue).enable();
        accepting.connection().accept(DEADLINE);
        endpoint.connection().awaitConnected(DEADLINE);
        return accepting;
    }

    Rma rma() {
        return endpoint.rma();
    }

    /** Polls both ends; what the near one completed goes to {@link #completed} and {@link #errors}. */
    void poll() {
        farQueue.poll(farHandler, 64);
        pollNear();
    }

    /** Polls the near end only. */
    void pollNear() {
        queue.poll(recorder, 64);
    }

    /** Polls both ends until the near one has completed so many operations, well or not. */
    void awaitCompletions(int count) {
        Waiting.YIELD.until(() -> {
            poll();
            return completed.size() + errors.size() >= count;
        }, DEADLINE);
    }

    /** Waits for one completion with that token and no error. */
    void awaitToken(long token) {
        completed.clear();
        awaitCompletions(1);
        assertThat(errors).isEmpty();
        assertThat(completed).containsExactly(token);
    }

    @Override
    public void close() {
        endpoint.close();
        farEndpoint.close();
        if (vector != null) {
            vector.close();
        } else {
            passive.close();
            events.close();
        }
        queue.close();
        farQueue.close();
        domain.close();
        fabric.close();
    }
}
