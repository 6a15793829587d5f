package io.ofi4j.hostile;

import io.ofi4j.AddressVector;
import io.ofi4j.CompletionQueue;
import io.ofi4j.Counter;
import io.ofi4j.info.CounterEvent;
import io.ofi4j.Domain;
import io.ofi4j.Endpoint;
import io.ofi4j.EventQueue;
import io.ofi4j.Fabric;
import io.ofi4j.Libfabric;
import io.ofi4j.info.EndpointType;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.support.TestProviders;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;

/** Threads open, bind, enable and close endpoints, and what they are bound to, of one domain at once. */
final class HostileEndpoints {
    private static final int THREADS = 5;
    /** ofi_rxd may not come back from closing a vector of a thousand. */
    private static final int PEERS = 500;

    private final HostileRun run;
    private final FabricInfo info;
    private final Fabric fabric;
    private final Domain domain;
    private final CompletionQueue sharedQueue;
    private final EventQueue sharedEvents;
    private final AddressVector sharedVector;
    private final AtomicInteger peers = new AtomicInteger();

    private HostileEndpoints(HostileRun run) {
        this.run = run;
        this.info = TestProviders.info(run.provider);
        this.fabric = Libfabric.load().openFabric(info);
        this.domain = fabric.openDomain();
        this.sharedQueue = domain.openCompletionQueue();
        boolean connected = info.endpoint().type() == EndpointType.MSG;
        this.sharedEvents = connected ? fabric.openEventQueue() : null;
        this.sharedVector = connected ? null : domain.openAddressVector();
    }

    static void run(HostileRun run) throws Exception {
        HostileEndpoints all = new HostileEndpoints(run);
        run.inThreads(THREADS, all::thread);
        run.attempt("close of the shared queue", all.sharedQueue::close);
        if (all.sharedEvents != null) { run.attempt("close of the shared events", all.sharedEvents::close); }
        if (all.sharedVector != null) { run.attempt("close of the shared vector", all.sharedVector::close); }
        run.attempt("close of the domain", all.domain::close);
        run.attempt("close of the fabric", all.fabric::close);
    }

    private void thread() {
        Random random = run.random();
        while (run.goesOn()) {
            run.attempt("an endpoint's life", () -> live(random));
        }
    }

    private void live(Random random) {
        boolean shares = random.nextBoolean();
        CompletionQueue queue = shares ? sharedQueue : domain.openCompletionQueue();
        Counter counter = random.nextInt(4) == 0 ? domain.openCounter() : null;
        Endpoint endpoint = domain.openEndpoint();
        try {
            endpoint.bind(queue);
            if (counter != null) { endpoint.bind(counter, CounterEvent.WRITE); }
            if (sharedEvents != null) {
                endpoint.bind(sharedEvents).enable();
                sharedEvents.read();
            } else {
                endpoint.bind(sharedVector).enable();
                if (peers.getAndIncrement() < PEERS) { sharedVector.insert(endpoint.address()); }
            }
            for (int polls = random.nextInt(4); polls > 0; polls--) {
                queue.poll((token, flags, length, data) -> {}, 8);
            }
        } finally {
            endpoint.close();
            if (counter != null) { counter.close(); }
            if (!shares) { queue.close(); }
        }
    }
}
