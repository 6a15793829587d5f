package io.ofi4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ofi4j.info.Capability;
import io.ofi4j.info.EventQueueAttributes;
import io.ofi4j.info.FabricHints;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.info.ThreadingModel;
import io.ofi4j.info.WaitObject;
import io.ofi4j.internal.os.Blocker;
import io.ofi4j.support.ForEachProvider;
import io.ofi4j.support.Forked;
import io.ofi4j.support.Listener;
import io.ofi4j.support.OtherThread;
import io.ofi4j.support.Pair;
import io.ofi4j.support.ProviderFault;
import io.ofi4j.support.Rounds;
import io.ofi4j.support.TestProviders;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Loops that each own a domain, or its queues, share an event queue. */
@Timeout(300)
class SharedEventQueueTest {
    private static final Duration SHORT = Duration.ofMillis(100);

    private final OtherThread elsewhere = new OtherThread();

    /** Some providers have SAFE, whatever is asked for. */
    private static Stream<Arguments> owned() {
        return TestProviders.connected()
                .flatMap(provider -> Stream.of(ThreadingModel.DOMAIN, ThreadingModel.COMPLETION)
                        .filter(model -> TestProviders.info(hints(provider, model)).domain().threading() == model)
                        .map(model -> Arguments.of(provider, model)));
    }

    private static boolean readsComplete(Arguments arguments) {
        return ProviderFault.EVENT_READS_COMPLETE.isOf((String) arguments.get()[0]);
    }

    static Stream<Arguments> providersAndModels() { return owned().filter(arguments -> !readsComplete(arguments)); }

    static Stream<Arguments> whereReadsComplete() { return owned().filter(SharedEventQueueTest::readsComplete); }

    private static FabricHints hints(String provider, ThreadingModel model) {
        return TestProviders.connectedHints(provider).capabilities(Capability.RMA, Capability.MSG).threading(model);
    }

    /** A loop with a domain of its own, which asks for a connection; all of it is the calling thread's. */
    private static final class Loop implements AutoCloseable {
        final Domain domain;
        final CompletionQueue queue;
        final MemoryRegion region;
        final Endpoint client;

        Loop(Listener listener) {
            domain = listener.fabric.openDomain();
            queue = domain.openCompletionQueue();
            region = domain.allocate(8, Access.SEND);
            client = domain.openEndpoint(domain.info().withDestination(listener.passive.address()))
                    .bind(listener.farEvents).bind(queue).enable();
            client.connection().connect(listener.passive.address());
        }

        @Override
        public void close() {
            client.close();
            region.close();
            queue.close();
            domain.close();
        }
    }

    @AfterEach
    void close() { elsewhere.close(); }

    /** Accepts the request of a loop, and makes progress on the shared queue until it is in that state. */
    private static Endpoint accept(Listener listener) {
        Endpoint server = listener.server(listener.request());
        server.connection().accept(Pair.DEADLINE);
        return server;
    }

    /** This thread reads the queue until a connection of another thread's is in a state. */
    private static void readUntil(Listener listener, Endpoint others, Connection.State state) {
        Waiting.YIELD.until(() -> {
            listener.poll();
            assertThat(listener.farEvents.read()).as("an event of another thread's endpoint").isEmpty();
            return others.connection().state() == state;
        }, Pair.DEADLINE);
    }

    @ForEachProvider
    @MethodSource("providersAndModels")
    void eachLoopGetsTheEventsOfItsOwnEndpoints(String provider, ThreadingModel model) {
        try (Listener listener = new Listener(hints(provider, model))) {
            Loop loop = elsewhere.run(() -> new Loop(listener));
            Endpoint server = accept(listener);
            readUntil(listener, loop.client, Connection.State.CONNECTED);
            Endpoint[] own = listener.connect();

            assertThat(listener.farEvents.read()).isEmpty();
            assertThat(listener.farEvents.peek()).isEmpty();
            Optional<Event> peeked = elsewhere.run(listener.farEvents::peek);
            assertThat(elsewhere.run(() -> listener.farEvents.read())).isEqualTo(peeked).get().isInstanceOfSatisfying(
                    Event.Connected.class, event -> assertThat(event.endpoint()).isSameAs(loop.client));
            assertThat(elsewhere.run(() -> listener.farEvents.read())).isEmpty();
            Messages messages = elsewhere.run(loop.client::messages);
            server.close();
            readUntil(listener, loop.client, Connection.State.SHUT_DOWN);
            elsewhere.run(() -> {
                assertThat(listener.farEvents.read()).contains(new Event.ShutDown(loop.client));
                assertThatIllegalStateException()
                        .isThrownBy(() -> messages.trySend(loop.region, 0, 8, loop.client.connection().peer(), 1))
                        .withMessageContaining("not connected");
            });
            assertThat(own[0].connection().state()).isEqualTo(Connection.State.CONNECTED);
            elsewhere.run(loop::close);
        }
    }

    @ForEachProvider
    @MethodSource("providersAndModels")
    void anotherLoopsEventEndsNoWait(String provider, ThreadingModel model) {
        try (Listener listener = new Listener(hints(provider, model))) {
            Loop loop = elsewhere.run(() -> new Loop(listener));
            accept(listener);
            readUntil(listener, loop.client, Connection.State.CONNECTED);

            assertThat(listener.farEvents.await(SHORT)).isEmpty();
            assertThat(listener.farEvents.tryWait()).as("there is nothing for this thread").isTrue();
            assertThat(Blocker.isReadable(listener.farEvents.waitDescriptor())).as("there is for its owner").isTrue();
            assertThat(elsewhere.run(listener.farEvents::tryWait)).isFalse();
            assertThat(elsewhere.run(() -> listener.farEvents.await(Pair.DEADLINE))).get()
                    .isInstanceOf(Event.Connected.class);
            assertThat(elsewhere.run(listener.farEvents::tryWait)).isTrue();
            elsewhere.run(loop::close);
        }
    }

    @ForEachProvider
    @MethodSource("providersAndModels")
    void aLoopThatWaitsIsWokenWhenAnotherReadsItsEvent(String provider, ThreadingModel model) throws Exception {
        try (Listener listener = new Listener(hints(provider, model))) {
            Loop loop = elsewhere.run(() -> new Loop(listener));
            Future<Optional<Event>> awaited = elsewhere.begin(() -> listener.farEvents.await(Pair.DEADLINE));
            accept(listener);
            readUntil(listener, loop.client, Connection.State.CONNECTED);

            assertThat(awaited.get(Pair.DEADLINE.toSeconds() / 2, TimeUnit.SECONDS)).get()
                    .isInstanceOf(Event.Connected.class);
            elsewhere.run(loop::close);
        }
    }

    @ForEachProvider
    @MethodSource("providersAndModels")
    void aThreadWithoutEndpointsReadsRequests(String provider, ThreadingModel model) {
        try (Listener listener = new Listener(hints(provider, model))) {
            listener.connect();
            Endpoint client = listener.client();
            client.connection().connect(listener.passive.address());
            ConnectionRequest request = elsewhere.run(() -> {
                Event[] next = new Event[1];
                Waiting.YIELD.until(() -> {
                    listener.farEvents.progress();
                    next[0] = listener.events.read().orElse(null);
                    return next[0] != null;
                }, Pair.DEADLINE);
                return ((Event.ConnectionRequested) next[0]).request();
            });
            listener.server(request).connection().accept(Pair.DEADLINE);
            client.connection().awaitConnected(Pair.DEADLINE);

            assertThat(client.connection().state()).isEqualTo(Connection.State.CONNECTED);
        }
    }

    @ForEachProvider
    @MethodSource("whereReadsComplete")
    void aReadThatMayCompleteOperationsIsTheirOwners(String provider, ThreadingModel model) {
        try (Listener listener = new Listener(hints(provider, model))) {
            listener.connect();

            elsewhere.run(() -> assertThatThrownBy(() -> listener.events.read())
                    .isInstanceOf(WrongThreadException.class).hasMessageContaining(model.name()));
            assertThat(listener.events.read()).isEmpty();
        }
    }

    @ForEachProvider
    @MethodSource("providersAndModels")
    void loopsTransferWhileBothReadTheEventsOfBoth(String provider, ThreadingModel model) {
        Forked.Result result = Forked.run(Loops.class, Forked.EVERY_COMPILER, provider, model.name());

        assertThat(result.exit()).as(result.output()).isZero();
    }

    /** Two loops open connections, send messages over them, and close them. What one throws ends the JVM. */
    static final class Loops {
        private static final int CONNECTIONS = Rounds.of(10);
        private static final int MESSAGES = 50;

        private final Fabric fabric;
        private final FabricInfo info;
        private final EventQueue shared;

        private Loops(Fabric fabric) {
            this.fabric = fabric;
            this.info = fabric.info();
            this.shared = fabric.openEventQueue(EventQueueAttributes.defaults().waitObject(WaitObject.FD));
        }

        public static void main(String[] arguments) throws InterruptedException {
            FabricInfo found = TestProviders.info(hints(arguments[0], ThreadingModel.valueOf(arguments[1])));
            try (Fabric fabric = Libfabric.load().openFabric(found)) {
                Loops loops = new Loops(fabric);
                List<Thread> threads = new ArrayList<>();
                for (int i = 0; i < 2; i++) {
                    threads.add(Thread.ofPlatform().daemon().start(loops::run));
                }
                for (Thread thread : threads) {
                    if (!thread.join(Pair.DEADLINE)) {
                        throw new AssertionError(thread + " does not end: " + List.of(thread.getStackTrace()));
                    }
                }
                loops.shared.close();
            }
        }

        private void run() {
            try (Domain domain = fabric.openDomain();
                    CompletionQueue queue = domain.openCompletionQueue();
                    MemoryRegion region = domain.allocate(64, Access.SEND, Access.RECEIVE);
                    EventQueue requests = fabric.openEventQueue();
                    PassiveEndpoint passive = fabric.openPassiveEndpoint(info).bind(requests).listen()) {
                for (int i = 0; i < CONNECTIONS; i++) {
                    try (Endpoint client = domain.openEndpoint(info.withDestination(passive.address())).bind(shared)
                            .bind(queue).enable()) {
                        client.connection().connect(passive.address());
                        Event[] request = new Event[1];
                        Waiting.YIELD.until(() -> {
                            read(client, null);
                            request[0] = requests.read().orElse(null);
                            return request[0] != null;
                        }, Pair.DEADLINE);
                        try (Endpoint server = domain.openEndpoint(((Event.ConnectionRequested) request[0]).request())
                                .bind(shared).bind(queue).enable()) {
                            server.connection().accept();
                            Waiting.YIELD.until(() -> {
                                read(client, server);
                                return client.connection().state() == Connection.State.CONNECTED
                                        && server.connection().state() == Connection.State.CONNECTED;
                            }, Pair.DEADLINE);
                            transfer(client, server, queue, region);
                        }
                    }
                }
            }
        }

        private void transfer(Endpoint client, Endpoint server, CompletionQueue queue, MemoryRegion region) {
            for (long i = 0; i < MESSAGES; i++) {
                server.messages().receive(region.slice(32, 8), 1);
                region.setLongRelease(0, i);
                client.messages().send(region.slice(0, 8), client.connection().peer(), 2);
                int[] left = {2};
                Waiting.YIELD.until(() -> {
                    read(client, server);
                    left[0] -= queue.poll((token, flags, length, data) -> {}, 4);
                    return left[0] == 0;
                }, Pair.DEADLINE);
                if (region.getLongAcquire(32) != i) { throw new AssertionError("message " + i); }
            }
        }

        private void read(Endpoint client, Endpoint server) {
            shared.read().ifPresent(event -> {
                Endpoint endpoint = ((Event.Connected) event).endpoint();
                if (endpoint != client && endpoint != server) { throw new AssertionError(event); }
            });
        }
    }
}
