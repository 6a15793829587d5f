package io.ofi4j.hostile;

import io.ofi4j.CompletionError;
import io.ofi4j.CompletionHandler;
import io.ofi4j.CompletionQueue;
import io.ofi4j.Domain;
import io.ofi4j.Endpoint;
import io.ofi4j.Event;
import io.ofi4j.EventQueue;
import io.ofi4j.Fabric;
import io.ofi4j.Libfabric;
import io.ofi4j.PassiveEndpoint;
import io.ofi4j.info.EndpointAddress;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.support.TestProviders;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;

/** Threads connect, accept, reject and close connected endpoints of one fabric at once. */
final class HostileConnections {
    private static final int THREADS = 8;
    private static final int OPEN = 4;
    private static final Duration A_WHILE = Duration.ofMillis(2);
    private static final CompletionHandler IGNORE = new CompletionHandler() {
        @Override
        public void onCompletion(long token, long flags, long length, long data) {
            // Nothing is looked at.
        }

        @Override
        public void onError(CompletionError error) {
            // Nothing is looked at.
        }
    };

    private final HostileRun run;
    private final Fabric fabric;
    private final Domain sharedDomain;
    private final FabricInfo info;
    private final EventQueue sharedEvents;
    private final PassiveEndpoint sharedPassive;
    private final List<EndpointAddress> addresses = new CopyOnWriteArrayList<>();

    private HostileConnections(HostileRun run) {
        this.run = run;
        this.info = TestProviders.info(run.provider);
        this.fabric = Libfabric.load().openFabric(info);
        this.sharedDomain = fabric.openDomain();
        this.sharedEvents = fabric.openEventQueue();
        this.sharedPassive = fabric.openPassiveEndpoint(info).bind(sharedEvents).listen();
        addresses.add(sharedPassive.address());
    }

    static void run(HostileRun run) throws Exception {
        HostileConnections all = new HostileConnections(run);
        run.inThreads(THREADS, all::thread);
        run.attempt("close of the shared passive endpoint", all.sharedPassive::close);
        run.attempt("close of the shared queue", all.sharedEvents::close);
        run.attempt("close of the domain", all.sharedDomain::close);
        run.attempt("close of the fabric", all.fabric::close);
    }

    private void thread() { new Party(run.random()).act(); }

    /** One thread's endpoints, half of them on queues of its own, and half of the threads with a domain of its own. */
    private final class Party {
        private final Random random;
        private final Domain domain;
        private final CompletionQueue queue;
        private final EventQueue events = fabric.openEventQueue();
        private final PassiveEndpoint passive = fabric.openPassiveEndpoint(info).bind(events).listen();
        private final List<Endpoint> open = new ArrayList<>();

        Party(Random random) {
            this.random = random;
            this.domain = random.nextBoolean() ? sharedDomain : fabric.openDomain();
            this.queue = domain.openCompletionQueue();
            addresses.add(passive.address());
        }

        void act() {
            while (run.goesOn()) {
                step(random.nextInt(4) > 0 ? events : sharedEvents);
                if (open.size() > OPEN) { end(open.removeFirst()); }
            }
            open.forEach(this::end);
            run.attempt("close of a passive endpoint", passive::close);
            run.attempt("close of an event queue", events::close);
            run.attempt("close of a completion queue", queue::close);
            if (domain != sharedDomain) { run.attempt("close of a domain", domain::close); }
        }

        private void step(EventQueue chosen) {
            switch (random.nextInt(9)) {
                case 0, 1 -> run.attempt("connect", () -> connect(chosen));
                case 2, 3 -> run.attempt("read", () -> chosen.read().ifPresent(event -> answer(event, chosen)));
                case 4 -> run.attempt("wait for an event", () -> answer(chosen.read(A_WHILE), chosen));
                case 5 -> run.attempt("listen", () -> listenAWhile(chosen));
                case 6 -> run.attempt("life of a queue", () -> fabric.openEventQueue().close());
                case 7 -> run.attempt("poll", () -> queue.poll(IGNORE, 8));
                default -> {
                    if (!open.isEmpty()) { end(open.remove(random.nextInt(open.size()))); }
                }
            }
        }

        private void connect(EventQueue chosen) {
            EndpointAddress address = addresses.get(random.nextInt(addresses.size()));
            Endpoint endpoint = domain.openEndpoint(info.withDestination(address)).bind(chosen).bind(queue).enable();
            open.add(endpoint);
            byte[] data = new byte[random.nextInt(16)];
            if (random.nextInt(3) == 0) {
                endpoint.connection().connect(address, A_WHILE, data);
            } else {
                endpoint.connection().connect(address, data);
            }
        }

        private void answer(Event event, EventQueue chosen) {
            if (!(event instanceof Event.ConnectionRequested(var request))) { return; }
            switch (random.nextInt(4)) {
                case 0 -> run.attempt("reject", () -> request.reject(new byte[random.nextInt(8)]));
                case 1 -> run.attempt("forget a request", request::close);
                default -> run.attempt("accept", () -> {
                    Endpoint endpoint = domain.openEndpoint(request).bind(chosen).bind(queue).enable();
                    open.add(endpoint);
                    if (random.nextInt(8) > 0) { endpoint.connection().accept(); }
                });
            }
        }

        private void listenAWhile(EventQueue chosen) {
            try (PassiveEndpoint passive = fabric.openPassiveEndpoint(info).bind(chosen).listen()) {
                connectTo(passive.address(), chosen);
            }
        }

        private void connectTo(EndpointAddress there, EventQueue chosen) {
            Endpoint endpoint = domain.openEndpoint(info.withDestination(there)).bind(chosen).bind(queue).enable();
            open.add(endpoint);
            endpoint.connection().connect(there);
            if (random.nextBoolean()) { chosen.read().ifPresent(event -> answer(event, chosen)); }
        }

        private void end(Endpoint endpoint) {
            if (random.nextBoolean()) { run.attempt("shutdown", () -> endpoint.connection().shutdown()); }
            run.attempt("close of an endpoint", endpoint::close);
        }
    }
}
